// A stage runs in pieces of rows: windows at the ends keep their padding, rows of the piece before are joined with new ones,
// what is kept is joined at the end; a sum over all rows goes on from piece to piece.
// RUN: plim-opt %s --split-input-file --graph-split="plan='pieces=2 keep=conv#2@1'" | FileCheck %s --check-prefix=CONV
// RUN: plim-opt %s --split-input-file --graph-split="plan='pieces=2 keep=reduce@1; pieces=2 keep=mul@1'" | FileCheck %s --check-prefix=MEAN
// RUN: plim-opt %s --split-input-file --graph-split="plan='pieces=1 parts=2 keep=conv#2@1'" | FileCheck %s --check-prefix=PARTS

// CONV-LABEL: func.func @chain
// The first piece: with 4 rows of x there are 3 of the first convolution and 2 of the second.
// CONV: %[[X0:.*]] = graph.slice %arg0 {sizes = array<i64: 1, 4, 8, 2>, starts = array<i64: 0, 0, 0, 0>}
// CONV: %[[A0:.*]] = graph.conv %[[X0]], %{{.*}}pads = array<i64: 1, 1, 0, 1>{{.*}} -> tensor<1x3x8x4xf32>
// CONV: %[[B0:.*]] = graph.conv %[[A0]], %{{.*}}pads = array<i64: 1, 1, 0, 1>{{.*}} -> tensor<1x2x8x4xf32>
// CONV: %[[OLD:.*]] = graph.slice %[[A0]] {graph.copy, sizes = array<i64: 1, 2, 8, 4>, starts = array<i64: 0, 1, 0, 0>}
// CONV: %[[X1:.*]] = graph.slice %arg0 {sizes = array<i64: 1, 6, 8, 2>, starts = array<i64: 0, 2, 0, 0>}
// CONV: %[[A1:.*]] = graph.conv %[[X1]], %{{.*}}pads = array<i64: 0, 1, 1, 1>{{.*}} -> tensor<1x5x8x4xf32>
// CONV: %[[W:.*]] = graph.concat %[[OLD]], %[[A1]] {axis = 1 : i64}
// CONV: %[[B1:.*]] = graph.conv %[[W]], %{{.*}}pads = array<i64: 0, 1, 1, 1>{{.*}} -> tensor<1x6x8x4xf32>
// CONV: %[[Y:.*]] = graph.concat %[[B0]], %[[B1]] {axis = 1 : i64}
// CONV: return %[[Y]]

// In parts, rows are made just before what reads them. Of the first part, row 3 is read again after all of it was: it is
// copied into the window of the second.
// PARTS-LABEL: func.func @chain
// PARTS: %[[A0:.*]] = graph.conv {{.*}}graph.piece = array<i64: 0, 1, 0, 4, 8>
// PARTS: %[[A1:.*]] = graph.conv {{.*}}graph.piece = array<i64: 0, 1, 4, 5, 8>
// PARTS: %[[B0:.*]] = graph.conv {{.*}}graph.piece = array<i64: 0, 1, 0, 4, 8>
// PARTS: %[[A2:.*]] = graph.conv {{.*}}graph.piece = array<i64: 0, 1, 5, 8, 8>
// PARTS: %[[OLD:.*]] = graph.slice %[[A0]] {sizes = array<i64: 1, 1, 8, 4>, starts = array<i64: 0, 3, 0, 0>}
// PARTS: %[[W:.*]] = graph.concat %[[OLD]], %[[A1]], %[[A2]] {axis = 1 : i64}
// PARTS: %[[B1:.*]] = graph.conv %[[W]], {{.*}}graph.piece = array<i64: 0, 1, 4, 8, 8>
// PARTS: graph.concat %[[B0]], %[[B1]] {axis = 1 : i64}

// MEAN-LABEL: func.func @chain
// MEAN: %[[S:.*]] = graph.partial_mean %{{.*}} {first = 0 : i64, {{.*}}rows = 8 : i64} : {{.*}} -> tensor<1x5x4xf32>
// MEAN: %[[M:.*]] = graph.partial_mean %{{.*}} sums %[[S]] {first = 2 : i64, {{.*}}rows = 8 : i64} : {{.*}} -> tensor<1x1x1x4xf32>
// MEAN: graph.mul %{{.*}}, %[[M]]
// MEAN: graph.mul %{{.*}}, %[[M]]
func.func @chain(%x: tensor<1x8x8x2xf32>) -> (tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>) {
  %v = graph.parameter "v" {file = "m.onnx", bytes = 288 : i64} : tensor<18x4xf32>
  %w = graph.parameter "w" {file = "m.onnx", bytes = 576 : i64} : tensor<36x4xf32>
  %0 = graph.conv %x, %v {kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, layout = #graph.image_layout<nhwc>} :
      (tensor<1x8x8x2xf32>, tensor<18x4xf32>) -> tensor<1x8x8x4xf32>
  %1 = graph.conv %0, %w {kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, layout = #graph.image_layout<nhwc>} :
      (tensor<1x8x8x4xf32>, tensor<36x4xf32>) -> tensor<1x8x8x4xf32>
  %2 = graph.reduce mean %1 {axes = array<i64: 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x1x1x4xf32>
  %3 = graph.mul %1, %2 : (tensor<1x8x8x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x8x8x4xf32>
  return %1, %3 : tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>
}
