// With `splits`, a launch says how splitting could cut it: the smallest piece of each axis, and what that reads.
// RUN: plim-opt %s --split-input-file --graph-to-plan="library-only splits" | FileCheck %s
// RUN: plim-opt %s --split-input-file --graph-to-plan=library-only | FileCheck %s --check-prefix=NONE
// NONE-NOT: #plan.split

// Windows of 3 rows every 2; the images of a batch of one are no axis.
// CHECK-LABEL: plan.program @main
// CHECK: plan.launch "pool{{.*}}splits [#plan.split<"axis1", extent = 8, min_piece = 1, concat, halos = [2, 1, 0, 1]>]
func.func @main(%x: tensor<1x16x4x8xf32>) -> tensor<1x8x2x8xf32> {
  %p = graph.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, layout = #graph.image_layout<nhwc>} :
      (tensor<1x16x4x8xf32>) -> tensor<1x8x2x8xf32>
  return %p : tensor<1x8x2x8xf32>
}

// -----

// Rows of the left side, all of the right one; a transposition is cut along each axis.
// CHECK-LABEL: plan.program @main
// CHECK: plan.launch "matmul{{.*}}splits [#plan.split<"axis0", extent = 8, min_piece = 1, concat, halos = [1, 0, 0, 1, 0, 0, 0, 1]>]
// CHECK: plan.launch "copy{{.*}}splits [#plan.split<"axis0", extent = 4, min_piece = 1, concat, halos = [1, 0, 0, 1]>, #plan.split<"axis1", extent = 8,
// CHECK: plan.launch "matmul{{.*}}splits [#plan.split<"axis0", extent = 4,
func.func @main(%x: tensor<8x4xf32>, %y: tensor<4x4xf32>, %z: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>) {
  %0 = graph.matmul %x, %y : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %2 = graph.matmul %1, %z : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0, %2 : tensor<8x4xf32>, tensor<4x4xf32>
}
