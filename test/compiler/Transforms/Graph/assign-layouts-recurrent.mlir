// Weights of a recurrence are packed for its kernels, product by product; computed ones stay as they are.
// RUN: plim-opt %s --graph-assign-layouts --split-input-file | FileCheck %s

// The four gates of 8 columns are one product, which fills its panel: no filling is needed.
// CHECK-LABEL: func.func @whole_panels
func.func @whole_panels(%x: tensor<5x2x64xf32>) -> (tensor<5x2x2x8xf32>, tensor<2x2x8xf32>) {
  // CHECK: %[[W:.*]] = graph.parameter "r"
  // CHECK-NOT: graph.pad
  // CHECK: %[[M:.*]] = graph.reshape %[[W]] {{.*}} -> tensor<64x8xf32>
  // CHECK: %[[T:.*]] = graph.transpose %[[M]] {permutation = array<i64: 1, 0>}
  // CHECK: %[[P:.*]] = graph.pack %[[T]] <panel32> : (tensor<8x64xf32>)
  // CHECK: graph.recurrence lstm bidirectional %{{.*}}, %[[P]]
  %r = graph.parameter "r" {file = "m.onnx", bytes = 2048 : i64} : tensor<2x32x8xf32>
  %0:3 = graph.recurrence lstm bidirectional %x, %r {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>,
                     #graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0, 0.0, 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0, 0.0, 0.0, 0.0>} :
      (tensor<5x2x64xf32>, tensor<2x32x8xf32>) -> (tensor<5x2x2x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>)
  return %0#0, %0#2 : tensor<5x2x2x8xf32>, tensor<2x2x8xf32>
}

// -----

// The h gate of a gru has a product of its own; each is filled up to whole panels: 10 columns and 5.
// CHECK-LABEL: func.func @two_products
func.func @two_products(%x: tensor<5x2x15xf32>, %h: tensor<1x2x5xf32>) -> tensor<5x1x2x5xf32> {
  // CHECK-DAG: graph.slice %{{.*}} {sizes = array<i64: 1, 10, 5>, starts = array<i64: 0, 0, 0>}
  // CHECK-DAG: graph.slice %{{.*}} {sizes = array<i64: 1, 5, 5>, starts = array<i64: 0, 10, 0>}
  // CHECK-DAG: graph.pad %{{.*}} {high = array<i64: 0, 22, 0>
  // CHECK-DAG: graph.pad %{{.*}} {high = array<i64: 0, 27, 0>
  // CHECK: %[[P:.*]] = graph.pack %{{.*}} <panel32> : (tensor<5x64xf32>)
  // CHECK: graph.recurrence gru reverse %{{.*}}, %[[P]] hidden
  %r = graph.parameter "r" {file = "m.onnx", bytes = 300 : i64} : tensor<1x15x5xf32>
  %0:2 = graph.recurrence gru reverse %x, %r hidden %h {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>} :
      (tensor<5x2x15xf32>, tensor<1x15x5xf32>, tensor<1x2x5xf32>) -> (tensor<5x1x2x5xf32>, tensor<1x2x5xf32>)
  return %0#0 : tensor<5x1x2x5xf32>
}

// -----

// With linear_before_reset one product gives all three gates.
// CHECK-LABEL: func.func @one_product
func.func @one_product(%x: tensor<5x2x15xf32>, %b: tensor<1x5xf32>) -> tensor<1x2x5xf32> {
  // CHECK: graph.pad %{{.*}} {high = array<i64: 0, 17, 0>
  // CHECK: graph.pack %{{.*}} <panel32> : (tensor<5x32xf32>)
  %r = graph.parameter "r" {file = "m.onnx", bytes = 300 : i64} : tensor<1x15x5xf32>
  %0:2 = graph.recurrence gru forward %x, %r bias %b {
      activations = [#graph.gate_function<hard_sigmoid>, #graph.gate_function<softsign>],
      alphas = array<f64: 0.2, 0.0>, betas = array<f64: 0.5, 0.0>, linear_before_reset = true, clip = 0.8} :
      (tensor<5x2x15xf32>, tensor<1x15x5xf32>, tensor<1x5xf32>) -> (tensor<5x1x2x5xf32>, tensor<1x2x5xf32>)
  return %0#1 : tensor<1x2x5xf32>
}

// -----

// Bytes stay bytes.
// CHECK-LABEL: func.func @quantized
func.func @quantized(%x: tensor<3x2x32xf32>, %p: tensor<1x24xf32>) -> tensor<3x1x2x8xf32> {
  // CHECK: graph.pack %{{.*}} <panel32> : (tensor<8x32xi8>) -> tensor<8x32xi8, #graph.layout<panel32>>
  %r = graph.parameter "r" {file = "m.onnx", bytes = 256 : i64} : tensor<1x32x8xi8>
  %s = graph.constant dense<0.003> : tensor<1x1xf32>
  %z = graph.constant dense<5> : tensor<1x1xi8>
  %0:3 = graph.recurrence lstm forward %x, %r peepholes %p scale %s zero_point %z {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>, input_forget = true} :
      (tensor<3x2x32xf32>, tensor<1x32x8xi8>, tensor<1x24xf32>, tensor<1x1xf32>, tensor<1x1xi8>)
      -> (tensor<3x1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>)
  return %0#0 : tensor<3x1x2x8xf32>
}

// -----

// Weights that the run gives are read as they lie.
// CHECK-LABEL: func.func @computed
func.func @computed(%x: tensor<5x2x5xf32>, %r: tensor<1x5x5xf32>) -> tensor<5x1x2x5xf32> {
  // CHECK-NEXT: graph.recurrence rnn forward %arg0, %arg1
  %0:2 = graph.recurrence rnn forward %x, %r {
      activations = [#graph.gate_function<relu>], alphas = array<f64: 0.0>, betas = array<f64: 0.0>, clip = 0.5} :
      (tensor<5x2x5xf32>, tensor<1x5x5xf32>) -> (tensor<5x1x2x5xf32>, tensor<1x2x5xf32>)
  return %0#0 : tensor<5x1x2x5xf32>
}
