// Elementwise, reduce and norm ops of one iteration space become loops with one result; nothing is computed twice.
// RUN: plim-opt %s --graph-fuse-elementwise --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[Y:.*]]: tensor<8xf32>
func.func @chain(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.fused(%[[A:.*]] = %[[X]] : tensor<4x8xf32>, %[[B:.*]] = %[[Y]] : tensor<8xf32>) -> (tensor<4x8xf32>) {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<2.000000e+00>
  // CHECK-NEXT: %[[ADD:.*]] = graph.add %[[A]], %[[B]]
  // CHECK-NEXT: %[[MUL:.*]] = graph.mul %[[ADD]], %[[C]]
  // CHECK-NEXT: %[[RELU:.*]] = graph.relu %[[MUL]]
  // CHECK-NEXT: graph.yield %[[RELU]]
  // CHECK: return %[[R]]
  %two = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = graph.mul %0, %two : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = graph.relu %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// A value that is used outside of the group is computed once, outside of it.
// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[E:.*]] = graph.exp
  // CHECK: graph.matmul %[[E]]
  // CHECK: graph.fused
  // CHECK-NOT: graph.exp
  %0 = graph.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.matmul %0, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = graph.mul %1, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.relu %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// A value of a smaller shape is not computed again for each row.
// CHECK-LABEL: func.func @small_operand
func.func @small_operand(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[T:.*]] = graph.tanh %{{.*}} : (tensor<8xf32>)
  // CHECK: graph.fused
  // CHECK-NOT: graph.tanh
  %0 = graph.tanh %y : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.add %x, %0 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = graph.relu %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// A norm written out, its statistics included, is one loop; a residual before it joins.
// CHECK-LABEL: func.func @statistics
func.func @statistics(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: graph.fused
  // CHECK: graph.add
  // CHECK: graph.reduce
  // CHECK: graph.rsqrt
  // CHECK: graph.mul
  // CHECK: graph.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  %eps = graph.constant dense<1.0e-5> : tensor<f32>
  %0 = graph.add %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.mul %0, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.reduce mean %1 {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %3 = graph.add %2, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %4 = graph.rsqrt %3 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = graph.mul %0, %4 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// -----

// Softmax and layer_norm join their neighbours; two over different axes do not join each other.
// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<4x2x8xf32>, %y: tensor<4x2x8xf32>) -> tensor<4x2x8xf32> {
  // CHECK: graph.fused
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.layer_norm
  // CHECK-NEXT: graph.yield
  // CHECK: graph.fused
  // CHECK-NEXT: graph.softmax
  // CHECK-NEXT: graph.mul
  // CHECK-NEXT: graph.yield
  %0 = graph.add %x, %y : (tensor<4x2x8xf32>, tensor<4x2x8xf32>) -> tensor<4x2x8xf32>
  %1 = graph.layer_norm %0 {axis = 1 : i64} : (tensor<4x2x8xf32>) -> tensor<4x2x8xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<4x2x8xf32>) -> tensor<4x2x8xf32>
  %3 = graph.mul %2, %y : (tensor<4x2x8xf32>, tensor<4x2x8xf32>) -> tensor<4x2x8xf32>
  return %3 : tensor<4x2x8xf32>
}

// -----

// A reduction over inner dimensions may end a group, but nothing follows it into the group.
// CHECK-LABEL: func.func @pooled
func.func @pooled(%x: tensor<1x16x16x8xf32>) -> tensor<1x1x1x8xf32> {
  // CHECK: graph.fused
  // CHECK-NEXT: graph.hard_swish
  // CHECK-NEXT: graph.reduce mean
  // CHECK-NEXT: graph.yield
  // CHECK: graph.sigmoid
  %0 = graph.hard_swish %x : (tensor<1x16x16x8xf32>) -> tensor<1x16x16x8xf32>
  %1 = graph.reduce mean %0 {axes = array<i64: 1, 2>} : (tensor<1x16x16x8xf32>) -> tensor<1x1x1x8xf32>
  %2 = graph.sigmoid %1 : (tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32>
  return %2 : tensor<1x1x1x8xf32>
}

// -----

// Work on weights is for @setup, and @setup itself is left alone.
// CHECK-LABEL: func.func private @setup
func.func private @setup() -> tensor<8xf32> {
  // CHECK-NOT: graph.fused
  %w = graph.parameter "w" {file = "m.onnx", bytes = 32 : i64} : tensor<8xf32>
  %0 = graph.neg %w : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
