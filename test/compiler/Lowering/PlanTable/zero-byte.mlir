// A text of a step table ends at a zero byte, so that names which have one are refused: two of them could become one.
// RUN: not plim-dump --encode %s 2>&1 | FileCheck %s

// CHECK: error: 'plan.module' op need names and messages without a zero byte to encode
plan.module {
  plan.program @main placed io(in %a "a\00b" f32[2] : <ram, 8>, in %b "a" f32[2] : <ram, 8>) {
    plan.return
  }
}
