// Data movement, indexing, state and control ops print and parse back to themselves.
// RUN: plim-opt %s | plim-opt | FileCheck %s
// RUN: plim-opt %s --mlir-print-op-generic | plim-opt | FileCheck %s

// CHECK: graph.variable @cache : tensor<4x8xf32> {durable = false}
graph.variable @cache : tensor<4x8xf32> {durable = false}
// CHECK: graph.variable @grown : tensor<?x8xf32, #graph.bounds<[0 to 16, 8]>> grows "P"
graph.variable @grown : tensor<?x8xf32, #graph.bounds<[0 to 16, 8]>> grows "P"

// CHECK-LABEL: func.func @state
func.func @state() -> tensor<4x8xf32> {
  // CHECK: graph.parameter "w" {bytes = 128 : i64, file = "model.onnx", offset = 64 : i64} : tensor<4x8xf32>
  %0 = graph.parameter "w" {file = "model.onnx", offset = 64 : i64, bytes = 128 : i64} : tensor<4x8xf32>
  // CHECK: graph.constant dense<1.000000e+00> : tensor<f32>
  %1 = graph.constant dense<1.0> : tensor<f32>
  // CHECK: graph.read @cache : tensor<4x8xf32>
  %2 = graph.read @cache : tensor<4x8xf32>
  %3 = graph.add %0, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.assign @cache, %{{.*}} : tensor<4x8xf32>
  graph.assign @cache, %3 : tensor<4x8xf32>
  // CHECK: %[[G:.*]] = graph.read @grown : tensor<?x8xf32, #graph.bounds<[0 to 16, 8]>>
  %4 = graph.read @grown : tensor<?x8xf32, #graph.bounds<[0 to 16, 8]>>
  %5 = graph.concat %4, %3 {axis = 0 : i64} : (tensor<?x8xf32, #graph.bounds<[0 to 16, 8]>>, tensor<4x8xf32>) -> tensor<?x8xf32, #graph.bounds<[4 to 20, 8]>>
  // CHECK: graph.assign @grown, %{{.*}} : tensor<?x8xf32, #graph.bounds<[4 to 20, 8]>>
  graph.assign @grown, %5 : tensor<?x8xf32, #graph.bounds<[4 to 20, 8]>>
  return %3 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = graph.reshape %0 {shape = array<i64: 2, -1>} : (tensor<6x4xf32>) -> tensor<2x12xf32>
  %2 = graph.broadcast %1 {shape = array<i64: 3, 2, -1>} : (tensor<2x12xf32>) -> tensor<3x2x12xf32>
  %3 = graph.slice %2 {starts = array<i64: 0, 1, 11>, sizes = array<i64: 3, 1, 4>, steps = array<i64: 1, 1, -3>} :
      (tensor<3x2x12xf32>) -> tensor<3x1x4xf32>
  %4 = graph.pad %x {low = array<i64: 1, 0>, high = array<i64: 3, 0>, mode = #graph.pad_mode<reflect>} :
      (tensor<4x6xf32>) -> tensor<8x6xf32>
  // CHECK: graph.concat %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %5 = graph.concat %x, %x {axis = 0 : i64} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  // CHECK: graph.fill 2.500000e+00 : tensor<8x6xf32>
  %6 = graph.fill 2.5 : tensor<8x6xf32>
  %7 = graph.add %4, %5 : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %8 = graph.add %6, %7 : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  return %8 : tensor<8x6xf32>
}

// CHECK-LABEL: func.func @indexing
func.func @indexing(%x: tensor<4x6x8xf32>, %i: tensor<3x2xi64>, %e: tensor<4x6x2xi64>, %u: tensor<3x8xf32>,
                    %s: tensor<i64>, %v: tensor<2xf32>) -> tensor<4x6x8xf32> {
  %0 = graph.gather %x, %i {axis = 1 : i64} : (tensor<4x6x8xf32>, tensor<3x2xi64>) -> tensor<4x3x2x8xf32>
  %1 = graph.gather_elements %x, %e {axis = 2 : i64} : (tensor<4x6x8xf32>, tensor<4x6x2xi64>) -> tensor<4x6x2xf32>
  %2 = graph.gather_nd %x, %i : (tensor<4x6x8xf32>, tensor<3x2xi64>) -> tensor<3x8xf32>
  // CHECK: graph.scatter_nd %{{.*}} {reduction = #graph.scatter_reduction<add>}
  %3 = graph.scatter_nd %x, %i, %u {reduction = #graph.scatter_reduction<add>} :
      (tensor<4x6x8xf32>, tensor<3x2xi64>, tensor<3x8xf32>) -> tensor<4x6x8xf32>
  %4 = graph.scatter_elements %3, %e, %1 {axis = 2 : i64} :
      (tensor<4x6x8xf32>, tensor<4x6x2xi64>, tensor<4x6x2xf32>) -> tensor<4x6x8xf32>
  %5 = graph.range %s, %s, %s : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %6 = graph.one_hot %i, %v {axis = 2 : i64, depth = 5 : i64} : (tensor<3x2xi64>, tensor<2xf32>) -> tensor<3x2x5xf32>
  // CHECK: graph.shape_of %{{.*}} : (tensor<4x6x8xf32>) -> tensor<3xi64>
  %7 = graph.shape_of %x : (tensor<4x6x8xf32>) -> tensor<3xi64>
  return %4 : tensor<4x6x8xf32>
}

// CHECK-LABEL: func.func @control
func.func @control(%x: tensor<4x8xf32>, %c: tensor<i1>, %n: tensor<i64>) -> (tensor<4x8xf32>, tensor<?x4x8xf32>) {
  // CHECK: graph.fused(%[[A:.*]] = %{{.*}} : tensor<4x8xf32>) -> (tensor<4x1xf32>) {
  // CHECK-NEXT: graph.relu %[[A]]
  %0 = graph.fused(%a = %x : tensor<4x8xf32>) -> (tensor<4x1xf32>) {
    %1 = graph.relu %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = graph.reduce sum %1 {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
    graph.yield %2 : tensor<4x1xf32>
  }
  %3 = graph.add %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  // CHECK: graph.if %{{.*}} : (tensor<i1>) -> tensor<4x8xf32> {
  %4 = graph.if %c : (tensor<i1>) -> tensor<4x8xf32> {
    graph.yield %3 : tensor<4x8xf32>
  } else {
    graph.yield %x : tensor<4x8xf32>
  }
  // CHECK: graph.loop %{{.*}} while %{{.*}} carry %{{.*}} {max_trips = 7 : i64}
  %5:2 = graph.loop %n while %c carry %4 {max_trips = 7 : i64} :
      (tensor<i64>, tensor<i1>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<?x4x8xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %carried: tensor<4x8xf32>):
    %6 = graph.exp %carried : (tensor<4x8xf32>) -> tensor<4x8xf32>
    graph.yield %go, %6, %6 : tensor<i1>, tensor<4x8xf32>, tensor<4x8xf32>
  }
  // CHECK: graph.custom "my_scale"(%{{.*}}) {tasks = 4 : i64, words = array<i64: 3>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = graph.custom "my_scale"(%5#0) {words = array<i64: 3>, tasks = 4 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %7, %5#1 : tensor<4x8xf32>, tensor<?x4x8xf32>
}
