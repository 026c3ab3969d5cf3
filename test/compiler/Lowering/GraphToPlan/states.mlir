// A state that grows is laid out at its bound; what is new is written behind it, and the size is loaded, checked and stored.
// RUN: plim-opt %s --split-input-file --graph-to-plan=library-only --verify-diagnostics | FileCheck %s
// RUN: plim-opt %s --split-input-file --graph-to-plan --verify-diagnostics --plan-fit-budget --plan-assign-offsets --plan-check

// Attention reads the state by the strides of its bound: no launch but the append writes it, and none copies it.
// CHECK: plan.state @past f32[1, 2, 16, 8] bytes 1024 durable
// CHECK: plan.state @P i64[] bytes 8 durable
// CHECK-LABEL: plan.program @decode virtual
// CHECK-SAME: io(in %q "q" f32[1, 4, 1, 8] : <ram, 128>, in %new "new" f32[1, 2, 1, 8] : <ram, 64>, out %y "y"
// CHECK-DAG: %[[SIZE:.*]] = plan.resident @P : <8>
// CHECK-DAG: %[[PAST:.*]] = plan.resident @past : <1024>
// CHECK: %[[P:.*]] = plan.load_scalar %[[SIZE]][0] i64 in [0, 16] from "P" : <8>
// CHECK: plan.check %{{.*}} in [0, 16] "state 'P' would grow beyond its bound"
// CHECK: %[[AT:.*]] = plan.view %[[PAST]][0 + %{{.*}}] : <1024> to <1024>
// CHECK-NEXT: plan.launch "copy.strided"
// CHECK-SAME: (r %new f32[1, 2, 1, 8] : <ram, 64>, w %[[AT]] f32[1, 2, 1, 8] strides [256, 128, 8, 1] : <1024>) from
// CHECK-NEXT: plan.launch "attention.
// CHECK-SAME: r %[[PAST]] f32[1, 2, s0 + 1 max 16, 8] strides [256, 128, 8, 1] : <1024>
// CHECK-NOT: "copy
// CHECK: plan.launch "fill.scalars"{{.*}}(w %[[SIZE]] i64[] : <8>) scalars(%{{.*}}) from "P"
// CHECK-NEXT: plan.return
// The other entry has the same states, and the size of its new part is the caller's.
// CHECK-LABEL: plan.program @prefill virtual symbols(%S "S" in [1, 4])
// CHECK: plan.resident @past : <1024>
// CHECK: w %{{.*}} f32[1, 2, s0 max 4, 8] strides [256, 128, 8, 1] : <1024>
// CHECK: f32[1, 2, s0 + s1 max 16, 8] strides [256, 128, 8, 1] : <1024>
graph.variable @past : tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 0 to 16, 8]>> grows "P"
func.func @decode(%q: tensor<1x4x1x8xf32> {graph.name = "q"}, %new: tensor<1x2x1x8xf32> {graph.name = "new"})
    -> (tensor<1x4x1x8xf32> {graph.name = "y"}) {
  %past = graph.read @past : tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 0 to 16, 8]>>
  %all = graph.concat %past, %new {axis = 2 : i64} : (tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 0 to 16, 8]>>, tensor<1x2x1x8xf32>)
    -> tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 17, 8]>>
  %y = graph.attention %q, %all, %all : (tensor<1x4x1x8xf32>, tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 17, 8]>>,
    tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 17, 8]>>) -> tensor<1x4x1x8xf32>
  graph.assign @past, %all : tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 17, 8]>>
  return %y : tensor<1x4x1x8xf32>
}
func.func @prefill(%q: tensor<1x4x?x8xf32, #graph.bounds<[1, 4, 1 to 4, 8]>> {graph.name = "q", graph.dim_names = ["", "", "S", ""]},
                   %new: tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 4, 8]>> {graph.name = "new", graph.dim_names = ["", "", "S", ""]})
    -> (tensor<1x4x?x8xf32> {graph.name = "y"}) {
  %past = graph.read @past : tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 0 to 16, 8]>>
  %all = graph.concat %past, %new {axis = 2 : i64}
    : (tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 0 to 16, 8]>>, tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 4, 8]>>)
    -> tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 20, 8]>>
  %y = graph.attention %q, %all, %all
    : (tensor<1x4x?x8xf32, #graph.bounds<[1, 4, 1 to 4, 8]>>, tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 20, 8]>>,
       tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 20, 8]>>) -> tensor<1x4x?x8xf32>
  graph.assign @past, %all : tensor<1x2x?x8xf32, #graph.bounds<[1, 2, 1 to 20, 8]>>
  return %y : tensor<1x4x?x8xf32>
}

// -----

