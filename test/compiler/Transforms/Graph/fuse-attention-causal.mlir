// Which masks of constants are the causal one, also where they are large.
// RUN: plim-opt %s --graph-fuse-attention --split-input-file | FileCheck %s

// Sixteen million elements are compared line by line.
// CHECK-LABEL: func.func @long
func.func @long(%q: tensor<1x1x4096x8xf32>) -> tensor<1x1x4096x8xf32> {
  // CHECK: graph.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} {causal = true, scale = 1.000000e+00 : f64}
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %many = graph.constant dense<4096> : tensor<i64>
  %hidden = graph.constant dense<-1.0e9> : tensor<f32>
  %shown = graph.constant dense<0.0> : tensor<f32>
  %columns = graph.range %zero, %many, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4096xi64>
  %rows = graph.reshape %columns {shape = array<i64: 4096, 1>} : (tensor<4096xi64>) -> tensor<4096x1xi64>
  %above = graph.greater %columns, %rows : (tensor<4096xi64>, tensor<4096x1xi64>) -> tensor<4096x4096xi1>
  %added = graph.select %above, %hidden, %shown : (tensor<4096x4096xi1>, tensor<f32>, tensor<f32>) -> tensor<4096x4096xf32>
  %mask = graph.reshape %added {shape = array<i64: 1, 1, 4096, 4096>} : (tensor<4096x4096xf32>) -> tensor<1x1x4096x4096xf32>
  %s = graph.matmul %q, %q {transpose_rhs = true} : (tensor<1x1x4096x8xf32>, tensor<1x1x4096x8xf32>) -> tensor<1x1x4096x4096xf32>
  %m = graph.add %s, %mask : (tensor<1x1x4096x4096xf32>, tensor<1x1x4096x4096xf32>) -> tensor<1x1x4096x4096xf32>
  %p = graph.softmax %m {axis = 3 : i64} : (tensor<1x1x4096x4096xf32>) -> tensor<1x1x4096x4096xf32>
  %o = graph.matmul %p, %q : (tensor<1x1x4096x4096xf32>, tensor<1x1x4096x8xf32>) -> tensor<1x1x4096x8xf32>
  return %o : tensor<1x1x4096x8xf32>
}

// -----

// Rows 2 to 4 of a larger triangle, as models cut them from one made for the longest sequence.
// CHECK-LABEL: func.func @part_of_a_triangle
func.func @part_of_a_triangle(%q: tensor<1x4x3x8xf32>, %k: tensor<1x4x5x8xf32>) -> tensor<1x4x3x8xf32> {
  // CHECK: graph.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} {causal = true, scale = 1.000000e+00 : f64}
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %many = graph.constant dense<8> : tensor<i64>
  %hidden = graph.constant dense<0xFF800000> : tensor<f32>
  %columns = graph.range %zero, %many, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<8xi64>
  %rows = graph.reshape %columns {shape = array<i64: 8, 1>} : (tensor<8xi64>) -> tensor<8x1xi64>
  %whole = graph.less_equal %columns, %rows : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %seen = graph.slice %whole {starts = array<i64: 2, 0>, sizes = array<i64: 3, 5>} : (tensor<8x8xi1>) -> tensor<3x5xi1>
  %s = graph.matmul %q, %k {transpose_rhs = true} : (tensor<1x4x3x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x5xf32>
  %m = graph.select %seen, %s, %hidden : (tensor<3x5xi1>, tensor<1x4x3x5xf32>, tensor<f32>) -> tensor<1x4x3x5xf32>
  %p = graph.softmax %m {axis = 3 : i64} : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %o = graph.matmul %p, %k : (tensor<1x4x3x5xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x8xf32>
  return %o : tensor<1x4x3x8xf32>
}

// -----

// One column further to the right every row misses its own key: a mask as any other.
// CHECK-LABEL: func.func @shifted_part
func.func @shifted_part(%q: tensor<1x4x3x8xf32>, %k: tensor<1x4x5x8xf32>) -> tensor<1x4x3x8xf32> {
  // CHECK: graph.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} mask
  // CHECK-NOT: causal = true
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %many = graph.constant dense<8> : tensor<i64>
  %hidden = graph.constant dense<0xFF800000> : tensor<f32>
  %columns = graph.range %zero, %many, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<8xi64>
  %rows = graph.reshape %columns {shape = array<i64: 8, 1>} : (tensor<8xi64>) -> tensor<8x1xi64>
  %whole = graph.less_equal %columns, %rows : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %seen = graph.slice %whole {starts = array<i64: 2, 1>, sizes = array<i64: 3, 5>} : (tensor<8x8xi1>) -> tensor<3x5xi1>
  %s = graph.matmul %q, %k {transpose_rhs = true} : (tensor<1x4x3x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x5xf32>
  %m = graph.select %seen, %s, %hidden : (tensor<3x5xi1>, tensor<1x4x3x5xf32>, tensor<f32>) -> tensor<1x4x3x5xf32>
  %p = graph.softmax %m {axis = 3 : i64} : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %o = graph.matmul %p, %k : (tensor<1x4x3x5xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x8xf32>
  return %o : tensor<1x4x3x8xf32>
}

// -----

// The upper triangle, by a transposition, hides the past and not the future.
// CHECK-LABEL: func.func @transposed
func.func @transposed(%q: tensor<1x4x3x8xf32>) -> tensor<1x4x3x8xf32> {
  // CHECK: graph.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} mask
  // CHECK-NOT: causal = true
  %triangle = graph.constant dense<[[0.0, -10000.0, -10000.0], [0.0, 0.0, -10000.0], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %upper = graph.transpose %triangle {permutation = array<i64: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %s = graph.matmul %q, %q {transpose_rhs = true} : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>) -> tensor<1x4x3x3xf32>
  %m = graph.add %s, %upper : (tensor<1x4x3x3xf32>, tensor<3x3xf32>) -> tensor<1x4x3x3xf32>
  %p = graph.softmax %m {axis = 3 : i64} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %o = graph.matmul %p, %q : (tensor<1x4x3x3xf32>, tensor<1x4x3x8xf32>) -> tensor<1x4x3x8xf32>
  return %o : tensor<1x4x3x8xf32>
}
