// A nearest resize up joins the elementwise ops that read it; one that does not repeat whole elements, that others read
// too, or that stands alone stays.
// RUN: plim-opt %s --graph-fuse-elementwise --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @joins
// CHECK: graph.fused
// CHECK: graph.resize nearest
// CHECK: graph.add
// CHECK: graph.relu
// CHECK: graph.yield
func.func @joins(%x: tensor<1x4x4x8xf32>, %y: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %r = graph.resize nearest %x {sizes = array<i64: 8, 8>, coordinate_mode = #graph.coordinate_mode<asymmetric>, nearest_mode = #graph.nearest_mode<floor>, layout = #graph.image_layout<nhwc>} : (tensor<1x4x4x8xf32>) -> tensor<1x8x8x8xf32>
  %a = graph.add %r, %y : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %z = graph.relu %a : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %z : tensor<1x8x8x8xf32>
}

// -----

// CHECK-LABEL: func.func @rounds
// CHECK: graph.resize
// CHECK-NEXT: graph.fused
func.func @rounds(%x: tensor<1x4x4x8xf32>, %y: tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32> {
  %r = graph.resize nearest %x {sizes = array<i64: 6, 6>, coordinate_mode = #graph.coordinate_mode<asymmetric>, nearest_mode = #graph.nearest_mode<floor>, layout = #graph.image_layout<nhwc>} : (tensor<1x4x4x8xf32>) -> tensor<1x6x6x8xf32>
  %a = graph.add %r, %y : (tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32>
  %z = graph.relu %a : (tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32>
  return %z : tensor<1x6x6x8xf32>
}

// -----

// CHECK-LABEL: func.func @shared
// CHECK: graph.resize
// CHECK-NEXT: graph.fused
func.func @shared(%x: tensor<1x4x4x8xf32>, %y: tensor<1x8x8x8xf32>) -> (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) {
  %r = graph.resize nearest %x {sizes = array<i64: 8, 8>, coordinate_mode = #graph.coordinate_mode<asymmetric>, nearest_mode = #graph.nearest_mode<floor>, layout = #graph.image_layout<nhwc>} : (tensor<1x4x4x8xf32>) -> tensor<1x8x8x8xf32>
  %a = graph.add %r, %y : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %z = graph.relu %a : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %z, %r : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>
}

// -----

// CHECK-LABEL: func.func @alone
// CHECK-NOT: graph.fused
// CHECK: graph.resize
func.func @alone(%x: tensor<1x4x4x8xf32>) -> tensor<1x8x8x8xf32> {
  %r = graph.resize nearest %x {sizes = array<i64: 8, 8>, coordinate_mode = #graph.coordinate_mode<asymmetric>, nearest_mode = #graph.nearest_mode<floor>, layout = #graph.image_layout<nhwc>} : (tensor<1x4x4x8xf32>) -> tensor<1x8x8x8xf32>
  return %r : tensor<1x8x8x8xf32>
}
