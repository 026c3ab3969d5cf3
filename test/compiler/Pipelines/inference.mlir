// The inference pipeline turns an imported convolution with its batch norm and activation into one nhwc convolution on a
// packed filter, and leaves the arithmetic on weights to @setup.
// RUN: plim-opt %s --inference | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.batch_norm
// CHECK: graph.parameter {{.*}}#graph.layout<panel32>>
// CHECK: graph.conv {{.*}}activation = {{.*}}relu{{.*}}layout = {{.*}}nhwc
// CHECK-NOT: graph.relu
// CHECK: return
// CHECK-LABEL: func.func private @setup
// CHECK: graph.pack
func.func @main(%x: tensor<1x8x8x4xf32>) -> tensor<1x8x8x16xf32> {
  %w = graph.parameter "w" {file = "w.bin", offset = 0 : i64, bytes = 2304 : i64} : tensor<16x4x3x3xf32>
  %s = graph.parameter "s" {file = "w.bin", offset = 2304 : i64, bytes = 64 : i64} : tensor<16xf32>
  %b = graph.parameter "b" {file = "w.bin", offset = 2368 : i64, bytes = 64 : i64} : tensor<16xf32>
  %m = graph.parameter "m" {file = "w.bin", offset = 2432 : i64, bytes = 64 : i64} : tensor<16xf32>
  %v = graph.parameter "v" {file = "w.bin", offset = 2496 : i64, bytes = 64 : i64} : tensor<16xf32>
  %t = graph.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
  %c = graph.conv %t, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<1x16x8x8xf32>
  %n = graph.batch_norm %c, %s, %b, %m, %v : (tensor<1x16x8x8xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x16x8x8xf32>
  %r = graph.relu %n : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %y = graph.transpose %r {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x8x8x16xf32>
  return %y : tensor<1x8x8x16xf32>
}
