// Branches and loops become plan.if and plan.loop; sizes that a way or a trip decides are scalars of theirs.
// RUN: plim-opt %s --split-input-file --graph-to-plan=library-only --verify-diagnostics | FileCheck %s
// RUN: plim-opt %s --split-input-file --graph-to-plan --verify-diagnostics --plan-assign-offsets --plan-check

// Both branches write the result's buffer; what the else branch hands through is copied.
// CHECK-LABEL: plan.program @main virtual io(in %x "x"
// CHECK: %[[Y:.*]] = plan.alloc from "graph.if" : <32>
// CHECK-NEXT: %[[C:.*]] = plan.load_scalar %c[0] bool in [0, 1] from "graph.if"
// CHECK-NEXT: plan.if %[[C]] from "graph.if" {
// CHECK-NEXT: plan.launch "elementwise.apply"{{.*}}(r %x {{.*}}, w %[[Y]] {{.*}} from "graph.exp"
// CHECK-NEXT: } else {
// CHECK-NEXT: plan.launch "copy.strided"{{.*}}(r %x {{.*}}, w %[[Y]] {{.*}} from "graph.if"
// CHECK-NEXT: }
// CHECK-NEXT: plan.launch "elementwise.apply"{{.*}}(r %[[Y]] {{.*}}, w %y
func.func @main(%x: tensor<2x4xf32> {graph.name = "x"}, %c: tensor<i1> {graph.name = "c"}) -> (tensor<2x4xf32> {graph.name = "y"}) {
  %0 = graph.if %c : (tensor<i1>) -> tensor<2x4xf32> {
    %1 = graph.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %1 : tensor<2x4xf32>
  } else {
    graph.yield %x : tensor<2x4xf32>
  }
  %2 = graph.relu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// -----

// Branches of two sizes: the size is a scalar of the branch; all bytes of the buffer are known after it.
// CHECK-LABEL: plan.program @main virtual
// CHECK-SAME: out %y "y" f32[s0 max 6]
// CHECK: %[[Y:.*]] = plan.alloc from "graph.if" : <24>
// CHECK-NEXT: plan.fill %[[Y]] with 0
// CHECK: %[[SIZE:.*]] = plan.if %{{.*}} -> 1 from "graph.if" {
// CHECK: plan.launch "elementwise.apply"{{.*}} f32[2] : <8>, w %{{.*}} f32[2] : <8>){{.*}} from "graph.exp"
// CHECK: arith.constant 2 : index
// CHECK: } else {
// CHECK: w %[[Y]] f32[6] : <24>){{.*}} from "graph.neg"
// CHECK: arith.constant 6 : index
// CHECK: plan.launch "elementwise.apply"{{.*}}(r %[[Y]] f32[s0 max 6] {{.*}} dims(%[[SIZE]])
// CHECK-NEXT: plan.return %[[SIZE]]
func.func @main(%x: tensor<6xf32> {graph.name = "x"}, %c: tensor<i1> {graph.name = "c"})
    -> (tensor<?xf32, #graph.bounds<[2 to 6]>> {graph.name = "y"}) {
  %0 = graph.if %c : (tensor<i1>) -> tensor<?xf32, #graph.bounds<[2 to 6]>> {
    %1 = graph.slice %x {starts = array<i64: 1>, sizes = array<i64: 2>} : (tensor<6xf32>) -> tensor<2xf32>
    %2 = graph.exp %1 : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %2 : tensor<2xf32>
  } else {
    %3 = graph.neg %x : (tensor<6xf32>) -> tensor<6xf32>
    graph.yield %3 : tensor<6xf32>
  }
  %4 = graph.relu %0 : (tensor<?xf32, #graph.bounds<[2 to 6]>>) -> tensor<?xf32, #graph.bounds<[2 to 6]>>
  return %4 : tensor<?xf32, #graph.bounds<[2 to 6]>>
}

// -----

// A loop of known trips: the new value is written over the old one, which nothing reads any more; the slice of a trip goes
// right to its place.
// CHECK-LABEL: plan.program @main virtual
// CHECK: plan.launch "copy.strided"{{.*}}(r %x {{.*}}, w %y
// CHECK-NEXT: plan.fill %ys with 0
// CHECK-NEXT: plan.loop %[[I:.*]] max 3 from "graph.loop" {
// CHECK-NEXT: %[[AT:.*]] = plan.eval(%{{.*}} = %[[I]]) -> 1 {
// CHECK: %[[SLICE:.*]] = plan.view %ys[0 + %[[AT]]]
// CHECK-NEXT: plan.launch "elementwise.apply"{{.*}}(r %y {{.*}}, r %y {{.*}}, w %[[SLICE]] {{.*}} from "graph.mul"
// CHECK-NEXT: plan.launch "elementwise.apply"{{.*}}(r %y {{.*}}, r %w {{.*}}, w %y {{.*}} from "graph.add"
// CHECK-NEXT: }
// CHECK-NEXT: plan.return
func.func @main(%x: tensor<4xf32> {graph.name = "x"}, %w: tensor<4xf32> {graph.name = "w"})
    -> (tensor<4xf32> {graph.name = "y"}, tensor<3x4xf32> {graph.name = "ys"}) {
  %n = graph.constant dense<3> : tensor<i64>
  %true = graph.constant dense<true> : tensor<i1>
  %0:2 = graph.loop %n while %true carry %x {max_trips = 3 : i64} : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %h: tensor<4xf32>):
    %1 = graph.mul %h, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = graph.add %h, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %go, %2, %1 : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<3x4xf32>
}

