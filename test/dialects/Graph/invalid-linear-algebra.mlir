// Linear algebra ops are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@+2 {{'graph.matmul' op needs as many columns on the left as rows on the right, has [4, 3] and [4, 2]}}
  // expected-error@+1 {{'graph.matmul' op failed to infer returned types}}
  %0 = graph.matmul %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x3xf32>, %y: tensor<3x3x2xf32>) {
  // expected-error@+2 {{'graph.matmul' op needs operands that broadcast to one shape, has [2] and [3]}}
  // expected-error@+1 {{'graph.matmul' op failed to infer returned types}}
  %0 = graph.matmul %x, %y : (tensor<2x4x3xf32>, tensor<3x3x2xf32>) -> tensor<2x4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>, %y: tensor<4x2xf32>) {
  // expected-error@+2 {{'graph.matmul' op needs operands of rank 1 or more, has [] and [4, 2]}}
  // expected-error@+1 {{'graph.matmul' op failed to infer returned types}}
  %0 = graph.matmul %x, %y : (tensor<f32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %y: tensor<3x2xf16>) {
  // expected-error@+1 {{'graph.matmul' op needs operands of one element type, has 'f32' and 'f16'}}
  %0 = graph.matmul %x, %y : (tensor<4x3xf32>, tensor<3x2xf16>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %y: tensor<3x2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'graph.matmul' op needs a bias that broadcasts to [4, 2], has [3]}}
  %0 = graph.matmul %x, %y bias %b : (tensor<4x3xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %y: tensor<3x2xf32>, %b: tensor<2xf32>) {
  // expected-error@+1 {{'graph.matmul' op needs a residual of the result's type 'tensor<4x2xf32>', has 'tensor<2xf32>'}}
  %0 = graph.matmul %x, %y residual %b : (tensor<4x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32, #graph.layout<panel32>>, %y: tensor<3x2xf32>) {
  // expected-error@+1 {{'graph.matmul' op needs a left operand in row-major layout, has 'tensor<4x3xf32, #graph.layout<panel32>>'}}
  %0 = graph.matmul %x, %y : (tensor<4x3xf32, #graph.layout<panel32>>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %y: tensor<2x3xf32, #graph.layout<panel32>>) {
  // expected-error@+1 {{'graph.matmul' op needs a packed right operand to be [K, N], has one that is transposed}}
  %0 = graph.matmul %x, %y {transpose_rhs = true} : (tensor<4x3xf32>, tensor<2x3xf32, #graph.layout<panel32>>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3x2xf32>) {
  // expected-error@+2 {{'graph.pack' op needs a row-major matrix of static shape, has [4, 3, 2]}}
  // expected-error@+1 {{'graph.pack' op failed to infer returned types}}
  %0 = graph.pack %x <panel32> : (tensor<4x3x2xf32>) -> tensor<4x3x2xf32>
  return
}
