// What branches and loops allocate shares bytes where it is not alive at once, at any depth; outside it is one buffer.
// RUN: plim-opt %s --plan-assign-offsets --plan-check | FileCheck %s

// Of %a, %b and %c, %a and %c are never alive together; the branch inside has 64 bytes for either of its ways.
// CHECK: plan.arena @arena0 transient : !plan.buffer<ram, 256> touched 256
// CHECK: plan.program @main placed
// CHECK-DAG: %[[A:.*]] = plan.view @arena0[[[LOW:[0-9]+]]] from "a" : <ram, 128>
// CHECK-DAG: %[[C:.*]] = plan.view @arena0[[[LOW]]] from "c" : <ram, 128>
// CHECK-DAG: plan.view @arena0[[[INNER:[0-9]+]]] from "d" : <ram, 64>
// CHECK-DAG: plan.view @arena0[[[INNER]]] from "e" : <ram, 64>
// CHECK: plan.loop
// CHECK-NEXT: plan.mark birth %[[A]]
// CHECK: plan.mark death %[[A]]
// CHECK: plan.mark birth %[[C]]
// CHECK: plan.mark death %[[C]]
plan.module {
  plan.program @main virtual io(in %x "x" f32[32] : <ram, 128>, in %n "n" i64[] : <ram, 8>, out %y "y" f32[32] : <ram, 128>) {
    plan.launch "copy.strided"<ns = 10>(r %x f32[32] : <ram, 128>, w %y f32[32] : <ram, 128>) pure from "start"
    %trips = plan.load_scalar %n[0] i64 in [0, 4] from "loop" : <ram, 8>
    plan.loop %i max 4 trips %trips from "loop" {
      %a = plan.alloc from "a" : <128>
      %b = plan.alloc from "b" : <128>
      %c = plan.alloc from "c" : <128>
      plan.launch "copy.strided"<ns = 10>(r %y f32[32] : <ram, 128>, w %a f32[32] : <128>) pure from "a"
      plan.launch "copy.strided"<ns = 10>(r %a f32[32] : <128>, w %b f32[32] : <128>) pure from "b"
      plan.launch "copy.strided"<ns = 10>(r %b f32[32] : <128>, w %c f32[32] : <128>) pure from "c"
      plan.launch "copy.strided"<ns = 10>(r %c f32[32] : <128>, w %y f32[32] : <ram, 128>) pure from "next"
      plan.if %i from "branch" {
        %d = plan.alloc from "d" : <64>
        plan.launch "copy.strided"<ns = 10>(r %x span 64 f32[16] : <ram, 128>, w %d f32[16] : <64>) pure from "d"
        plan.launch "copy.strided"<ns = 10>(r %d f32[16] : <64>, w %y span 64 f32[16] : <ram, 128>) pure from "d2"
      } else {
        %e = plan.alloc from "e" : <64>
        plan.launch "copy.strided"<ns = 10>(r %x span 64 f32[16] : <ram, 128>, w %e f32[16] : <64>) pure from "e"
        plan.launch "copy.strided"<ns = 10>(r %e f32[16] : <64>, w %y span 64 f32[16] : <ram, 128>) pure from "e2"
      }
    }
    plan.return
  }
}
