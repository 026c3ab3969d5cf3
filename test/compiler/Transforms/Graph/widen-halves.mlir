// Products and their like of half floats are computed in f32 between casts.
// RUN: plim-opt %s --split-input-file --graph-widen-halves | FileCheck %s
// RUN: plim-opt %s --split-input-file --graph-widen-halves --graph-fold-dequantize | FileCheck %s --check-prefix=FOLD

// The weight goes back to the halves that it is stored as.
// CHECK-LABEL: func.func @product
// CHECK-DAG: %[[X:.*]] = graph.cast %arg0 {to = f32}
// CHECK-DAG: %[[W:.*]] = graph.cast %{{.*}} {to = f32} : (tensor<8x16xbf16>)
// CHECK-DAG: %[[B:.*]] = graph.cast %arg1 {to = f32}
// CHECK: %[[Y:.*]] = graph.matmul %[[X]], %[[W]] bias %[[B]] {activation = #graph.activation<relu>} : {{.*}} -> tensor<4x16xf32>
// CHECK: graph.cast %[[Y]] {to = bf16}
// FOLD-LABEL: func.func @product
// FOLD: graph.quantized_matmul %{{.*}}, %{{.*}} bias %{{.*}} : (tensor<4x8xf32>, tensor<8x16xbf16>, tensor<16xf32>)
func.func @product(%x: tensor<4x8xbf16>, %b: tensor<16xbf16>) -> tensor<4x16xbf16> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 256 : i64} : tensor<8x16xbf16>
  %y = graph.matmul %x, %w bias %b {activation = #graph.activation<relu>} :
      (tensor<4x8xbf16>, tensor<8x16xbf16>, tensor<16xbf16>) -> tensor<4x16xbf16>
  return %y : tensor<4x16xbf16>
}

// -----

// CHECK-LABEL: func.func @images
// CHECK: graph.conv {{.*}} -> tensor<1x4x6x?xf32, #graph.bounds<[1, 4, 6, 1 to 7]>>
// CHECK: graph.pool max %{{.*}} : (tensor<1x4x6x?xf32
func.func @images(%x: tensor<1x3x8x?xf16, #graph.bounds<[1, 3, 8, 3 to 9]>>, %w: tensor<4x3x3x3xf16>)
    -> tensor<1x4x3x?xf16, #graph.bounds<[1, 4, 3, 0 to 3]>> {
  %y = graph.conv %x, %w : (tensor<1x3x8x?xf16, #graph.bounds<[1, 3, 8, 3 to 9]>>, tensor<4x3x3x3xf16>)
      -> tensor<1x4x6x?xf16, #graph.bounds<[1, 4, 6, 1 to 7]>>
  %z = graph.pool max %y {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} :
      (tensor<1x4x6x?xf16, #graph.bounds<[1, 4, 6, 1 to 7]>>) -> tensor<1x4x3x?xf16, #graph.bounds<[1, 4, 3, 0 to 3]>>
  return %z : tensor<1x4x3x?xf16, #graph.bounds<[1, 4, 3, 0 to 3]>>
}

// -----

// Left alone: integers, f32, and ops whose kernels widen what they load.
// CHECK-LABEL: func.func @others
// CHECK-NOT: graph.cast
func.func @others(%x: tensor<4x4xf32>, %h: tensor<4x4xf16>, %i: tensor<4x4xi32>)
    -> (tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xi32>) {
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.softmax %h {axis = 1 : i64} : (tensor<4x4xf16>) -> tensor<4x4xf16>
  %2 = graph.matmul %i, %i : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xi32>
}
