// Generic passes merge and drop no step: equal launches stay two launches, results nobody reads do not matter, a loaded
// scalar keeps its bound check. What makes no step goes: views, residents and buffers without a use.
// RUN: plim-opt %s --canonicalize --cse | FileCheck %s

plan.module {
  plan.constant @w f32[16] bytes 64 at 0
  plan.arena @arena0 transient : !plan.buffer<ram, 128>
  // CHECK-LABEL: plan.program @steps
  plan.program @steps virtual symbols(%n "N" in [1, 4]) io(in %x "x" i64[16] : <ram, 128>, out %y "y" f32[16] : <ram, 64>) {
    // CHECK-NEXT: %[[A:.*]] = plan.alloc : <64>
    %unused = plan.alloc : <64>
    %unread = plan.resident @w : <64>
    %a = plan.alloc : <64>
    // CHECK-NEXT: %[[V:.*]] = plan.view %[[A]][16] : <64> to <32>
    %v = plan.view %a[16] : <64> to <32>
    %same = plan.view %a[16] : <64> to <32>
    // CHECK-NEXT: plan.launch "random"(w %[[A]] f32[16] : <64>) pure
    plan.launch "random"(w %a f32[16] : <64>) pure
    // CHECK-NEXT: plan.launch "random"(w %[[A]] f32[16] : <64>) pure
    plan.launch "random"(w %a f32[16] : <64>) pure
    // CHECK-NEXT: plan.launch "k"(r %[[V]] f32[8] : <32>, r %[[V]] f32[8] : <32>) -> index
    %r = plan.launch "k"(r %v f32[8] : <32>, r %same f32[8] : <32>) -> index
    // CHECK-NEXT: plan.load_scalar
    // CHECK-NEXT: plan.load_scalar
    %l = plan.load_scalar %x[0] i64 in [0, 4] : <ram, 128>
    %m = plan.load_scalar %x[0] i64 in [0, 4] : <ram, 128>
    // CHECK-NEXT: plan.eval
    // CHECK: plan.eval
    %e = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
    %f = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
    %dropped = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
    // CHECK-NOT: plan.eval
    // CHECK: plan.check
    // CHECK-NEXT: plan.check
    plan.check %e in [0, 4] "e"
    plan.check %f in [0, 4] "e"
    // CHECK-NEXT: plan.fill
    // CHECK-NEXT: plan.fill
    plan.fill %y with 0 : <ram, 64>
    plan.fill %y with 0 : <ram, 64>
    // CHECK-NEXT: plan.return
    plan.return
  }
  // Two live ranges at one place stay two.
  // CHECK-LABEL: plan.program @ranges
  plan.program @ranges placed io(out %y "y" f32[16] : <ram, 64>) {
    // CHECK-NEXT: plan.view @arena0[0]
    // CHECK-NEXT: plan.view @arena0[0]
    %a = plan.view @arena0[0] : <ram, 64>
    %b = plan.view @arena0[0] : <ram, 64>
    plan.mark birth %a : <ram, 64>
    plan.launch "k"(w %a f32[16] : <ram, 64>)
    plan.mark death %a : <ram, 64>
    plan.mark birth %b : <ram, 64>
    plan.launch "k"(w %b f32[16] : <ram, 64>)
    plan.mark death %b : <ram, 64>
    plan.return
  }
}
