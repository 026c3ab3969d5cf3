// A table is found in a raw file and inside of an object; files without a sound one are refused with need, have and where.
// RUN: plim-dump --encode %s -o %t.table
// RUN: plim-dump %t.table | FileCheck %s
// RUN: plim-dump --json %t.table | FileCheck %s --check-prefix=JSON
// RUN: llvm-objcopy -I binary -O elf64-x86-64 %t.table %t.o
// RUN: plim-dump %t.o | FileCheck %s --check-prefix=OBJECT
// RUN: not plim-dump %t.nothere 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not plim-dump %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: head -c 600 %t.table > %t.short
// RUN: not plim-dump %t.short 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: sed -e 's/tick/tock/' %t.table > %t.changed
// RUN: not plim-dump %t.changed 2>&1 | FileCheck %s --check-prefix=CHANGED
// RUN: not plim-dump --json --encode %s 2>&1 | FileCheck %s --check-prefix=BOTH

// CHECK: plan.program @main placed
// CHECK: plan.eval(%[[A:.*]] = %N) -> 1 {
// CHECK-NEXT: plan.yield %[[A]]
// An object without the section of the bodies has the numbers of the functions.
// OBJECT: plan.eval function 0 (%N) -> 1
// JSON: "kernels": [
// JSON-NEXT: "tick"
// JSON: "reserved_peak": {
// MISSING: plim-dump: error: {{.*}}.nothere: need a readable file: No such file or directory
// NONE: plim-dump: error: {{.*}}: need a step table (magic PLIMTAB, {{[0-9]+}} bytes of header), have none in {{[0-9]+}} bytes
// SHORT: plim-dump: error: {{.*}}.short: the step table is cut short: have 600 bytes
// CHANGED: error: header: the table's hash differs
// CHANGED: plim-dump: error: {{.*}}.changed: need a sound step table
// BOTH: plim-dump: error: need one of --json and --encode, have both
plan.module {
  plan.program @main placed symbols(%n "N" in [1, 4]) io() {
    %e = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
    plan.launch "tick"(none) scalars(%e)
    plan.return
  }
}
