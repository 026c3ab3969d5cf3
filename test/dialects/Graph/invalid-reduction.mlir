// Reduction ops are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x3xf32>) {
  // expected-error@+2 {{'graph.reduce' op needs an axis in [0, 2) for an operand of rank 2, has 2}}
  // expected-error@+1 {{'graph.reduce' op failed to infer returned types}}
  %0 = graph.reduce sum %x {axes = array<i64: 2>} : (tensor<4x3xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>) {
  // expected-error@+2 {{'graph.reduce' op needs axes that ascend, has 0 after 1}}
  // expected-error@+1 {{'graph.reduce' op failed to infer returned types}}
  %0 = graph.reduce sum %x {axes = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>) {
  // expected-error@+2 {{'graph.softmax' op needs an axis in [0, 2) for an operand of rank 2, has -1}}
  // expected-error@+1 {{'graph.softmax' op failed to infer returned types}}
  %0 = graph.softmax %x {axis = -1 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>) {
  // expected-error@+2 {{'graph.arg_reduce' op needs an axis in [0, 2) for an operand of rank 2, has 5}}
  // expected-error@+1 {{'graph.arg_reduce' op failed to infer returned types}}
  %0 = graph.arg_reduce max %x {axis = 5 : i64} : (tensor<4x3xf32>) -> tensor<4x1xi64>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>) {
  // expected-error@+2 {{'graph.cumsum' op needs an axis in [0, 2) for an operand of rank 2, has 2}}
  // expected-error@+1 {{'graph.cumsum' op failed to infer returned types}}
  %0 = graph.cumsum %x {axis = 2 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>) {
  // expected-error@+2 {{'graph.top_k' op needs k in [0, size of dimension 1] of [4, 3], has 4}}
  // expected-error@+1 {{'graph.top_k' op failed to infer returned types}}
  %0:2 = graph.top_k %x {k = 4 : i64, axis = 1 : i64} : (tensor<4x3xf32>) -> (tensor<4x4xf32>, tensor<4x4xi64>)
  return
}
