// Ops whose sizes are values of the run are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x6xf32>, %s: tensor<1x2xi64>) {
  // expected-error@+2 {{'graph.dynamic_reshape' op needs sizes of shape [rank], has [1, 2]}}
  // expected-error@+1 {{'graph.dynamic_reshape' op failed to infer returned types}}
  %0 = graph.dynamic_reshape %x, %s : (tensor<4x6xf32>, tensor<1x2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  %s = graph.constant dense<[5, 5]> : tensor<2xi64>
  // expected-error@+2 {{'graph.dynamic_reshape' op needs as many elements as its operand [4, 6], has [5, 5]}}
  // expected-error@+1 {{'graph.dynamic_reshape' op failed to infer returned types}}
  %0 = graph.dynamic_reshape %x, %s : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<5x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  %s = graph.constant dense<[-1, 24]> : tensor<2xi64>
  // expected-error@+2 {{'graph.dynamic_reshape' op needs sizes of at least 0, has -1}}
  // expected-error@+1 {{'graph.dynamic_reshape' op failed to infer returned types}}
  %0 = graph.dynamic_reshape %x, %s : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %s: tensor<1xi64>) {
  // expected-error@+2 {{'graph.dynamic_broadcast' op needs a shape that its operand [4, 6] broadcasts to, has [?]}}
  // expected-error@+1 {{'graph.dynamic_broadcast' op failed to infer returned types}}
  %0 = graph.dynamic_broadcast %x, %s : (tensor<4x6xf32>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %s: tensor<2xi64>) {
  // expected-error@+2 {{'graph.dynamic_slice' op needs starts, sizes and steps of at least 1, one of each for a dimension of [4, 6]}}
  // expected-error@+1 {{'graph.dynamic_slice' op failed to infer returned types}}
  %0 = graph.dynamic_slice %x, %s, %s {steps = array<i64: 1, -1>} : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %s: tensor<2xi64>) {
  %n = graph.constant dense<[5, 6]> : tensor<2xi64>
  // expected-error@+2 {{'graph.dynamic_slice' op needs sizes within those of its operand [4, 6], has [5, 6]}}
  // expected-error@+1 {{'graph.dynamic_slice' op failed to infer returned types}}
  %0 = graph.dynamic_slice %x, %s, %n {steps = array<i64: 1, 1>} : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<5x6xf32>
  return
}

// -----

func.func @f(%a: tensor<f32>, %n: tensor<2xi64>) {
  // expected-error@+2 {{'graph.dynamic_range' op needs a scalar size, has one of shape [2]}}
  // expected-error@+1 {{'graph.dynamic_range' op failed to infer returned types}}
  %0 = graph.dynamic_range %a, %a, %n : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%a: tensor<f32>, %b: tensor<f64>, %n: tensor<i64>) {
  // expected-error@+2 {{'graph.dynamic_range' op needs a start and a step of one element type}}
  // expected-error@+1 {{'graph.dynamic_range' op failed to infer returned types}}
  %0 = graph.dynamic_range %a, %b, %n : (tensor<f32>, tensor<f64>, tensor<i64>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %n: tensor<2xi64>) {
  // expected-error@+2 {{'graph.nonzero' op needs a scalar count, has one of shape [2]}}
  // expected-error@+1 {{'graph.nonzero' op failed to infer returned types}}
  %0 = graph.nonzero %x, %n : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x2xi64>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{'graph.unique' op needs an axis in [0, 2) for an operand of rank 2, has 2}}
  // expected-error@+1 {{'graph.unique' op failed to infer returned types}}
  %0:4 = graph.unique %x {axis = 2 : i64} : (tensor<4x6xf32>) -> (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<i64>)
  return
}

// -----

func.func @f(%b: tensor<1x9x4xf32>, %s: tensor<1x2x8xf32>, %n: tensor<i64>, %t: tensor<f32>) {
  // expected-error@+2 {{'graph.non_max_suppression' op needs boxes [batches, n, 4] and scores [batches, classes, n], has [1, 9, 4] and [1, 2, 8]}}
  // expected-error@+1 {{'graph.non_max_suppression' op failed to infer returned types}}
  %0:2 = graph.non_max_suppression %b, %s, %n, %t, %t {limit = 5 : i64}
    : (tensor<1x9x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<10x3xi64>, tensor<i64>)
  return
}
