// Values that are needed again much later are written to the ssd and read back; the planner's need with a spill file is met,
// and the steps run once each, in the order given. What is in flight has a token, the spill file an arena of its own.
// RUN: plim-opt %s '--plan-assign-tiers=ram=6MiB ssd=16MiB' --plan-assign-offsets --plan-check | FileCheck %s
// RUN: not plim-opt %s --plan-assign-tiers=ram=6MiB 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: not plim-opt %s '--plan-assign-tiers=ram=6MiB ssd=1MiB' 2>&1 | FileCheck %s --check-prefix=SMALL

// CHECK: plan.arena @{{.*}} transient : !plan.buffer<ssd, {{[0-9]+}}>
// CHECK: plan.program @main placed {{.*}}budget = #plan.tiers<ram = 6291456, ssd = 16777216>
// CHECK: from "h1"
// CHECK: %[[T:.*]] = plan.copy %{{.*}} to %[[S:.*]] on <write> from "h1" : <ram, 1048576> to <ssd, 1048576> -> !plan.token
// CHECK: plan.wait {{.*}}%[[T]]
// CHECK: from "h5"
// CHECK: %[[U:.*]] = plan.copy %[[S]] to %[[H:.*]] on <read> from "h1" : <ssd, 1048576> to <ram, 1048576> -> !plan.token
// CHECK: plan.wait {{.*}}%[[U]]
// CHECK: plan.launch "k"({{.*}}, r %[[H]] f32[262144] : <ram, 1048576>, w %y
// CHECK-NOT: instance

// WITHOUT: error: no plan found within the budget of tier ram: need 8409088 bytes
// SMALL: error: no plan found within the budget of tier ram

plan.module {
  plan.program @main virtual io(in %x "x" f32[262144] : <ram, 1048576>, out %y "y" f32[262144] : <ram, 1048576>) {
    %h1 = plan.alloc from "h1" : <1048576>
    %h2 = plan.alloc from "h2" : <1048576>
    %h3 = plan.alloc from "h3" : <1048576>
    %h4 = plan.alloc from "h4" : <1048576>
    %h5 = plan.alloc from "h5" : <1048576>
    %g5 = plan.alloc from "g5" : <1048576>
    %g4 = plan.alloc from "g4" : <1048576>
    %g3 = plan.alloc from "g3" : <1048576>
    %g2 = plan.alloc from "g2" : <1048576>
    plan.launch "k"<ns = 5000000>(r %x f32[262144] : <ram, 1048576>, w %h1 f32[262144] : <1048576>) from "h1"
    plan.launch "k"<ns = 5000000>(r %h1 f32[262144] : <1048576>, w %h2 f32[262144] : <1048576>) from "h2"
    plan.launch "k"<ns = 5000000>(r %h2 f32[262144] : <1048576>, w %h3 f32[262144] : <1048576>) from "h3"
    plan.launch "k"<ns = 5000000>(r %h3 f32[262144] : <1048576>, w %h4 f32[262144] : <1048576>) from "h4"
    plan.launch "k"<ns = 5000000>(r %h4 f32[262144] : <1048576>, w %h5 f32[262144] : <1048576>) from "h5"
    plan.launch "k"<ns = 5000000>(r %h5 f32[262144] : <1048576>, r %h4 f32[262144] : <1048576>, w %g5 f32[262144] : <1048576>) from "g4"
    plan.launch "k"<ns = 5000000>(r %g5 f32[262144] : <1048576>, r %h3 f32[262144] : <1048576>, w %g4 f32[262144] : <1048576>) from "g3"
    plan.launch "k"<ns = 5000000>(r %g4 f32[262144] : <1048576>, r %h2 f32[262144] : <1048576>, w %g3 f32[262144] : <1048576>) from "g2"
    plan.launch "k"<ns = 5000000>(r %g3 f32[262144] : <1048576>, r %h1 f32[262144] : <1048576>, w %y f32[262144] : <ram, 1048576>) from "g1"
    plan.return
  }
}
