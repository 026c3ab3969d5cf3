// Images go to nhwc with two transposes at the ends of the graph; weights are repacked by ops on parameters.
// RUN: plim-opt %s --graph-assign-layouts --split-input-file | FileCheck %s

// Between convolutions, elementwise ops, pools and resizes no transpose is left.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<1x3x16x16xf32>) -> tensor<1x8x16x16xf32> {
  // CHECK: %[[X:.*]] = graph.transpose %{{.*}} {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x16x16xf32>)
  // CHECK: graph.conv %[[X]], %{{.*}} {kernel = array<i64: 3, 3>, layout = #graph.image_layout<nhwc>, pads = array<i64: 1, 1, 1, 1>}
  // CHECK-NOT: graph.transpose
  // CHECK: graph.add
  // CHECK: graph.pool max %{{.*}} {kernel = array<i64: 2, 2>, layout = #graph.image_layout<nhwc>
  // CHECK: graph.resize nearest %{{.*}} {layout = #graph.image_layout<nhwc>, scales
  // CHECK: %[[O:.*]] = graph.transpose %{{.*}} {permutation = array<i64: 0, 3, 1, 2>}
  // CHECK-NEXT: return %[[O]]
  %w = graph.parameter "w" {file = "m.onnx", bytes = 864 : i64} : tensor<8x3x3x3xf32>
  %c = graph.parameter "c" {file = "m.onnx", bytes = 32 : i64} : tensor<8x1x1xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} :
      (tensor<1x3x16x16xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x16x16xf32>
  %1 = graph.add %0, %c : (tensor<1x8x16x16xf32>, tensor<8x1x1xf32>) -> tensor<1x8x16x16xf32>
  %2 = graph.pool max %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} :
      (tensor<1x8x16x16xf32>) -> tensor<1x8x8x8xf32>
  %3 = graph.resize nearest %2 {scales = array<f64: 2.0, 2.0>} : (tensor<1x8x8x8xf32>) -> tensor<1x8x16x16xf32>
  return %3 : tensor<1x8x16x16xf32>
}

// -----

