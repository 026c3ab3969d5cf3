// Without a budget the fastest candidate that no flag bars; under one the fastest that fits; else what would fit.
// RUN: plim-opt %s --plan-choose-candidates | FileCheck %s --check-prefix=FAST
// RUN: plim-opt %s --plan-choose-candidates=ram=128KiB | FileCheck %s --check-prefix=SMALL
// RUN: not plim-opt %s --plan-choose-candidates=ram=16KiB 2>&1 | FileCheck %s --check-prefix=NONE

// FAST: plan.program @main virtual
// FAST: plan.launch "attention.naive"<tasks = 8, scratch = 65536, ns = 10, label = "attention=naive">(
// SMALL: plan.program @main virtual
// SMALL: plan.launch "attention.flash"<ns = 30, label = "attention=flash">(
// NONE: error: no plan found within the budget of tier ram: need {{[0-9]+}} bytes, have 16384
plan.module {
  plan.program @main virtual io(in %x "x" f32[1024] : <ram, 4096>, out %y "y" f32[1024] : <ram, 4096>) {
    plan.launch "attention.naive"<tasks = 8, scratch = 65536, ns = 10, label = "attention=naive">
        | "attention.flash"<ns = 30, label = "attention=flash">
        | "attention.unsafe"<ns = 1, label = "attention=unsafe", barred_by = "--attention=auto">
        (r %x f32[1024] : <ram, 4096>, w %y f32[1024] : <ram, 4096>) pure from "attention"
    plan.return
  }
}
