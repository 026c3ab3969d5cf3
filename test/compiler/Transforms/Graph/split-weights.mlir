// A large weight becomes constants of its own: ranges of its file, or results of @setup made of pieces of what it is made of.
// RUN: plim-opt %s --graph-split-weights="bytes=16384" | FileCheck %s
// RUN: plim-opt %s --graph-split-weights="bytes=32768" | FileCheck %s --check-prefix=LARGE
// RUN: not plim-opt %s --graph-split-weights 2>&1 | FileCheck %s --check-prefix=ZERO

// ZERO: error: graph-split-weights needs bytes above 0, has 0
// LARGE-NOT: "table.
// LARGE-NOT: graph.partial_gather

// A table that a gather reads, and a product as its transposed matrix: rows serve both. 72 rows, of 256 bytes each, in
// pieces of at most 64; equal ones end at panels of 32.
// CHECK-LABEL: func.func @tied
func.func @tied(%ids: tensor<5xi64>, %x: tensor<3x64xf32>, %r: tensor<3x72xf32>) -> (tensor<5x64xf32>, tensor<3x72xf32>) {
  // CHECK: %[[A:.*]] = graph.parameter "table.0-64" {bytes = 16384 : i64, file = "m.onnx", offset = 4096 : i64} : tensor<64x64xf32>
  // CHECK: %[[G:.*]] = graph.partial_gather %[[A]], %arg0 {first = 0 : i64, rows = 72 : i64}
  // CHECK: %[[B:.*]] = graph.parameter "table.64-72" {bytes = 2048 : i64, file = "m.onnx", offset = 20480 : i64} : tensor<8x64xf32>
  // CHECK: %[[H:.*]] = graph.partial_gather %[[B]], %arg0 so_far %[[G]] {first = 64 : i64, rows = 72 : i64}
  %table = graph.parameter "table" {file = "m.onnx", offset = 4096 : i64, bytes = 18432 : i64} : tensor<72x64xf32>
  %0 = graph.gather %table, %ids : (tensor<72x64xf32>, tensor<5xi64>) -> tensor<5x64xf32>
  // A bias has views; of a residual, which is no weight, the columns are taken.
  // CHECK: %[[C:.*]] = graph.parameter "table.0-64"
  // CHECK: %[[C0:.*]] = graph.slice %{{.*}} {sizes = array<i64: 64>, starts = array<i64: 0>}
  // CHECK: %[[R0:.*]] = graph.slice %arg2 {sizes = array<i64: 3, 64>, starts = array<i64: 0, 0>}
  // CHECK: %[[Y0:.*]] = graph.matmul %arg1, %[[C]] bias %[[C0]] residual %[[R0]] {activation = #graph.activation<relu>, transpose_rhs = true}
  // CHECK: %[[D:.*]] = graph.parameter "table.64-72"
  // CHECK: graph.slice %{{.*}} {sizes = array<i64: 8>, starts = array<i64: 64>}
  // CHECK: %[[Y1:.*]] = graph.matmul %arg1, %[[D]] bias {{.*}} -> tensor<3x8xf32>
  // CHECK: %[[Y:.*]] = graph.concat %[[Y0]], %[[Y1]] {axis = 1 : i64}
  // CHECK: return %[[H]], %[[Y]]
  %bias = graph.parameter "bias" {file = "m.onnx", bytes = 288 : i64} : tensor<72xf32>
  %1 = graph.matmul %x, %table bias %bias residual %r {transpose_rhs = true, activation = #graph.activation<relu>} :
      (tensor<3x64xf32>, tensor<72x64xf32>, tensor<72xf32>, tensor<3x72xf32>) -> tensor<3x72xf32>
  return %0, %1 : tensor<5x64xf32>, tensor<3x72xf32>
}

// Another function reads the same pieces. Rows of open size are cut likewise.
// CHECK-LABEL: func.func @again
func.func @again(%ids: tensor<?xi64, #graph.bounds<[0 to 9]>>) -> tensor<?x64xf32, #graph.bounds<[0 to 9, 64]>> {
  // CHECK: graph.parameter "table.0-64" {bytes = 16384
  // CHECK: graph.partial_gather
  // CHECK: graph.partial_gather {{.*}} so_far
  %table = graph.parameter "table" {file = "m.onnx", offset = 4096 : i64, bytes = 18432 : i64} : tensor<72x64xf32>
  %0 = graph.gather %table, %ids : (tensor<72x64xf32>, tensor<?xi64, #graph.bounds<[0 to 9]>>) ->
      tensor<?x64xf32, #graph.bounds<[0 to 9, 64]>>
  return %0 : tensor<?x64xf32, #graph.bounds<[0 to 9, 64]>>
}

// What @setup packs, scales and transposes is packed, scaled and transposed by pieces. Scales of groups are cut too.
// CHECK-LABEL: func.func @packed
func.func @packed(%x: tensor<2x64xf32>) -> (tensor<2x96xf32>, tensor<2x320xf32>) {
  // CHECK: graph.parameter "w.pack.0-64" : tensor<64x64xf32, #graph.layout<panel32>>
  // CHECK: graph.parameter "w.pack.64-96" : tensor<64x32xf32, #graph.layout<panel32>>
  // CHECK: graph.concat {{.*}} -> tensor<2x96xf32>
  %p = graph.parameter "w.pack" : tensor<64x96xf32, #graph.layout<panel32>>
  %0 = graph.matmul %x, %p : (tensor<2x64xf32>, tensor<64x96xf32, #graph.layout<panel32>>) -> tensor<2x96xf32>
  // CHECK: graph.parameter "q.0-160" : tensor<64x160xi8>
  // CHECK: graph.parameter "scale.0-160" : tensor<2x160xf32>
  // CHECK: graph.quantized_matmul {{.*}} -> tensor<2x160xf32>
  %q = graph.parameter "q" {file = "m.onnx", bytes = 20480 : i64} : tensor<64x320xi8>
  %s = graph.parameter "scale" {file = "m.onnx", bytes = 2560 : i64} : tensor<2x320xf32>
  %1 = graph.quantized_matmul %x, %q scale %s : (tensor<2x64xf32>, tensor<64x320xi8>, tensor<2x320xf32>) -> tensor<2x320xf32>
  return %0, %1 : tensor<2x96xf32>, tensor<2x320xf32>
}

// A weight with another reader stays whole.
// CHECK-LABEL: func.func @whole
func.func @whole(%x: tensor<64x96xf32>) -> (tensor<64x128xf32>, tensor<96x128xf32>) {
  // CHECK: graph.parameter "other" {bytes = 49152
  // CHECK-NOT: graph.concat
  %w = graph.parameter "other" {file = "m.onnx", bytes = 49152 : i64} : tensor<96x128xf32>
  %0 = graph.matmul %x, %w : (tensor<64x96xf32>, tensor<96x128xf32>) -> tensor<64x128xf32>
  %1 = graph.relu %w : (tensor<96x128xf32>) -> tensor<96x128xf32>
  return %0, %1 : tensor<64x128xf32>, tensor<96x128xf32>
}

// CHECK-LABEL: func.func private @setup
// CHECK-SAME: graph.name = "w.pack.0-64"
// CHECK-SAME: graph.name = "w.pack.64-96"
// CHECK-SAME: graph.name = "q.0-160"
// CHECK-SAME: graph.name = "scale.0-160"
// CHECK-NOT: graph.name = "w.pack"
func.func private @setup() -> (tensor<64x96xf32, #graph.layout<panel32>> {graph.name = "w.pack"}) {
  // CHECK: %[[W0:.*]] = graph.parameter "w.0-64" {bytes = 16384 : i64, file = "m.onnx"} : tensor<64x64xf32>
  // CHECK: %[[S0:.*]] = graph.slice {{.*}} {sizes = array<i64: 64, 1>, starts = array<i64: 0, 0>}
  // CHECK: %[[M0:.*]] = graph.mul %[[W0]], %[[S0]]
  // CHECK: %[[T0:.*]] = graph.transpose %[[M0]] {{.*}} -> tensor<64x64xf32>
  // CHECK: graph.pack %[[T0]]
  // CHECK: graph.parameter "w.64-96" {bytes = 8192 : i64, file = "m.onnx", offset = 16384 : i64} : tensor<32x64xf32>
  // CHECK: graph.slice {{.*}} {sizes = array<i64: 64, 160>, starts = array<i64: 0, 0>}
  %w = graph.parameter "w" {file = "m.onnx", bytes = 24576 : i64} : tensor<96x64xf32>
  %s = graph.constant dense<2.0> : tensor<96x1xf32>
  %m = graph.mul %w, %s : (tensor<96x64xf32>, tensor<96x1xf32>) -> tensor<96x64xf32>
  %t = graph.transpose %m {permutation = array<i64: 1, 0>} : (tensor<96x64xf32>) -> tensor<64x96xf32>
  %p = graph.pack %t <panel32> : (tensor<64x96xf32>) -> tensor<64x96xf32, #graph.layout<panel32>>
  return %p : tensor<64x96xf32, #graph.layout<panel32>>
}
