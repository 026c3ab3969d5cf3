// Recurrences are refused with what they need and what they have, all that is wrong at once.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<7x2x21xf32>, %r: tensor<1x20x5xf32>) {
  // expected-error@+2 {{'graph.recurrence' op needs projected inputs [steps, sequences, 4 * hidden size], the last static, has [7, 2, 21]}}
  // expected-error@+1 {{'graph.recurrence' op failed to infer returned types}}
  %0:3 = graph.recurrence lstm forward %x, %r {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} :
      (tensor<7x2x21xf32>, tensor<1x20x5xf32>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x15xf32>, %r: tensor<1x15x5xf32>) {
  // expected-error@+2 {{'graph.recurrence' op needs projected inputs [steps, sequences, 3 * hidden size], the last static, has [2, 15]}}
  // expected-error@+1 {{'graph.recurrence' op failed to infer returned types}}
  %0:2 = graph.recurrence gru forward %x, %r {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>} :
      (tensor<2x15xf32>, tensor<1x15x5xf32>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x?xf32>, %r: tensor<1x5x5xf32>) {
  // expected-error@+2 {{'graph.recurrence' op needs projected inputs [steps, sequences, 1 * hidden size], the last static, has [7, 2, ?]}}
  // expected-error@+1 {{'graph.recurrence' op failed to infer returned types}}
  %0:2 = graph.recurrence rnn forward %x, %r {
      activations = [#graph.gate_function<tanh>], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} :
      (tensor<7x2x?xf32>, tensor<1x5x5xf32>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x20xf32>, %r: tensor<1x5x20xf32>) {
  // expected-error@+1 {{'graph.recurrence' op needs recurrent weights of shape [1, 20, 5], has [1, 5, 20]}}
  %0:3 = graph.recurrence lstm forward %x, %r {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} :
      (tensor<7x2x20xf32>, tensor<1x5x20xf32>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x15xf32>, %r: tensor<5x32xf32, #graph.layout<panel32>>) {
  // expected-error@+1 {{'graph.recurrence' op needs recurrent weights of shape [5, 64], has [5, 32]}}
  %0:2 = graph.recurrence gru forward %x, %r {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>} :
      (tensor<7x2x15xf32>, tensor<5x32xf32, #graph.layout<panel32>>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x20xf32>, %r: tensor<1x20x5xf16>) {
  // expected-error@+1 {{'graph.recurrence' op needs recurrent weights of the projected inputs' type, has another type}}
  %0:3 = graph.recurrence lstm forward %x, %r {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} :
      (tensor<7x2x20xf32>, tensor<1x20x5xf16>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x20xf32>, %r: tensor<1x20x5xi8>) {
  // expected-error@+1 {{'graph.recurrence' op needs recurrent weights of the projected inputs' type, has 8-bit integers without a scale}}
  %0:3 = graph.recurrence lstm forward %x, %r {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} :
      (tensor<7x2x20xf32>, tensor<1x20x5xi8>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x20xf32>, %r: tensor<1x20x5xf32>, %b: tensor<1x5xf32>) {
  // expected-error@+1 {{'graph.recurrence' op needs a bias for a gru with linear_before_reset only, has lstm}}
  %0:3 = graph.recurrence lstm forward %x, %r bias %b {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} :
      (tensor<7x2x20xf32>, tensor<1x20x5xf32>, tensor<1x5xf32>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x15xf32>, %r: tensor<1x15x5xf32>, %b: tensor<5xf32>) {
  // expected-error@+1 {{'graph.recurrence' op needs a bias of shape [1, 5], has [5]}}
  %0:2 = graph.recurrence gru forward %x, %r bias %b {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>, linear_before_reset = true} :
      (tensor<7x2x15xf32>, tensor<1x15x5xf32>, tensor<5xf32>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x15xf32>, %r: tensor<1x15x5xf32>, %p: tensor<1x15xf32>, %c: tensor<1x2x5xf32>) {
  // expected-error@+2 {{'graph.recurrence' op needs peepholes for an lstm only, has gru}}
  // expected-error@+1 {{'graph.recurrence' op needs a cell state for an lstm only, has gru}}
  %0:2 = graph.recurrence gru forward %x, %r peepholes %p cell %c {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>} :
      (tensor<7x2x15xf32>, tensor<1x15x5xf32>, tensor<1x15xf32>, tensor<1x2x5xf32>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x5xf32>, %r: tensor<1x5x5xf32>, %n: tensor<3xi64>, %h: tensor<1x3x5xf32>) {
  // expected-error@+2 {{'graph.recurrence' op needs lengths of shape [2], has [3]}}
  // expected-error@+1 {{'graph.recurrence' op needs a hidden state of shape [1, 2, 5], has [1, 3, 5]}}
  %0:2 = graph.recurrence rnn forward %x, %r lengths %n hidden %h {
      activations = [#graph.gate_function<tanh>], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} :
      (tensor<7x2x5xf32>, tensor<1x5x5xf32>, tensor<3xi64>, tensor<1x3x5xf32>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x20xf32>, %r: tensor<1x20x5xi8>, %s: tensor<1x1xf32>, %z: tensor<1x1xui8>) {
  // expected-error@+1 {{'graph.recurrence' op needs a zero point of the recurrent weights' type, has one of another}}
  %0:3 = graph.recurrence lstm forward %x, %r scale %s zero_point %z {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} :
      (tensor<7x2x20xf32>, tensor<1x20x5xi8>, tensor<1x1xf32>, tensor<1x1xui8>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x20xf32>, %r: tensor<1x20x5xi8>, %s: tensor<1x5xf32>, %z: tensor<1x5xi8>) {
  // expected-error@+2 {{'graph.recurrence' op needs a scale of shape [1, 20], has [1, 5]}}
  // expected-error@+1 {{'graph.recurrence' op needs a zero point of shape [1, 20], has [1, 5]}}
  %0:3 = graph.recurrence lstm forward %x, %r scale %s zero_point %z {
      activations = [#graph.gate_function<sigmoid>, #graph.gate_function<tanh>, #graph.gate_function<tanh>],
      alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} :
      (tensor<7x2x20xf32>, tensor<1x20x5xi8>, tensor<1x5xf32>, tensor<1x5xi8>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x20xf32>, %r: tensor<1x20x5xf32>) {
  // expected-error@+1 {{'graph.recurrence' op needs 3 activations with an alpha and a beta each, has 1, 1 and 1}}
  %0:3 = graph.recurrence lstm forward %x, %r {
      activations = [#graph.gate_function<tanh>], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} :
      (tensor<7x2x20xf32>, tensor<1x20x5xf32>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<7x2x5xf32>, %r: tensor<1x5x5xf32>) {
  // expected-error@+3 {{'graph.recurrence' op needs a clip of at least 0, has -1.000000}}
  // expected-error@+2 {{'graph.recurrence' op needs input_forget for an lstm only, has rnn}}
  // expected-error@+1 {{'graph.recurrence' op needs linear_before_reset for a gru only, has rnn}}
  %0:2 = graph.recurrence rnn forward %x, %r {
      activations = [#graph.gate_function<tanh>], alphas = array<f64: 0.0>, betas = array<f64: 0.0>, clip = -1.0, input_forget = true, linear_before_reset = true} :
      (tensor<7x2x5xf32>, tensor<1x5x5xf32>)
      -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>)
  return
}
