// Products of operands stored in few bits print and parse back to themselves; their result types are what inference gives.
// RUN: plim-opt %s | plim-opt | FileCheck %s
// RUN: plim-opt %s --mlir-print-op-generic | plim-opt | FileCheck %s

// CHECK-LABEL: func.func @quantized
func.func @quantized(%x: tensor<2x?x64xf32, #graph.bounds<[2, 1 to 9, 64]>>, %w: tensor<64x32xi8>,
                     %s: tensor<4x32xf32>, %z: tensor<4x32xi8>, %b: tensor<32xf32>, %h: tensor<64x32xbf16>) {
  // CHECK: graph.quantized_matmul %{{.*}}, %{{.*}} scale %{{.*}} zero %{{.*}} bias %{{.*}} {activation = #graph.activation<silu>}
  // CHECK-SAME: -> tensor<2x?x32xf32, #graph.bounds<[2, 1 to 9, 32]>>
  %0 = graph.quantized_matmul %x, %w scale %s zero %z bias %b {activation = #graph.activation<silu>} :
      (tensor<2x?x64xf32, #graph.bounds<[2, 1 to 9, 64]>>, tensor<64x32xi8>, tensor<4x32xf32>, tensor<4x32xi8>,
       tensor<32xf32>) -> tensor<2x?x32xf32, #graph.bounds<[2, 1 to 9, 32]>>
  // CHECK: graph.pack %{{.*}} <panel32> : (tensor<64x32xi8>) -> tensor<64x32xi8, #graph.layout<panel32>>
  %p = graph.pack %w <panel32> : (tensor<64x32xi8>) -> tensor<64x32xi8, #graph.layout<panel32>>
  // CHECK: graph.quantized_matmul %{{.*}}, %{{.*}} residual
  %1 = graph.quantized_matmul %x, %p residual %0 :
      (tensor<2x?x64xf32, #graph.bounds<[2, 1 to 9, 64]>>, tensor<64x32xi8, #graph.layout<panel32>>,
       tensor<2x?x32xf32, #graph.bounds<[2, 1 to 9, 32]>>) -> tensor<2x?x32xf32, #graph.bounds<[2, 1 to 9, 32]>>
  %2 = graph.quantized_matmul %x, %h :
      (tensor<2x?x64xf32, #graph.bounds<[2, 1 to 9, 64]>>, tensor<64x32xbf16>)
      -> tensor<2x?x32xf32, #graph.bounds<[2, 1 to 9, 32]>>
  return
}

// CHECK-LABEL: func.func @integers
func.func @integers(%x: tensor<2x5x64xui8>, %w: tensor<64x32xi8>, %xz: tensor<2x5x1xui8>, %wz: tensor<32xi8>,
                    %i: tensor<1x6x9x9xui8>, %f: tensor<8x3x3x3xi8>, %iz: tensor<ui8>, %fz: tensor<8xi8>) {
  // CHECK: graph.integer_matmul %{{.*}}, %{{.*}} lhs_zero %{{.*}} rhs_zero %{{.*}} -> tensor<2x5x32xi32>
  %0 = graph.integer_matmul %x, %w lhs_zero %xz rhs_zero %wz :
      (tensor<2x5x64xui8>, tensor<64x32xi8>, tensor<2x5x1xui8>, tensor<32xi8>) -> tensor<2x5x32xi32>
  // CHECK: graph.integer_conv %{{.*}}, %{{.*}} input_zero %{{.*}} filter_zero %{{.*}} {groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
  // CHECK-SAME: -> tensor<1x8x5x5xi32>
  %1 = graph.integer_conv %i, %f input_zero %iz filter_zero %fz
      {groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} :
      (tensor<1x6x9x9xui8>, tensor<8x3x3x3xi8>, tensor<ui8>, tensor<8xi8>) -> tensor<1x8x5x5xi32>
  return
}