// -----

// Trips and condition of the run. The old value is read after the new one is there, which is copied at the end of a trip;
// the stack has as many rows as trips were run.
// CHECK-LABEL: plan.program @main virtual
// CHECK-SAME: out %ys "ys" f32[s0 max 5, 4]
// CHECK: %[[N:.*]] = plan.load_scalar %n[0] i64
// CHECK-NEXT: %[[C:.*]] = plan.load_scalar %c[0] bool in [0, 1]
// CHECK: %[[L:.*]]:2 = plan.loop %[[I:.*]] max 5 trips %[[N]] while carry(%{{.*}} = %[[C]], %{{.*}} = %{{.*}}) from "graph.loop" {
// CHECK-NEXT: %[[ITERATION:.*]] = plan.alloc from "graph.loop" : <8>
// CHECK-NEXT: plan.launch "fill.scalars"{{.*}}(w %[[ITERATION]] i64[] : <8>) scalars(%[[I]])
// CHECK: plan.launch "elementwise.apply"{{.*}}(r %y {{.*}}, w %[[NEW:.*]] f32[4] {{.*}} from "graph.exp"
// CHECK: plan.launch "elementwise.apply"{{.*}} from "graph.sub"
// CHECK: plan.launch "elementwise.apply"{{.*}}w %[[GO:.*]] bool[] {{.*}} from "graph.less"
// CHECK: %[[NEXT:.*]] = plan.load_scalar %[[GO]][0] bool in [0, 1]
// CHECK: plan.launch "copy.strided"{{.*}}(r %[[NEW]] {{.*}}, w %y
// CHECK: plan.yield %[[NEXT]], %{{.*}}
// CHECK: plan.return %[[L]]#1
func.func @main(%x: tensor<4xf32> {graph.name = "x"}, %n: tensor<i64> {graph.name = "n"}, %c: tensor<i1> {graph.name = "c"})
    -> (tensor<4xf32> {graph.name = "y"}, tensor<?x4xf32, #graph.bounds<[0 to 5, 4]>> {graph.name = "ys"}) {
  %0:2 = graph.loop %n while %c carry %x {max_trips = 5 : i64}
      : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32, #graph.bounds<[0 to 5, 4]>>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %h: tensor<4xf32>):
    %1 = graph.exp %h : (tensor<4xf32>) -> tensor<4xf32>
    %2 = graph.sub %h, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %zero = graph.constant dense<2> : tensor<i64>
    %3 = graph.less %i, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
    graph.yield %3, %1, %2 : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<?x4xf32, #graph.bounds<[0 to 5, 4]>>
}

// -----

