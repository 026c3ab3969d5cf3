// The branch that needs less memory at once goes first to its small end; impure steps keep their order.
// RUN: plim-opt %s --plan-order-for-memory | FileCheck %s

// CHECK-LABEL: plan.program @branches
// CHECK: "f"
// CHECK-NEXT: "h"
// CHECK-NEXT: "g"
// CHECK-NEXT: "k"
// CHECK-NEXT: "join"
// CHECK-LABEL: plan.program @impure
// CHECK: "f"
// CHECK-NEXT: "g"
// CHECK-NEXT: "h"
// CHECK-NEXT: "k"
// CHECK-NEXT: "join"
plan.module {
  plan.program @branches virtual io(in %x "x" f32[16] : <ram, 64>, out %y "y" f32[16] : <ram, 64>) {
    %a = plan.alloc : <1048576>
    %b = plan.alloc : <1048576>
    %c = plan.alloc : <64>
    %d = plan.alloc : <64>
    plan.launch "f"<ns = 1>(r %x f32[16] : <ram, 64>, w %a f32[262144] : <1048576>) pure
    plan.launch "g"<ns = 1>(r %x f32[16] : <ram, 64>, w %b f32[262144] : <1048576>) pure
    plan.launch "h"<ns = 1>(r %a f32[262144] : <1048576>, w %c f32[16] : <64>) pure
    plan.launch "k"<ns = 1>(r %b f32[262144] : <1048576>, w %d f32[16] : <64>) pure
    plan.launch "join"<ns = 1>(r %c f32[16] : <64>, r %d f32[16] : <64>, w %y f32[16] : <ram, 64>) pure
    plan.return
  }
  plan.program @impure virtual io(in %x "x" f32[16] : <ram, 64>, out %y "y" f32[16] : <ram, 64>) {
    %a = plan.alloc : <1048576>
    %b = plan.alloc : <1048576>
    %c = plan.alloc : <64>
    %d = plan.alloc : <64>
    plan.launch "f"<ns = 1>(r %x f32[16] : <ram, 64>, w %a f32[262144] : <1048576>)
    plan.launch "g"<ns = 1>(r %x f32[16] : <ram, 64>, w %b f32[262144] : <1048576>)
    plan.launch "h"<ns = 1>(r %a f32[262144] : <1048576>, w %c f32[16] : <64>)
    plan.launch "k"<ns = 1>(r %b f32[262144] : <1048576>, w %d f32[16] : <64>)
    plan.launch "join"<ns = 1>(r %c f32[16] : <64>, r %d f32[16] : <64>, w %y f32[16] : <ram, 64>)
    plan.return
  }
}
