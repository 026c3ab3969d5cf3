// Structured ops print and parse back to themselves; their result types are what inference gives.
// RUN: plim-opt %s | plim-opt | FileCheck %s
// RUN: plim-opt %s --mlir-print-op-generic | plim-opt | FileCheck %s

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<2x5x8xf32>, %b: tensor<8x16xf32>, %bias: tensor<16xf32>, %r: tensor<2x5x16xf32>)
    -> tensor<2x5x16xf32> {
  // CHECK: graph.pack %{{.*}} <panel32> : (tensor<8x16xf32>) -> tensor<8x16xf32, #graph.layout<panel32>>
  %0 = graph.pack %b <panel32> : (tensor<8x16xf32>) -> tensor<8x16xf32, #graph.layout<panel32>>
  // CHECK: graph.matmul %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} {activation = #graph.activation<relu>}
  %1 = graph.matmul %a, %0 bias %bias residual %r {activation = #graph.activation<relu>} :
      (tensor<2x5x8xf32>, tensor<8x16xf32, #graph.layout<panel32>>, tensor<16xf32>, tensor<2x5x16xf32>)
      -> tensor<2x5x16xf32>
  // CHECK: graph.matmul %{{.*}}, %{{.*}} {transpose_rhs = true} : (tensor<2x5x16xf32>, tensor<2x5x16xf32>) -> tensor<2x5x5xf32>
  %2 = graph.matmul %1, %1 {transpose_rhs = true} : (tensor<2x5x16xf32>, tensor<2x5x16xf32>) -> tensor<2x5x5xf32>
  return %1 : tensor<2x5x16xf32>
}

// CHECK-LABEL: func.func @convolutions
func.func @convolutions(%x: tensor<1x3x32x32xf32>, %w: tensor<8x3x3x3xf32>, %t: tensor<8x4x2x2xf32>)
    -> tensor<1x4x32x32xf32> {
  // CHECK: graph.conv %{{.*}}, %{{.*}} {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} :
      (tensor<1x3x32x32xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x16x16xf32>
  // CHECK: graph.conv_transpose
  %1 = graph.conv_transpose %0, %t {strides = array<i64: 2, 2>} :
      (tensor<1x8x16x16xf32>, tensor<8x4x2x2xf32>) -> tensor<1x4x32x32xf32>
  return %1 : tensor<1x4x32x32xf32>
}

// The nhwc forms: a filter matrix, a depthwise filter.
// CHECK-LABEL: func.func @nhwc
func.func @nhwc(%x: tensor<1x32x32x8xf32>, %w: tensor<72x16xf32>, %d: tensor<3x3x16xf32>) -> tensor<1x15x15x16xf32> {
  %0 = graph.conv %x, %w {kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, layout = #graph.image_layout<nhwc>} :
      (tensor<1x32x32x8xf32>, tensor<72x16xf32>) -> tensor<1x32x32x16xf32>
  // CHECK: groups = 16 : i64
  %1 = graph.conv %0, %d {kernel = array<i64: 3, 3>, groups = 16 : i64, strides = array<i64: 2, 2>,
      layout = #graph.image_layout<nhwc>} : (tensor<1x32x32x16xf32>, tensor<3x3x16xf32>) -> tensor<1x15x15x16xf32>
  return %1 : tensor<1x15x15x16xf32>
}

// CHECK-LABEL: func.func @images
func.func @images(%x: tensor<1x4x7x7xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: graph.pool max %{{.*}} {ceil = true, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>}
  %0 = graph.pool max %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, ceil = true} :
      (tensor<1x4x7x7xf32>) -> tensor<1x4x4x4xf32>
  // CHECK: graph.resize nearest %{{.*}} {coordinate_mode = #graph.coordinate_mode<asymmetric>, nearest_mode = #graph.nearest_mode<floor>, scales = array<f64: 2.000000e+00, 2.000000e+00>}
  %1 = graph.resize nearest %0 {scales = array<f64: 2.0, 2.0>, coordinate_mode = #graph.coordinate_mode<asymmetric>,
      nearest_mode = #graph.nearest_mode<floor>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x8x8xf32>
  return %1 : tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func.func @norms
func.func @norms(%x: tensor<2x8x4x4xf32>, %c: tensor<8xf32>, %v: tensor<4xf32>) -> tensor<2x8x4x4xf32> {
  // CHECK: graph.layer_norm %{{.*}} scale %{{.*}} bias %{{.*}} {axis = 3 : i64}
  %0 = graph.layer_norm %x scale %v bias %v {axis = 3 : i64} :
      (tensor<2x8x4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x8x4x4xf32>
  %1 = graph.rms_norm %0 scale %v {axis = 3 : i64} : (tensor<2x8x4x4xf32>, tensor<4xf32>) -> tensor<2x8x4x4xf32>
  %2 = graph.batch_norm %1, %c, %c, %c, %c :
      (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
  %3 = graph.group_norm %2, %c, %c {groups = 2 : i64} :
      (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
  %4 = graph.instance_norm %3, %c, %c : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
  return %4 : tensor<2x8x4x4xf32>
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<2x8x4xf32>) -> tensor<2x3x4xi64> {
  // CHECK: graph.reduce mean %{{.*}} {axes = array<i64: 1, 2>} : (tensor<2x8x4xf32>) -> tensor<2x1x1xf32>
  %0 = graph.reduce mean %x {axes = array<i64: 1, 2>} : (tensor<2x8x4xf32>) -> tensor<2x1x1xf32>
  // CHECK: graph.reduce log_sum_exp %{{.*}} {axes = array<i64: 0>, keep_dims = false}
  %1 = graph.reduce log_sum_exp %x {axes = array<i64: 0>, keep_dims = false} : (tensor<2x8x4xf32>) -> tensor<8x4xf32>
  // CHECK: graph.arg_reduce max
  %2 = graph.arg_reduce max %x {axis = 1 : i64} : (tensor<2x8x4xf32>) -> tensor<2x1x4xi64>
  %3 = graph.softmax %x {axis = 2 : i64, log = true} : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %4 = graph.cumsum %3 {axis = 1 : i64, reverse = true} : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %5:2 = graph.top_k %4 {k = 3 : i64, axis = 1 : i64} : (tensor<2x8x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xi64>)
  return %5#1 : tensor<2x3x4xi64>
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<1x8x128x64xf32>, %k: tensor<1x2x256x64xf32>, %m: tensor<128x256xi1>)
    -> tensor<1x8x128x64xf32> {
  // CHECK: graph.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} {algorithm = #graph.attention_algorithm<flash>, causal = true}
  %0 = graph.attention %q, %k, %k mask %m {algorithm = #graph.attention_algorithm<flash>, causal = true} :
      (tensor<1x8x128x64xf32>, tensor<1x2x256x64xf32>, tensor<1x2x256x64xf32>, tensor<128x256xi1>)
      -> tensor<1x8x128x64xf32>
  return %0 : tensor<1x8x128x64xf32>
}
