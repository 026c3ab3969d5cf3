// A value is dropped and made again where that meets the budget: the step runs again as a clone with a number of its own,
// right before its result is needed. The order stays.
// RUN: plim-opt %s --plan-recompute=ram=128KiB | FileCheck %s
// RUN: plim-opt %s --plan-recompute=ram=98304 --plan-assign-offsets --plan-check | FileCheck %s --check-prefix=PLACED
// RUN: not plim-opt %s --plan-choose-candidates=ram=128KiB 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: not plim-opt %s --plan-recompute=ram=98303 2>&1 | FileCheck %s --check-prefix=REFUSED

// CHECK-LABEL: plan.program @main tiered
// CHECK: plan.launch "k"{{.*}} pure from "a"
// CHECK-NEXT: from "b"
// CHECK-NEXT: from "c"
// CHECK-NEXT: from "d"
// CHECK-NEXT: plan.launch "k"{{.*}}(r %x f32[1024] : <ram, 4096>, w %[[A:[0-9]+]] f32[16384] : <ram, 65536>) pure instance 1 from "a"
// CHECK-NEXT: plan.launch "k"{{.*}}(r %[[A]] f32[16384] : <ram, 65536>, {{.*}}) pure from "y"

// PLACED: reserved_peak = #plan.tiers<ram = 90112>
// PLACED: instance 1 from "a"

// WITHOUT: error: no plan found within the budget of tier ram: need 163840 bytes, have 131072
// REFUSED: error: no plan found within the budget of tier ram: need 98304 bytes, have 98303
plan.module {
  plan.program @main virtual io(in %x "x" f32[1024] : <ram, 4096>, out %y "y" f32[1024] : <ram, 4096>) {
    %a = plan.alloc from "a" : <65536>
    %b = plan.alloc from "b" : <4096>
    %c = plan.alloc from "c" : <65536>
    %d = plan.alloc from "d" : <4096>
    plan.launch "k"<ns = 10>(r %x f32[1024] : <ram, 4096>, w %a f32[16384] : <65536>) pure from "a"
    plan.launch "k"<ns = 10>(r %a f32[16384] : <65536>, w %b f32[1024] : <4096>) pure from "b"
    plan.launch "k"<ns = 10>(r %b f32[1024] : <4096>, w %c f32[16384] : <65536>) pure from "c"
    plan.launch "k"<ns = 10>(r %c f32[16384] : <65536>, w %d f32[1024] : <4096>) pure from "d"
    plan.launch "k"<ns = 10>(r %a f32[16384] : <65536>, r %d f32[1024] : <4096>, w %y f32[1024] : <ram, 4096>) pure from "y"
    plan.return
  }
}
