// A plan that does not fit its function is refused with the reason.
// RUN: not plim-opt %s --graph-split="plan='pieces=2 keep=nobody@1'" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not plim-opt %s --graph-split="plan='pieces=2 keep=relu@2'" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not plim-opt %s --graph-split="plan='pieces=2 keep=reduce@1,mul@1'" 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: not plim-opt %s --graph-split="plan='copy=conv for=mul; pieces=2 keep=relu@1'" 2>&1 | FileCheck %s --check-prefix=COPY

// NAME: error: not a plan for this function: need NAME@AXIS with the name of a value, have 'nobody@1'
// AXIS: error: stage 0 cannot be split: step 'conv' cannot be cut along axis 2
// COPY: error: need a stage that runs the copy 'conv'' in pieces, have none
// SUM: error: stage 0 cannot be split: step 'mul' needs the sum 'reduce', which its stage carries
func.func @chain(%x: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %w = graph.parameter "w" {file = "m.onnx", bytes = 576 : i64} : tensor<36x4xf32>
  %0 = graph.conv %x, %w {kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, layout = #graph.image_layout<nhwc>} :
      (tensor<1x8x8x4xf32>, tensor<36x4xf32>) -> tensor<1x8x8x4xf32>
  %1 = graph.relu %0 : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %2 = graph.reduce mean %1 {axes = array<i64: 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x1x1x4xf32>
  %3 = graph.mul %1, %2 : (tensor<1x8x8x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x8x8x4xf32>
  return %3 : tensor<1x8x8x4xf32>
}