// An op that does not follow strides reads a copy of the state, and only that.
// CHECK-LABEL: plan.program @main virtual
// CHECK: %[[COPY:.*]] = plan.alloc
// CHECK-NEXT: plan.launch "copy.strided"
// CHECK-SAME: (r %{{.*}} f32[2, s0 + 1 max 8, 4] strides [32, 4, 1] : <256>, w %[[COPY]] f32[2, s0 + 1 max 8, 4] : <256>)
// CHECK-NEXT: plan.launch "reduce.apply"
// CHECK-SAME: (r %[[COPY]] f32[2, s0 + 1 max 8, 4] : <256>
graph.variable @v : tensor<2x?x4xf32, #graph.bounds<[2, 0 to 8, 4]>> grows "P"
func.func @main(%x: tensor<2x1x4xf32> {graph.name = "x"}) -> (tensor<2x4xf32> {graph.name = "y"}) {
  %0 = graph.read @v : tensor<2x?x4xf32, #graph.bounds<[2, 0 to 8, 4]>>
  %1 = graph.concat %0, %x {axis = 1 : i64} : (tensor<2x?x4xf32, #graph.bounds<[2, 0 to 8, 4]>>, tensor<2x1x4xf32>)
    -> tensor<2x?x4xf32, #graph.bounds<[2, 1 to 9, 4]>>
  %y = graph.reduce sum %1 {axes = array<i64: 1>, keep_dims = false} : (tensor<2x?x4xf32, #graph.bounds<[2, 1 to 9, 4]>>) -> tensor<2x4xf32>
  graph.assign @v, %1 : tensor<2x?x4xf32, #graph.bounds<[2, 1 to 9, 4]>>
  return %y : tensor<2x4xf32>
}

// -----

// A near miss: what is new comes first, so the next value is no append, and is copied into the state at the end.
// CHECK-LABEL: plan.program @main virtual
// CHECK: plan.launch "copy.concat"
// CHECK: plan.launch "copy.strided"{{.*}}w %{{.*}} f32[2, s0 + 1 max 8, 4] strides [32, 4, 1] : <256>) dims(%{{.*}}) from "v"
// CHECK: plan.launch "fill.scalars"
graph.variable @v : tensor<2x?x4xf32, #graph.bounds<[2, 0 to 8, 4]>> grows "P"
func.func @main(%x: tensor<2x1x4xf32> {graph.name = "x"}) -> (tensor<2x1x4xf32> {graph.name = "y"}) {
  %0 = graph.read @v : tensor<2x?x4xf32, #graph.bounds<[2, 0 to 8, 4]>>
  %1 = graph.concat %x, %0 {axis = 1 : i64} : (tensor<2x1x4xf32>, tensor<2x?x4xf32, #graph.bounds<[2, 0 to 8, 4]>>)
    -> tensor<2x?x4xf32, #graph.bounds<[2, 1 to 9, 4]>>
  graph.assign @v, %1 : tensor<2x?x4xf32, #graph.bounds<[2, 1 to 9, 4]>>
  return %x : tensor<2x1x4xf32>
}

// -----

// A state of fixed size whose old value nothing reads from its producer on is written in place; the other one, read later,
// is copied at the end.
// CHECK-LABEL: plan.program @main virtual
// CHECK-DAG: %[[A:.*]] = plan.resident @a : <64>
// CHECK-DAG: %[[B:.*]] = plan.resident @b : <64>
// CHECK: plan.launch "elementwise.apply"
// CHECK: plan.launch "elementwise.apply"{{.*}}w %[[A]] f32[4, 4]
// CHECK: plan.launch "copy.strided"{{.*}}w %[[B]] f32[4, 4]
// CHECK-NEXT: plan.return
graph.variable @a : tensor<4x4xf32>
graph.variable @b : tensor<4x4xf32>
func.func @main(%x: tensor<4x4xf32> {graph.name = "x"}) -> (tensor<4x4xf32> {graph.name = "y"}) {
  %a = graph.read @a : tensor<4x4xf32>
  %b = graph.read @b : tensor<4x4xf32>
  %s = graph.add %x, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %na = graph.tanh %s : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %nb = graph.relu %na : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = graph.mul %nb, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  graph.assign @a, %na : tensor<4x4xf32>
  graph.assign @b, %nb : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// What is stored into a state is not computed again, shape arithmetic neither.
// CHECK-LABEL: plan.program @main virtual
// CHECK: %[[N:.*]] = plan.resident @n : <16>
// CHECK: plan.launch "fill.scalars"{{.*}}(w %[[N]] i64[2] : <16>) scalars(%{{[^)]*}}) from "graph.shape_of"
graph.variable @n : tensor<2xi64>
func.func @main(%x: tensor<?x4xf32, #graph.bounds<[1 to 8, 4]>>) -> tensor<2xi64> {
  %old = graph.read @n : tensor<2xi64>
  %twice = graph.add %old, %old : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %new = graph.shape_of %x : (tensor<?x4xf32, #graph.bounds<[1 to 8, 4]>>) -> tensor<2xi64>
  graph.assign @n, %new : tensor<2xi64>
  return %twice : tensor<2xi64>
}

// -----

// The old value under another shape, or a part of it, whose sizes are the run's: it is read after the next one is
// computed, which is no reason to lose it.
// CHECK-LABEL: plan.program @reshaped virtual
// CHECK: %[[M:.*]] = plan.resident @m : <64>
// CHECK: %[[NEXT:.*]] = plan.alloc from "graph.transpose" : <64>
// CHECK: plan.launch "copy.strided"{{.*}}w %[[NEXT]] f32[4, 4]
// CHECK: plan.launch "elementwise.apply"{{.*}}r %[[M]] f32[s0 max 4, s1 max 4]
// CHECK: plan.launch "copy.strided"{{.*}}(r %[[NEXT]] f32[4, 4] : <64>, w %[[M]] f32[4, 4] : <64>)
// CHECK-LABEL: plan.program @sliced virtual
// CHECK: %[[M2:.*]] = plan.resident @m : <64>
// CHECK: %[[NEXT2:.*]] = plan.alloc from "graph.transpose" : <64>
// CHECK: plan.launch "copy.strided"{{.*}}w %[[NEXT2]] f32[4, 4]
// CHECK: %[[PART:.*]] = plan.view %[[M2]]
// CHECK: plan.launch "copy.strided"{{.*}}r %[[PART]]
// CHECK: plan.launch "copy.strided"{{.*}}(r %[[NEXT2]] f32[4, 4] : <64>, w %[[M2]] f32[4, 4] : <64>)
!part = tensor<?x?xf32, #graph.bounds<[1 to 4, 1 to 4]>>
graph.variable @m : tensor<4x4xf32>
func.func @reshaped(%x: !part, %n: tensor<4x4xf32>) -> !part {
  %old = graph.read @m : tensor<4x4xf32>
  %s = graph.shape_of %x : (!part) -> tensor<2xi64>
  %v = graph.dynamic_reshape %old, %s : (tensor<4x4xf32>, tensor<2xi64>) -> !part
  %next = graph.transpose %n {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  graph.assign @m, %next : tensor<4x4xf32>
  %r = graph.add %x, %v : (!part, !part) -> !part
  return %r : !part
}
func.func @sliced(%k: tensor<2xi64>, %x: !part, %n: tensor<4x4xf32>) -> !part {
  %old = graph.read @m : tensor<4x4xf32>
  %s = graph.shape_of %x : (!part) -> tensor<2xi64>
  %v = graph.dynamic_slice %old, %k, %s {steps = array<i64: 1, 1>} : (tensor<4x4xf32>, tensor<2xi64>, tensor<2xi64>) -> !part
  %next = graph.transpose %n {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  graph.assign @m, %next : tensor<4x4xf32>
  %t = graph.transpose %v {permutation = array<i64: 1, 0>} : (!part) -> !part
  %r = graph.add %x, %t : (!part, !part) -> !part
  return %r : !part
}

// -----

graph.variable @v : tensor<?x4xf32, #graph.bounds<[0 to 8, 4]>> grows "P"
graph.variable @w : tensor<?x4xf32, #graph.bounds<[0 to 8, 4]>> grows "P"
// expected-error@+3 {{states of size 'P' need one size when a run has ended, have several}}
// expected-note@+2 {{state 'v': P + 1}}
// expected-note@+1 {{state 'w': P}}
func.func @main(%x: tensor<1x4xf32> {graph.name = "x"}) -> (tensor<1x4xf32> {graph.name = "y"}) {
  %0 = graph.read @v : tensor<?x4xf32, #graph.bounds<[0 to 8, 4]>>
  %1 = graph.read @w : tensor<?x4xf32, #graph.bounds<[0 to 8, 4]>>
  %2 = graph.concat %0, %x {axis = 0 : i64} : (tensor<?x4xf32, #graph.bounds<[0 to 8, 4]>>, tensor<1x4xf32>) -> tensor<?x4xf32, #graph.bounds<[1 to 9, 4]>>
  graph.assign @v, %2 : tensor<?x4xf32, #graph.bounds<[1 to 9, 4]>>
  graph.assign @w, %1 : tensor<?x4xf32, #graph.bounds<[0 to 8, 4]>>
  return %x : tensor<1x4xf32>
}
