// Shape arithmetic is done on expressions of the open dimensions; what it does not say is read while the program runs.
// RUN: plim-opt %s --split-input-file --graph-to-plan=library-only --verify-diagnostics | FileCheck %s
// RUN: plim-opt %s --split-input-file --graph-to-plan=library-only --verify-diagnostics --plan-assign-offsets --plan-check

// Two open sizes of a reshape: no launch, no buffer of its own, nothing read.
// CHECK-LABEL: plan.program @main virtual symbols(%N "N" in [1, 4], %S "S" in [2, 16])
// CHECK-SAME: out %y "y" f32[s0 max 4, s1 max 16, 2, 4] : <ram, 2048>
// CHECK-NEXT: plan.launch "elementwise.apply"
// CHECK-NEXT: plan.return
func.func @main(%x: tensor<?x?x8xf32, #graph.bounds<[1 to 4, 2 to 16, 8]>> {graph.name = "x", graph.dim_names = ["N", "S", ""]})
    -> (tensor<?x?x2x4xf32> {graph.name = "y"}) {
  %tail = graph.constant dense<[2, 4]> : tensor<2xi64>
  %dims = graph.shape_of %x : (tensor<?x?x8xf32, #graph.bounds<[1 to 4, 2 to 16, 8]>>) -> tensor<3xi64>
  %head = graph.slice %dims {starts = array<i64: 0>, sizes = array<i64: 2>} : (tensor<3xi64>) -> tensor<2xi64>
  %shape = graph.concat %head, %tail {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %r = graph.relu %x : (tensor<?x?x8xf32, #graph.bounds<[1 to 4, 2 to 16, 8]>>) -> tensor<?x?x8xf32, #graph.bounds<[1 to 4, 2 to 16, 8]>>
  %y = graph.dynamic_reshape %r, %shape : (tensor<?x?x8xf32, #graph.bounds<[1 to 4, 2 to 16, 8]>>, tensor<4xi64>) -> tensor<?x?x2x4xf32>
  return %y : tensor<?x?x2x4xf32>
}

// -----

// The first S rows of a table: S is at most its 16 rows, so the lesser of the two needs no step.
// CHECK-LABEL: plan.program @main virtual symbols(%S "S" in [1, 16])
// CHECK: plan.launch "copy.strided"
// CHECK-SAME: f32[s0 max 16, 8]
// CHECK-NOT: plan.load_scalar
func.func @main(%x: tensor<?xi64, #graph.bounds<[1 to 16]>> {graph.name = "x", graph.dim_names = ["S"]})
    -> (tensor<?x8xf32> {graph.name = "y"}) {
  %table = graph.parameter "table" : tensor<16x8xf32>
  %rows = graph.constant dense<16> : tensor<1xi64>
  %start = graph.constant dense<0> : tensor<2xi64>
  %width = graph.constant dense<8> : tensor<1xi64>
  %s = graph.shape_of %x : (tensor<?xi64, #graph.bounds<[1 to 16]>>) -> tensor<1xi64>
  %n = graph.min %s, %rows : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %sizes = graph.concat %n, %width {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = graph.dynamic_slice %table, %start, %sizes {steps = array<i64: 1, 1>} : (tensor<16x8xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Where neither end is sure, the lesser is a scalar of its own.
// CHECK-LABEL: plan.program @main virtual symbols(%S "S" in [1, 32])
// CHECK: %[[M:.*]] = plan.eval({{.*}}) -> 1 from "graph.min" {
// CHECK: arith.minsi
// CHECK: plan.launch "copy.strided"
// CHECK-SAME: f32[s1 max 16, 8]
// CHECK: plan.return %[[M]]
func.func @main(%x: tensor<?xi64, #graph.bounds<[1 to 32]>> {graph.name = "x", graph.dim_names = ["S"]})
    -> (tensor<?x8xf32> {graph.name = "y"}) {
  %table = graph.parameter "table" : tensor<16x8xf32>
  %rows = graph.constant dense<16> : tensor<1xi64>
  %start = graph.constant dense<0> : tensor<2xi64>
  %width = graph.constant dense<8> : tensor<1xi64>
  %s = graph.shape_of %x : (tensor<?xi64, #graph.bounds<[1 to 32]>>) -> tensor<1xi64>
  %n = graph.min %s, %rows : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %sizes = graph.concat %n, %width {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = graph.dynamic_slice %table, %start, %sizes {steps = array<i64: 1, 1>} : (tensor<16x8xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// A count that a launch computes is read, within what can be, before the launch that needs it.
// CHECK-LABEL: plan.program @main virtual
// CHECK-SAME: out %y "y" i64[s0 max 6, 1]
// CHECK: plan.launch "reduce.apply"
// CHECK-NEXT: %[[N:.*]] = plan.load_scalar %{{.*}}[0] i64 in [0, 6]
// CHECK-NEXT: plan.launch "select.nonzero"
// CHECK-SAME: i64[s0 max 6, 1]
// CHECK-SAME: dims(%[[N]])
// CHECK: plan.return %[[N]]
func.func @main(%x: tensor<6xi1> {graph.name = "x"}) -> (tensor<?x1xi64> {graph.name = "y"}) {
  %ones = graph.cast %x {to = i64} : (tensor<6xi1>) -> tensor<6xi64>
  %n = graph.reduce sum %ones {axes = array<i64: 0>, keep_dims = false} : (tensor<6xi64>) -> tensor<i64>
  %y = graph.nonzero %x, %n : (tensor<6xi1>, tensor<i64>) -> tensor<?x1xi64>
  return %y : tensor<?x1xi64>
}

// -----

// Sizes that are data of the graph as well are scalars that a launch writes.
// CHECK-LABEL: plan.program @main virtual symbols(%N "N" in [1, 4])
// CHECK: plan.launch "fill.scalars"<
// CHECK-SAME: w %y i64[2]
// CHECK-SAME: scalars(
func.func @main(%x: tensor<?x3xf32, #graph.bounds<[1 to 4, 3]>> {graph.name = "x", graph.dim_names = ["N", ""]})
    -> (tensor<2xi64> {graph.name = "y"}) {
  %two = graph.constant dense<2> : tensor<1xi64>
  %s = graph.shape_of %x : (tensor<?x3xf32, #graph.bounds<[1 to 4, 3]>>) -> tensor<2xi64>
  %y = graph.mul %s, %two : (tensor<2xi64>, tensor<1xi64>) -> tensor<2xi64>
  return %y : tensor<2xi64>
}

// -----

// A size without a bound is an error that says what to give.
func.func @main(%s: tensor<1xi64> {graph.name = "s"}) -> (tensor<?xf32> {graph.name = "y"}) {
  // expected-error@+1 {{no expression of the open dimensions gives the sizes of 'graph.dynamic_fill': dimension 0 of its result is known only when the model runs; give it a bound by --bound 'y.0=LEAST..MOST'}}
  %y = graph.dynamic_fill %s, 1.0 {element = f32, graph.outputs = ["y"]} : (tensor<1xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