// Carried values that change places are copied through buffers of their own.
// CHECK-LABEL: plan.program @main virtual
// CHECK: plan.loop
// CHECK: plan.launch "copy.strided"{{.*}}(r %y2 {{.*}}, w %[[B:.*]] f32[4] : <16>)
// CHECK: plan.launch "copy.strided"{{.*}}(r %y {{.*}}, w %[[A:.*]] f32[4] : <16>)
// CHECK-NEXT: plan.launch "copy.strided"{{.*}}(r %[[A]] {{.*}}, w %y2
// CHECK-NEXT: plan.launch "copy.strided"{{.*}}(r %[[B]] {{.*}}, w %y
func.func @main(%x: tensor<4xf32> {graph.name = "x"}, %z: tensor<4xf32> {graph.name = "z"}, %n: tensor<i64> {graph.name = "n"})
    -> (tensor<4xf32> {graph.name = "y"}, tensor<4xf32> {graph.name = "y2"}) {
  %true = graph.constant dense<true> : tensor<i1>
  %0:2 = graph.loop %n while %true carry %x, %z {max_trips = 5 : i64}
      : (tensor<i64>, tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>):
    graph.yield %go, %b, %a : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The size of what is carried is carried too, within its bound.
// CHECK-LABEL: plan.program @main virtual
// CHECK-SAME: out %y "y" f32[s0 max 6]
// CHECK: plan.fill %y with 0
// CHECK: %[[SIZE:.*]] = plan.loop %{{.*}} max 5 trips %{{.*}} carry(%[[OLD:.*]] = %{{.*}})
// CHECK: plan.launch "copy.concat"{{.*}}(r %y f32[s0 max 6] {{.*}}, w %[[NEW:.*]] f32[s0 + 1 max 7] {{.*}} dims(%[[OLD]])
// CHECK: plan.check %{{.*}} in [1, 6] "a size is beyond the bounds of its result"
// CHECK: plan.launch "copy.strided"{{.*}}(r %[[NEW]] {{.*}}f32[s0 + 1 max 6] {{.*}}, w %y f32[s0 + 1 max 6]
// CHECK: plan.return %[[SIZE]]
func.func @main(%x: tensor<1xf32> {graph.name = "x"}, %n: tensor<i64> {graph.name = "n"})
    -> (tensor<?xf32, #graph.bounds<[1 to 6]>> {graph.name = "y"}) {
  %true = graph.constant dense<true> : tensor<i1>
  %0 = graph.loop %n while %true carry %x {max_trips = 5 : i64}
      : (tensor<i64>, tensor<i1>, tensor<1xf32>) -> tensor<?xf32, #graph.bounds<[1 to 6]>> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<?xf32, #graph.bounds<[1 to 6]>>):
    %1 = graph.concat %a, %x {axis = 0 : i64} : (tensor<?xf32, #graph.bounds<[1 to 6]>>, tensor<1xf32>) -> tensor<?xf32, #graph.bounds<[2 to 7]>>
    graph.yield %go, %1 : tensor<i1>, tensor<?xf32, #graph.bounds<[2 to 7]>>
  }
  return %0 : tensor<?xf32, #graph.bounds<[1 to 6]>>
}

// -----

func.func @main(%x: tensor<1xf32>, %n: tensor<i64>) -> tensor<?xf32> {
  %true = graph.constant dense<true> : tensor<i1>
  // expected-error@+1 {{'graph.loop': carried value 0, dimension 0: need an upper bound, have none}}
  %0 = graph.loop %n while %true carry %x {max_trips = 5 : i64} : (tensor<i64>, tensor<i1>, tensor<1xf32>) -> tensor<?xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<?xf32>):
    %1 = graph.concat %a, %x {axis = 0 : i64} : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
    graph.yield %go, %1 : tensor<i1>, tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<1xf32>, %n: tensor<i64>) -> tensor<?x?xf32, #graph.bounds<[0 to 5, 1 to 7]>> {
  %true = graph.constant dense<true> : tensor<i1>
  // expected-error@+1 {{'graph.loop': result 1: need stacked slices of one size, have dimension 0 change from trip to trip}}
  %0:2 = graph.loop %n while %true carry %x {max_trips = 5 : i64} : (tensor<i64>, tensor<i1>, tensor<1xf32>)
      -> (tensor<?xf32, #graph.bounds<[1 to 6]>>, tensor<?x?xf32, #graph.bounds<[0 to 5, 1 to 7]>>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<?xf32, #graph.bounds<[1 to 6]>>):
    %1 = graph.concat %a, %x {axis = 0 : i64} : (tensor<?xf32, #graph.bounds<[1 to 6]>>, tensor<1xf32>) -> tensor<?xf32, #graph.bounds<[2 to 7]>>
    graph.yield %go, %1, %1 : tensor<i1>, tensor<?xf32, #graph.bounds<[2 to 7]>>, tensor<?xf32, #graph.bounds<[2 to 7]>>
  }
  return %0#1 : tensor<?x?xf32, #graph.bounds<[0 to 5, 1 to 7]>>
}
