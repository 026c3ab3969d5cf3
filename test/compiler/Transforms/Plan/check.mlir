// A mutated plan is rejected by code that knows nothing of the planner.
// RUN: not plim-opt %s --split-input-file --plan-check 2>&1 | FileCheck %s

// Two buffers that are alive together share bytes.
// CHECK: error: program 'overlap' step 1: buffer 1 ({{.*}}b{{.*}}) [64, 192) is born on bytes of buffer 0
plan.module {
  plan.arena @arena0 transient : !plan.buffer<ram, 192>
  plan.program @overlap placed io(out %y "y" f32[16] : <ram, 64>) {
    %a = plan.view @arena0[0] from "a" : <ram, 128>
    %b = plan.view @arena0[64] from "b" : <ram, 128>
    plan.mark birth %a : <ram, 128>
    plan.mark birth %b : <ram, 128>
    plan.launch "k"(w %a f32[32] : <ram, 128>)
    plan.launch "k"(w %b f32[32] : <ram, 128>)
    plan.launch "m"(r %a f32[32] : <ram, 128>, r %b f32[32] : <ram, 128>, w %y f32[16] : <ram, 64>)
    plan.mark death %a : <ram, 128>
    plan.mark death %b : <ram, 128>
    plan.return
  }
}

// -----

// A step reads bytes that nothing has written.
// CHECK: error: {{.*}}read
plan.module {
  plan.arena @arena0 transient : !plan.buffer<ram, 64>
  plan.program @undefined placed io(out %y "y" f32[16] : <ram, 64>) {
    %a = plan.view @arena0[0] from "a" : <ram, 64>
    plan.mark birth %a : <ram, 64>
    plan.launch "m"(r %a f32[16] : <ram, 64>, w %y f32[16] : <ram, 64>)
    plan.mark death %a : <ram, 64>
    plan.return
  }
}

// -----

// CHECK: error: 'plan.program' op need stage placed to encode, have virtual
plan.module {
  plan.program @early virtual io() {
    plan.return
  }
}
