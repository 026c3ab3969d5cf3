// Types become as precise as operands allow: sizes, bounds, function results, regions.
// RUN: plim-opt %s --graph-infer-shapes --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @chain(%{{.*}}: tensor<1x8xf32>) -> tensor<1x4xf32>
func.func @chain(%x: tensor<1x8xf32>) -> tensor<?x?xf32> {
  // CHECK: graph.relu %{{.*}} : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %0 = graph.relu %x : (tensor<1x8xf32>) -> tensor<?x?xf32>
  %w = graph.parameter "w" {file = "m.onnx", bytes = 128 : i64} : tensor<8x4xf32>
  // CHECK: graph.matmul %{{.*}} -> tensor<1x4xf32>
  %1 = graph.matmul %0, %w : (tensor<?x?xf32>, tensor<8x4xf32>) -> tensor<?x?xf32>
  // CHECK: return %{{.*}} : tensor<1x4xf32>
  return %1 : tensor<?x?xf32>
}

// -----

// Bounds go through windows and reshapes.
// CHECK-LABEL: func.func @bounds
func.func @bounds(%x: tensor<?x3x?x32xf32, #graph.bounds<[1 to 8, 3, 16 to 64, 32]>>) -> tensor<?xf32> {
  %w = graph.parameter "w" {file = "m.onnx", bytes = 432 : i64} : tensor<4x3x3x3xf32>
  // CHECK: graph.conv {{.*}} -> tensor<?x4x?x16xf32, #graph.bounds<[1 to 8, 4, 8 to 32, 16]>>
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} :
      (tensor<?x3x?x32xf32, #graph.bounds<[1 to 8, 3, 16 to 64, 32]>>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x?xf32>
  // CHECK: graph.reshape {{.*}} -> tensor<?xf32, #graph.bounds<[512 to 16384]>>
  %1 = graph.reshape %0 {shape = array<i64: -1>} : (tensor<?x4x?x?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// A declared type that says more than the inferred one stays.
// CHECK-LABEL: func.func @declared
func.func @declared(%x: tensor<?x8xf32>) -> tensor<4x8xf32> {
  // CHECK: graph.relu %{{.*}} : (tensor<?x8xf32>) -> tensor<4x8xf32>
  %0 = graph.relu %x : (tensor<?x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// A range whose limit is shape arithmetic becomes a constant.
// CHECK-LABEL: func.func @range
func.func @range(%x: tensor<3x8xf32>) -> tensor<?xi64> {
  // CHECK: graph.constant dense<[0, 1, 2]> : tensor<3xi64>
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %shape = graph.shape_of %x : (tensor<3x8xf32>) -> tensor<2xi64>
  %rows = graph.gather %shape, %zero : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %0 = graph.range %zero, %rows, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----

// One that is too long for a constant has a length all the same; so has one that runs down, and one that is empty.
// CHECK-LABEL: func.func @long_range
func.func @long_range() -> (tensor<?xi64>, tensor<?xf32>, tensor<?xi64>) {
  // CHECK: graph.range {{.*}} -> tensor<3000xi64>
  // CHECK: graph.range {{.*}} -> tensor<2001xf32>
  // CHECK: tensor<0xi64>
  %start = graph.constant dense<5> : tensor<i64>
  %limit = graph.constant dense<9004> : tensor<i64>
  %step = graph.constant dense<3> : tensor<i64>
  %0 = graph.range %start, %limit, %step : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %high = graph.constant dense<1000.25> : tensor<f32>
  %low = graph.constant dense<0.0> : tensor<f32>
  %down = graph.constant dense<-0.5> : tensor<f32>
  %1 = graph.range %high, %low, %down : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  %2 = graph.range %limit, %start, %step : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return %0, %1, %2 : tensor<?xi64>, tensor<?xf32>, tensor<?xi64>
}

// -----

// Of two branches, the result has what both have.
// CHECK-LABEL: func.func @branches
func.func @branches(%c: tensor<i1>, %x: tensor<4x8xf32>, %y: tensor<2x8xf32>) -> tensor<?x?xf32> {
  // CHECK: graph.if %{{.*}} : (tensor<i1>) -> tensor<?x8xf32, #graph.bounds<[2 to 4, 8]>>
  %0 = graph.if %c : (tensor<i1>) -> tensor<?x?xf32> {
    %1 = graph.relu %x : (tensor<4x8xf32>) -> tensor<?x?xf32>
    graph.yield %1 : tensor<?x?xf32>
  } else {
    graph.yield %y : tensor<2x8xf32>
  }
  return %0 : tensor<?x?xf32>
}

// -----

// What a loop carries is what it starts with or what a trip gives; it stacks a slice a trip.
// CHECK-LABEL: func.func @loop
// CHECK: graph.loop
// CHECK-SAME: -> (tensor<?x8xf32, #graph.bounds<[2 to 6, 8]>>, tensor<?x4x8xf32, #graph.bounds<[0 to 5, 4, 8]>>)
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<?x8xf32, #graph.bounds<[2 to 6, 8]>>):
func.func @loop(%x: tensor<2x8xf32>, %z: tensor<4x8xf32>, %n: tensor<i64>, %c: tensor<i1>) -> (tensor<?x8xf32, #graph.bounds<[0 to 6, 8]>>, tensor<?x?x?xf32>) {
  %0:2 = graph.loop %n while %c carry %x {max_trips = 5 : i64} : (tensor<i64>, tensor<i1>, tensor<2x8xf32>)
      -> (tensor<?x8xf32, #graph.bounds<[0 to 6, 8]>>, tensor<?x?x?xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %h: tensor<?x8xf32, #graph.bounds<[0 to 6, 8]>>):
    %1 = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 8>} : (tensor<2x8xf32>) -> tensor<2x8xf32>
    %2 = graph.concat %1, %z {axis = 0 : i64} : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
    %3 = graph.relu %z : (tensor<4x8xf32>) -> tensor<?x?xf32>
    graph.yield %go, %2, %3 : tensor<i1>, tensor<?x8xf32>, tensor<?x?xf32>
  }
  return %0#0, %0#1 : tensor<?x8xf32, #graph.bounds<[0 to 6, 8]>>, tensor<?x?x?xf32>
}
