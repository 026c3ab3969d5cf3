// Normalization ops are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error@+2 {{'graph.layer_norm' op needs a scale and bias that broadcast to [8], has [4]}}
  // expected-error@+1 {{'graph.layer_norm' op failed to infer returned types}}
  %0 = graph.layer_norm %x scale %s {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+2 {{'graph.rms_norm' op needs an axis in [0, 2) for an operand of rank 2, has 2}}
  // expected-error@+1 {{'graph.rms_norm' op failed to infer returned types}}
  %0 = graph.rms_norm %x {axis = 2 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x2x2xf32>, %s: tensor<4xf32>) {
  // expected-error@+2 {{'graph.batch_norm' op needs parameters of shape [8], one element a channel, has [4]}}
  // expected-error@+1 {{'graph.batch_norm' op failed to infer returned types}}
  %0 = graph.batch_norm %x, %s, %s, %s, %s : (tensor<1x8x2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x8x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>, %s: tensor<8xf32>) {
  // expected-error@+2 {{'graph.instance_norm' op needs an input of rank 2 or more, has [8]}}
  // expected-error@+1 {{'graph.instance_norm' op failed to infer returned types}}
  %0 = graph.instance_norm %x, %s, %s : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x2x2xf32>, %s: tensor<8xf32>) {
  // expected-error@+2 {{'graph.group_norm' op needs groups that divide [8] channels, has 3}}
  // expected-error@+1 {{'graph.group_norm' op failed to infer returned types}}
  %0 = graph.group_norm %x, %s, %s {groups = 3 : i64} : (tensor<1x8x2x2xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x2x2xf32>
  return
}
