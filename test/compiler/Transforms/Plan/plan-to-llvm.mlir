// A placed module becomes its step table, pointers to declared kernels, functions of its evals, and one struct.
// RUN: plim-opt %s --split-input-file --plan-assign-offsets --plan-to-llvm=name=net --verify-diagnostics | FileCheck %s

// CHECK-NOT: plan.
// CHECK: llvm.func internal @det_eval_0(%[[IN:.*]]: !llvm.ptr, %[[OUT:.*]]: !llvm.ptr)
// CHECK: %[[N:.*]] = llvm.load
// CHECK: llvm.add %[[N]]
// CHECK: llvm.store
// CHECK: llvm.return
// CHECK: llvm.mlir.global internal constant @det_table("PLIMTAB\00{{.*}}") {{.*}}alignment = 64 {{.*}}section = ".rodata.plim.det"
// CHECK-DAG: llvm.mlir.global external constant @plim_kernel_copy_strided() {{.*}}: i8
// CHECK-DAG: llvm.mlir.global external constant @my_kernel() {{.*}}: i8
// CHECK: llvm.mlir.global internal constant @det_kernels()
// CHECK-DAG: llvm.mlir.addressof @plim_kernel_copy_strided
// CHECK-DAG: llvm.mlir.addressof @my_kernel
// CHECK: llvm.mlir.global internal constant @det_evals()
// CHECK: llvm.mlir.addressof @det_eval_0
// CHECK: llvm.mlir.global external constant @det_model() {{.*}}!llvm.struct<(i32, i32, ptr, ptr, ptr, ptr, i32, i32)>
// CHECK-DAG: llvm.mlir.addressof @det_table
// CHECK-DAG: llvm.mlir.addressof @det_kernels
// CHECK-DAG: llvm.mlir.addressof @det_evals
// CHECK: llvm.mlir.global external constant @plim_kernel_abi_1
// CHECK: llvm.mlir.global appending @llvm.used() {{.*}}section = "llvm.metadata"
plan.module @det {
  plan.program @main virtual symbols(%n "N" in [1, 8]) io(in %x "x" f32[s0 max 8] : <ram, 32>, out %y "y" f32[s0 + 1 max 9] : <ram, 36>) {
    plan.launch "copy.strided"<ns = 1>(r %x f32[s0 max 8] : <ram, 32>, w %y f32[s0 max 8] : <ram, 36>) dims(%n) pure
    plan.launch "my_kernel"<ns = 1>(rw %y f32[s0 + 1 max 9] : <ram, 36>) dims(%n)
    plan.return
  }
}

// -----

// Without a name of its own the module has the option's.
// CHECK: llvm.mlir.global external constant @net_model()
plan.module {
  plan.program @main virtual io(in %x "x" f32[8] : <ram, 32>, out %y "y" f32[8] : <ram, 32>) {
    plan.launch "copy.strided"<ns = 1>(r %x f32[8] : <ram, 32>, w %y f32[8] : <ram, 32>) pure
    plan.return
  }
}

// -----

// expected-error@unknown {{need the bodies of evals, have their numbers}}
plan.module {
  plan.program @main placed symbols(%n "N" in [1, 8]) io(in %x "x" f32[s0 max 8] : <ram, 32>, out %y "y" f32[s0 max 8] : <ram, 32>) {
    %e = plan.eval function 0 (%n) -> 1
    plan.check %e in [0, 8] "size"
    plan.return
  }
}
