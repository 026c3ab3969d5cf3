// Attention ops are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%q: tensor<8x4x16xf32>) {
  // expected-error@+2 {{'graph.attention' op needs query, key and value [batch, heads, length, size], has [8, 4, 16], [8, 4, 16] and [8, 4, 16]}}
  // expected-error@+1 {{'graph.attention' op failed to infer returned types}}
  %0 = graph.attention %q, %q, %q : (tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @f(%q: tensor<1x8x4x16xf32>, %k: tensor<1x3x6x16xf32>) {
  // expected-error@+2 {{'graph.attention' op needs [B, H, S, D], [B, Hk, T, D] and [B, Hk, T, Dv] with H a multiple of Hk, has [1, 8, 4, 16], [1, 3, 6, 16] and [1, 3, 6, 16]}}
  // expected-error@+1 {{'graph.attention' op failed to infer returned types}}
  %0 = graph.attention %q, %k, %k : (tensor<1x8x4x16xf32>, tensor<1x3x6x16xf32>, tensor<1x3x6x16xf32>) -> tensor<1x8x4x16xf32>
  return
}

// -----

func.func @f(%q: tensor<1x8x4x16xf32>, %k: tensor<1x8x6x16xf32>, %v: tensor<1x8x6x16xf16>) {
  // expected-error@+1 {{'graph.attention' op needs query, key and value of one element type, has 'f32', 'f32' and 'f16'}}
  %0 = graph.attention %q, %k, %v : (tensor<1x8x4x16xf32>, tensor<1x8x6x16xf32>, tensor<1x8x6x16xf16>) -> tensor<1x8x4x16xf32>
  return
}

// -----

func.func @f(%q: tensor<1x8x4x16xf32>, %k: tensor<1x8x6x16xf32>, %m: tensor<5x6xf32>) {
  // expected-error@+1 {{'graph.attention' op needs a mask that broadcasts to the scores [1, 8, 4, 6], has [5, 6]}}
  %0 = graph.attention %q, %k, %k mask %m : (tensor<1x8x4x16xf32>, tensor<1x8x6x16xf32>, tensor<1x8x6x16xf32>, tensor<5x6xf32>) -> tensor<1x8x4x16xf32>
  return
}

// -----

func.func @f(%q: tensor<1x8x4x16xf32>, %k: tensor<1x8x6x16xf32>, %m: tensor<4x6xi64>) {
  // expected-error@+1 {{'graph.attention' op needs a mask of type 'f32' or i1, has 'i64'}}
  %0 = graph.attention %q, %k, %k mask %m : (tensor<1x8x4x16xf32>, tensor<1x8x6x16xf32>, tensor<1x8x6x16xf32>, tensor<4x6xi64>) -> tensor<1x8x4x16xf32>
  return
}

// -----

func.func @f(%q: tensor<1x8x4x16xf32>, %k: tensor<1x8x6x16xf32>) {
  // expected-error@+1 {{'graph.attention' op needs a chunk of at least 1 row, has 0}}
  %0 = graph.attention %q, %k, %k {chunk = 0 : i64} : (tensor<1x8x4x16xf32>, tensor<1x8x6x16xf32>, tensor<1x8x6x16xf32>) -> tensor<1x8x4x16xf32>
  return
}
