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

// One head of keys for all queries.
// CHECK-LABEL: func.func @shared_keys
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x16x8xf32>, %[[K:.*]]: tensor<1x1x16x8xf32>
func.func @shared_keys(%q: tensor<1x4x16x8xf32>, %k: tensor<1x1x16x8xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK: graph.attention %[[Q]], %[[K]], %[[K]] {scale = 1.000000e+00 : f64}
  %s = graph.matmul %q, %k {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x1x16x8xf32>) -> tensor<1x4x16x16xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %o = graph.matmul %p, %k : (tensor<1x4x16x16xf32>, tensor<1x1x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// Keys that repeat along the batch are no heads that are shared.
// CHECK-LABEL: func.func @repeated_batch
func.func @repeated_batch(%q: tensor<2x4x16x8xf32>, %k: tensor<1x4x16x8xf32>) -> tensor<2x4x16x8xf32> {
  // CHECK-NOT: graph.attention
  %s = graph.matmul %q, %k {transpose_rhs = true} : (tensor<2x4x16x8xf32>, tensor<1x4x16x8xf32>) -> tensor<2x4x16x16xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<2x4x16x16xf32>) -> tensor<2x4x16x16xf32>
  %o = graph.matmul %p, %k : (tensor<2x4x16x16xf32>, tensor<1x4x16x8xf32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// Groups of heads as a dimension of their own, with open lengths: nothing is repeated, and the scale comes off the query
// below the reshape.
// CHECK-LABEL: func.func @grouped_heads
// CHECK-SAME: %[[Q:.*]]: tensor<1x6x?x8xf32{{.*}}>, %[[K:.*]]: tensor<1x2x?x8xf32{{.*}}>, %[[V:.*]]: tensor<1x2x?x8xf32{{.*}}>, %[[M:.*]]: tensor<?x?xf32>
func.func @grouped_heads(%q: tensor<1x6x?x8xf32, #graph.bounds<[1, 6, 1 to 16, 8]>>,
                         %k: tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 64, 8]>>,
                         %v: tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 64, 8]>>, %mask: tensor<?x?xf32>)
    -> tensor<1x6x?x8xf32, #graph.bounds<[1, 6, 1 to 16, 8]>> {
  // CHECK-NOT: graph.matmul
  // CHECK: %[[O:.*]] = graph.attention %[[Q]], %[[K]], %[[V]] mask %[[M]] {scale = 2.500000e-01 : f64}
  // CHECK-NEXT: return %[[O]]
  %quarter = graph.constant dense<0.25> : tensor<1xf32>
  %0 = graph.mul %q, %quarter : (tensor<1x6x?x8xf32, #graph.bounds<[1, 6, 1 to 16, 8]>>, tensor<1xf32>)
      -> tensor<1x6x?x8xf32, #graph.bounds<[1, 6, 1 to 16, 8]>>
  %1 = graph.reshape %0 {shape = array<i64: 1, 2, 3, -1, 8>} : (tensor<1x6x?x8xf32, #graph.bounds<[1, 6, 1 to 16, 8]>>)
      -> tensor<1x2x3x?x8xf32, #graph.bounds<[1, 2, 3, 1 to 16, 8]>>
  %2 = graph.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 64, 8]>>)
      -> tensor<1x2x8x?xf32, #graph.bounds<[1, 2, 8, 1 to 64]>>
  %3 = graph.reshape %2 {shape = array<i64: 1, 2, 1, 8, -1>} : (tensor<1x2x8x?xf32, #graph.bounds<[1, 2, 8, 1 to 64]>>)
      -> tensor<1x2x1x8x?xf32, #graph.bounds<[1, 2, 1, 8, 1 to 64]>>
  %4 = graph.matmul %1, %3 : (tensor<1x2x3x?x8xf32, #graph.bounds<[1, 2, 3, 1 to 16, 8]>>,
      tensor<1x2x1x8x?xf32, #graph.bounds<[1, 2, 1, 8, 1 to 64]>>) -> tensor<1x2x3x?x?xf32, #graph.bounds<[1, 2, 3, 1 to 16, 1 to 64]>>
  %5 = graph.add %4, %mask : (tensor<1x2x3x?x?xf32, #graph.bounds<[1, 2, 3, 1 to 16, 1 to 64]>>, tensor<?x?xf32>)
      -> tensor<1x2x3x?x?xf32, #graph.bounds<[1, 2, 3, 1 to ?, 1 to ?]>>
  %6 = graph.softmax %5 {axis = 4 : i64} : (tensor<1x2x3x?x?xf32, #graph.bounds<[1, 2, 3, 1 to ?, 1 to ?]>>)
      -> tensor<1x2x3x?x?xf32, #graph.bounds<[1, 2, 3, 1 to ?, 1 to ?]>>
  %7 = graph.reshape %v {shape = array<i64: 1, 2, 1, -1, 8>} : (tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 64, 8]>>)
      -> tensor<1x2x1x?x8xf32, #graph.bounds<[1, 2, 1, 1 to 64, 8]>>
  %8 = graph.matmul %6, %7 : (tensor<1x2x3x?x?xf32, #graph.bounds<[1, 2, 3, 1 to ?, 1 to ?]>>,
      tensor<1x2x1x?x8xf32, #graph.bounds<[1, 2, 1, 1 to 64, 8]>>) -> tensor<1x2x3x?x8xf32, #graph.bounds<[1, 2, 3, 1 to 16, 8]>>
  %9 = graph.reshape %8 {shape = array<i64: 1, 6, -1, 8>} : (tensor<1x2x3x?x8xf32, #graph.bounds<[1, 2, 3, 1 to 16, 8]>>)
      -> tensor<1x6x?x8xf32, #graph.bounds<[1, 6, 1 to 16, 8]>>
  return %9 : tensor<1x6x?x8xf32, #graph.bounds<[1, 6, 1 to 16, 8]>>
}

// -----

// Heads repeated by unsqueeze, expand and reshape (keys) and by a gather (values) are read where they are once.
// CHECK-LABEL: func.func @repeated_heads
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x16x8xf32>, %[[K:.*]]: tensor<1x2x32x8xf32>, %[[V:.*]]: tensor<1x2x32x8xf32>
func.func @repeated_heads(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x32x8xf32>, %v: tensor<1x2x32x8xf32>)
    -> tensor<1x4x16x8xf32> {
  // CHECK: %[[O:.*]] = graph.attention %[[Q]], %[[K]], %[[V]] {scale = 5.000000e-01 : f64}
  // CHECK-NEXT: return %[[O]]
  %0 = graph.reshape %k {shape = array<i64: 1, 2, 1, 32, 8>} : (tensor<1x2x32x8xf32>) -> tensor<1x2x1x32x8xf32>
  %1 = graph.broadcast %0 {shape = array<i64: 1, 2, 2, 32, 8>} : (tensor<1x2x1x32x8xf32>) -> tensor<1x2x2x32x8xf32>
  %2 = graph.reshape %1 {shape = array<i64: 1, 4, 32, 8>} : (tensor<1x2x2x32x8xf32>) -> tensor<1x4x32x8xf32>
  %3 = graph.transpose %2 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x4x32x8xf32>) -> tensor<1x4x8x32xf32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %4 = graph.mul %3, %half : (tensor<1x4x8x32xf32>, tensor<f32>) -> tensor<1x4x8x32xf32>
  %heads = graph.constant dense<[0, 0, 1, 1]> : tensor<4xi64>
  %5 = graph.gather %v, %heads {axis = 1 : i64} : (tensor<1x2x32x8xf32>, tensor<4xi64>) -> tensor<1x4x32x8xf32>
  %s = graph.matmul %q, %4 : (tensor<1x4x16x8xf32>, tensor<1x4x8x32xf32>) -> tensor<1x4x16x32xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x4x16x32xf32>) -> tensor<1x4x16x32xf32>
  %o = graph.matmul %p, %5 : (tensor<1x4x16x32xf32>, tensor<1x4x32x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// Keys of an open length, repeated to sizes that the run computes: the length is that of the keys themselves.
// CHECK-LABEL: func.func @repeated_to_open_sizes
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x16x8xf32>, %[[K:.*]]: tensor<1x2x?x8xf32>
func.func @repeated_to_open_sizes(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x?x8xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK: graph.attention %[[Q]], %[[K]], %[[K]]
  %one = graph.constant dense<1> : tensor<1xi64>
  %two = graph.constant dense<2> : tensor<1xi64>
  %eight = graph.constant dense<8> : tensor<1xi64>
  %dims = graph.shape_of %k : (tensor<1x2x?x8xf32>) -> tensor<4xi64>
  %length = graph.gather %dims, %two : (tensor<4xi64>, tensor<1xi64>) -> tensor<1xi64>
  %sizes = graph.concat %one, %two, %two, %length, %eight {axis = 0 : i64}
      : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xi64>
  %0 = graph.reshape %k {shape = array<i64: 1, 2, 1, -1, 8>} : (tensor<1x2x?x8xf32>) -> tensor<1x2x1x?x8xf32>
  %1 = graph.dynamic_broadcast %0, %sizes : (tensor<1x2x1x?x8xf32>, tensor<5xi64>) -> tensor<1x2x2x?x8xf32>
  %2 = graph.reshape %1 {shape = array<i64: 1, 4, -1, 8>} : (tensor<1x2x2x?x8xf32>) -> tensor<1x4x?x8xf32>
  %s = graph.matmul %q, %2 {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x4x?x8xf32>) -> tensor<1x4x16x?xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x4x16x?xf32>) -> tensor<1x4x16x?xf32>
  %o = graph.matmul %p, %2 : (tensor<1x4x16x?xf32>, tensor<1x4x?x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// A length of another tensor may be one to which a single key repeats.
// CHECK-LABEL: func.func @repeated_to_another_length
func.func @repeated_to_another_length(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x?x8xf32>, %x: tensor<?xf32>)
    -> tensor<1x4x16x8xf32> {
  // CHECK: %[[R:.*]] = graph.dynamic_broadcast
  // CHECK: %[[K:.*]] = graph.reshape %[[R]]
  // CHECK: graph.attention %{{.*}}, %[[K]], %[[K]]
  %one = graph.constant dense<1> : tensor<1xi64>
  %two = graph.constant dense<2> : tensor<1xi64>
  %eight = graph.constant dense<8> : tensor<1xi64>
  %length = graph.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %sizes = graph.concat %one, %two, %two, %length, %eight {axis = 0 : i64}
      : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xi64>
  %0 = graph.reshape %k {shape = array<i64: 1, 2, 1, -1, 8>} : (tensor<1x2x?x8xf32>) -> tensor<1x2x1x?x8xf32>
  %1 = graph.dynamic_broadcast %0, %sizes : (tensor<1x2x1x?x8xf32>, tensor<5xi64>) -> tensor<1x2x2x?x8xf32>
  %2 = graph.reshape %1 {shape = array<i64: 1, 4, -1, 8>} : (tensor<1x2x2x?x8xf32>) -> tensor<1x4x?x8xf32>
  %s = graph.matmul %q, %2 {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x4x?x8xf32>) -> tensor<1x4x16x?xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x4x16x?xf32>) -> tensor<1x4x16x?xf32>
  %o = graph.matmul %p, %2 : (tensor<1x4x16x?xf32>, tensor<1x4x?x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// Heads in turn (0 1 0 1) are not heads that each repeat: they stay as they are.
// CHECK-LABEL: func.func @heads_in_turn
func.func @heads_in_turn(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x32x8xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK: %[[K:.*]] = graph.gather
  // CHECK: graph.attention %{{.*}}, %[[K]], %[[K]] {{.*}} : (tensor<1x4x16x8xf32>, tensor<1x4x32x8xf32>, tensor<1x4x32x8xf32>)
  %heads = graph.constant dense<[0, 1, 0, 1]> : tensor<4xi64>
  %0 = graph.gather %k, %heads {axis = 1 : i64} : (tensor<1x2x32x8xf32>, tensor<4xi64>) -> tensor<1x4x32x8xf32>
  %s = graph.matmul %q, %0 {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x4x32x8xf32>) -> tensor<1x4x16x32xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x4x16x32xf32>) -> tensor<1x4x16x32xf32>
  %o = graph.matmul %p, %0 : (tensor<1x4x16x32xf32>, tensor<1x4x32x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// A triangle of constants that is added is the causal mask.
// CHECK-LABEL: func.func @causal
func.func @causal(%q: tensor<1x4x3x8xf32>, %k: tensor<1x4x3x8xf32>) -> tensor<1x4x3x8xf32> {
  // CHECK: graph.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} {causal = true, scale = 1.000000e+00 : f64}
  %mask = graph.constant dense<[[[[0.0, -10000.0, -10000.0], [0.0, 0.0, -10000.0], [0.0, 0.0, 0.0]]]]> : tensor<1x1x3x3xf32>
  %s = graph.matmul %q, %k {transpose_rhs = true} : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>) -> tensor<1x4x3x3xf32>
  %m = graph.add %s, %mask : (tensor<1x4x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x4x3x3xf32>
  %p = graph.softmax %m {axis = 3 : i64} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %o = graph.matmul %p, %k : (tensor<1x4x3x3xf32>, tensor<1x4x3x8xf32>) -> tensor<1x4x3x8xf32>
  return %o : tensor<1x4x3x8xf32>
}

// -----

// With a hole in the triangle it is a mask as any other.
// CHECK-LABEL: func.func @almost_causal
func.func @almost_causal(%q: tensor<1x4x3x8xf32>, %k: tensor<1x4x3x8xf32>) -> tensor<1x4x3x8xf32> {
  // CHECK: graph.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} mask %{{[^ ]*}} {scale = 1.000000e+00 : f64}
  %mask = graph.constant dense<[[[[0.0, -10000.0, -10000.0], [0.0, 0.0, -10000.0], [0.0, -10000.0, 0.0]]]]> : tensor<1x1x3x3xf32>
  %s = graph.matmul %q, %k {transpose_rhs = true} : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>) -> tensor<1x4x3x3xf32>
  %m = graph.add %s, %mask : (tensor<1x4x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x4x3x3xf32>
  %p = graph.softmax %m {axis = 3 : i64} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %o = graph.matmul %p, %k : (tensor<1x4x3x3xf32>, tensor<1x4x3x8xf32>) -> tensor<1x4x3x8xf32>
  return %o : tensor<1x4x3x8xf32>
}

// -----

// Ranges that are compared choose between scores and minus infinity: causal, for a cache of two keys before the queries.
// CHECK-LABEL: func.func @causal_by_ranges
func.func @causal_by_ranges(%q: tensor<1x4x3x8xf32>, %k: tensor<1x4x5x8xf32>) -> tensor<1x4x3x8xf32> {
  // CHECK: graph.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} {causal = true, scale = 1.000000e+00 : f64}
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %two = graph.constant dense<2> : tensor<i64>
  %three = graph.constant dense<3> : tensor<i64>
  %five = graph.constant dense<5> : tensor<i64>
  %hidden = graph.constant dense<0xFF800000> : tensor<f32>
  %0 = graph.range %zero, %three, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<3xi64>
  %1 = graph.add %0, %two : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %rows = graph.reshape %1 {shape = array<i64: 3, 1>} : (tensor<3xi64>) -> tensor<3x1xi64>
  %columns = graph.range %zero, %five, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<5xi64>
  %seen = graph.less_equal %columns, %rows : (tensor<5xi64>, tensor<3x1xi64>) -> tensor<3x5xi1>
  %s = graph.matmul %q, %k {transpose_rhs = true} : (tensor<1x4x3x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x5xf32>
  %m = graph.select %seen, %s, %hidden : (tensor<3x5xi1>, tensor<1x4x3x5xf32>, tensor<f32>) -> tensor<1x4x3x5xf32>
  %p = graph.softmax %m {axis = 3 : i64} : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %o = graph.matmul %p, %k : (tensor<1x4x3x5xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x8xf32>
  return %o : tensor<1x4x3x8xf32>
}

// -----

// A truth value that hides scores becomes a mask to add; where no key is seen, weights that would be NaN are zeros.
// CHECK-LABEL: func.func @truth_mask
// CHECK-SAME: %{{.*}}: tensor<1x4x16x8xf32>, %[[HIDE:.*]]: tensor<1x1x16x16xi1>
func.func @truth_mask(%q: tensor<1x4x16x8xf32>, %hide: tensor<1x1x16x16xi1>) -> tensor<1x4x16x8xf32> {
  // CHECK-DAG: %[[SHOWN:.*]] = graph.constant dense<0.000000e+00>
  // CHECK-DAG: %[[HIDDEN:.*]] = graph.constant dense<0xFF800000>
  // CHECK: %[[M:.*]] = graph.select %[[HIDE]], %[[HIDDEN]], %[[SHOWN]]
  // CHECK: graph.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} mask %[[M]] {scale = 1.000000e+00 : f64}
  %hidden = graph.constant dense<0xFF800000> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %s = graph.matmul %q, %q {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x16xf32>
  %m = graph.select %hide, %hidden, %s : (tensor<1x1x16x16xi1>, tensor<f32>, tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %p = graph.softmax %m {axis = 3 : i64} : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %nan = graph.is_nan %p : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xi1>
  %w = graph.select %nan, %zero, %p : (tensor<1x4x16x16xi1>, tensor<f32>, tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %o = graph.matmul %w, %q : (tensor<1x4x16x16xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// A number in the place of scores that is not far below them hides nothing.
// CHECK-LABEL: func.func @mild_mask
func.func @mild_mask(%q: tensor<1x4x16x8xf32>, %keep: tensor<16x16xi1>) -> tensor<1x4x16x8xf32> {
  // CHECK-NOT: graph.attention
  %mild = graph.constant dense<-100.0> : tensor<f32>
  %s = graph.matmul %q, %q {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x16xf32>
  %m = graph.select %keep, %s, %mild : (tensor<16x16xi1>, tensor<1x4x16x16xf32>, tensor<f32>) -> tensor<1x4x16x16xf32>
  %p = graph.softmax %m {axis = 3 : i64} : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %o = graph.matmul %p, %q : (tensor<1x4x16x16xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// Heads in one dimension with the batch, and a mask added where they are apart; a bias of positions is a second mask.
// CHECK-LABEL: func.func @mask_between_reshapes
// CHECK-SAME: %[[Q:.*]]: tensor<8x16x8xf32>, %[[M:.*]]: tensor<2x1x1x16xf32>, %[[B:.*]]: tensor<4x16x16xf32>
func.func @mask_between_reshapes(%q: tensor<8x16x8xf32>, %mask: tensor<2x1x1x16xf32>, %bias: tensor<4x16x16xf32>)
    -> tensor<8x16x8xf32> {
  // CHECK: %[[SUM:.*]] = graph.add %[[M]], %[[B]]
  // CHECK: %[[O:.*]] = graph.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} mask %[[SUM]] {scale = 5.000000e-01 : f64} : (tensor<2x4x16x8xf32>, {{.*}} -> tensor<2x4x16x8xf32>
  // CHECK: graph.reshape %[[O]] {{.*}} -> tensor<8x16x8xf32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %s = graph.matmul %q, %q {transpose_rhs = true} : (tensor<8x16x8xf32>, tensor<8x16x8xf32>) -> tensor<8x16x16xf32>
  %d = graph.mul %s, %half : (tensor<8x16x16xf32>, tensor<f32>) -> tensor<8x16x16xf32>
  %0 = graph.reshape %d {shape = array<i64: 2, 4, 16, 16>} : (tensor<8x16x16xf32>) -> tensor<2x4x16x16xf32>
  %1 = graph.add %0, %bias : (tensor<2x4x16x16xf32>, tensor<4x16x16xf32>) -> tensor<2x4x16x16xf32>
  %2 = graph.add %1, %mask : (tensor<2x4x16x16xf32>, tensor<2x1x1x16xf32>) -> tensor<2x4x16x16xf32>
  %3 = graph.reshape %2 {shape = array<i64: 8, 16, 16>} : (tensor<2x4x16x16xf32>) -> tensor<8x16x16xf32>
  %p = graph.softmax %3 {axis = 2 : i64} : (tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  %o = graph.matmul %p, %q : (tensor<8x16x16xf32>, tensor<8x16x8xf32>) -> tensor<8x16x8xf32>
  return %o : tensor<8x16x8xf32>
}

// -----

// A factor on scores that are masked already would be one of the mask.
// CHECK-LABEL: func.func @scaled_mask
func.func @scaled_mask(%q: tensor<1x4x16x8xf32>, %mask: tensor<16x16xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK-NOT: graph.attention
  %half = graph.constant dense<0.5> : tensor<f32>
  %s = graph.matmul %q, %q {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x16xf32>
  %m = graph.add %s, %mask : (tensor<1x4x16x16xf32>, tensor<16x16xf32>) -> tensor<1x4x16x16xf32>
  %d = graph.mul %m, %half : (tensor<1x4x16x16xf32>, tensor<f32>) -> tensor<1x4x16x16xf32>
  %p = graph.softmax %d {axis = 3 : i64} : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %o = graph.matmul %p, %q : (tensor<1x4x16x16xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}

// -----

// A bounded function of the scores is no scale.
// CHECK-LABEL: func.func @soft_cap
func.func @soft_cap(%q: tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK-NOT: graph.attention
  %cap = graph.constant dense<30.0> : tensor<f32>
  %s = graph.matmul %q, %q {transpose_rhs = true} : (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x16xf32>
  %t = graph.tanh %s : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %m = graph.mul %t, %cap : (tensor<1x4x16x16xf32>, tensor<f32>) -> tensor<1x4x16x16xf32>
  %p = graph.softmax %m {axis = 3 : i64} : (tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %o = graph.matmul %p, %q : (tensor<1x4x16x16xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %o : tensor<1x4x16x8xf32>
}
