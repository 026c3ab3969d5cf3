// Recurrences print and parse back to themselves; their result types are what inference gives.
// RUN: plim-opt %s | plim-opt | FileCheck %s
// RUN: plim-opt %s --mlir-print-op-generic | plim-opt | FileCheck %s

// Both directions, initial states, lengths and peepholes.
// CHECK-LABEL: func.func @lstm
func.func @lstm(%x: tensor<7x2x40xf32>, %r: tensor<2x20x5xf32>, %p: tensor<2x15xf32>, %n: tensor<2xi32>,
    %h: tensor<2x2x5xf32>) -> (tensor<7x2x2x5xf32>, tensor<2x2x5xf32>, tensor<2x2x5xf32>) {
  // CHECK: graph.recurrence lstm bidirectional %{{.*}}, %{{.*}} peepholes %{{.*}} lengths %{{.*}} hidden %{{.*}} cell %{{.*}} {activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>, #graph.gate_function<hard_sigmoid>, #graph.gate_function<relu>, #graph.gate_function<softsign>], alphas = array<f64: 0.000000e+00, 0.000000e+00, 0.000000e+00, 2.000000e-01, 0.000000e+00, 0.000000e+00>, betas = array<f64: 0.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, 0.000000e+00>, clip = 3.000000e+00 : f64}
  // CHECK-SAME: -> (tensor<7x2x2x5xf32>, tensor<2x2x5xf32>, tensor<2x2x5xf32>)
  %0:3 = graph.recurrence lstm bidirectional %x, %r peepholes %p lengths %n hidden %h cell %h {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>,
                     #graph.gate_function<hard_sigmoid>, #graph.gate_function<relu>, #graph.gate_function<softsign>],
      alphas = array<f64: 0.0, 0.0, 0.0, 0.2, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0, 0.5, 0.0, 0.0>, clip = 3.0} :
      (tensor<7x2x40xf32>, tensor<2x20x5xf32>, tensor<2x15xf32>, tensor<2xi32>, tensor<2x2x5xf32>, tensor<2x2x5xf32>)
      -> (tensor<7x2x2x5xf32>, tensor<2x2x5xf32>, tensor<2x2x5xf32>)
  return %0#0, %0#1, %0#2 : tensor<7x2x2x5xf32>, tensor<2x2x5xf32>, tensor<2x2x5xf32>
}

// A bias inside the product with the reset gate, and no cell state.
// CHECK-LABEL: func.func @gru
func.func @gru(%x: tensor<7x2x15xf32>, %r: tensor<1x15x5xf32>, %b: tensor<1x5xf32>) -> tensor<1x2x5xf32> {
  // CHECK: graph.recurrence gru reverse %{{.*}}, %{{.*}} bias %{{.*}} {activations{{.*}}, linear_before_reset = true}
  // CHECK-SAME: -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>)
  %0:2 = graph.recurrence gru reverse %x, %r bias %b {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>, linear_before_reset = true} :
      (tensor<7x2x15xf32>, tensor<1x15x5xf32>, tensor<1x5xf32>) -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>)
  return %0#1 : tensor<1x2x5xf32>
}

// Packed weights: two products of 10 and 5 columns, 32 each. The bounds of steps and sequences go on to the results.
// CHECK-LABEL: func.func @packed
func.func @packed(%x: tensor<?x?x15xf32, #graph.bounds<[1 to 9, 1 to 4, 15]>>,
    %r: tensor<5x64xf32, #graph.layout<panel32>>) -> tensor<?x1x?x5xf32, #graph.bounds<[1 to 9, 1, 1 to 4, 5]>> {
  // CHECK: graph.recurrence gru forward
  // CHECK-SAME: -> (tensor<?x1x?x5xf32, #graph.bounds<[1 to 9, 1, 1 to 4, 5]>>, tensor<1x?x5xf32, #graph.bounds<[1, 1 to 4, 5]>>)
  %0:2 = graph.recurrence gru forward %x, %r {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>} :
      (tensor<?x?x15xf32, #graph.bounds<[1 to 9, 1 to 4, 15]>>, tensor<5x64xf32, #graph.layout<panel32>>)
      -> (tensor<?x1x?x5xf32, #graph.bounds<[1 to 9, 1, 1 to 4, 5]>>, tensor<1x?x5xf32, #graph.bounds<[1, 1 to 4, 5]>>)
  return %0#0 : tensor<?x1x?x5xf32, #graph.bounds<[1 to 9, 1, 1 to 4, 5]>>
}

// Weights in 8 bits.
// CHECK-LABEL: func.func @quantized
func.func @quantized(%x: tensor<7x2x20xf32>, %r: tensor<1x20x5xi8>, %s: tensor<1x1xf32>, %z: tensor<1x1xi8>)
    -> tensor<1x2x5xf32> {
  // CHECK: graph.recurrence lstm forward %{{.*}}, %{{.*}} scale %{{.*}} zero_point %{{.*}} {activations{{.*}}, input_forget = true}
  %0:3 = graph.recurrence lstm forward %x, %r scale %s zero_point %z {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>, input_forget = true} :
      (tensor<7x2x20xf32>, tensor<1x20x5xi8>, tensor<1x1xf32>, tensor<1x1xi8>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  return %0#1 : tensor<1x2x5xf32>
}
