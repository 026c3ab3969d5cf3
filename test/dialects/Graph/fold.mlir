// Shape arithmetic on constants folds away, and identities leave their operand.
// RUN: plim-opt %s --canonicalize | FileCheck %s

// Shape -> Gather -> Concat -> Mul, as exporters write reshapes, becomes one constant.
// CHECK-LABEL: func.func @shape_arithmetic
func.func @shape_arithmetic(%x: tensor<2x128x384xf32>) -> tensor<3xi64> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<[2, 128, 32]> : tensor<3xi64>
  // CHECK-NEXT: return %[[C]]
  %shape = graph.shape_of %x : (tensor<2x128x384xf32>) -> tensor<3xi64>
  %two = graph.constant dense<2> : tensor<1xi64>
  %heads = graph.constant dense<12> : tensor<1xi64>
  %size = graph.gather %shape, %two : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %per = graph.div %size, %heads : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %first = graph.slice %shape {starts = array<i64: 0>, sizes = array<i64: 2>} : (tensor<3xi64>) -> tensor<2xi64>
  %all = graph.concat %first, %per {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  return %all : tensor<3xi64>
}

// A known size of a shape that is not fully known folds; an unknown one does not.
// CHECK-LABEL: func.func @partly_known
func.func @partly_known(%x: tensor<?x384xf32>) -> (tensor<i64>, tensor<1xi64>, tensor<i64>) {
  // CHECK-DAG: graph.constant dense<384> : tensor<i64>
  // CHECK-DAG: graph.constant dense<384> : tensor<1xi64>
  // CHECK: graph.gather
  %shape = graph.shape_of %x : (tensor<?x384xf32>) -> tensor<2xi64>
  %one = graph.constant dense<-1> : tensor<i64>
  %zero = graph.constant dense<0> : tensor<i64>
  %0 = graph.gather %shape, %one : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %1 = graph.slice %shape {starts = array<i64: 1>, sizes = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
  %2 = graph.gather %shape, %zero : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  return %0, %1, %2 : tensor<i64>, tensor<1xi64>, tensor<i64>
}

// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<2x2xi64>, tensor<3xi64>, tensor<4xi32>, tensor<i64>, tensor<2xf32>, tensor<2xi1>) {
  // CHECK-DAG: graph.constant dense<{{\[}}[1, 3], [2, 4]]> : tensor<2x2xi64>
  // CHECK-DAG: graph.constant dense<[5, -1, 7]> : tensor<3xi64>
  // CHECK-DAG: graph.constant dense<[0, 2, 4, 6]> : tensor<4xi32>
  // CHECK-DAG: graph.constant dense<24> : tensor<i64>
  // CHECK-DAG: graph.constant dense<[2.000000e+00, 1.500000e+00]> : tensor<2xf32>
  // CHECK-DAG: graph.constant dense<[true, false]> : tensor<2xi1>
  %m = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %t = graph.transpose %m {permutation = array<i64: 1, 0>} : (tensor<2x2xi64>) -> tensor<2x2xi64>
  %a = graph.constant dense<[5, 6, 7]> : tensor<3xi64>
  %minus = graph.constant dense<-1> : tensor<i64>
  %which = graph.constant dense<[true, false, true]> : tensor<3xi1>
  %s = graph.select %which, %a, %minus : (tensor<3xi1>, tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %zero = graph.constant dense<0> : tensor<i32>
  %seven = graph.constant dense<7> : tensor<i32>
  %two = graph.constant dense<2> : tensor<i32>
  %r = graph.range %zero, %seven, %two : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4xi32>
  %p = graph.reduce prod %m {axes = array<i64: 0, 1>, keep_dims = false} : (tensor<2x2xi64>) -> tensor<i64>
  %f = graph.constant dense<[4.0, 3.0]> : tensor<2xf32>
  %h = graph.constant dense<2.0> : tensor<f32>
  %d = graph.div %f, %h : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %g = graph.less_equal %h, %d : (tensor<f32>, tensor<2xf32>) -> tensor<2xi1>
  return %t, %s, %r, %p, %d, %g : tensor<2x2xi64>, tensor<3xi64>, tensor<4xi32>, tensor<i64>, tensor<2xf32>, tensor<2xi1>
}

// A division by zero and a cast of infinity to an integer are left to fail where they run.
// CHECK-LABEL: func.func @left_alone
func.func @left_alone() -> (tensor<1xi64>, tensor<1xi32>) {
  // CHECK: graph.div
  // CHECK: graph.cast
  %one = graph.constant dense<1> : tensor<1xi64>
  %zero = graph.constant dense<0> : tensor<1xi64>
  %0 = graph.div %one, %zero : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %inf = graph.constant dense<0x7F800000> : tensor<1xf32>
  %1 = graph.cast %inf {to = i32} : (tensor<1xf32>) -> tensor<1xi32>
  return %0, %1 : tensor<1xi64>, tensor<1xi32>
}

// A constant above 1 KiB is not made.
// CHECK-LABEL: func.func @large
func.func @large() -> tensor<300xi64> {
  // CHECK: graph.broadcast
  %one = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.broadcast %one {shape = array<i64: 300>} : (tensor<1xi64>) -> tensor<300xi64>
  return %0 : tensor<300xi64>
}

// CHECK-LABEL: func.func @identities
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
func.func @identities(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: return %[[X]]
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<8xf32>
  %0 = graph.add %x, %zero : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = graph.mul %one, %0 : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.cast %1 {to = f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.cast %2 {to = f64} : (tensor<4x8xf32>) -> tensor<4x8xf64>
  %4 = graph.cast %3 {to = f32} : (tensor<4x8xf64>) -> tensor<4x8xf32>
  %5 = graph.transpose %4 {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %6 = graph.transpose %5 {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %7 = graph.reshape %6 {shape = array<i64: 32>} : (tensor<4x8xf32>) -> tensor<32xf32>
  %8 = graph.reshape %7 {shape = array<i64: 4, -1>} : (tensor<32xf32>) -> tensor<4x8xf32>
  %9 = graph.slice %8 {starts = array<i64: 0, 0>, sizes = array<i64: 4, 8>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %10 = graph.concat %9 {axis = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %11 = graph.neg %10 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %12 = graph.neg %11 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %12 : tensor<4x8xf32>
}

// An addition that broadcasts its operand to a larger shape is no identity.
// CHECK-LABEL: func.func @not_identity
func.func @not_identity(%x: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: graph.add
  %zero = graph.constant dense<0.0> : tensor<4x8xf32>
  %0 = graph.add %x, %zero : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @joined
func.func @joined(%x: tensor<2x3x4xf32>, %h: tensor<4xf16>) -> (tensor<4x2x3xf32>, tensor<24xf32>, tensor<1x1x2xf32>, tensor<4xf64>, tensor<4x1x3xf32>, tensor<2x3x4xf32>) {
  // CHECK: graph.transpose %{{.*}} {permutation = array<i64: 2, 0, 1>}
  // CHECK: graph.reshape %{{.*}} {shape = array<i64: 24>}
  // CHECK: graph.slice %{{.*}} {sizes = array<i64: 1, 1, 2>, starts = array<i64: 1, 2, 1>, steps = array<i64: 1, 1, 2>}
  // CHECK: graph.cast %{{.*}} {to = f64} : (tensor<4xf16>)
  // CHECK: graph.mul %[[X:.*]], %[[X]]
  %0 = graph.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<2x4x3xf32>) -> tensor<4x2x3xf32>
  %2 = graph.reshape %x {shape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %3 = graph.reshape %2 {shape = array<i64: -1>} : (tensor<6x4xf32>) -> tensor<24xf32>
  %4 = graph.slice %x {starts = array<i64: 1, 1, 1>, sizes = array<i64: 1, 2, 3>} : (tensor<2x3x4xf32>) -> tensor<1x2x3xf32>
  %5 = graph.slice %4 {starts = array<i64: 0, 1, 0>, sizes = array<i64: 1, 1, 2>, steps = array<i64: 1, 1, 2>} :
      (tensor<1x2x3xf32>) -> tensor<1x1x2xf32>
  %6 = graph.cast %h {to = f32} : (tensor<4xf16>) -> tensor<4xf32>
  %7 = graph.cast %6 {to = f64} : (tensor<4xf32>) -> tensor<4xf64>
  %8 = graph.slice %1 {starts = array<i64: 0, 0, 0>, sizes = array<i64: 4, 1, 3>} : (tensor<4x2x3xf32>) -> tensor<4x1x3xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %9 = graph.pow %x, %two : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  return %1, %3, %5, %7, %8, %9 : tensor<4x2x3xf32>, tensor<24xf32>, tensor<1x1x2xf32>, tensor<4xf64>, tensor<4x1x3xf32>, tensor<2x3x4xf32>
}

// A transpose that moves only dimensions of size 1 is a reshape.
// CHECK-LABEL: func.func @transpose_view
func.func @transpose_view(%x: tensor<1x8x1x4xf32>) -> tensor<8x4x1x1xf32> {
  // CHECK: graph.reshape
  %0 = graph.transpose %x {permutation = array<i64: 1, 3, 0, 2>} : (tensor<1x8x1x4xf32>) -> tensor<8x4x1x1xf32>
  return %0 : tensor<8x4x1x1xf32>
}

// A branch whose condition is known is the region it takes.
// CHECK-LABEL: func.func @known_branch
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @known_branch(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.relu %[[X]]
  // CHECK-NEXT: return %[[R]]
  %no = graph.constant dense<false> : tensor<i1>
  %0 = graph.if %no : (tensor<i1>) -> tensor<4xf32> {
    graph.yield %x : tensor<4xf32>
  } else {
    %1 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Of a loop, what no trip changes and what nothing needs go; the others stay.
// CHECK-LABEL: func.func @drop_unchanged
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[K:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<i64>, %[[C:.*]]: tensor<i1>
// CHECK: %[[L:.*]] = graph.loop %[[N]] while %[[C]] carry %[[X]] {max_trips = 9 : i64}
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %[[GO:.*]]: tensor<i1>, %[[H:.*]]: tensor<4xf32>):
// CHECK-NEXT: %[[S:.*]] = graph.add %[[H]], %[[K]]
// CHECK-NEXT: graph.yield %[[GO]], %[[S]] : tensor<i1>, tensor<4xf32>
// CHECK: return %[[L]], %[[K]]
func.func @drop_unchanged(%x: tensor<4xf32>, %k: tensor<4xf32>, %n: tensor<i64>, %c: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:4 = graph.loop %n while %c carry %x, %k, %x {max_trips = 9 : i64}
      : (tensor<i64>, tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %h: tensor<4xf32>, %same: tensor<4xf32>, %unused: tensor<4xf32>):
    %1 = graph.add %h, %same : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %go, %1, %same, %1, %1 : tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// One value takes over another that no trip changes.
// CHECK-LABEL: func.func @takes_unchanged
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[K:.*]]: tensor<4xf32>
// CHECK: graph.loop %{{.*}} while %{{.*}} carry %[[X]] {max_trips = 9 : i64}
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %[[GO:.*]]: tensor<i1>, %{{.*}}: tensor<4xf32>):
// CHECK-NEXT: graph.yield %[[GO]], %[[K]] : tensor<i1>, tensor<4xf32>
func.func @takes_unchanged(%x: tensor<4xf32>, %k: tensor<4xf32>, %n: tensor<i64>, %c: tensor<i1>) -> tensor<4xf32> {
  %0:2 = graph.loop %n while %c carry %x, %k {max_trips = 9 : i64}
      : (tensor<i64>, tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %h: tensor<4xf32>, %same: tensor<4xf32>):
    graph.yield %go, %same, %same : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#0 : tensor<4xf32>
}

// A loop that never starts gives what it starts with; one that stacks stays, for the size of the stack.
// CHECK-LABEL: func.func @never_starts
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[S:.*]]:2 = graph.loop
// CHECK: return %[[X]], %[[S]]#1
func.func @never_starts(%x: tensor<4xf32>, %c: tensor<i1>) -> (tensor<4xf32>, tensor<0x4xf32>) {
  %n = graph.constant dense<0> : tensor<i64>
  %0 = graph.loop %n while %c carry %x {max_trips = 0 : i64} : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %h: tensor<4xf32>):
    %1 = graph.exp %h : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %go, %1 : tensor<i1>, tensor<4xf32>
  }
  %2:2 = graph.loop %n while %c carry %x {max_trips = 0 : i64} : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<0x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %h: tensor<4xf32>):
    %1 = graph.exp %h : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %go, %1, %h : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  return %0, %2#1 : tensor<4xf32>, tensor<0x4xf32>
}

// A value that no integer of 64 bits holds is not folded to one.
// CHECK-LABEL: func.func @fill_past_the_integers
func.func @fill_past_the_integers() -> (tensor<2xi64>, tensor<2xi64>) {
  // CHECK-DAG: graph.constant dense<-3> : tensor<2xi64>
  // CHECK-DAG: graph.fill 9.{{.*}}e+18 : tensor<2xi64>
  %0 = graph.fill -3.0 : tensor<2xi64>
  %1 = graph.fill 9.3e18 : tensor<2xi64>
  return %0, %1 : tensor<2xi64>, tensor<2xi64>
}