// A filter [O, I, kh, kw] becomes the packed matrix [kh * kw * I, O]; a depthwise one [kh, kw, C]; a grouped one a matrix.
// CHECK-LABEL: func.func @filters
func.func @filters(%x: tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32> {
  // CHECK: %[[T:.*]] = graph.transpose %{{.*}} {permutation = array<i64: 2, 3, 1, 0>} : (tensor<8x8x3x3xf32>) -> tensor<3x3x8x8xf32>
  // CHECK: %[[M:.*]] = graph.reshape %[[T]] {{.*}} -> tensor<72x8xf32>
  // CHECK: graph.pack %[[M]] <panel32>
  // CHECK: graph.transpose %{{.*}} {permutation = array<i64: 1, 2, 0>} : (tensor<8x3x3xf32>) -> tensor<3x3x8xf32>
  // CHECK: graph.reshape %{{.*}} -> tensor<36x8xf32>
  // CHECK: graph.conv {{.*}} tensor<36x8xf32>) -> tensor<1x16x16x8xf32>
  %w = graph.parameter "w" {file = "m.onnx", bytes = 2304 : i64} : tensor<8x8x3x3xf32>
  %d = graph.parameter "d" {file = "m.onnx", bytes = 288 : i64} : tensor<8x1x3x3xf32>
  %g = graph.parameter "g" {file = "m.onnx", bytes = 1152 : i64} : tensor<8x4x3x3xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} :
      (tensor<1x8x16x16xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x16x16xf32>
  %1 = graph.conv %0, %d {pads = array<i64: 1, 1, 1, 1>, groups = 8 : i64} :
      (tensor<1x8x16x16xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x16x16xf32>
  %2 = graph.conv %1, %g {pads = array<i64: 1, 1, 1, 1>, groups = 2 : i64} :
      (tensor<1x8x16x16xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x16x16xf32>
  return %2 : tensor<1x8x16x16xf32>
}

// -----

// A squeeze-and-excite block: the pooled branch of one element a channel needs no transposes either.
// CHECK-LABEL: func.func @squeeze
func.func @squeeze(%x: tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32> {
  // CHECK: graph.conv
  // CHECK-NOT: graph.transpose {{.*}} (tensor<1x
  // CHECK: graph.reduce mean %{{.*}} {axes = array<i64: 1, 2>}
  // CHECK-NOT: graph.transpose {{.*}} (tensor<1x
  // CHECK: graph.conv
  // CHECK-NOT: graph.transpose {{.*}} (tensor<1x
  // CHECK: graph.mul %{{.*}} : (tensor<1x16x16x8xf32>, tensor<1x1x1x8xf32>)
  // CHECK: graph.transpose
  // CHECK-NEXT: return
  %w = graph.parameter "w" {file = "m.onnx", bytes = 256 : i64} : tensor<8x8x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  %1 = graph.reduce mean %0 {axes = array<i64: 2, 3>} : (tensor<1x8x16x16xf32>) -> tensor<1x8x1x1xf32>
  %2 = graph.conv %1, %w : (tensor<1x8x1x1xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x1x1xf32>
  %3 = graph.mul %0, %2 : (tensor<1x8x16x16xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  return %3 : tensor<1x8x16x16xf32>
}

// -----

// Concatenations move to the last axis; a reduction to a matrix needs no transpose.
// CHECK-LABEL: func.func @concat
func.func @concat(%x: tensor<1x8x16x16xf32>) -> tensor<1x16xf32> {
  // CHECK: graph.concat %{{.*}} {axis = 3 : i64}
  // CHECK-NEXT: %[[R:.*]] = graph.reduce mean %{{.*}} {axes = array<i64: 1, 2>, keep_dims = false}
  // CHECK-NEXT: return %[[R]]
  %w = graph.parameter "w" {file = "m.onnx", bytes = 256 : i64} : tensor<8x8x1x1xf32>
  %v = graph.parameter "v" {file = "m.onnx", bytes = 256 : i64} : tensor<8x8x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  %1 = graph.conv %x, %v : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<1x8x16x16xf32>, tensor<1x8x16x16xf32>) -> tensor<1x16x16x16xf32>
  %3 = graph.reduce mean %2 {axes = array<i64: 2, 3>, keep_dims = false} : (tensor<1x16x16x16xf32>) -> tensor<1x16xf32>
  return %3 : tensor<1x16xf32>
}

// -----

// CHECK-LABEL: func.func @transposed_conv
func.func @transposed_conv(%x: tensor<1x8x16x16xf32>) -> tensor<1x4x32x32xf32> {
  // CHECK: graph.transpose %{{.*}} {permutation = array<i64: 0, 2, 3, 1>} : (tensor<8x4x2x2xf32>) -> tensor<8x2x2x4xf32>
  // CHECK: graph.reshape %{{.*}} -> tensor<8x16xf32>
  // CHECK: graph.pack
  // CHECK: graph.conv_transpose %{{.*}} -> tensor<1x32x32x4xf32>
  %w = graph.parameter "w" {file = "m.onnx", bytes = 512 : i64} : tensor<8x4x2x2xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>} :
      (tensor<1x8x16x16xf32>, tensor<8x4x2x2xf32>) -> tensor<1x4x32x32xf32>
  return %0 : tensor<1x4x32x32xf32>
}

// -----

// A weight on the right of a product is packed, transposed or not; a computed matrix is not, nor is a dequantised weight.
// CHECK-LABEL: func.func @matmul
func.func @matmul(%x: tensor<4x8xf32>, %y: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // CHECK: graph.transpose %{{.*}} {permutation = array<i64: 1, 0>}
  // CHECK: graph.pack
  // CHECK: graph.matmul %{{.*}} : (tensor<4x8xf32>, tensor<8x8xf32, #graph.layout<panel32>>)
  // CHECK: graph.matmul %{{.*}} : (tensor<4x8xf32>, tensor<8x8xf32>)
  // CHECK: graph.matmul %{{.*}} : (tensor<4x8xf32>, tensor<8x8xf32>)
  %w = graph.parameter "w" {file = "m.onnx", bytes = 256 : i64} : tensor<8x8xf32>
  %q = graph.parameter "q" {file = "m.onnx", bytes = 64 : i64} : tensor<8x8xi8>
  %f = graph.cast %q {to = f32} : (tensor<8x8xi8>) -> tensor<8x8xf32>
  %0 = graph.matmul %x, %w {transpose_rhs = true} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = graph.matmul %0, %y : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = graph.matmul %1, %f : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// An embedding that is the matrix of the last product too is read as it is stored by both: packed, it would lie in memory
// twice.
// CHECK-LABEL: func.func @tied_embedding
// CHECK-NOT: graph.pack
// CHECK: graph.gather
// CHECK: graph.matmul %{{.*}}, %{{.*}} {transpose_rhs = true} : (tensor<2x8xf32>, tensor<50x8xf32>)
func.func @tied_embedding(%ids: tensor<2xi64>) -> tensor<2x50xf32> {
  %w = graph.parameter "w" {file = "m.onnx", bytes = 1600 : i64} : tensor<50x8xf32>
  %0 = graph.gather %w, %ids {axis = 0 : i64} : (tensor<50x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  %1 = graph.matmul %0, %w {transpose_rhs = true} : (tensor<2x8xf32>, tensor<50x8xf32>) -> tensor<2x50xf32>
  return %1 : tensor<2x50xf32>
}

// -----

// A computed filter keeps its convolution in nchw.
// CHECK-LABEL: func.func @computed_filter
func.func @computed_filter(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // CHECK-NEXT: graph.conv %{{.*}}, %{{.*}} : (
  %0 = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %0 : tensor<1x4x6x6xf32>
}

// -----

// Convolutions and products of 8-bit integers too; their filters stay bytes.
// CHECK-LABEL: func.func @integers
// CHECK: %[[P:.*]] = graph.pack %{{.*}} <panel32> : (tensor<54x8xi8>) -> tensor<54x8xi8, #graph.layout<panel32>>
// CHECK: graph.integer_conv %{{.*}}, %[[P]] input_zero %arg1 {kernel = array<i64: 3, 3>, layout = #graph.image_layout<nhwc>, pads = array<i64: 1, 1, 1, 1>}
// CHECK: graph.integer_conv %{{.*}} (tensor<1x9x9x8xui8>, tensor<3x3x8xi8>) -> tensor<1x9x9x8xi32>
// CHECK: %[[M:.*]] = graph.pack %{{.*}} <panel32> : (tensor<9x16xui8>)
// CHECK: graph.integer_matmul %{{.*}}, %[[M]]
func.func @integers(%x: tensor<1x6x9x9xui8>, %zero: tensor<ui8>) -> tensor<1x8x9x16xi32> {
  %f = graph.parameter "f" {file = "m.onnx", bytes = 432 : i64} : tensor<8x6x3x3xi8>
  %d = graph.parameter "d" {file = "m.onnx", bytes = 72 : i64} : tensor<8x1x3x3xi8>
  %w = graph.parameter "w" {file = "m.onnx", bytes = 144 : i64} : tensor<9x16xui8>
  %0 = graph.integer_conv %x, %f input_zero %zero {pads = array<i64: 1, 1, 1, 1>} :
      (tensor<1x6x9x9xui8>, tensor<8x6x3x3xi8>, tensor<ui8>) -> tensor<1x8x9x9xi32>
  %1 = graph.cast %0 {to = ui8} : (tensor<1x8x9x9xi32>) -> tensor<1x8x9x9xui8>
  %2 = graph.integer_conv %1, %d {groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>} :
      (tensor<1x8x9x9xui8>, tensor<8x1x3x3xi8>) -> tensor<1x8x9x9xi32>
  %3 = graph.cast %2 {to = ui8} : (tensor<1x8x9x9xi32>) -> tensor<1x8x9x9xui8>
  %4 = graph.integer_matmul %3, %w : (tensor<1x8x9x9xui8>, tensor<9x16xui8>) -> tensor<1x8x9x16xi32>
  return %4 : tensor<1x8x9x16xi32>
}
