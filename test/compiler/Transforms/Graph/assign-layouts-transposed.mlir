// A product of a transposed left side with a weight gets an explicit transpose, because kernels of packed weights walk rows;
// simplifying afterwards keeps it.
// RUN: plim-opt %s --graph-assign-layouts --graph-simplify | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 1>}
// CHECK: graph.matmul %[[T]], %{{.*}} : (tensor<2x6x64xf32>, tensor<64x32xf32, #graph.layout<panel32>>)
// CHECK-NOT: transpose_lhs
func.func @main(%x: tensor<2x64x6xf32>) -> tensor<2x6x32xf32> {
  %w = graph.parameter "w" {file = "w.bin", offset = 0 : i64, bytes = 8192 : i64} : tensor<64x32xf32>
  %y = graph.matmul %x, %w {transpose_lhs = true} : (tensor<2x64x6xf32>, tensor<64x32xf32>) -> tensor<2x6x32xf32>
  return %y : tensor<2x6x32xf32>
}
