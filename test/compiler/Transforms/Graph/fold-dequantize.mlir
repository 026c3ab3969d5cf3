// Weights stay as narrow as they are stored until a product multiplies them or rows of them are picked.
// RUN: plim-opt %s --split-input-file --graph-fold-dequantize | FileCheck %s

// One scale a column; bias and activation come along.
// CHECK-LABEL: func.func @columns
// CHECK: %[[W:.*]] = graph.parameter "w" {{.*}} : tensor<64x32xi8>
// CHECK: %[[S:.*]] = graph.parameter "s" {{.*}} : tensor<1x32xf32>
// CHECK-NOT: graph.cast
// CHECK: graph.quantized_matmul %{{.*}}, %[[W]] scale %[[S]] bias %{{.*}} {activation = #graph.activation<relu>}
func.func @columns(%x: tensor<4x64xf32>, %b: tensor<32xf32>) -> tensor<4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<64x32xi8>
  %s = graph.parameter "s" {file = "m.bin", offset = 2048 : i64, bytes = 128 : i64} : tensor<1x32xf32>
  %f = graph.cast %w {to = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
  %m = graph.mul %f, %s : (tensor<64x32xf32>, tensor<1x32xf32>) -> tensor<64x32xf32>
  %y = graph.matmul %x, %m bias %b {activation = #graph.activation<relu>} :
      (tensor<4x64xf32>, tensor<64x32xf32>, tensor<32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// One scale for all and a zero point that is not zero, by way of i32; the weight is transposed.
// CHECK-LABEL: func.func @zero
// CHECK-DAG: %[[Z:.*]] = graph.constant dense<3> : tensor<1x32xui8>
// CHECK-DAG: %[[S:.*]] = graph.constant dense<5.000000e-01> : tensor<1x32xf32>
// CHECK-DAG: %[[T:.*]] = graph.transpose %{{.*}} : (tensor<32x64xui8>) -> tensor<64x32xui8>
// CHECK: graph.quantized_matmul %{{.*}}, %[[T]] scale %[[S]] zero %[[Z]]
func.func @zero(%x: tensor<2x4x64xf32>) -> tensor<2x4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<32x64xui8>
  %zero = graph.constant dense<3> : tensor<i32>
  %scale = graph.constant dense<0.5> : tensor<f32>
  %i = graph.cast %w {to = i32} : (tensor<32x64xui8>) -> tensor<32x64xi32>
  %c = graph.sub %i, %zero : (tensor<32x64xi32>, tensor<i32>) -> tensor<32x64xi32>
  %f = graph.cast %c {to = f32} : (tensor<32x64xi32>) -> tensor<32x64xf32>
  %m = graph.mul %f, %scale : (tensor<32x64xf32>, tensor<f32>) -> tensor<32x64xf32>
  %y = graph.matmul %x, %m {transpose_rhs = true} : (tensor<2x4x64xf32>, tensor<32x64xf32>) -> tensor<2x4x32xf32>
  return %y : tensor<2x4x32xf32>
}

// -----

// A zero point of 0 is none. One scale a row is a factor of the left side.
// CHECK-LABEL: func.func @rows
// CHECK: %[[R:.*]] = graph.reshape %{{.*}} : (tensor<64x1xf32>) -> tensor<64xf32>
// CHECK: %[[X:.*]] = graph.mul %arg0, %[[R]]
// CHECK: graph.quantized_matmul %[[X]], %{{[a-z0-9]*}} :
func.func @rows(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<64x32xi8>
  %s = graph.parameter "s" {file = "m.bin", offset = 2048 : i64, bytes = 256 : i64} : tensor<64x1xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %f = graph.cast %w {to = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
  %c = graph.sub %f, %zero : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %m = graph.mul %s, %c : (tensor<64x1xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %y = graph.matmul %x, %m : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// One scale and zero for 16 rows and a column.
// CHECK-LABEL: func.func @blocks
// CHECK: graph.quantized_matmul %{{.*}}, %{{.*}} scale %{{.*}} zero %{{.*}} : (tensor<4x64xf32>, tensor<64x32xi8>, tensor<4x32xf32>, tensor<4x32xi8>)
func.func @blocks(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<4x16x32xi8>
  %z = graph.parameter "z" {file = "m.bin", offset = 0 : i64, bytes = 128 : i64} : tensor<4x1x32xi8>
  %s = graph.parameter "s" {file = "m.bin", offset = 2048 : i64, bytes = 512 : i64} : tensor<4x1x32xf32>
  %f = graph.cast %w {to = f32} : (tensor<4x16x32xi8>) -> tensor<4x16x32xf32>
  %zf = graph.cast %z {to = f32} : (tensor<4x1x32xi8>) -> tensor<4x1x32xf32>
  %c = graph.sub %f, %zf : (tensor<4x16x32xf32>, tensor<4x1x32xf32>) -> tensor<4x16x32xf32>
  %m = graph.mul %c, %s : (tensor<4x16x32xf32>, tensor<4x1x32xf32>) -> tensor<4x16x32xf32>
  %r = graph.reshape %m {shape = array<i64: 64, 32>} : (tensor<4x16x32xf32>) -> tensor<64x32xf32>
  %y = graph.matmul %x, %r : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// Half floats need no scale.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: graph.cast
// CHECK: graph.quantized_matmul %{{.*}}, %{{.*}} : (tensor<4x64xf32>, tensor<64x32xbf16>) -> tensor<4x32xf32>
func.func @halves(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 4096 : i64} : tensor<64x32xbf16>
  %f = graph.cast %w {to = f32} : (tensor<64x32xbf16>) -> tensor<64x32xf32>
  %y = graph.matmul %x, %f : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// Rows are picked from the table and its scales before they are widened.
// CHECK-LABEL: func.func @table
// CHECK: %[[G:.*]] = graph.gather %{{.*}}, %arg0 : (tensor<1000x32xi8>, tensor<5xi64>) -> tensor<5x32xi8>
// CHECK: %[[F:.*]] = graph.cast %[[G]]
// CHECK: %[[S:.*]] = graph.gather %{{.*}}, %arg0 : (tensor<1000x1xf32>, tensor<5xi64>) -> tensor<5x1xf32>
// CHECK: graph.mul %[[F]], %[[S]]
func.func @table(%ids: tensor<5xi64>) -> tensor<5x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 32000 : i64} : tensor<1000x32xi8>
  %s = graph.parameter "s" {file = "m.bin", offset = 2048 : i64, bytes = 4000 : i64} : tensor<1000x1xf32>
  %f = graph.cast %w {to = f32} : (tensor<1000x32xi8>) -> tensor<1000x32xf32>
  %m = graph.mul %f, %s : (tensor<1000x32xf32>, tensor<1000x1xf32>) -> tensor<1000x32xf32>
  %y = graph.gather %m, %ids : (tensor<1000x32xf32>, tensor<5xi64>) -> tensor<5x32xf32>
  return %y : tensor<5x32xf32>
}

// -----

// So are slices; a scale that repeats is not cut.
// CHECK-LABEL: func.func @slice
// CHECK: %[[C:.*]] = graph.slice %{{.*}} : (tensor<1000x32xf16>) -> tensor<5x32xf16>
// CHECK: %[[F:.*]] = graph.cast %[[C]]
// CHECK: graph.mul %[[F]], %{{.*}} : (tensor<5x32xf32>, tensor<1x32xf32>)
func.func @slice() -> tensor<5x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 64000 : i64} : tensor<1000x32xf16>
  %s = graph.parameter "s" {file = "m.bin", offset = 2048 : i64, bytes = 128 : i64} : tensor<1x32xf32>
  %f = graph.cast %w {to = f32} : (tensor<1000x32xf16>) -> tensor<1000x32xf32>
  %m = graph.mul %f, %s : (tensor<1000x32xf32>, tensor<1x32xf32>) -> tensor<1000x32xf32>
  %y = graph.slice %m {starts = array<i64: 7, 0>, sizes = array<i64: 5, 32>} : (tensor<1000x32xf32>) -> tensor<5x32xf32>
  return %y : tensor<5x32xf32>
}

// -----

// A weight with two uses is kept narrow for both.
// CHECK-LABEL: func.func @twice
// CHECK: graph.gather %[[W:.*]], %arg1
// CHECK: graph.quantized_matmul
// CHECK-NOT: graph.matmul
func.func @twice(%x: tensor<4x32xf32>, %ids: tensor<5xi64>) -> (tensor<5x32xf32>, tensor<4x1000xf32>) {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 32000 : i64} : tensor<1000x32xi8>
  %s = graph.parameter "s" {file = "m.bin", offset = 2048 : i64, bytes = 4000 : i64} : tensor<1000x1xf32>
  %f = graph.cast %w {to = f32} : (tensor<1000x32xi8>) -> tensor<1000x32xf32>
  %m = graph.mul %f, %s : (tensor<1000x32xf32>, tensor<1000x1xf32>) -> tensor<1000x32xf32>
  %y = graph.gather %m, %ids : (tensor<1000x32xf32>, tensor<5xi64>) -> tensor<5x32xf32>
  %z = graph.matmul %x, %m {transpose_rhs = true} : (tensor<4x32xf32>, tensor<1000x32xf32>) -> tensor<4x1000xf32>
  return %y, %z : tensor<5x32xf32>, tensor<4x1000xf32>
}

// -----

// Left alone: a scale that is known in a run only.
// CHECK-LABEL: func.func @open_scale
// CHECK: graph.matmul
func.func @open_scale(%x: tensor<4x64xf32>, %s: tensor<1x32xf32>) -> tensor<4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<64x32xi8>
  %f = graph.cast %w {to = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
  %m = graph.mul %f, %s : (tensor<64x32xf32>, tensor<1x32xf32>) -> tensor<64x32xf32>
  %y = graph.matmul %x, %m : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// Left alone: one scale an element.
// CHECK-LABEL: func.func @every_element
// CHECK: graph.matmul
func.func @every_element(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<64x32xi8>
  %s = graph.parameter "s" {file = "m.bin", offset = 2048 : i64, bytes = 8192 : i64} : tensor<64x32xf32>
  %f = graph.cast %w {to = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
  %m = graph.mul %f, %s : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %y = graph.matmul %x, %m : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// Left alone: a zero point that is no integer of the weight's type.
// CHECK-LABEL: func.func @other_zero
// CHECK: graph.matmul
func.func @other_zero(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<64x32xi8>
  %zero = graph.constant dense<200.0> : tensor<f32>
  %scale = graph.constant dense<0.5> : tensor<f32>
  %f = graph.cast %w {to = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
  %c = graph.sub %f, %zero : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %m = graph.mul %c, %scale : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %y = graph.matmul %x, %m : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// Left alone: integers that are used on both sides of other arithmetic, and a gather along another axis.
// CHECK-LABEL: func.func @other_steps
// CHECK: graph.cast %{{.*}} : (tensor<64x32xi8>) -> tensor<64x32xf32>
// CHECK: graph.matmul
// CHECK: graph.gather %{{.*}} {axis = 1 : i64} : (tensor<64x32xf32>
func.func @other_steps(%x: tensor<4x64xf32>, %ids: tensor<5xi64>) -> (tensor<4x32xf32>, tensor<64x5xf32>) {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<64x32xi8>
  %f = graph.cast %w {to = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
  %e = graph.exp %f : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %y = graph.matmul %x, %e : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  %g = graph.gather %f, %ids {axis = 1 : i64} : (tensor<64x32xf32>, tensor<5xi64>) -> tensor<64x5xf32>
  return %y, %g : tensor<4x32xf32>, tensor<64x5xf32>
}

// -----

// A product of dequantised activations is one of integers; bias and activation follow the scale.
// CHECK-LABEL: func.func @integers
// CHECK: %[[I:.*]] = graph.integer_matmul %arg0, %{{.*}} lhs_zero %{{.*}} : (tensor<4x64xui8>, tensor<64x32xi8>, tensor<ui8>) -> tensor<4x32xi32>
// CHECK: %[[F:.*]] = graph.cast %[[I]]
// CHECK: %[[Y:.*]] = graph.mul %[[F]]
// CHECK: %[[B:.*]] = graph.add %[[Y]], %arg1
// CHECK: graph.relu %[[B]]
func.func @integers(%x: tensor<4x64xui8>, %b: tensor<32xf32>) -> tensor<4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<64x32xi8>
  %s = graph.parameter "s" {file = "m.bin", offset = 2048 : i64, bytes = 128 : i64} : tensor<32xf32>
  %xs = graph.constant dense<0.25> : tensor<f32>
  %xz = graph.constant dense<1.280000e+02> : tensor<f32>
  %c = graph.cast %x {to = f32} : (tensor<4x64xui8>) -> tensor<4x64xf32>
  %l = graph.sub %c, %xz : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %a = graph.mul %l, %xs : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %f = graph.cast %w {to = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
  %m = graph.mul %f, %s : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
  %y = graph.matmul %a, %m bias %b {activation = #graph.activation<relu>} :
      (tensor<4x64xf32>, tensor<64x32xf32>, tensor<32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// So is a convolution, whose filter has one scale a channel.
// CHECK-LABEL: func.func @convolution
// CHECK: %[[I:.*]] = graph.integer_conv %arg0, %{{.*}} input_zero %{{.*}} {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x9x9xui8>, tensor<8x4x3x3xi8>, tensor<ui8>) -> tensor<1x8x9x9xi32>
// CHECK: graph.cast %[[I]]
// CHECK-NOT: graph.conv
func.func @convolution(%x: tensor<1x4x9x9xui8>) -> tensor<1x8x9x9xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 288 : i64} : tensor<8x4x3x3xi8>
  %s = graph.parameter "s" {file = "m.bin", offset = 2048 : i64, bytes = 32 : i64} : tensor<8x1x1x1xf32>
  %b = graph.parameter "b" {file = "m.bin", offset = 2048 : i64, bytes = 32 : i64} : tensor<8xf32>
  %xs = graph.constant dense<0.25> : tensor<f32>
  %xz = graph.constant dense<1.280000e+02> : tensor<f32>
  %c = graph.cast %x {to = f32} : (tensor<1x4x9x9xui8>) -> tensor<1x4x9x9xf32>
  %l = graph.sub %c, %xz : (tensor<1x4x9x9xf32>, tensor<f32>) -> tensor<1x4x9x9xf32>
  %a = graph.mul %l, %xs : (tensor<1x4x9x9xf32>, tensor<f32>) -> tensor<1x4x9x9xf32>
  %f = graph.cast %w {to = f32} : (tensor<8x4x3x3xi8>) -> tensor<8x4x3x3xf32>
  %m = graph.mul %f, %s : (tensor<8x4x3x3xf32>, tensor<8x1x1x1xf32>) -> tensor<8x4x3x3xf32>
  %y = graph.conv %a, %m bias %b {pads = array<i64: 1, 1, 1, 1>} :
      (tensor<1x4x9x9xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>) -> tensor<1x8x9x9xf32>
  return %y : tensor<1x8x9x9xf32>
}

// -----

// Left to floats: activations with one scale a row, a filter with one scale an input channel.
// CHECK-LABEL: func.func @other_scales
// CHECK-NOT: graph.integer_
// CHECK: graph.quantized_matmul
// CHECK-NOT: graph.integer_
// CHECK: graph.conv
func.func @other_scales(%x: tensor<4x64xui8>, %i: tensor<1x4x9x9xui8>) -> (tensor<4x32xf32>, tensor<1x8x7x7xf32>) {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<64x32xi8>
  %v = graph.parameter "v" {file = "m.bin", offset = 0 : i64, bytes = 288 : i64} : tensor<8x4x3x3xi8>
  %s = graph.parameter "s" {file = "m.bin", offset = 2048 : i64, bytes = 16 : i64} : tensor<4x1x1xf32>
  %xs = graph.constant dense<[[0.25], [0.5], [1.0], [2.0]]> : tensor<4x1xf32>
  %one = graph.constant dense<0.25> : tensor<f32>
  %c = graph.cast %x {to = f32} : (tensor<4x64xui8>) -> tensor<4x64xf32>
  %a = graph.mul %c, %xs : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %f = graph.cast %w {to = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
  %y = graph.matmul %a, %f : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  %d = graph.cast %i {to = f32} : (tensor<1x4x9x9xui8>) -> tensor<1x4x9x9xf32>
  %e = graph.mul %d, %one : (tensor<1x4x9x9xf32>, tensor<f32>) -> tensor<1x4x9x9xf32>
  %g = graph.cast %v {to = f32} : (tensor<8x4x3x3xi8>) -> tensor<8x4x3x3xf32>
  %m = graph.mul %g, %s : (tensor<8x4x3x3xf32>, tensor<4x1x1xf32>) -> tensor<8x4x3x3xf32>
  %z = graph.conv %e, %m : (tensor<1x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x7x7xf32>
  return %y, %z : tensor<4x32xf32>, tensor<1x8x7x7xf32>
}

// -----

// Left to floats: 40,000 terms, the sum of which may pass i32.
// CHECK-LABEL: func.func @too_long
// CHECK-NOT: graph.integer_matmul
// CHECK: graph.quantized_matmul
func.func @too_long(%x: tensor<2x40000xui8>) -> tensor<2x4xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 160000 : i64} : tensor<40000x4xi8>
  %xs = graph.constant dense<0.25> : tensor<f32>
  %c = graph.cast %x {to = f32} : (tensor<2x40000xui8>) -> tensor<2x40000xf32>
  %a = graph.mul %c, %xs : (tensor<2x40000xf32>, tensor<f32>) -> tensor<2x40000xf32>
  %f = graph.cast %w {to = f32} : (tensor<40000x4xi8>) -> tensor<40000x4xf32>
  %y = graph.matmul %a, %f : (tensor<2x40000xf32>, tensor<40000x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
