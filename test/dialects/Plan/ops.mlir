// Every operation, attribute and type prints as it parses, in all stages.
// RUN: plim-opt %s | plim-opt | FileCheck %s
// RUN: plim-opt %s --mlir-print-op-generic | plim-opt | FileCheck %s

// CHECK-LABEL: plan.module @model attributes {io_depth = 4 : i64, isa = #plan.isa<v4>, stack_bytes = 65536 : i64, workers = 4 : i64}
plan.module @model attributes {io_depth = 4, isa = #plan.isa<v4>, stack_bytes = 65536, workers = 4} {
  // CHECK: plan.constant @w f32[64, 32] panel32 bytes 8192 at 4096 hash 77
  plan.constant @w f32[64, 32] panel32 bytes 8192 at 4096 hash 77
  // CHECK: plan.constant @b bf16[32] bytes 64 at 12 file "raw.onnx"
  plan.constant @b bf16[32] bytes 64 at 12 file "raw.onnx"
  // CHECK: plan.constant @zero i32[4] bytes 16 at 0
  plan.constant @zero i32[4] bytes 16 at 0
  // CHECK: plan.state @cache i32[4] bytes 16 init @zero durable
  plan.state @cache i32[4] bytes 16 init @zero durable
  // CHECK: plan.arena @arena0 transient : !plan.buffer<ram, 8192> touched 8000
  plan.arena @arena0 transient : !plan.buffer<ram, 8192> touched 8000
  // CHECK: plan.arena @arena1 persistent : !plan.buffer<ssd, 4096>
  plan.arena @arena1 persistent : !plan.buffer<ssd, 4096>

  // CHECK-LABEL: plan.program @main.small virtual symbols(%N "N" in [1, 32])
  // CHECK-SAME: io(in %x "x" f32[s0 max 32, 64] : <ram, 8192>, out %y "y" f32[s0 max 32, 32] : <ram, 4096>,
  // CHECK-SAME: in %{{.*}} "past.0" i32[4] state @cache : <ram, 16>)
  // CHECK-SAME: attributes {budget = #plan.tiers<ram = 100000, gpu = 0>, variant = "small"}
  plan.program @main.small virtual symbols(%n "N" in [1, 32])
      io(in %x "x" f32[s0 max 32, 64] : !plan.buffer<ram, 8192>, out %y "y" f32[s0 max 32, 32] : !plan.buffer<ram, 4096>,
         in %p "past.0" i32[4] state @cache : !plan.buffer<ram, 16>)
      attributes {budget = #plan.tiers<ram = 100000, gpu = 0>, variant = "small"} {
    // CHECK: %[[W:.*]] = plan.resident @w : <8192>
    %w = plan.resident @w : !plan.buffer<8192>
    // CHECK: %[[A:.*]] = plan.alloc from "a" : <4096>
    %a = plan.alloc from "a" : !plan.buffer<4096>
    // CHECK: plan.alloc align 4096 : <64>
    %d = plan.alloc align 4096 : !plan.buffer<64>
    // CHECK: plan.alloc group "attention" sizes [128, 64] : <128>
    %g = plan.alloc group "attention" sizes [128, 64] : !plan.buffer<128>
    // CHECK: plan.launch "matmul.panel32"<tasks = 4, attrs = [1, -2], shared = 64, scratch = 128, phases = 2, flops = 7, bytes = 8, ns = 9, numerics = "n", label = "l", barred_by = "f", layouts = [row, panel32, row], in_place, strided> | "matmul.ref"
    // CHECK-SAME: (r %x f32[s0 max 32, 64] : <ram, 8192>, r %[[W]] f32[64, 32] panel32 : <8192>,
    // CHECK-SAME: w %[[A]] f32[s0 max 32, 32] : <4096>)
    // CHECK-SAME: scalars(%N) dims(%N) tasks(%N) pure instance 2 group "g"
    // CHECK-SAME: aliases [#plan.alias<in_place, 2 on 0>, #plan.alias<into, 0 on 2 at 64 run 16 stride 32 saves 5>]
    // CHECK-SAME: splits [#plan.split<"rows", extent = 32, min_piece = 4, concat, halos = [1, 0, 0, 1, 0, 0, 0, 1]>]
    // CHECK-SAME: from "fc1" -> index, index
    %s:2 = plan.launch "matmul.panel32"<tasks = 4, attrs = [1, -2], shared = 64, scratch = 128, phases = 2, flops = 7,
        bytes = 8, ns = 9, numerics = "n", label = "l", barred_by = "f", layouts = [row, panel32, row], in_place, strided>
        | "matmul.ref"
        (r %x f32[s0 max 32, 64] : !plan.buffer<ram, 8192>, r %w f32[64, 32] panel32 : !plan.buffer<8192>,
         w %a f32[s0 max 32, 32] : !plan.buffer<4096>)
        scalars(%n) dims(%n) tasks(%n) pure instance 2 group "g"
        aliases [#plan.alias<in_place, 2 on 0>, #plan.alias<into, 0 on 2 at 64 run 16 stride 32 saves 5>]
        splits [#plan.split<"rows", extent = 32, min_piece = 4, concat, halos = [1, 0, 0, 1, 0, 0, 0, 1]>]
        from "fc1" -> index, index
    // CHECK: plan.launch "tick"(none)
    plan.launch "tick"(none)
    // CHECK: %[[V:.*]] = plan.view %[[A]][64] : <4096> to <128>
    %v = plan.view %a[64] : !plan.buffer<4096> to !plan.buffer<128>
    // CHECK: plan.view %[[A]][64 + %N] : <4096> to <1024>
    %u = plan.view %a[64 + %n] : !plan.buffer<4096> to !plan.buffer<1024>
    // CHECK: plan.launch "copy.strided"(r %[[V]] at 64 span 64 f32[2, 4] strides [0, 1] : <128>, rw %y f32[s0 * 2 + 1 max 65, 4] strides [8, s0 max 32] : <ram, 4096>) dims(%N)
    plan.launch "copy.strided"(r %v at 64 span 64 f32[2, 4] strides [0, 1] : !plan.buffer<128>,
        rw %y f32[s0 * 2 + 1 max 65, 4] strides [8, s0 max 32] : !plan.buffer<ram, 4096>) dims(%n)
    // CHECK: %[[T:.*]] = plan.launch "copy.strided"(r %[[V]] f32[4] : <128>) on <stream, 1> -> !plan.token
    %t = plan.launch "copy.strided"(r %v f32[4] : !plan.buffer<128>) on <stream, 1> -> !plan.token
    // CHECK: %[[T1:.*]] = plan.copy %[[V]] to %[[G:.*]] after %[[T]] on <write> hash 5 from "c" : <128> to <128> -> !plan.token
    %t1 = plan.copy %v to %g after %t on <write> hash 5 from "c" : !plan.buffer<128> to !plan.buffer<128> -> !plan.token
    // CHECK: %[[T2:.*]] = plan.fill %[[A]] with -1 on <read> from "f" : <4096> -> !plan.token
    %t2 = plan.fill %a with -1 on <read> from "f" : !plan.buffer<4096> -> !plan.token
    // CHECK: plan.fill %[[A]] with 0 : <4096>
    plan.fill %a with 0 : !plan.buffer<4096>
    // CHECK: plan.wait %[[T]], %[[T1]], %[[T2]]
    plan.wait %t, %t1, %t2
    // CHECK: plan.wait %[[T]] on <stream> from "w"
    plan.wait %t on <stream> from "w"
    // CHECK: %[[L:.*]] = plan.load_scalar %[[A]][8] i64 in [0, 9] from "l" : <4096>
    %l = plan.load_scalar %a[8] i64 in [0, 9] from "l" : !plan.buffer<4096>
    // CHECK: plan.check %[[L]] in [1, 9] "need 1 to 9 rows" from "k"
    plan.check %l in [1, 9] "need 1 to 9 rows" from "k"
    // CHECK: %[[E:.*]]:2 = plan.eval(%[[EA:.*]] = %[[L]], %[[EB:.*]] = %N) -> 2 from "e" {
    // CHECK:   arith.addi %[[EA]], %[[EB]] : index
    // CHECK:   plan.yield
    %e:2 = plan.eval(%ea = %l, %eb = %n) -> 2 from "e" {
      %sum = arith.addi %ea, %eb : index
      plan.yield %sum, %ea
    }
    // CHECK: plan.if %[[E]]#0 from "i" {
    // CHECK-NEXT: plan.check
    // CHECK-NEXT: }
    plan.if %e#0 from "i" {
      plan.check %l in [1, 9] "then"
    }
    // CHECK: plan.if %[[E]]#0 -> 1 {
    // CHECK:   plan.yield %[[L]]
    // CHECK: } else {
    // CHECK:   plan.yield %N
    %i = plan.if %e#0 -> 1 {
      plan.yield %l
    } else {
      plan.yield %n
    }
    // CHECK: plan.loop %{{.*}} max 8 {
    // CHECK-NEXT: plan.check
    // CHECK-NEXT: }
    plan.loop %trip max 8 {
      plan.check %trip in [0, 7] "trip"
    }
    // CHECK: plan.loop %{{.*}} max 8 trips %[[L]] while carry(%[[C:.*]] = %N, %{{.*}} = %[[L]]) from "loop" {
    // CHECK:   plan.yield %{{.*}}, %[[C]]
    %r:2 = plan.loop %trip max 8 trips %l while carry(%c = %n, %k = %l) from "loop" {
      plan.yield %k, %c
    }
    plan.return
  }

  // CHECK-LABEL: plan.program @main.tiered tiered io() attributes
  // CHECK: plan.resident @w in_file : <ssd, 8192>
  plan.program @main.tiered tiered io() attributes {variant = "tiered"} {
    %f = plan.resident @w in_file : !plan.buffer<ssd, 8192>
    // CHECK: plan.alloc at 128 : <ram, 64>
    %a = plan.alloc at 128 : !plan.buffer<ram, 64>
    %ws = plan.alloc at 256 : !plan.buffer<ram, 512>
    // CHECK: plan.launch "k"<tasks = 4, scratch = 128>(w %{{.*}} f32[16] : <ram, 64>) workspace(%{{.*}} : !plan.buffer<ram, 512>)
    plan.launch "k"<tasks = 4, scratch = 128>(w %a f32[16] : !plan.buffer<ram, 64>) workspace(%ws : !plan.buffer<ram, 512>)
    plan.return
  }

  // CHECK-LABEL: plan.program @main placed io(out %y "y" f32[16] : <ram, 64>)
  // CHECK-SAME: attributes {commit = 5 : i64, live_peak = #plan.tiers<ram = 128>, reserved_peak = #plan.tiers<ram = 8192>}
  plan.program @main placed io(out %y "y" f32[16] : !plan.buffer<ram, 64>)
      attributes {commit = 5, live_peak = #plan.tiers<ram = 128>, reserved_peak = #plan.tiers<ram = 8192>} {
    // CHECK: plan.resident @cache in @arena1[64] : <ssd, 16>
    %s = plan.resident @cache in @arena1[64] : !plan.buffer<ssd, 16>
    // CHECK: %[[B:.*]] = plan.view @arena0[64] from "b" : <ram, 64>
    %b = plan.view @arena0[64] from "b" : !plan.buffer<ram, 64>
    %part = plan.view %b[16] : !plan.buffer<ram, 64> to !plan.buffer<ram, 16>
    // CHECK: plan.mark birth %[[B]] : <ram, 64>
    plan.mark birth %b : !plan.buffer<ram, 64>
    plan.launch "k"(w %b f32[16] : !plan.buffer<ram, 64>)
    // CHECK: plan.eval function 3 (%{{.*}}) -> 1
    %c = plan.load_scalar %part[0] i32 in [0, 3] : !plan.buffer<ram, 16>
    %d = plan.eval function 3 (%c) -> 1
    plan.launch "k"(w %y f32[16] : !plan.buffer<ram, 64>)
    %t = plan.copy %part to %s on <write> : !plan.buffer<ram, 16> to !plan.buffer<ssd, 16> -> !plan.token
    plan.wait %t
    // CHECK: plan.mark death %[[B]]
    plan.mark death %b : !plan.buffer<ram, 64>
    plan.return
  }
}
