// What turns 8-bit weights into floats stays where it runs, with all that follows it: the weight file keeps one byte an
// element.
// RUN: plim-opt %s --split-input-file --graph-hoist-setup | FileCheck %s

// Scale and zero point of DequantizeLinear.
// CHECK-LABEL: func.func @scaled
// CHECK: %[[W:.*]] = graph.parameter "w" {{.*}} : tensor<64x32xi8>
// CHECK: %[[F:.*]] = graph.cast %[[W]]
// CHECK: %[[Z:.*]] = graph.sub %[[F]]
// CHECK: %[[S:.*]] = graph.mul %[[Z]]
// CHECK: graph.matmul %{{.*}}, %[[S]]
// CHECK-NOT: func.func private @setup
func.func @scaled(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<64x32xi8>
  %zero = graph.constant dense<3.0> : tensor<f32>
  %scale = graph.constant dense<0.5> : tensor<f32>
  %f = graph.cast %w {to = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
  %z = graph.sub %f, %zero : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %s = graph.mul %z, %scale : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %y = graph.matmul %x, %s : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// What keeps a byte an element is done before a run: a transposition of unsigned weights, but not their cast.
// CHECK-LABEL: func.func @moved
// CHECK: %[[T:.*]] = graph.parameter "w.transpose" : tensor<64x32xui8>
// CHECK: %[[F:.*]] = graph.cast %[[T]]
// CHECK: graph.matmul %{{.*}}, %[[F]]
// CHECK-LABEL: func.func private @setup
// CHECK: graph.transpose
// CHECK-NOT: graph.cast
func.func @moved(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<32x64xui8>
  %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<32x64xui8>) -> tensor<64x32xui8>
  %f = graph.cast %t {to = f32} : (tensor<64x32xui8>) -> tensor<64x32xf32>
  %y = graph.matmul %x, %f : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// A cast between floats is no dequantisation.
// CHECK-LABEL: func.func @halves
// CHECK: graph.parameter "w.cast" : tensor<64x32xf32>
// CHECK-LABEL: func.func private @setup
// CHECK: graph.cast
func.func @halves(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 4096 : i64} : tensor<64x32xf16>
  %f = graph.cast %w {to = f32} : (tensor<64x32xf16>) -> tensor<64x32xf32>
  %y = graph.matmul %x, %f : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// Panels of floats made of 8-bit weights are for a kernel that takes nothing narrower, and are made once.
// CHECK-LABEL: func.func @panels
// CHECK: graph.parameter "w.pack" : tensor<64x32xf32, #graph.layout<panel32>>
// CHECK-NOT: graph.cast
// CHECK-LABEL: func.func private @setup
// CHECK: graph.cast
// CHECK: graph.pack
func.func @panels(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = graph.parameter "w" {file = "m.bin", offset = 0 : i64, bytes = 2048 : i64} : tensor<64x32xi8>
  %f = graph.cast %w {to = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
  %p = graph.pack %f <panel32> : (tensor<64x32xf32>) -> tensor<64x32xf32, #graph.layout<panel32>>
  %y = graph.matmul %x, %p : (tensor<4x64xf32>, tensor<64x32xf32, #graph.layout<panel32>>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}
