// Constants that do not fit stay in the weight file and are read while steps before them run: each read is in flight until
// its wait. They lie behind those that stay in memory, at multiples of 4096; the arena of constants ends before them.
// RUN: plim-opt %s --plan-assign-tiers=ram=9MiB --plan-assign-offsets --plan-check | FileCheck %s
// RUN: plim-opt %s --plan-assign-tiers=ram=16MiB | FileCheck %s --check-prefix=KEPT
// RUN: not plim-opt %s '--plan-assign-tiers=ram=9MiB no-stream=true' 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not plim-opt %s '--plan-assign-tiers=ram=9MiB ssd=1XB' 2>&1 | FileCheck %s --check-prefix=UNIT

// CHECK: plan.module attributes {io_depth = 4 : i64
// CHECK-DAG: plan.constant @bias f32[1000] bytes 4000 at 0
// CHECK-DAG: plan.constant @w1 f32[1048576] bytes 4194304 at 4096
// CHECK-DAG: plan.constant @w2 f32[1048576] bytes 4194304 at 4198400
// CHECK-DAG: plan.constant @w3 f32[1048576] bytes 4194304 at 8392704
// CHECK: plan.arena @arena0 persistent : !plan.buffer<ram, 4032> touched 4000
// CHECK-DAG: plan.resident @bias in @arena0[0] : <ram, 4000>
// CHECK-DAG: %[[W1:.*]] = plan.resident @w1 in_file : <ssd, 4194304>
// CHECK-DAG: %[[W2:.*]] = plan.resident @w2 in_file : <ssd, 4194304>
// CHECK-DAG: %[[W3:.*]] = plan.resident @w3 in_file : <ssd, 4194304>
// CHECK: %[[T1:.*]] = plan.copy %[[W1]] to %[[R1:.*]] on <read> from "w1" : <ssd, 4194304> to <ram, 4194304> -> !plan.token
// CHECK: %[[T2:.*]] = plan.copy %[[W2]] to %[[R2:.*]] on <read> from "w2"
// CHECK: plan.wait %[[T1]]
// CHECK: plan.launch "k"(r %x f32[1024] : <ram, 4096>, r %[[R1]] f32[1048576]
// CHECK: plan.mark death %[[R1]]
// CHECK: %[[T3:.*]] = plan.copy %[[W3]] to %[[R3:.*]] on <read> from "w3"
// CHECK: plan.wait %[[T2]]
// CHECK: r %[[R2]] f32[1048576]
// CHECK: plan.wait %[[T3]]
// CHECK: r %[[R3]] f32[1048576]

// KEPT-NOT: plan.copy
// REFUSED: error: no plan found within the budget of tier ram
// UNIT: error: option ssd: {{.*}}1XB

plan.module {
  plan.constant @bias f32[1000] bytes 4000 at 0
  plan.constant @w1 f32[1048576] bytes 4194304 at 4032
  plan.constant @w2 f32[1048576] bytes 4194304 at 4198336
  plan.constant @w3 f32[1048576] bytes 4194304 at 8392640
  plan.program @main virtual io(in %x "x" f32[1024] : <ram, 4096>, out %y "y" f32[1024] : <ram, 4096>) {
    %bias = plan.resident @bias : <4000>
    %w1 = plan.resident @w1 : <4194304>
    %w2 = plan.resident @w2 : <4194304>
    %w3 = plan.resident @w3 : <4194304>
    %a = plan.alloc from "a" : <4096>
    %b = plan.alloc from "b" : <4096>
    plan.launch "k"<ns = 5000000>(r %x f32[1024] : <ram, 4096>, r %w1 f32[1048576] : <4194304>, r %bias f32[1000] : <4000>, w %a f32[1024] : <4096>) pure from "a"
    plan.launch "k"<ns = 5000000>(r %a f32[1024] : <4096>, r %w2 f32[1048576] : <4194304>, w %b f32[1024] : <4096>) pure from "b"
    plan.launch "k"<ns = 5000000>(r %b f32[1024] : <4096>, r %w3 f32[1048576] : <4194304>, w %y f32[1024] : <ram, 4096>) pure from "y"
    plan.return
  }
}
