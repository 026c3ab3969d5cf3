// Attention written out becomes one op; what only looks like it stays.
// RUN: plim-opt %s --graph-fuse-attention --split-input-file | FileCheck %s

// Heads are split by reshapes and transposes; the key's transpose is undone.
// CHECK-LABEL: func.func @heads
// CHECK-SAME: %[[Q:.*]]: tensor<1x16x4x8xf32>, %[[K:.*]]: tensor<1x16x4x8xf32>, %[[V:.*]]: tensor<1x16x4x8xf32>, %[[M:.*]]: tensor<1x1x1x16xf32>
func.func @heads(%q0: tensor<1x16x4x8xf32>, %k0: tensor<1x16x4x8xf32>, %v0: tensor<1x16x4x8xf32>,
                 %mask: tensor<1x1x1x16xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK-DAG: %[[QT:.*]] = graph.transpose %[[Q]] {permutation = array<i64: 0, 2, 1, 3>}
  // CHECK-DAG: %[[KT:.*]] = graph.transpose %[[K]] {permutation = array<i64: 0, 2, 1, 3>}
  // CHECK-DAG: %[[VT:.*]] = graph.transpose %[[V]] {permutation = array<i64: 0, 2, 1, 3>}
  // CHECK: %[[O:.*]] = graph.attention %[[QT]], %[[KT]], %[[VT]] mask %[[M]] {scale = 5.000000e-01 : f64}
  // CHECK-NEXT: return %[[O]]
  %two = graph.constant dense<2.0> : tensor<f32>
  %q = graph.transpose %q0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x16x4x8xf32>) -> tensor<1x4x16x8xf32>
  %k = graph.transpose %k0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x16x4x8xf32>) -> tensor<1x4x8x16xf32>
  %v = graph.transpose %v0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x16x4x8xf32>) -> tensor<1x4x16x8xf32>
  %s = graph.matmul %q, %k : (tensor<1x4x16x8xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x16x16xf32>
  %d = graph.div %s, %two : (tensor<1x4x16x16xf32>, tensor<f32>) -> tensor<1x4x16x16xf32>
  %m = graph.add %d, %mask : (tensor<1x4x16x16xf32>, tensor<1x1x1x16xf32>) -> tensor<1x4x16x16xf32>
  %p = graph.softmax %m {axis = 3 : i64} : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %o = graph.matmul %p, %v : (tensor<1x4x16x16xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// Without scale or mask; rank 3 gets a batch of 1.
// CHECK-LABEL: func.func @plain
func.func @plain(%q: tensor<4x16x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x6xf32>) -> tensor<4x16x6xf32> {
  // CHECK: graph.attention {{.*}} {scale = 1.000000e+00 : f64} : (tensor<1x4x16x8xf32>, tensor<1x4x32x8xf32>, tensor<1x4x32x6xf32>) -> tensor<1x4x16x6xf32>
  // CHECK: graph.reshape {{.*}} -> tensor<4x16x6xf32>
  %s = graph.matmul %q, %k {transpose_rhs = true} : (tensor<4x16x8xf32>, tensor<4x32x8xf32>) -> tensor<4x16x32xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<4x16x32xf32>) -> tensor<4x16x32xf32>
  %o = graph.matmul %p, %v : (tensor<4x16x32xf32>, tensor<4x32x6xf32>) -> tensor<4x16x6xf32>
  return %o : tensor<4x16x6xf32>
}

// -----

// A mask that was taken for a bias or a residual of the scores is a mask again.
// CHECK-LABEL: func.func @mask_as_bias
func.func @mask_as_bias(%q: tensor<1x4x16x8xf32>, %k: tensor<1x4x16x8xf32>, %mask: tensor<16xf32>)
    -> tensor<1x4x16x8xf32> {
  // CHECK: graph.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} {scale = 1.000000e+00 : f64}
  %s = graph.matmul %q, %k bias %mask {transpose_rhs = true} :
      (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>, tensor<16xf32>) -> tensor<1x4x16x16xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %o = graph.matmul %p, %k : (tensor<1x4x16x16xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// A factor of the query is one of the scores.
// CHECK-LABEL: func.func @scaled_query
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x16x8xf32>, %[[K:.*]]: tensor
func.func @scaled_query(%q: tensor<1x4x16x8xf32>, %k: tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK: graph.attention %[[Q]], %[[K]], %[[K]] {scale = 2.500000e-01 : f64}
  %quarter = graph.constant dense<0.25> : tensor<1xf32>
  %0 = graph.mul %q, %quarter : (tensor<1x4x16x8xf32>, tensor<1xf32>) -> tensor<1x4x16x8xf32>
  %s = graph.matmul %0, %k {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x16xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %o = graph.matmul %p, %k : (tensor<1x4x16x16xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// A softmax over the rows is no attention.
// CHECK-LABEL: func.func @other_axis
func.func @other_axis(%q: tensor<1x4x16x8xf32>, %k: tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK-NOT: graph.attention
  %s = graph.matmul %q, %k {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x16xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %o = graph.matmul %p, %k : (tensor<1x4x16x16xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// Weights that are returned must be computed.
// CHECK-LABEL: func.func @weights_used
func.func @weights_used(%q: tensor<1x4x16x8xf32>, %k: tensor<1x4x16x8xf32>)
    -> (tensor<1x4x16x8xf32>, tensor<1x4x16x16xf32>) {
  // CHECK-NOT: graph.attention
  %s = graph.matmul %q, %k {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x16xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %o = graph.matmul %p, %k : (tensor<1x4x16x16xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %o, %p : tensor<1x4x16x8xf32>, tensor<1x4x16x16xf32>
}

// -----

// A scale a row is no scale.
// CHECK-LABEL: func.func @scale_a_row
func.func @scale_a_row(%q: tensor<1x4x16x8xf32>, %k: tensor<1x4x16x8xf32>, %r: tensor<16x1xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK-NOT: graph.attention
  %s = graph.matmul %q, %k {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x16xf32>
  %d = graph.mul %s, %r : (tensor<1x4x16x16xf32>, tensor<16x1xf32>) -> tensor<1x4x16x16xf32>
  %p = graph.softmax %d {axis = 3 : i64} : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %o = graph.matmul %p, %k : (tensor<1x4x16x16xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// Keys that repeat along the heads are left alone.
// CHECK-LABEL: func.func @repeated_keys
func.func @repeated_keys(%q: tensor<1x4x16x8xf32>, %k: tensor<1x1x16x8xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK-NOT: graph.attention
  %s = graph.matmul %q, %k {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x1x16x8xf32>) -> tensor<1x4x16x16xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %o = graph.matmul %p, %k : (tensor<1x4x16x16xf32>, tensor<1x1x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}
