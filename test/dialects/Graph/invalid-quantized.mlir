// Products of operands stored in few bits are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x3xf32>, %w: tensor<4x2xi8>) {
  // expected-error@+2 {{'graph.quantized_matmul' op needs a left operand [..., M, K] and a right one [K, N], has [4, 3] and [4, 2]}}
  // expected-error@+1 {{'graph.quantized_matmul' op failed to infer returned types}}
  %0 = graph.quantized_matmul %x, %w : (tensor<4x3xf32>, tensor<4x2xi8>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<6x2xi8>, %s: tensor<4x2xf32>) {
  // expected-error@+1 {{'graph.quantized_matmul' op needs a scale [G, 2] where G divides 6, has [4, 2]}}
  %0 = graph.quantized_matmul %x, %w scale %s : (tensor<4x6xf32>, tensor<6x2xi8>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<6x2xi8>, %s: tensor<2xf32>) {
  // expected-error@+1 {{'graph.quantized_matmul' op needs a scale [G, 2] where G divides 6, has [2]}}
  %0 = graph.quantized_matmul %x, %w scale %s : (tensor<4x6xf32>, tensor<6x2xi8>, tensor<2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<6x2xi8>, %z: tensor<1x2xui8>) {
  // expected-error@+1 {{'graph.quantized_matmul' op needs a zero of the element type of the right operand, 'i8', has 'ui8'}}
  %0 = graph.quantized_matmul %x, %w zero %z : (tensor<4x6xf32>, tensor<6x2xi8>, tensor<1x2xui8>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<6x2xi8>, %s: tensor<3x2xf32>, %z: tensor<1x2xi8>) {
  // expected-error@+1 {{'graph.quantized_matmul' op needs scale and zero of one shape, has [3, 2] and [1, 2]}}
  %0 = graph.quantized_matmul %x, %w scale %s zero %z :
      (tensor<4x6xf32>, tensor<6x2xi8>, tensor<3x2xf32>, tensor<1x2xi8>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<6x2xi8>, %b: tensor<1x2xf32>) {
  // expected-error@+1 {{'graph.quantized_matmul' op needs a bias [2], has [1, 2]}}
  %0 = graph.quantized_matmul %x, %w bias %b : (tensor<4x6xf32>, tensor<6x2xi8>, tensor<1x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xui8>, %w: tensor<5x2xi8>) {
  // expected-error@+2 {{'graph.integer_matmul' op needs operands [..., M, K] and [..., K, N], has [4, 6] and [5, 2]}}
  // expected-error@+1 {{'graph.integer_matmul' op failed to infer returned types}}
  %0 = graph.integer_matmul %x, %w : (tensor<4x6xui8>, tensor<5x2xi8>) -> tensor<4x2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x6xui8>, %w: tensor<6x2xi8>, %z: tensor<6xui8>) {
  // expected-error@+1 {{'graph.integer_matmul' op needs a lhs_zero that broadcasts to [4, 1], has [6]}}
  %0 = graph.integer_matmul %x, %w lhs_zero %z : (tensor<4x6xui8>, tensor<6x2xi8>, tensor<6xui8>) -> tensor<4x2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x6xui8>, %w: tensor<6x2xi8>, %z: tensor<ui8>) {
  // expected-error@+1 {{'graph.integer_matmul' op needs a rhs_zero of its operand's element type 'i8', has 'ui8'}}
  %0 = graph.integer_matmul %x, %w rhs_zero %z : (tensor<4x6xui8>, tensor<6x2xi8>, tensor<ui8>) -> tensor<4x2xi32>
  return
}

// -----

func.func @f(%x: tensor<1x3x9x9xui8>, %w: tensor<8x3x3x3xi8>, %z: tensor<3xui8>) {
  // expected-error@+1 {{'graph.integer_conv' op needs an input_zero of one number, has [3]}}
  %0 = graph.integer_conv %x, %w input_zero %z :
      (tensor<1x3x9x9xui8>, tensor<8x3x3x3xi8>, tensor<3xui8>) -> tensor<1x8x7x7xi32>
  return
}

// -----

func.func @f(%x: tensor<1x3x9x9xui8>, %w: tensor<8x3x3x3xi8>, %z: tensor<3xi8>) {
  // expected-error@+1 {{'graph.integer_conv' op needs a filter_zero of one number or one an output channel, has [3]}}
  %0 = graph.integer_conv %x, %w filter_zero %z :
      (tensor<1x3x9x9xui8>, tensor<8x3x3x3xi8>, tensor<3xi8>) -> tensor<1x8x7x7xi32>
  return
}
