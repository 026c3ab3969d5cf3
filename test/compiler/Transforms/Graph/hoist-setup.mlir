// Work on weights moves to @setup; functions read its results by name; dequantised weights stay where they are.
// RUN: plim-opt %s --graph-hoist-setup | FileCheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x16xf32>) {
  // CHECK-DAG: %[[P:.*]] = graph.parameter "w.pack" : tensor<8x8xf32, #graph.layout<panel32>>
  // CHECK-DAG: graph.parameter "b" {bytes = 32 : i64, file = "m.onnx"
  // CHECK-DAG: graph.parameter "q" {{.*}} : tensor<8xi8>
  // CHECK-NOT: graph.pack
  // CHECK: graph.matmul %{{.*}}, %[[P]] bias
  // CHECK: graph.cast
  %w = graph.parameter "w" {file = "m.onnx", bytes = 256 : i64} : tensor<8x8xf32>
  %s = graph.parameter "s" {file = "m.onnx", bytes = 32 : i64} : tensor<8xf32>
  %b = graph.parameter "b" {file = "m.onnx", bytes = 32 : i64} : tensor<8x1xf32>
  %q = graph.parameter "q" {file = "m.onnx", bytes = 8 : i64} : tensor<8xi8>
  %f = graph.mul %w, %s : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %p = graph.pack %f <panel32> : (tensor<8x8xf32>) -> tensor<8x8xf32, #graph.layout<panel32>>
  // A view of a weight is no work.
  %view = graph.reshape %b {shape = array<i64: 8>} : (tensor<8x1xf32>) -> tensor<8xf32>
  %0 = graph.matmul %x, %p bias %view :
      (tensor<4x8xf32>, tensor<8x8xf32, #graph.layout<panel32>>, tensor<8xf32>) -> tensor<4x8xf32>
  %d = graph.cast %q {to = f32} : (tensor<8xi8>) -> tensor<8xf32>
  %1 = graph.mul %0, %d : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // A result that depends on weights only moves as far as its last work; the view of it stays.
  // CHECK: %[[N:.*]] = graph.parameter "w.slice" : tensor<32xf32>
  // CHECK: graph.reshape %[[N]]
  %n = graph.neg %w : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %o = graph.reshape %n {shape = array<i64: 64>} : (tensor<8x8xf32>) -> tensor<64xf32>
  %t = graph.slice %o {starts = array<i64: 0>, sizes = array<i64: 32>} : (tensor<64xf32>) -> tensor<32xf32>
  %u = graph.reshape %t {shape = array<i64: 2, 16>} : (tensor<32xf32>) -> tensor<2x16xf32>
  return %1, %u : tensor<4x8xf32>, tensor<2x16xf32>
}

// Another function that packs the same weight shares the result.
// CHECK-LABEL: func.func @other
func.func @other(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK: graph.parameter "w.pack"
  %w = graph.parameter "w" {file = "m.onnx", bytes = 256 : i64} : tensor<8x8xf32>
  %s = graph.parameter "s" {file = "m.onnx", bytes = 32 : i64} : tensor<8xf32>
  %f = graph.mul %w, %s : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %p = graph.pack %f <panel32> : (tensor<8x8xf32>) -> tensor<8x8xf32, #graph.layout<panel32>>
  %0 = graph.matmul %x, %p : (tensor<2x8xf32>, tensor<8x8xf32, #graph.layout<panel32>>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// CHECK: func.func private @setup() -> (tensor<8x8xf32, #graph.layout<panel32>> {graph.name = "w.pack"}
// CHECK: graph.mul
// CHECK: graph.pack
// CHECK-NOT: graph.pack
// CHECK: return
