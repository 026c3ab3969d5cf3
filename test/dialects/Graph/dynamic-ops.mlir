// Ops whose sizes are values of the run print and parse back to themselves; sizes that are constants make static types,
// and, canonicalized, ops of fixed attributes.
// RUN: plim-opt %s | plim-opt | FileCheck %s
// RUN: plim-opt %s --mlir-print-op-generic | plim-opt | FileCheck %s
// RUN: plim-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: func.func @sizes
func.func @sizes(%x: tensor<4x6xf32>, %s: tensor<2xi64>, %a: tensor<f32>, %n: tensor<i64>)
    -> (tensor<?x?xf32>, tensor<?x?xf32, #graph.bounds<[0 to 4, 0 to 6]>>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<?xf32>) {
  // CHECK: graph.dynamic_reshape %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %0 = graph.dynamic_reshape %x, %s : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: graph.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}} {steps = array<i64: 1, 2>} : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32, #graph.bounds<[0 to 4, 0 to 6]>>
  %1 = graph.dynamic_slice %x, %s, %s {steps = array<i64: 1, 2>} : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32, #graph.bounds<[0 to 4, 0 to 6]>>
  // CHECK: graph.dynamic_broadcast %{{.*}}, %{{.*}} : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  %2 = graph.dynamic_broadcast %a, %s : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: graph.dynamic_fill %{{.*}}, 3.000000e+00 {element = i32} : (tensor<2xi64>) -> tensor<?x?xi32>
  %3 = graph.dynamic_fill %s, 3.0 {element = i32} : (tensor<2xi64>) -> tensor<?x?xi32>
  // CHECK: graph.dynamic_range %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<?xf32>
  %4 = graph.dynamic_range %a, %a, %n : (tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<?xf32>
  return %0, %1, %2, %3, %4 : tensor<?x?xf32>, tensor<?x?xf32, #graph.bounds<[0 to 4, 0 to 6]>>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @selections
func.func @selections(%x: tensor<4x6xf32>, %n: tensor<i64>, %b: tensor<1x9x4xf32>, %s: tensor<1x2x9xf32>, %t: tensor<f32>)
    -> (tensor<?x2xi64, #graph.bounds<[0 to 24, 2]>>, tensor<24xi64>, tensor<10x3xi64>) {
  // CHECK: graph.nonzero %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<i64>) -> tensor<?x2xi64, #graph.bounds<[0 to 24, 2]>>
  %0 = graph.nonzero %x, %n : (tensor<4x6xf32>, tensor<i64>) -> tensor<?x2xi64, #graph.bounds<[0 to 24, 2]>>
  // CHECK: graph.unique %{{.*}} {sorted = false} : (tensor<4x6xf32>) -> (tensor<24xi64>, tensor<24xi64>, tensor<24xi64>, tensor<i64>)
  %1:4 = graph.unique %x {sorted = false} : (tensor<4x6xf32>) -> (tensor<24xi64>, tensor<24xi64>, tensor<24xi64>, tensor<i64>)
  // CHECK: graph.non_max_suppression {{.*}} {limit = 5 : i64} : {{.*}} -> (tensor<10x3xi64>, tensor<i64>)
  %2:2 = graph.non_max_suppression %b, %s, %n, %t, %t {limit = 5 : i64}
    : (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<10x3xi64>, tensor<i64>)
  return %0, %1#1, %2#0 : tensor<?x2xi64, #graph.bounds<[0 to 24, 2]>>, tensor<24xi64>, tensor<10x3xi64>
}

// FOLDED-LABEL: func.func @known
// FOLDED-DAG: graph.reshape %{{.*}} {shape = array<i64: 3, 8>}
// FOLDED-DAG: graph.slice %{{.*}} {sizes = array<i64: 3, 2>, starts = array<i64: 1, 1>, steps = array<i64: 1, 2>}
// FOLDED-DAG: graph.broadcast %{{.*}} {shape = array<i64: 3, 8>}
// FOLDED-DAG: graph.constant dense<5.000000e-01> : tensor<3x8xf32>
func.func @known(%x: tensor<4x6xf32>, %a: tensor<8xf32>) -> (tensor<3x8xf32>, tensor<3x2xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
  %s = graph.constant dense<[3, 8]> : tensor<2xi64>
  %t = graph.constant dense<[3, 2]> : tensor<2xi64>
  %o = graph.constant dense<[1, 1]> : tensor<2xi64>
  %0 = graph.dynamic_reshape %x, %s : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<3x8xf32>
  %1 = graph.dynamic_slice %x, %o, %t {steps = array<i64: 1, 2>} : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x2xf32>
  %2 = graph.dynamic_broadcast %a, %s : (tensor<8xf32>, tensor<2xi64>) -> tensor<3x8xf32>
  %3 = graph.dynamic_fill %s, 0.5 {element = f32} : (tensor<2xi64>) -> tensor<3x8xf32>
  return %0, %1, %2, %3 : tensor<3x8xf32>, tensor<3x2xf32>, tensor<3x8xf32>, tensor<3x8xf32>
}
