// Activations, norms and epilogues that exporters write out become attributes and single ops.
// RUN: plim-opt %s --graph-simplify --split-input-file | FileCheck %s

// x * clip(x + 3, 0, 6) / 6 after a convolution is its epilogue.
// CHECK-LABEL: func.func @hard_swish
func.func @hard_swish(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x6x6xf32> {
  // CHECK: %[[B:.*]] = graph.parameter "b"
  // CHECK: graph.conv %{{.*}}, %{{.*}} bias %[[B]] {activation = #graph.activation<hard_swish>}
  // CHECK-NEXT: return
  %w = graph.parameter "w" {file = "m.onnx", bytes = 432 : i64} : tensor<4x3x3x3xf32>
  %b = graph.parameter "b" {file = "m.onnx", bytes = 16 : i64} : tensor<4xf32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<1xf32>
  %0 = graph.conv %x, %w bias %b : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %1 = graph.add %0, %three : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
  %2 = graph.clip %1 {min = 0.0 : f64, max = 6.0 : f64} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %3 = graph.mul %0, %2 : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %4 = graph.div %3, %six : (tensor<1x4x6x6xf32>, tensor<1xf32>) -> tensor<1x4x6x6xf32>
  return %4 : tensor<1x4x6x6xf32>
}

// -----

// The same with another factor is not.
// CHECK-LABEL: func.func @not_hard_swish
func.func @not_hard_swish(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NOT: hard_swish
  // CHECK: graph.div
  %three = graph.constant dense<3.0> : tensor<f32>
  %five = graph.constant dense<5.0> : tensor<f32>
  %0 = graph.add %x, %three : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = graph.clip %0 {min = 0.0 : f64, max = 6.0 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.mul %x, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.div %2, %five : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @activations
func.func @activations(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-DAG: graph.silu
  // CHECK-DAG: graph.gelu
  // CHECK-DAG: graph.relu
  // CHECK-DAG: graph.clip %{{.*}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64}
  // CHECK-NOT: graph.{{mul|max|min|erf}}
  %0 = graph.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.mul %0, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %2 = graph.div %x, %root : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = graph.erf %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = graph.add %3, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %5 = graph.mul %x, %4 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = graph.mul %5, %half : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %7 = graph.max %x, %zero : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %8 = graph.abs %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %9 = graph.max %8, %zero : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %10 = graph.min %9, %six : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %1, %6, %7, %10 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The mean, the deviation, the scale and the bias are one layer_norm.
// CHECK-LABEL: func.func @layer_norm
func.func @layer_norm(%x: tensor<4x16x8xf32>) -> tensor<4x16x8xf32> {
  // CHECK: graph.layer_norm %{{.*}} scale %{{.*}} bias %{{.*}} {axis = 2 : i64, epsilon = 9.9999999747524271E-7 : f64}
  // CHECK-NEXT: return
  %two = graph.constant dense<2.0> : tensor<f32>
  %eps = graph.constant dense<1.0e-6> : tensor<f32>
  %s = graph.parameter "s" {file = "m.onnx", bytes = 32 : i64} : tensor<8xf32>
  %b = graph.parameter "b" {file = "m.onnx", bytes = 32 : i64} : tensor<8xf32>
  %0 = graph.reduce mean %x {axes = array<i64: 2>} : (tensor<4x16x8xf32>) -> tensor<4x16x1xf32>
  %1 = graph.sub %x, %0 : (tensor<4x16x8xf32>, tensor<4x16x1xf32>) -> tensor<4x16x8xf32>
  %2 = graph.pow %1, %two : (tensor<4x16x8xf32>, tensor<f32>) -> tensor<4x16x8xf32>
  %3 = graph.reduce mean %2 {axes = array<i64: 2>} : (tensor<4x16x8xf32>) -> tensor<4x16x1xf32>
  %4 = graph.add %3, %eps : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16x1xf32>
  %5 = graph.sqrt %4 : (tensor<4x16x1xf32>) -> tensor<4x16x1xf32>
  %6 = graph.div %1, %5 : (tensor<4x16x8xf32>, tensor<4x16x1xf32>) -> tensor<4x16x8xf32>
  %7 = graph.mul %6, %s : (tensor<4x16x8xf32>, tensor<8xf32>) -> tensor<4x16x8xf32>
  %8 = graph.add %7, %b : (tensor<4x16x8xf32>, tensor<8xf32>) -> tensor<4x16x8xf32>
  return %8 : tensor<4x16x8xf32>
}

// -----

// A mean over other axes than the deviation is no layer_norm.
// CHECK-LABEL: func.func @not_layer_norm
func.func @not_layer_norm(%x: tensor<4x16x8xf32>) -> tensor<4x16x8xf32> {
  // CHECK-NOT: layer_norm
  %eps = graph.constant dense<1.0e-6> : tensor<f32>
  %0 = graph.reduce mean %x {axes = array<i64: 1, 2>} : (tensor<4x16x8xf32>) -> tensor<4x1x1xf32>
  %1 = graph.sub %x, %0 : (tensor<4x16x8xf32>, tensor<4x1x1xf32>) -> tensor<4x16x8xf32>
  %2 = graph.mul %1, %1 : (tensor<4x16x8xf32>, tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %3 = graph.reduce mean %2 {axes = array<i64: 2>} : (tensor<4x16x8xf32>) -> tensor<4x16x1xf32>
  %4 = graph.add %3, %eps : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16x1xf32>
  %5 = graph.sqrt %4 : (tensor<4x16x1xf32>) -> tensor<4x16x1xf32>
  %6 = graph.div %1, %5 : (tensor<4x16x8xf32>, tensor<4x16x1xf32>) -> tensor<4x16x8xf32>
  return %6 : tensor<4x16x8xf32>
}

// -----

// A batch norm becomes factors of the filter and the bias; the activation follows it in.
// CHECK-LABEL: func.func @batch_norm
func.func @batch_norm(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x6x6xf32> {
  // CHECK: %[[S:.*]] = graph.div
  // CHECK: %[[SHIFT:.*]] = graph.sub
  // CHECK: %[[F:.*]] = graph.mul %{{.*}} : (tensor<4x3x3x3xf32>, tensor<4x1x1x1xf32>) -> tensor<4x3x3x3xf32>
  // CHECK: graph.conv %{{.*}}, %[[F]] bias %[[SHIFT]] {activation = #graph.activation<relu>}
  // CHECK-NEXT: return
  %w = graph.parameter "w" {file = "m.onnx", bytes = 432 : i64} : tensor<4x3x3x3xf32>
  %s = graph.parameter "s" {file = "m.onnx", bytes = 16 : i64} : tensor<4xf32>
  %b = graph.parameter "b" {file = "m.onnx", bytes = 16 : i64} : tensor<4xf32>
  %m = graph.parameter "m" {file = "m.onnx", bytes = 16 : i64} : tensor<4xf32>
  %v = graph.parameter "v" {file = "m.onnx", bytes = 16 : i64} : tensor<4xf32>
  %0 = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = graph.batch_norm %0, %s, %b, %m, %v :
      (tensor<1x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %2 = graph.relu %1 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %2 : tensor<1x4x6x6xf32>
}

// -----

// A convolution that is used twice keeps its weights: the batch norm becomes a factor and a summand.
// CHECK-LABEL: func.func @shared_conv
func.func @shared_conv(%x: tensor<1x3x8x8xf32>) -> (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) {
  // CHECK: graph.conv %{{.*}}, %{{.*}} : (
  // CHECK-NOT: batch_norm
  // CHECK: graph.mul
  // CHECK: graph.add
  %w = graph.parameter "w" {file = "m.onnx", bytes = 432 : i64} : tensor<4x3x3x3xf32>
  %s = graph.parameter "s" {file = "m.onnx", bytes = 16 : i64} : tensor<4xf32>
  %0 = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = graph.batch_norm %0, %s, %s, %s, %s :
      (tensor<1x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  return %0, %1 : tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>
}

// -----

// Constants of one element a channel or of one element go into the filter and the bias; others do not.
// CHECK-LABEL: func.func @affine
func.func @affine(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x6x6xf32> {
  // CHECK: graph.conv %{{.*}}, %{{.*}} bias %{{.*}} : (
  // CHECK-NEXT: %[[MAP:.*]] = graph.mul
  // CHECK-NEXT: return %[[MAP]]
  %w = graph.parameter "w" {file = "m.onnx", bytes = 432 : i64} : tensor<4x3x3x3xf32>
  %c = graph.parameter "c" {file = "m.onnx", bytes = 16 : i64} : tensor<4x1x1xf32>
  %map = graph.parameter "map" {file = "m.onnx", bytes = 144 : i64} : tensor<6x6xf32>
  %k = graph.constant dense<0.5> : tensor<1xf32>
  %0 = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = graph.mul %0, %k : (tensor<1x4x6x6xf32>, tensor<1xf32>) -> tensor<1x4x6x6xf32>
  %2 = graph.sub %1, %c : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %3 = graph.div %2, %c : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %4 = graph.mul %3, %map : (tensor<1x4x6x6xf32>, tensor<6x6xf32>) -> tensor<1x4x6x6xf32>
  return %4 : tensor<1x4x6x6xf32>
}

// -----

// A factor and a summand in front of a convolution without padding go into it; behind padding only the factor does.
// CHECK-LABEL: func.func @affine_input
func.func @affine_input(%x: tensor<1x3x8x8xf32>) -> (tensor<1x4x6x6xf32>, tensor<1x3x8x8xf32>) {
  // CHECK-DAG: %[[RELU:.*]] = graph.relu
  // CHECK-DAG: %[[SUM:.*]] = graph.reduce sum %{{.*}} {axes = array<i64: 1, 2, 3>, keep_dims = false} : (tensor<4x3x3x3xf32>) -> tensor<4xf32>
  // CHECK-DAG: graph.mul %{{.*}} : (tensor<4x3x3x3xf32>, tensor<1x3x1x1xf32>) -> tensor<4x3x3x3xf32>
  // CHECK-DAG: graph.conv %[[RELU]], %{{.*}} bias %[[SUM]]
  // CHECK-DAG: %[[TANH:.*]] = graph.tanh
  // CHECK-DAG: %[[G:.*]] = graph.mul %{{.*}} : (tensor<3x1x3x3xf32>, tensor<3x1x1x1xf32>) -> tensor<3x1x3x3xf32>
  // CHECK-DAG: graph.conv %[[TANH]], %[[G]] {
  %w = graph.parameter "w" {file = "m.onnx", bytes = 432 : i64} : tensor<4x3x3x3xf32>
  %d = graph.parameter "d" {file = "m.onnx", bytes = 108 : i64} : tensor<3x1x3x3xf32>
  %s = graph.parameter "s" {file = "m.onnx", bytes = 12 : i64} : tensor<3x1x1xf32>
  %t = graph.parameter "t" {file = "m.onnx", bytes = 12 : i64} : tensor<3x1x1xf32>
  %0 = graph.relu %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %1 = graph.mul %0, %s : (tensor<1x3x8x8xf32>, tensor<3x1x1xf32>) -> tensor<1x3x8x8xf32>
  %2 = graph.add %1, %t : (tensor<1x3x8x8xf32>, tensor<3x1x1xf32>) -> tensor<1x3x8x8xf32>
  %3 = graph.conv %2, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %4 = graph.tanh %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %5 = graph.mul %4, %s : (tensor<1x3x8x8xf32>, tensor<3x1x1xf32>) -> tensor<1x3x8x8xf32>
  %6 = graph.conv %5, %d {pads = array<i64: 1, 1, 1, 1>, groups = 3 : i64} :
      (tensor<1x3x8x8xf32>, tensor<3x1x3x3xf32>) -> tensor<1x3x8x8xf32>
  return %3, %6 : tensor<1x4x6x6xf32>, tensor<1x3x8x8xf32>
}

// -----

// A summand in front of padding stays.
// CHECK-LABEL: func.func @padded_input
func.func @padded_input(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: %[[A:.*]] = graph.add
  // CHECK: graph.conv %[[A]]
  %w = graph.parameter "w" {file = "m.onnx", bytes = 432 : i64} : tensor<4x3x3x3xf32>
  %t = graph.parameter "t" {file = "m.onnx", bytes = 12 : i64} : tensor<3x1x1xf32>
  %0 = graph.add %x, %t : (tensor<1x3x8x8xf32>, tensor<3x1x1xf32>) -> tensor<1x3x8x8xf32>
  %1 = graph.conv %0, %w {pads = array<i64: 1, 1, 1, 1>} :
      (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  return %1 : tensor<1x4x8x8xf32>
}

// -----

// Of two convolutions that are added the later one takes the other as residual, then the activation.
// CHECK-LABEL: func.func @residual
func.func @residual(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: %[[A:.*]] = graph.conv %{{.*}} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>)
  // CHECK: graph.conv %{{.*}}, %{{.*}} residual %[[A]] {activation = #graph.activation<relu>, pads
  // CHECK-NEXT: return
  %w = graph.parameter "w" {file = "m.onnx", bytes = 576 : i64} : tensor<4x4x3x3xf32>
  %p = graph.parameter "p" {file = "m.onnx", bytes = 64 : i64} : tensor<4x4x1x1xf32>
  %0 = graph.conv %x, %p : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} :
      (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %2 = graph.add %1, %0 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %3 = graph.relu %2 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %3 : tensor<1x4x8x8xf32>
}

// -----

// An activation before the residual stays in front of it.
// CHECK-LABEL: func.func @residual_after_activation
func.func @residual_after_activation(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: graph.matmul {{.*}} {activation = #graph.activation<relu>}
  // CHECK: graph.add
  %w = graph.parameter "w" {file = "m.onnx", bytes = 256 : i64} : tensor<8x8xf32>
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = graph.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.add %1, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @matmul
func.func @matmul(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK: graph.matmul %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} {activation = #graph.activation<gelu>, transpose_rhs = true}
  // CHECK-NEXT: return
  %w = graph.parameter "w" {file = "m.onnx", bytes = 256 : i64} : tensor<8x8xf32>
  %b = graph.parameter "b" {file = "m.onnx", bytes = 32 : i64} : tensor<8xf32>
  %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = graph.matmul %x, %t : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %1 = graph.add %b, %0 : (tensor<8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %2 = graph.add %1, %x : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %3 = graph.gelu %2 : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %3 : tensor<2x4x8xf32>
}

// -----

// Zero padding joins a convolution, also under a transpose; padding by the edge joins a max pool.
// CHECK-LABEL: func.func @pads
func.func @pads(%x: tensor<1x8x8x3xf32>) -> tensor<1x4x4x4xf32> {
  // CHECK-NOT: graph.pad
  // CHECK: graph.conv {{.*}} {pads = array<i64: 1, 1, 1, 1>}
  // CHECK: graph.pool max %{{.*}} {kernel = array<i64: 3, 3>, pads = array<i64: 0, 0, 1, 1>, strides = array<i64: 2, 2>}
  %w = graph.parameter "w" {file = "m.onnx", bytes = 432 : i64} : tensor<4x3x3x3xf32>
  %0 = graph.pad %x {low = array<i64: 0, 1, 1, 0>, high = array<i64: 0, 1, 1, 0>} :
      (tensor<1x8x8x3xf32>) -> tensor<1x10x10x3xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x10x10x3xf32>) -> tensor<1x3x10x10xf32>
  %2 = graph.conv %1, %w : (tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %3 = graph.pad %2 {low = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 0, 1, 1>, mode = #graph.pad_mode<edge>} :
      (tensor<1x4x8x8xf32>) -> tensor<1x4x9x9xf32>
  %4 = graph.pool max %3 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>} :
      (tensor<1x4x9x9xf32>) -> tensor<1x4x4x4xf32>
  return %4 : tensor<1x4x4x4xf32>
}

// -----

// Padding with another value than zero, and zero padding of a max pool, stay.
// CHECK-LABEL: func.func @pads_stay
func.func @pads_stay(%x: tensor<1x3x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x3x5x5xf32>) {
  // CHECK-COUNT-2: graph.pad
  %w = graph.parameter "w" {file = "m.onnx", bytes = 432 : i64} : tensor<4x3x3x3xf32>
  %0 = graph.pad %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, value = 1.0 : f64} :
      (tensor<1x3x8x8xf32>) -> tensor<1x3x10x10xf32>
  %1 = graph.conv %0, %w : (tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %2 = graph.pad %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} :
      (tensor<1x3x8x8xf32>) -> tensor<1x3x10x10xf32>
  %3 = graph.pool max %2 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} :
      (tensor<1x3x10x10xf32>) -> tensor<1x3x5x5xf32>
  return %1, %3 : tensor<1x4x8x8xf32>, tensor<1x3x5x5xf32>
}

// -----

// Transposes around elementwise ops, with weights of the inner layout between, cancel.
// CHECK-LABEL: func.func @transposes_cancel
func.func @transposes_cancel(%x: tensor<1x4x8x8xf32>, %y: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK-NOT: graph.transpose
  // CHECK: graph.mul %{{.*}} : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>)
  %c = graph.parameter "c" {file = "m.onnx", bytes = 16 : i64} : tensor<4xf32>
  %0 = graph.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  %1 = graph.transpose %y {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  %2 = graph.mul %0, %c : (tensor<1x8x8x4xf32>, tensor<4xf32>) -> tensor<1x8x8x4xf32>
  %3 = graph.add %2, %1 : (tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %4 = graph.transpose %3 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
  return %4 : tensor<1x4x8x8xf32>
}

// -----

// Of two operands that each broadcast to the result neither's transpose moves below it: they would take turns for ever.
// CHECK-LABEL: func.func @transposed_positions
func.func @transposed_positions(%keys: tensor<1x64xi64>, %ids: tensor<1x32xi64>) -> tensor<32x64xi1> {
  // CHECK: %[[T:.*]] = graph.{{transpose|reshape}} %arg1
  // CHECK: graph.less_equal %arg0, %[[T]]
  %0 = graph.transpose %ids {permutation = array<i64: 1, 0>} : (tensor<1x32xi64>) -> tensor<32x1xi64>
  %1 = graph.less_equal %keys, %0 : (tensor<1x64xi64>, tensor<32x1xi64>) -> tensor<32x64xi1>
  return %1 : tensor<32x64xi1>
}

// What every trip computes alike leaves the loop, from the innermost one on; what depends on what it carries stays, and so
// does what only repeats elements.
// CHECK-LABEL: func.func @invariants
// CHECK: graph.matmul
// CHECK: graph.loop
// CHECK: graph.loop
// CHECK-NOT: graph.matmul
// CHECK: graph.broadcast
// CHECK: graph.sub
func.func @invariants(%x: tensor<4x4xf32>, %z: tensor<4x4xf32>, %v: tensor<4xf32>, %n: tensor<i64>, %c: tensor<i1>) -> tensor<4x4xf32> {
  %0 = graph.loop %n while %c carry %z {max_trips = 9 : i64} : (tensor<i64>, tensor<i1>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %h: tensor<4x4xf32>):
    %1 = graph.loop %n while %c carry %h {max_trips = 9 : i64} : (tensor<i64>, tensor<i1>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    ^bb1(%j: tensor<i64>, %again: tensor<i1>, %k: tensor<4x4xf32>):
      %2 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %3 = graph.broadcast %v {shape = array<i64: 4, 4>} : (tensor<4xf32>) -> tensor<4x4xf32>
      %4 = graph.sub %k, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %5 = graph.max %4, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      graph.yield %again, %5 : tensor<i1>, tensor<4x4xf32>
    }
    graph.yield %go, %1 : tensor<i1>, tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// Bounds of integers keep their sign; one that no double holds stays an operand.
// CHECK-LABEL: func.func @integer_bounds
func.func @integer_bounds(%x: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
  // CHECK: graph.clip %{{.*}} {min = -1.000000e+00 : f64}
  // CHECK: graph.min
  %low = graph.constant dense<-1> : tensor<i64>
  %high = graph.constant dense<9223372036854775807> : tensor<i64>
  %0 = graph.max %x, %low : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  %1 = graph.min %x, %high : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  return %0, %1 : tensor<4xi64>, tensor<4xi64>
}
