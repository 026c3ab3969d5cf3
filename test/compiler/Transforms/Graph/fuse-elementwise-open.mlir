// Open dimensions that lead the space fuse where ops look into rows only: no stride depends on them.
// RUN: plim-opt %s --graph-fuse-elementwise --split-input-file | FileCheck %s

!x = tensor<?x?x8xf32, #graph.bounds<[1 to 4, 1 to 16, 8]>>
!r = tensor<?x?x1xf32, #graph.bounds<[1 to 4, 1 to 16, 1]>>

// CHECK-LABEL: func.func @norm
// CHECK-NEXT: graph.fused
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.layer_norm
// CHECK-NEXT: graph.gelu
// CHECK-NEXT: graph.yield
func.func @norm(%x: !x, %y: !x, %g: tensor<8xf32>, %b: tensor<8xf32>) -> !x {
  %0 = graph.add %x, %y : (!x, !x) -> !x
  %1 = graph.layer_norm %0 scale %g bias %b {axis = 2 : i64} : (!x, tensor<8xf32>, tensor<8xf32>) -> !x
  %2 = graph.gelu %1 : (!x) -> !x
  return %2 : !x
}

// -----

!x = tensor<?x?x8xf32, #graph.bounds<[1 to 4, 1 to 16, 8]>>
!r = tensor<?x?x1xf32, #graph.bounds<[1 to 4, 1 to 16, 1]>>

// A number a row is read for each row, a reduction over the row is within it.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: graph.fused
// CHECK-NEXT: graph.mul
// CHECK-NEXT: graph.reduce max
// CHECK-NEXT: graph.sub
// CHECK-NEXT: graph.yield
func.func @rows(%x: !x, %s: !r) -> !x {
  %0 = graph.mul %x, %s : (!x, !r) -> !x
  %1 = graph.reduce max %0 {axes = array<i64: 2>} : (!x) -> !r
  %2 = graph.sub %0, %1 : (!x, !r) -> !x
  return %2 : !x
}

// -----

!s = tensor<?x4x?x?xf32, #graph.bounds<[1 to 4, 4, 1 to 16, 1 to 16]>>
!m = tensor<?x1x1x?xf32, #graph.bounds<[1 to 4, 1, 1, 1 to 16]>>

// Rows of an open length have strides of the run: these ops stay apart.
// CHECK-LABEL: func.func @open_rows
// CHECK-NOT: graph.fused
func.func @open_rows(%x: !s, %m: !m) -> !s {
  %0 = graph.add %x, %m : (!s, !m) -> !s
  %1 = graph.relu %0 : (!s) -> !s
  return %1 : !s
}

// -----

!x = tensor<?x?x8xf32, #graph.bounds<[1 to 4, 1 to 16, 8]>>
!b = tensor<?x1x8xf32, #graph.bounds<[1 to 4, 1, 8]>>

// An operand that repeats along one of the leading dimensions but not along all is no operand of rows.
// CHECK-LABEL: func.func @partly_repeated
// CHECK: graph.add
// CHECK-NOT: graph.fused
func.func @partly_repeated(%x: !x, %b: !b) -> !x {
  %0 = graph.add %x, %b : (!x, !b) -> !x
  return %0 : !x
}

// -----

!x = tensor<?x?x8xf32, #graph.bounds<[1 to 4, 1 to ?, 8]>>

// Rows without a bound have no loop.
// CHECK-LABEL: func.func @unbounded
// CHECK-NOT: graph.fused
func.func @unbounded(%x: !x) -> !x {
  %0 = graph.relu %x : (!x) -> !x
  %1 = graph.exp %0 : (!x) -> !x
  return %1 : !x
}

// -----

// Arithmetic on sizes stays apart: it is done on expressions.
// CHECK-LABEL: func.func @sizes
// CHECK-NOT: graph.fused
func.func @sizes(%x: tensor<?x8xf32, #graph.bounds<[1 to 4, 8]>>, %y: tensor<24xf32>) -> tensor<?x?xf32> {
  %two = graph.constant dense<2> : tensor<2xi64>
  %s = graph.shape_of %x : (tensor<?x8xf32, #graph.bounds<[1 to 4, 8]>>) -> tensor<2xi64>
  %0 = graph.mul %s, %two : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %1 = graph.max %0, %two : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %2 = graph.dynamic_reshape %y, %1 : (tensor<24xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}
