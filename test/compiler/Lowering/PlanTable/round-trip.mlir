// A placed module and its step table are one thing in two notations: encoding, decoding and encoding again gives the same
// text and the same bytes, over all operations, with states, dynamic shapes, branches, loops and evals.
// Variants stand by falling peak; what reads the ssd reserves most here.
// RUN: plim-dump --encode %s -o %t.1.table
// RUN: plim-dump %t.1.table -o %t.1.mlir
// RUN: plim-dump --encode %t.1.mlir -o %t.2.table
// RUN: plim-dump %t.2.table -o %t.2.mlir
// RUN: cmp %t.1.table %t.2.table
// RUN: diff %t.1.mlir %t.2.mlir
// RUN: FileCheck %s --input-file=%t.1.mlir
// Steps come back with all that they had: the text differs from the source in figures alone, which the runtime computes.
// RUN: plim-opt %s | sed -e '1d' -e '/^}$/d' -e '/^$/d' -e 's/^  //' | grep -v -e 'plan.program' -e 'plan.arena' > %t.source
// RUN: grep -v -e 'plan.program' -e 'plan.arena' %t.1.mlir > %t.decoded
// RUN: diff %t.source %t.decoded

// CHECK: plan.module attributes {io_depth = 4 : i64, isa = #plan.isa<v4>, stack_bytes = 65536 : i64, weights_bytes = 16384 : i64, weights_hash = -7 : i64, workers = 4 : i64} {
plan.module attributes {io_depth = 4, isa = #plan.isa<v4>, stack_bytes = 65536, weights_bytes = 16384, weights_hash = -7, workers = 4} {
  // CHECK-NEXT: plan.constant @w f32[32, 32] panel32 bytes 4096 at 0 hash 77
  plan.constant @w f32[32, 32] panel32 bytes 4096 at 0 hash 77
  // CHECK-NEXT: plan.constant @zero i32[4] bytes 16 at 4096
  plan.constant @zero i32[4] bytes 16 at 4096
  // CHECK-NEXT: plan.state @cache i32[4] bytes 16 init @zero durable
  plan.state @cache i32[4] bytes 16 init @zero durable
  // CHECK-NEXT: plan.arena @arena0 persistent : !plan.buffer<ram, 8192> touched 4112
  plan.arena @arena0 persistent : !plan.buffer<ram, 8192>
  // CHECK-NEXT: plan.arena @arena1 persistent : !plan.buffer<ram, 64> touched 16
  plan.arena @arena1 persistent : !plan.buffer<ram, 64>
  // CHECK-NEXT: plan.arena @arena2 transient : !plan.buffer<ram, 8192> touched 8192
  plan.arena @arena2 transient : !plan.buffer<ram, 8192>
  // CHECK-NEXT: plan.program @run placed io(out %y "y" f32[4] : <ram, 16>)
  plan.program @run placed io(out %y "y" f32[4] : <ram, 16>) {
    %f = plan.resident @w in_file : <ssd, 4096>
    %part = plan.view %f[16] : <ssd, 4096> to <ssd, 16>
    %t = plan.copy %part to %y on <read> : <ssd, 16> to <ram, 16> -> !plan.token
    plan.wait %t
    plan.return
  }
  // CHECK: plan.program @run.big placed symbols(%N "N" in [1, 8]) io(in %x "x" f32[s0 max 8, 32] : <ram, 1024>, out %y "y" f32[s0 max 8, 32] : <ram, 1024>, in %{{.*}} "past 0" i32[4] state @cache : <ram, 16>)
  // CHECK-SAME: attributes {budget = #plan.tiers<ram = 1000000>, commit = 14 : i64, live_peak = #plan.tiers<ram = {{[0-9]+}}>, reserved_peak = #plan.tiers<ram = {{[0-9]+}}>, variant = "big"} {
  plan.program @run.big placed symbols(%n "N" in [1, 8])
      io(in %x "x" f32[s0 max 8, 32] : <ram, 1024>, out %y "y" f32[s0 max 8, 32] : <ram, 1024>,
         in %p "past 0" i32[4] state @cache : <ram, 16>)
      attributes {budget = #plan.tiers<ram = 1000000>, commit = 14, variant = "big"} {
    // CHECK-NEXT: %[[W:.*]] = plan.resident @w in @arena0[0] : <ram, 4096>
    %w = plan.resident @w in @arena0[0] : <ram, 4096>
    // CHECK-NEXT: plan.resident @zero in @arena0[4096] : <ram, 16>
    %z = plan.resident @zero in @arena0[4096] : <ram, 16>
    // CHECK-NEXT: %[[S:.*]] = plan.resident @cache in @arena1[0] : <ram, 16>
    %s = plan.resident @cache in @arena1[0] : <ram, 16>
    // CHECK-NEXT: %[[A:.*]] = plan.view @arena2[0] from "a" : <ram, 1024>
    %a = plan.view @arena2[0] from "a" : <ram, 1024>
    // CHECK-NEXT: %[[WS:.*]] = plan.view @arena2[1024] : <ram, 576>
    %ws = plan.view @arena2[1024] : <ram, 576>
    // CHECK-NEXT: %[[PART:.*]] = plan.view %[[A]][512] : <ram, 1024> to <ram, 256>
    %part = plan.view %a[512] : <ram, 1024> to <ram, 256>
    // CHECK-NEXT: plan.view %[[W]][128] : <ram, 4096> to <ram, 64>
    %wpart = plan.view %w[128] : <ram, 4096> to <ram, 64>
    // CHECK-NEXT: plan.view %x[64] : <ram, 1024> to <ram, 128>
    %xpart = plan.view %x[64] : <ram, 1024> to <ram, 128>
    // CHECK-NEXT: %[[B:.*]] = plan.view @arena2[2048] from "b" : <ram, 6144>
    %b = plan.view @arena2[2048] from "b" : <ram, 6144>
    // CHECK-NEXT: plan.mark birth %[[A]] : <ram, 1024>
    plan.mark birth %a : <ram, 1024>
    // CHECK-NEXT: plan.mark birth %[[WS]] : <ram, 576>
    plan.mark birth %ws : <ram, 576>
    // CHECK-NEXT: %[[V:.*]]:2 = plan.launch "matmul.panel32"<tasks = 4, attrs = [1, -2], shared = 64, scratch = 128, phases = 2>
    // CHECK-SAME: (r %x f32[s0 max 8, 32] : <ram, 1024>, r %[[W]] f32[32, 32] panel32 : <ram, 4096>, w %[[A]] f32[s0 max 8, 32] : <ram, 1024>)
    // CHECK-SAME: scalars(%N, %N) dims(%N) tasks(%N) workspace(%[[WS]] : !plan.buffer<ram, 576>) instance 3 from "fc1" -> index, index
    %v:2 = plan.launch "matmul.panel32"<tasks = 4, attrs = [1, -2], shared = 64, scratch = 128, phases = 2>
        (r %x f32[s0 max 8, 32] : <ram, 1024>, r %w f32[32, 32] panel32 : <ram, 4096>,
         w %a f32[s0 max 8, 32] : <ram, 1024>)
        scalars(%n, %n) dims(%n) tasks(%n) workspace(%ws : !plan.buffer<ram, 576>) instance 3 from "fc1" -> index, index
    // CHECK-NEXT: plan.mark death %[[WS]] : <ram, 576>
    plan.mark death %ws : <ram, 576>
    // CHECK-NEXT: plan.launch "noop"(none)
    plan.launch "noop"(none)
    // CHECK-NEXT: %[[T0:.*]] = plan.launch "add.ref"(r %[[PART]] f32[8, 2] : <ram, 256>, r %{{.*}} f32[8, 2] strides [0, 1] : <ram, 64>
    %t0 = plan.launch "add.ref"(r %part f32[8, 2] : <ram, 256>, r %wpart f32[8, 2] strides [0, 1] : <ram, 64>,
        r %xpart f32[32] : <ram, 128>, rw %part f32[8, 2] : <ram, 256>) on <stream, 1> -> !plan.token
    %t1 = plan.fill %part with -3 on <read> from "f" : <ram, 256> -> !plan.token
    plan.fill %y with 4607182418800017408 : <ram, 1024>
    plan.wait %t0, %t1 from "w"
    plan.wait %t1 on <stream, 1>
    %l = plan.load_scalar %z[8] i32 in [-1, 4] from "l" : <ram, 16>
    plan.check %l in [0, 4] "need 0 to 4 rows" from "k"
    plan.check %l in [0, 4] ""
    %c:2 = plan.eval(%ea = %l, %eb = %n) -> 2 from "e" {
      %sum = arith.addi %ea, %eb : index
      %one = arith.constant 1 : index
      plan.yield %sum, %one
    }
    %t2 = plan.copy %z to %s on <write> hash 9 from "c" : <ram, 16> to <ram, 16> -> !plan.token
    plan.wait %t2
    plan.if %l from "i" {
      plan.fill %s with 1 : <ram, 16>
    }
    %i:2 = plan.if %n -> 2 {
      %e:2 = plan.eval(%ea = %l, %eb = %n) -> 2 {
        %sum = arith.addi %ea, %eb : index
        %one = arith.constant 1 : index
        plan.yield %sum, %one
      }
      plan.yield %e#0, %e#1
    } else {
      %e:2 = plan.eval(%ea = %n) -> 2 {
        plan.yield %ea, %ea
      }
      plan.yield %e#1, %e#0
    }
    plan.mark birth %b : <ram, 6144>
    %r:2 = plan.loop %trip max 8 trips %n while carry(%k = %c#1, %m = %c#0) from "loop" {
      plan.if %k {
        plan.loop %inner max 2 {
          plan.check %inner in [0, 1] "inner"
        }
      } else {
        plan.fill %a with 2 : <ram, 1024>
      }
      %at = plan.view %b[64 + %m] : <ram, 6144> to <ram, 1024>
      %row = plan.view %b[0 + %trip] : <ram, 6144> to <ram, 512>
      plan.launch "copy.strided"(r %at f32[s0 max 2, s1 max 8, 4] strides [s2 max 16, 4, 1] : <ram, 1024>, w %row f32[4] : <ram, 512>)
          dims(%i#0, %n, %trip) from "copy"
      %next:2 = plan.eval(%ea = %m, %eb = %k) -> 2 {
        plan.yield %eb, %ea
      }
      plan.yield %next#0, %next#1
    }
    plan.mark death %b : <ram, 6144>
    plan.check %r#1 in [0, 64] "end"
    plan.check %i#1 in [0, 64] "end"
    plan.mark death %a : <ram, 1024>
    plan.return
  }
  // CHECK: plan.program @other.big placed io(out %y "y" f32[] : <ram, 4>)
  plan.program @other.big placed io(out %y "y" f32[] : <ram, 4>) attributes {variant = "big"} {
    plan.launch "one"(w %y f32[] : <ram, 4>)
    plan.return
  }
}
