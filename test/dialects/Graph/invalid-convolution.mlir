// Convolution ops are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<1x5x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{'graph.conv' op needs a filter for [5] input channels and outputs that 1 groups divide, has [4, 3, 3, 3]}}
  // expected-error@+1 {{'graph.conv' op failed to infer returned types}}
  %0 = graph.conv %x, %w : (tensor<1x5x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{'graph.conv' op needs 2 strides for 2 spatial dimensions, has 1}}
  // expected-error@+1 {{'graph.conv' op failed to infer returned types}}
  %0 = graph.conv %x, %w {strides = array<i64: 2>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{'graph.conv' op needs strides of at least 1, has 0}}
  // expected-error@+1 {{'graph.conv' op failed to infer returned types}}
  %0 = graph.conv %x, %w {strides = array<i64: 0, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{'graph.conv' op needs a window of at most 8 in spatial dimension 0 (padding included), has 9}}
  // expected-error@+1 {{'graph.conv' op failed to infer returned types}}
  %0 = graph.conv %x, %w {dilations = array<i64: 4, 4>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{'graph.conv' op needs kernel sizes of the filter [4, 3, 3, 3], has [5, 5]}}
  // expected-error@+1 {{'graph.conv' op failed to infer returned types}}
  %0 = graph.conv %x, %w {kernel = array<i64: 5, 5>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{'graph.conv' op needs at least 1 group, has 0}}
  // expected-error@+1 {{'graph.conv' op failed to infer returned types}}
  %0 = graph.conv %x, %w {groups = 0 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{'graph.conv' op needs kernel sizes in layout nhwc, has none}}
  // expected-error@+1 {{'graph.conv' op failed to infer returned types}}
  %0 = graph.conv %x, %w {layout = #graph.image_layout<nhwc>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'graph.conv' op needs a bias of shape [4], has [3]}}
  %0 = graph.conv %x, %w bias %b : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %r: tensor<4xf32>) {
  // expected-error@+1 {{'graph.conv' op needs a residual of the result's type 'tensor<1x4x6x6xf32>', has 'tensor<4xf32>'}}
  %0 = graph.conv %x, %w residual %r : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error@+2 {{'graph.conv' op needs a filter [kernel * channels, outputs], or [kernel..., channels] with a group a channel, has [3, 3, 4] and 1 groups}}
  // expected-error@+1 {{'graph.conv' op failed to infer returned types}}
  %0 = graph.conv %x, %w {kernel = array<i64: 3, 3>, layout = #graph.image_layout<nhwc>} : (tensor<1x8x8x3xf32>, tensor<3x3x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<3x8xf32>, %w: tensor<4x3xf32>) {
  // expected-error@+2 {{'graph.conv' op needs an input of rank 3 or more, has [3, 8]}}
  // expected-error@+1 {{'graph.conv' op failed to infer returned types}}
  %0 = graph.conv %x, %w : (tensor<3x8xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error@+2 {{'graph.conv' op needs a filter of the input's rank 4, has rank 3}}
  // expected-error@+1 {{'graph.conv' op failed to infer returned types}}
  %0 = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<?x3x3x3xf32>) {
  // expected-error@+2 {{'graph.conv' op needs a filter of static shape, has [?, 3, 3, 3]}}
  // expected-error@+1 {{'graph.conv' op failed to infer returned types}}
  %0 = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<?x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x5x8x8xf32>, %w: tensor<4x3x2x2xf32>) {
  // expected-error@+2 {{'graph.conv_transpose' op needs a filter [channels, ...] for [5] input channels in 1 groups, has [4, 3, 2, 2]}}
  // expected-error@+1 {{'graph.conv_transpose' op failed to infer returned types}}
  %0 = graph.conv_transpose %x, %w : (tensor<1x5x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x9x9xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>) {
  // expected-error@+2 {{'graph.conv_transpose' op needs 2 output paddings, has 1}}
  // expected-error@+1 {{'graph.conv_transpose' op failed to infer returned types}}
  %0 = graph.conv_transpose %x, %w {output_padding = array<i64: 1>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x9x9xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>) {
  // expected-error@+2 {{'graph.conv_transpose' op needs pads below 9 in spatial dimension 0, has 10}}
  // expected-error@+1 {{'graph.conv_transpose' op failed to infer returned types}}
  %0 = graph.conv_transpose %x, %w {pads = array<i64: 5, 5, 5, 5>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x9x9xf32>
  return
}
