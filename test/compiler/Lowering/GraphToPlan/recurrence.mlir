// A recurrence is one launch over the projected inputs of all steps.
// RUN: plim-opt %s --split-input-file --graph-to-plan=library-only | FileCheck %s
// RUN: plim-opt %s --split-input-file --graph-to-plan=library-only --plan-assign-offsets --plan-check

// The transposition of the inputs is read by strides; the states of all steps, which nobody reads, are not written; the last
// states may lie where the initial ones did.
// CHECK-LABEL: plan.program @main
// CHECK-NOT: copy.strided
// CHECK: plan.launch "recurrent.packed"
// CHECK-SAME: f32[5, 2, 32] strides [32, 160, 1]
// CHECK-SAME: f32[8, 32] panel32
// CHECK-NOT: f32[5, 1, 2, 8]
// CHECK-SAME: aliases
// CHECK: plan.return
func.func @main(%x: tensor<2x5x32xf32> {graph.name = "x"}, %h: tensor<1x2x8xf32> {graph.name = "h"})
    -> (tensor<1x2x8xf32> {graph.name = "hn"}, tensor<1x2x8xf32> {graph.name = "cn"}) {
  %r = graph.parameter "r" : tensor<8x32xf32, #graph.layout<panel32>>
  %t = graph.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x5x32xf32>) -> tensor<5x2x32xf32>
  %n = graph.neg %h : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %0:3 = graph.recurrence lstm forward %t, %r hidden %n {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} :
      (tensor<5x2x32xf32>, tensor<8x32xf32, #graph.layout<panel32>>, tensor<1x2x8xf32>)
      -> (tensor<5x1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>)
  return %0#1, %0#2 : tensor<1x2x8xf32>, tensor<1x2x8xf32>
}

// -----

// Steps and sequences are sizes of the run; weights that are no constants are read as they lie.
// CHECK-LABEL: plan.program @main
// CHECK: plan.launch "recurrent.reference"
// CHECK-SAME: f32[s0 max 9, s1 max 4, 5]
// CHECK-SAME: f32[1, 5, 5]
// CHECK-SAME: f32[s0 max 9, 1, s1 max 4, 5]
// CHECK-SAME: f32[1, s1 max 4, 5]
func.func @main(%x: tensor<?x?x5xf32, #graph.bounds<[1 to 9, 1 to 4, 5]>>
                    {graph.name = "x", graph.dim_names = ["T", "N", ""]}, %r: tensor<1x5x5xf32> {graph.name = "r"})
    -> (tensor<?x1x?x5xf32, #graph.bounds<[1 to 9, 1, 1 to 4, 5]>> {graph.name = "y"}) {
  %0:2 = graph.recurrence rnn reverse %x, %r {
      activations = [#graph.gate_function<tanh>], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} :
      (tensor<?x?x5xf32, #graph.bounds<[1 to 9, 1 to 4, 5]>>, tensor<1x5x5xf32>)
      -> (tensor<?x1x?x5xf32, #graph.bounds<[1 to 9, 1, 1 to 4, 5]>>, tensor<1x?x5xf32, #graph.bounds<[1, 1 to 4, 5]>>)
  return %0#0 : tensor<?x1x?x5xf32, #graph.bounds<[1 to 9, 1, 1 to 4, 5]>>
}
