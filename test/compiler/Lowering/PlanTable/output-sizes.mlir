// Sizes of outputs that are no symbols are scalars that plan.return gives; a table holds their slots, and gives them back.
// RUN: plim-opt %s --plan-assign-offsets -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: plim-dump --encode %t.mlir -o %t.1.table
// RUN: plim-dump %t.1.table -o %t.1.mlir
// RUN: FileCheck %s --input-file=%t.1.mlir
// RUN: plim-dump --encode %t.1.mlir -o %t.2.table
// RUN: cmp %t.1.table %t.2.table
// RUN: sed -e 's/plan.return %.*/plan.return/' %t.mlir > %t.none
// RUN: not plim-opt %t.none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed -e 's/plan.return \(%[^,]*\), .*/plan.return \1, \1/' %t.mlir > %t.twice
// RUN: not plim-opt %t.twice 2>&1 | FileCheck %s --check-prefix=TWICE

// CHECK: plan.program @main placed symbols({{.*}} in [1, 8])
// CHECK-SAME: out %y "y" f32[s1 max 16, s0 max 8] : <ram, 512>, out %z "z" f32[s2 max 3, s1 max 16]
// CHECK: %[[E:.*]]:2 = plan.eval(%{{.*}} = %{{.*}}) -> 2 {
// CHECK: plan.return %[[E]]#0, %[[E]]#1
// NONE: io 'y': need a symbol for each scalar of its shape
// TWICE: need just the scalars of outputs, each once, in the order of their first use, in stage placed
plan.module {
  plan.program @main virtual symbols(%n "N" in [1, 8]) io(out %y "y" f32[s0 * 2 max 16, s0 max 8] : <ram, 512>, out %z "z" f32[(s0 + 1) floordiv 3 max 3, s0 * 2 max 16] : <ram, 192>) {
    plan.fill %y with 0 : <ram, 512>
    plan.fill %z with 0 : <ram, 192>
    plan.return
  }
}
