// The fastest candidates that fit are taken, results reuse their operands' bytes, pieces are written straight into their
// concatenation, and every buffer has a tier and an offset.
// RUN: plim-opt %s --plan-fit-budget | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: plim-opt %s --plan-fit-budget=ram=1MiB | FileCheck %s --check-prefixes=CHECK,SMALL
// The budget is met to the byte: what the runtime reserves plus the caller's buffers is what was asked for.
// RUN: plim-opt %s --plan-fit-budget=ram=106496 --plan-assign-offsets --plan-check | FileCheck %s --check-prefix=EXACT
// RUN: not plim-opt %s --plan-fit-budget=ram=106495 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: plim-opt %s '--plan-fit-budget=ram=73728 exclude-io=true' | FileCheck %s --check-prefix=SMALL
// RUN: not plim-opt %s --plan-fit-budget=ram=12XB 2>&1 | FileCheck %s --check-prefix=UNIT

// CHECK: plan.arena @arena0 persistent : !plan.buffer<ram, 16384>
// CHECK: plan.program @main tiered
// CHECK-DAG: %[[C:.*]] = plan.alloc at {{[0-9]+}} from "c" : <ram, 16384>
// CHECK-DAG: %[[A:.*]] = plan.alloc at {{[0-9]+}} from "a" : <ram, 16384>
// CHECK-DAG: %[[W:.*]] = plan.resident @w in @arena0[0] : <ram, 16384>
// FAST: %[[S:.*]] = plan.alloc at {{[0-9]+}} from "fc1" : <ram, 2097152>
// FAST: plan.launch "matmul.panel32"{{.*}} workspace(%[[S]] : !plan.buffer<ram, 2097152>)
// SMALL: plan.launch "matmul.small"
// CHECK: "elementwise.relu"{{.*}}(r %[[A]] f32[64, 64] : <ram, 16384>, w %[[A]] f32[64, 64] : <ram, 16384>)
// CHECK: "elementwise.left"{{.*}}, w %[[C]] span 16256 f32[64, 32] strides [64, 1] : <ram, 16384>)
// CHECK: "elementwise.right"{{.*}}, w %[[C]] at 128 span 16256 f32[64, 32] strides [64, 1] : <ram, 16384>)
// CHECK-NOT: "concat"
// CHECK: "elementwise.out"

// EXACT: budget = #plan.tiers<ram = 106496>, live_peak = #plan.tiers<ram = 81920>, reserved_peak = #plan.tiers<ram = 73728>

// REFUSED: error: no plan found within the budget of tier ram: need 106496 bytes, have 106495
// REFUSED: note: the plan of least memory peaks at step 'left' from 'left', where these are in memory:
// REFUSED: note: 16384 {{.*}} w{{$}}
// UNIT: error: option ram: {{.*}}12XB

plan.module attributes {workers = 2} {
  plan.constant @w f32[64, 64] panel32 bytes 16384 at 0
  plan.program @main virtual io(in %x "x" f32[64, 64] : <ram, 16384>, out %y "y" f32[64, 64] : <ram, 16384>) {
    %w = plan.resident @w : <16384>
    %a = plan.alloc from "a" : <16384>
    %b = plan.alloc from "b" : <16384>
    %p = plan.alloc from "p" : <8192>
    %q = plan.alloc from "q" : <8192>
    %c = plan.alloc from "c" : <16384>
    plan.launch "matmul.panel32"<tasks = 4, scratch = 1048576, ns = 10, strided> | "matmul.small"<ns = 100, strided>
      (r %x f32[64, 64] : <ram, 16384>, r %w f32[64, 64] panel32 : <16384>, w %a f32[64, 64] : <16384>) pure from "fc1"
    plan.launch "elementwise.relu"<ns = 5, in_place, strided>(r %a f32[64, 64] : <16384>, w %b f32[64, 64] : <16384>) pure
      aliases [#plan.alias<in_place, 1 on 0>] from "relu"
    plan.launch "elementwise.left"<ns = 5, strided>(r %b f32[64, 32] strides [64, 1] : <16384>, w %p f32[64, 32] : <8192>) pure from "left"
    plan.launch "elementwise.right"<ns = 5, strided>(r %b at 128 span 16256 f32[64, 32] strides [64, 1] : <16384>, w %q f32[64, 32] : <8192>) pure from "right"
    plan.launch "concat"<ns = 50>(r %p f32[64, 32] : <8192>, r %q f32[64, 32] : <8192>, w %c f32[64, 64] : <16384>) pure
      aliases [#plan.alias<into, 0 on 2 at 0 run 128 stride 256 saves 25>, #plan.alias<into, 1 on 2 at 128 run 128 stride 256 saves 25>] from "concat"
    plan.launch "elementwise.out"<ns = 5>(r %c f32[64, 64] : <16384>, w %y f32[64, 64] : <ram, 16384>) pure from "out"
    plan.return
  }
}

// A concatenation of which only some pieces can be in place becomes a copy of each of the others: here x is the caller's.
// CHECK-LABEL: plan.program @partial tiered
// CHECK: %[[J:.*]] = plan.alloc at 0 from "j" : <ram, 16384>
// CHECK: "elementwise.half"{{.*}}, w %[[J]] span 16256 f32[64, 32] strides [64, 1] : <ram, 16384>)
// CHECK: plan.launch "copy.strided"<ns = 10>(r %x f32[64, 32] : <ram, 8192>, w %[[J]] at 128 span 16256 f32[64, 32] strides [64, 1] : <ram, 16384>) pure from "join"
// CHECK-NEXT: "elementwise.out"
plan.module {
  plan.program @partial virtual io(in %x "x" f32[64, 32] : <ram, 8192>, out %y "y" f32[64, 64] : <ram, 16384>) {
    %p = plan.alloc from "p" : <8192>
    %j = plan.alloc from "j" : <16384>
    plan.launch "elementwise.half"<ns = 5, strided>(r %x f32[64, 32] : <ram, 8192>, w %p f32[64, 32] : <8192>) pure from "half"
    plan.launch "concat"<ns = 30>(r %p f32[64, 32] : <8192>, r %x f32[64, 32] : <ram, 8192>, w %j f32[64, 64] : <16384>) pure
      aliases [#plan.alias<into, 0 on 2 at 0 run 128 stride 256 saves 15>, #plan.alias<into, 1 on 2 at 128 run 128 stride 256 saves 15>] from "join"
    plan.launch "elementwise.out"<ns = 5>(r %j f32[64, 64] : <16384>, w %y f32[64, 64] : <ram, 16384>) pure from "out"
    plan.return
  }
}
