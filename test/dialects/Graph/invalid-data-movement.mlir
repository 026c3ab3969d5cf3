// Data movement ops are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{'graph.transpose' op needs a permutation of 2 dimensions, has [0, 0]}}
  // expected-error@+1 {{'graph.transpose' op failed to infer returned types}}
  %0 = graph.transpose %x {permutation = array<i64: 0, 0>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{'graph.reshape' op needs a shape of as many elements as its operand [4, 6], has [5, -1]}}
  // expected-error@+1 {{'graph.reshape' op failed to infer returned types}}
  %0 = graph.reshape %x {shape = array<i64: 5, -1>} : (tensor<4x6xf32>) -> tensor<5x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{'graph.reshape' op needs sizes of at least 0 and at most one -1, has [-1, -1]}}
  // expected-error@+1 {{'graph.reshape' op failed to infer returned types}}
  %0 = graph.reshape %x {shape = array<i64: -1, -1>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{'graph.reshape' op needs a shape of as many elements as its operand [4, 6], has [23]}}
  // expected-error@+1 {{'graph.reshape' op failed to infer returned types}}
  %0 = graph.reshape %x {shape = array<i64: 23>} : (tensor<4x6xf32>) -> tensor<23xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{'graph.broadcast' op needs a shape that its operand [4, 6] broadcasts to, has [2, 5, 6]}}
  // expected-error@+1 {{'graph.broadcast' op failed to infer returned types}}
  %0 = graph.broadcast %x {shape = array<i64: 2, 5, 6>} : (tensor<4x6xf32>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{'graph.slice' op needs a slice inside dimension 1 of [4, 6], has start 4, size 3, step 1}}
  // expected-error@+1 {{'graph.slice' op failed to infer returned types}}
  %0 = graph.slice %x {starts = array<i64: 0, 4>, sizes = array<i64: 4, 3>} : (tensor<4x6xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{'graph.slice' op needs 2 starts, one a dimension, has 1: [0]}}
  // expected-error@+1 {{'graph.slice' op failed to infer returned types}}
  %0 = graph.slice %x {starts = array<i64: 0>, sizes = array<i64: 4, 3>} : (tensor<4x6xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<4x7xf32>) {
  // expected-error@+2 {{'graph.concat' op needs operands that differ in dimension 0 only, has [4, 6] and [4, 7]}}
  // expected-error@+1 {{'graph.concat' op failed to infer returned types}}
  %0 = graph.concat %x, %y {axis = 0 : i64} : (tensor<4x6xf32>, tensor<4x7xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{'graph.pad' op needs pads of at least 0, has -1 and 0 in dimension 0}}
  // expected-error@+1 {{'graph.pad' op failed to infer returned types}}
  %0 = graph.pad %x {low = array<i64: -1, 0>, high = array<i64: 0, 0>} : (tensor<4x6xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{'graph.pad' op needs reflected pads below the size of dimension 0 of [4, 6], has 4 and 0}}
  // expected-error@+1 {{'graph.pad' op failed to infer returned types}}
  %0 = graph.pad %x {low = array<i64: 4, 0>, high = array<i64: 0, 0>, mode = #graph.pad_mode<reflect>} : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.fill' op needs a static shape, has [?]}}
  %0 = graph.fill 0.0 : tensor<?xf32>
  return
}

// -----

// 2^64 elements are not none.
func.func @f(%x: tensor<0x6xf32>) {
  // expected-error@+2 {{'graph.reshape' op needs a shape of as many elements as its operand [0, 6], has [4294967296, 4294967296]}}
  // expected-error@+1 {{'graph.reshape' op failed to infer returned types}}
  %0 = graph.reshape %x {shape = array<i64: 4294967296, 4294967296>} : (tensor<0x6xf32>) -> tensor<4294967296x4294967296xf32>
  return
}
