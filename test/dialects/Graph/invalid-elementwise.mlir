// Elementwise ops are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@+2 {{'graph.add' op needs operands that broadcast to one shape, has [4, 3] and [4, 2]}}
  // expected-error@+1 {{'graph.add' op failed to infer returned types}}
  %0 = graph.add %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<?xf32, #graph.bounds<[8 to 16]>>, %y: tensor<?xf32, #graph.bounds<[2 to 4]>>) {
  // expected-error@+2 {{'graph.add' op needs operands that broadcast to one shape, has [8 to 16] and [2 to 4]}}
  // expected-error@+1 {{'graph.add' op failed to infer returned types}}
  %0 = graph.add %x, %y : (tensor<?xf32, #graph.bounds<[8 to 16]>>, tensor<?xf32, #graph.bounds<[2 to 4]>>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{'graph.add' op requires the same element type for all operands}}
  %0 = graph.add %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+2 {{'graph.relu' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  // expected-error@+1 {{'graph.relu' op failed to infer returned types}}
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{'graph.exp' op operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %0 = graph.exp %x : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{'graph.select' op needs both values of one element type, has 'f32' and 'f16'}}
  %0 = graph.select %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<32x32xf32, #graph.layout<panel32>>) {
  // expected-error@+2 {{'graph.relu' op needs operands in row-major layout, has a packed one}}
  // expected-error@+1 {{'graph.relu' op failed to infer returned types}}
  %0 = graph.relu %x : (tensor<32x32xf32, #graph.layout<panel32>>) -> tensor<32x32xf32>
  return
}

// -----

// expected-error@+1 {{bounds of static dimension 0 need to be its size 4, have 1 to 4}}
func.func @f(%x: tensor<4xf32, #graph.bounds<[1 to 4]>>) {
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{bounds of dimension 0 need 0 <= low <= high, have 4 to 1}}
func.func @f(%x: tensor<?xf32, #graph.bounds<[4 to 1]>>) {
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{bounds need one interval a dimension: need 1, have 2}}
func.func @f(%x: tensor<?xf32, #graph.bounds<[1 to 4, 3]>>) {
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}
