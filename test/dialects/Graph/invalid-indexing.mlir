// Indexing ops are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x6xf32>, %i: tensor<3x2xi64>) {
  // expected-error@+2 {{'graph.gather' op needs an axis in [0, 2) for an operand of rank 2, has 2}}
  // expected-error@+1 {{'graph.gather' op failed to infer returned types}}
  %0 = graph.gather %x, %i {axis = 2 : i64} : (tensor<4x6xf32>, tensor<3x2xi64>) -> tensor<3x2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<3xi64>) {
  // expected-error@+2 {{'graph.gather_elements' op needs indices of the operand's rank 2, has rank 1}}
  // expected-error@+1 {{'graph.gather_elements' op failed to infer returned types}}
  %0 = graph.gather_elements %x, %i : (tensor<4x6xf32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<5x3xi64>) {
  // expected-error@+2 {{'graph.gather_nd' op needs indices [..., n] with 1 <= n <= 2 for an operand [4, 6] and 0 batch dimensions, has [5, 3]}}
  // expected-error@+1 {{'graph.gather_nd' op failed to infer returned types}}
  %0 = graph.gather_nd %x, %i : (tensor<4x6xf32>, tensor<5x3xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<3x2xi64>, %u: tensor<2xf32>) {
  // expected-error@+2 {{'graph.scatter_nd' op needs updates of shape [3] and type f32, has [2] and f32}}
  // expected-error@+1 {{'graph.scatter_nd' op failed to infer returned types}}
  %0 = graph.scatter_nd %x, %i, %u : (tensor<4x6xf32>, tensor<3x2xi64>, tensor<2xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<3x2xi64>, %u: tensor<3x2xf16>) {
  // expected-error@+2 {{'graph.scatter_elements' op needs updates of shape [3, 2] and type f32, has [3, 2] and f16}}
  // expected-error@+1 {{'graph.scatter_elements' op failed to infer returned types}}
  %0 = graph.scatter_elements %x, %i, %u : (tensor<4x6xf32>, tensor<3x2xi64>, tensor<3x2xf16>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%i: tensor<2xi64>) {
  // expected-error@+2 {{'graph.range' op needs scalar operands, has one of shape [2]}}
  // expected-error@+1 {{'graph.range' op failed to infer returned types}}
  %0 = graph.range %i, %i, %i : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?xi64>
  return
}

// -----

func.func @f(%i: tensor<2xi64>, %v: tensor<3xf32>) {
  // expected-error@+2 {{'graph.one_hot' op needs values [off, on] of shape [2], has [3]}}
  // expected-error@+1 {{'graph.one_hot' op failed to infer returned types}}
  %0 = graph.one_hot %i, %v {depth = 4 : i64, axis = 1 : i64} : (tensor<2xi64>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%i: tensor<2xi64>, %v: tensor<2xf32>) {
  // expected-error@+2 {{'graph.one_hot' op needs a depth of at least 1, has 0}}
  // expected-error@+1 {{'graph.one_hot' op failed to infer returned types}}
  %0 = graph.one_hot %i, %v {depth = 0 : i64, axis = 1 : i64} : (tensor<2xi64>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<3xi64>) {
  // expected-error@+2 {{'graph.partial_gather' op needs a piece within rows [0, 6), has [4, 6] from row 3 on}}
  // expected-error@+1 {{'graph.partial_gather' op failed to infer returned types}}
  %0 = graph.partial_gather %x, %i {first = 3 : i64, rows = 6 : i64} : (tensor<4x6xf32>, tensor<3xi64>) -> tensor<3x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<3xi64>, %s: tensor<2x6xf32>) {
  // expected-error@+2 {{'graph.partial_gather' op needs rows so far of shape [3, 6] and the piece's type, has [2, 6]}}
  // expected-error@+1 {{'graph.partial_gather' op failed to infer returned types}}
  %0 = graph.partial_gather %x, %i so_far %s {first = 0 : i64, rows = 6 : i64} :
      (tensor<4x6xf32>, tensor<3xi64>, tensor<2x6xf32>) -> tensor<3x6xf32>
  return
}
