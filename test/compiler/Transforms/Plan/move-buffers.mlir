// A live buffer slides where no fixed offsets are low enough: a and b take the half that f leaves, c and e that of g, and
// d needs two neighbours that die together. Birth, copy and death follow each other.
// RUN: plim-opt %s --plan-move-buffers=ram=413696 --plan-assign-offsets --plan-check | FileCheck %s
// RUN: not plim-opt %s --plan-choose-candidates=ram=479231 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: not plim-opt %s --plan-move-buffers=ram=413695 2>&1 | FileCheck %s --check-prefix=REFUSED
// Where fixed offsets fit, nothing moves.
// RUN: plim-opt %s --plan-move-buffers=ram=479232 | FileCheck %s --check-prefix=FIXED

// CHECK: plan.arena @arena0 transient : !plan.buffer<ram, 262144> touched 262144
// CHECK: from "s2"
// CHECK: plan.mark birth %[[NEW:.*]] : <ram, 65536>
// CHECK-NEXT: plan.copy %[[OLD:.*]] to %[[NEW]] from "{{[be]}}" : <ram, 65536> to <ram, 65536>
// CHECK-NEXT: plan.mark death %[[OLD]] : <ram, 65536>
// CHECK-NOT: plan.copy
// CHECK: from "s5"

// WITHOUT: error: no plan found within the budget of tier ram: need 479232 bytes, have 479231
// REFUSED: error: no plan found within the budget of tier ram: need 413696 bytes, have 413695
// FIXED-NOT: plan.copy

plan.module {
  plan.program @main virtual io(in %x "x" f32[16384] : <ram, 65536>, out %y "y" f32[16384] : <ram, 65536>) {
    %f = plan.alloc from "f" : <131072>
    %g = plan.alloc from "g" : <131072>
    %a = plan.alloc from "a" : <65536>
    %b = plan.alloc from "b" : <65536>
    %c = plan.alloc from "c" : <65536>
    %e = plan.alloc from "e" : <65536>
    %d = plan.alloc from "d" : <131072>
    %k = plan.alloc from "k" : <131072>
    plan.launch "k"<ns = 10>(r %x f32[16384] : <ram, 65536>, w %f f32[32768] : <131072>, w %g f32[32768] : <131072>) from "s0"
    plan.launch "k"<ns = 10>(r %g f32[32768] : <131072>, w %a f32[16384] : <65536>, w %b f32[16384] : <65536>) from "s1"
    plan.launch "k"<ns = 10>(r %a f32[16384] : <65536>, r %b f32[16384] : <65536>, w %c f32[16384] : <65536>, w %e f32[16384] : <65536>) from "s2"
    plan.launch "k"<ns = 10>(r %b f32[16384] : <65536>, r %e f32[16384] : <65536>, w %d f32[32768] : <131072>) from "s3"
    plan.launch "k"<ns = 10>(r %d f32[32768] : <131072>, w %k f32[32768] : <131072>) from "s4"
    plan.launch "k"<ns = 10>(r %d f32[32768] : <131072>, r %k f32[32768] : <131072>, w %y f32[16384] : <ram, 65536>) from "s5"
    plan.return
  }
}
