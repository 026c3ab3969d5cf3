// Types and attributes say what shape arithmetic comes to; what they cannot say stays as it is.
// RUN: plim-opt %s --split-input-file --graph-resolve-sizes | FileCheck %s

// N * S * 64 elements over N, S and 16: 4 heads. The sizes that stay open are two, so the op stays.
// CHECK-LABEL: func.func @heads
// CHECK: graph.dynamic_reshape {{.*}} -> tensor<?x?x4x16xf32, #graph.bounds<[1 to 4, 1 to 512, 4, 16]>>
func.func @heads(%x: tensor<?x?x64xf32, #graph.bounds<[1 to 4, 1 to 512, 64]>> {graph.dim_names = ["N", "S", ""]})
    -> tensor<?x?x?x16xf32> {
  %width = graph.constant dense<16> : tensor<1xi64>
  %dims = graph.shape_of %x : (tensor<?x?x64xf32, #graph.bounds<[1 to 4, 1 to 512, 64]>>) -> tensor<3xi64>
  %n = graph.slice %dims {starts = array<i64: 0>, sizes = array<i64: 1>} : (tensor<3xi64>) -> tensor<1xi64>
  %s = graph.slice %dims {starts = array<i64: 1>, sizes = array<i64: 1>} : (tensor<3xi64>) -> tensor<1xi64>
  %all = graph.reduce prod %dims {axes = array<i64: 0>} : (tensor<3xi64>) -> tensor<1xi64>
  %ns = graph.mul %n, %s : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %row = graph.mul %ns, %width : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %heads = graph.div %all, %row : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %shape = graph.concat %n, %s, %heads, %width {axis = 0 : i64}
    : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
  %y = graph.dynamic_reshape %x, %shape : (tensor<?x?x64xf32, #graph.bounds<[1 to 4, 1 to 512, 64]>>, tensor<4xi64>) -> tensor<?x?x?x16xf32>
  return %y : tensor<?x?x?x16xf32>
}

// -----

// One open size follows from the others, a kept one from the operand; the arithmetic is gone.
// CHECK-LABEL: func.func @one_open
// CHECK-NEXT: %[[R:.*]] = graph.reshape %{{.*}} {shape = array<i64: -1, 4, 16>}
// CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[R]] {shape = array<i64: 3, -1, 4, 16>}
// CHECK-NEXT: graph.slice %[[R]] {sizes = array<i64: -1, 4, 16>, starts = array<i64: 1, 0, 0>, steps = array<i64: 1, 1, 1>}
// CHECK-NEXT: return
func.func @one_open(%x: tensor<?x64xf32, #graph.bounds<[2 to 8, 64]>> {graph.dim_names = ["N", ""]})
    -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>) {
  %tail = graph.constant dense<[4, 16]> : tensor<2xi64>
  %three = graph.constant dense<3> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %starts = graph.constant dense<[1, 0, 0]> : tensor<3xi64>
  %dims = graph.shape_of %x : (tensor<?x64xf32, #graph.bounds<[2 to 8, 64]>>) -> tensor<2xi64>
  %n = graph.slice %dims {starts = array<i64: 0>, sizes = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
  %less = graph.sub %n, %one : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %shape = graph.concat %n, %tail {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %more = graph.concat %three, %n, %tail {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<2xi64>) -> tensor<4xi64>
  %rest = graph.concat %less, %tail {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %r = graph.dynamic_reshape %x, %shape : (tensor<?x64xf32, #graph.bounds<[2 to 8, 64]>>, tensor<3xi64>) -> tensor<?x?x?xf32>
  %b = graph.dynamic_broadcast %r, %more : (tensor<?x?x?xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  %s = graph.dynamic_slice %r, %starts, %rest {steps = array<i64: 1, 1, 1>} : (tensor<?x?x?xf32>, tensor<3xi64>, tensor<3xi64>) -> tensor<?x?x?xf32>
  return %b, %s : tensor<?x?x?x?xf32>, tensor<?x?x?xf32>
}

// -----

// Sizes that the data says stay sizes of the run.
// CHECK-LABEL: func.func @data
// CHECK: graph.dynamic_reshape
func.func @data(%x: tensor<24xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = graph.dynamic_reshape %x, %s : (tensor<24xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
