// Pooling ops are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+2 {{'graph.pool' op needs 2 kernel sizes for 2 spatial dimensions, has 1}}
  // expected-error@+1 {{'graph.pool' op failed to infer returned types}}
  %0 = graph.pool max %x {kernel = array<i64: 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+2 {{'graph.pool' op needs a window of at most 8 in spatial dimension 0 (padding included), has 9}}
  // expected-error@+1 {{'graph.pool' op failed to infer returned types}}
  %0 = graph.pool max %x {kernel = array<i64: 9, 9>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32>
  return
}

// -----

func.func @f(%x: tensor<3x8xf32>) {
  // expected-error@+2 {{'graph.pool' op needs an input of rank 3 or more, has [3, 8]}}
  // expected-error@+1 {{'graph.pool' op failed to infer returned types}}
  %0 = graph.pool max %x {kernel = array<i64>} : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+2 {{'graph.resize' op needs 2 sizes or scales, one a spatial dimension, has 0 and 0}}
  // expected-error@+1 {{'graph.resize' op failed to infer returned types}}
  %0 = graph.resize linear %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+2 {{'graph.resize' op needs positive sizes and scales, has 0 and -1.00}}
  // expected-error@+1 {{'graph.resize' op failed to infer returned types}}
  %0 = graph.resize linear %x {scales = array<f64: 2.0, -1.0>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<3x8xf32>) {
  // expected-error@+2 {{'graph.resize' op needs an input of rank 3 or more, has [3, 8]}}
  // expected-error@+1 {{'graph.resize' op failed to infer returned types}}
  %0 = graph.resize linear %x {scales = array<f64: 2.0>} : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return
}
