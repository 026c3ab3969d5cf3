// Recorded offsets become views of arenas, each with one birth and one death; ranges of accesses become views; what is not
// tiered yet is packed in the order given.
// RUN: plim-opt %s --split-input-file --plan-assign-offsets --plan-check | FileCheck %s

// CHECK-LABEL: plan.arena @arena0 transient : !plan.buffer<ram, 192> touched 192
// CHECK: plan.program @tiered placed
// CHECK: %[[A:.*]] = plan.view @arena0[0] from "a" : <ram, 64>
// CHECK-NEXT: %[[S:.*]] = plan.view @arena0[64] : <ram, 128>
// CHECK-NEXT: %[[P:.*]] = plan.view %[[A]][16] : <ram, 64> to <ram, 32>
// CHECK-NEXT: plan.mark birth %[[A]]
// CHECK-NEXT: plan.mark birth %[[S]]
// CHECK-NEXT: plan.launch "k"<tasks = 2, scratch = 64>(r %x f32[16] : <ram, 64>, w %[[A]] f32[16] : <ram, 64>) workspace(%[[S]] : !plan.buffer<ram, 128>)
// CHECK-NEXT: plan.mark death %[[S]]
// CHECK-NEXT: plan.launch "m"(r %[[P]] f32[8] : <ram, 32>, w %y f32[16] : <ram, 64>)
// CHECK-NEXT: plan.mark death %[[A]]
// CHECK-NEXT: plan.return
plan.module attributes {workers = 2} {
  plan.program @tiered tiered io(in %x "x" f32[16] : <ram, 64>, out %y "y" f32[16] : <ram, 64>) {
    %a = plan.alloc at 0 from "a" : <ram, 64>
    %ws = plan.alloc at 64 : <ram, 128>
    %part = plan.view %a[16] : <ram, 64> to <ram, 48>
    plan.launch "k"<tasks = 2, scratch = 64, ns = 5>(r %x f32[16] : <ram, 64>, w %a f32[16] : <ram, 64>) workspace(%ws : !plan.buffer<ram, 128>) pure
    plan.launch "m"<ns = 5>(r %part span 32 f32[8] : <ram, 48>, w %y f32[16] : <ram, 64>) pure
    plan.return
  }
}

// -----

// Expressions in shapes become scalars of plan.eval; what a loop carries gets slots of its own; views at a scalar's offset
// move to their users; a buffer of a region lives in the region.
// CHECK-LABEL: plan.program @dynamic placed symbols(%N "N" in [1, 8])
// CHECK: plan.view @arena0[{{[0-9]+}}] from "rows" : <ram, 512>
// CHECK: %[[E:.*]]:2 = plan.eval(%[[I:.*]] = %N) -> 2 {
// CHECK-DAG: arith.muli %[[I]]
// CHECK-DAG: arith.addi %[[I]]
// CHECK: plan.mark birth
// CHECK-NEXT: plan.launch "fill"(w %{{.*}} f32[s0 max 4, s1 max 8, 4] strides [s2 max 32, 4, 1] : <ram, 512>) dims(%[[E]]#0, %N, %[[E]]#1)
// CHECK: %[[C:.*]] = plan.eval(%{{.*}} = %N) -> 1 {
// CHECK: plan.loop %[[T:.*]] max 8 trips %N carry(%[[K:.*]] = %[[C]]) {
// CHECK-NEXT: plan.mark birth %[[B:.*]] : <ram, 64>
// CHECK-NEXT: %[[V:.*]] = plan.view %{{.*}}[0 + %[[K]]] : <ram, 512> to <ram, 128>
// CHECK-NEXT: plan.launch "step"(r %[[V]] f32[16] : <ram, 128>, w %[[B]] f32[16] : <ram, 64>)
// CHECK-NEXT: plan.launch "add"(r %[[B]]
// CHECK-NEXT: plan.mark death %[[B]]
// CHECK-NEXT: %[[N:.*]] = plan.eval(%{{.*}} = %[[T]]) -> 1 {
// CHECK: plan.yield %[[N]]
plan.module {
  plan.program @dynamic virtual symbols(%n "N" in [1, 8]) io(out %y "y" f32[16] : <ram, 64>) {
    %rows = plan.alloc from "rows" : <512>
    plan.launch "fill"<ns = 1>(w %rows f32[s0 + 1 max 4, s0 max 8, 4] : <512>) dims(%n) pure
    plan.fill %y with 0 : <ram, 64>
    %end = plan.loop %trip max 8 trips %n carry(%k = %n) {
      %row = plan.view %rows[0 + %k] : <512> to <128>
      %inner = plan.alloc from "inner" : <64>
      plan.launch "step"<ns = 1>(r %row f32[16] : <128>, w %inner f32[16] : <64>) pure
      plan.launch "add"<ns = 1>(r %inner f32[16] : <64>, rw %y f32[16] : <ram, 64>)
      plan.yield %trip
    }
    plan.check %end in [0, 8] "end"
    plan.return
  }
}

// -----

// States have one home for all programs, in the order of the module; the program records before which step none is written.
// CHECK-LABEL: plan.program @step placed
// CHECK-SAME: commit = 3 : i64
// CHECK-DAG: %[[K:.*]] = plan.resident @keys in @arena0[0] : <ram, 100>
// CHECK-DAG: %[[V:.*]] = plan.resident @values in @arena0[128] : <ram, 64>
// CHECK: plan.launch "next"(r %[[V]] f32[16] : <ram, 64>, w %{{.*}} f32[16] : <ram, 64>)
// CHECK: plan.launch "update"(r %{{.*}} f32[16] : <ram, 64>, rw %[[V]] f32[16] : <ram, 64>)
// CHECK-LABEL: plan.program @read placed
// CHECK: plan.resident @values in @arena0[128] : <ram, 64>
plan.module {
  plan.state @keys f32[25] bytes 100
  plan.state @values f32[16] bytes 64
  plan.program @step virtual io(in %keys "keys" f32[25] state @keys : <ram, 100>, out %y "y" f32[25] : <ram, 100>) {
    %v = plan.resident @values : <64>
    %n = plan.alloc from "n" : <64>
    plan.launch "copy"<ns = 1>(r %keys f32[25] : <ram, 100>, w %y f32[25] : <ram, 100>) pure
    plan.launch "next"<ns = 1>(r %v f32[16] : <64>, w %n f32[16] : <64>) pure
    plan.launch "update"<ns = 1>(r %n f32[16] : <64>, rw %v f32[16] : <64>)
    plan.return
  }
  plan.program @read virtual io(out %y "y" f32[16] : <ram, 64>) {
    %v = plan.resident @values : <64>
    plan.launch "copy"<ns = 1>(r %v f32[16] : <64>, w %y f32[16] : <ram, 64>) pure
    plan.return
  }
}

// -----

// What a step in flight touches lives until the wait; what a copy comes after is a wait of its queue.
// CHECK-LABEL: plan.program @flight placed
// CHECK: plan.mark birth %[[A:.*]] : <ram, 64>
// CHECK-NEXT: %[[T:.*]] = plan.launch "k"(w %[[A]] f32[16] : <ram, 64>) on <stream> -> !plan.token
// CHECK-NEXT: plan.wait %[[T]] on <write>
// CHECK-NEXT: %[[C:.*]] = plan.copy %[[A]] to %y on <write> : <ram, 64> to <ram, 64> -> !plan.token
// CHECK-NEXT: plan.launch "other"
// CHECK-NEXT: plan.wait %[[T]], %[[C]]
// CHECK-NEXT: plan.mark death %[[A]]
plan.module {
  plan.program @flight tiered io(out %y "y" f32[16] : <ram, 64>, out %z "z" f32[16] : <ram, 64>) {
    %a = plan.alloc at 0 : <ram, 64>
    %t = plan.launch "k"(w %a f32[16] : <ram, 64>) on <stream> -> !plan.token
    %c = plan.copy %a to %y after %t on <write> : <ram, 64> to <ram, 64> -> !plan.token
    plan.launch "other"(w %z f32[16] : <ram, 64>)
    plan.wait %t, %c
    plan.return
  }
}
