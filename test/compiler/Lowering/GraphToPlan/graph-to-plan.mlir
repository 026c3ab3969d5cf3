// Tensors become buffers, ops launches with open candidates; open dimensions become symbols, and sizes expressions of them.
// RUN: plim-opt %s --split-input-file --graph-to-plan=library-only --verify-diagnostics | FileCheck %s
// RUN: plim-opt %s --split-input-file --graph-to-plan=library-only --verify-diagnostics --plan-assign-offsets --plan-check
// RUN: plim-opt %s --split-input-file --graph-to-plan --verify-diagnostics | FileCheck %s --check-prefix=GENERATED

// Static sizes: the weight is a constant, its home open; the reshape is no launch; y is written where the caller has it.
// CHECK-LABEL: plan.constant @w f32[64, 32] panel32 bytes 8192 at 0
// CHECK: plan.program @main virtual io(in %x "x" f32[2, 8, 64] : <ram, 4096>, out %y "y" f32[16, 32] : <ram, 2048>) {
// CHECK-NEXT: %[[W:.*]] = plan.resident @w : <8192>
// CHECK-NEXT: plan.launch "matmul.panel32"
// CHECK-SAME: (r %x f32[16, 64] : <ram, 4096>, r %[[W]] f32[64, 32] panel32 : <8192>, w %y f32[16, 32] : <ram, 2048>)
// CHECK-NEXT: plan.return
func.func @main(%x: tensor<2x8x64xf32> {graph.name = "x"}) -> (tensor<16x32xf32> {graph.name = "y"}) {
  %w = graph.parameter "w" : tensor<64x32xf32, #graph.layout<panel32>>
  %m = graph.matmul %x, %w : (tensor<2x8x64xf32>, tensor<64x32xf32, #graph.layout<panel32>>) -> tensor<2x8x32xf32>
  %y = graph.reshape %m {shape = array<i64: 16, 32>} : (tensor<2x8x32xf32>) -> tensor<16x32xf32>
  return %y : tensor<16x32xf32>
}

// -----

// Dimensions of equal name are one symbol. Buffers have the bytes of the bounds; the transposition is read by strides, which
// are sizes of the run.
// CHECK-LABEL: plan.program @main virtual symbols(%N "N" in [1, 4], %S "S" in [2, 16])
// CHECK-SAME: in %x "x" f32[s0 max 4, s1 max 16, 8] : <ram, 2048>, in %z "z" f32[s0 max 4, 8, s1 max 16] : <ram, 2048>
// CHECK-SAME: out %y "y" f32[s0 * s1 max 64, 8] : <ram, 2048>
// CHECK: %[[T:.*]] = plan.alloc
// CHECK-NEXT: plan.launch "copy.strided"
// CHECK-SAME: r %z f32[s0 max 4, s1 max 16, 8] strides [s1 * 8 max 128, 1, s1 max 16]
// CHECK-SAME: w %[[T]] f32[s0 max 4, s1 max 16, 8]
// CHECK-SAME: dims(%N, %S)
// CHECK: plan.launch "elementwise.apply"
// CHECK-SAME: w %y f32[s0 max 4, s1 max 16, 8]
func.func @main(%x: tensor<?x?x8xf32, #graph.bounds<[1 to 4, 2 to 16, 8]>> {graph.name = "x", graph.dim_names = ["N", "S", ""]},
                %z: tensor<?x8x?xf32, #graph.bounds<[1 to 4, 8, 2 to 16]>> {graph.name = "z", graph.dim_names = ["N", "", "S"]})
    -> (tensor<?x8xf32> {graph.name = "y"}) {
  %t = graph.transpose %z {permutation = array<i64: 0, 2, 1>}
    : (tensor<?x8x?xf32, #graph.bounds<[1 to 4, 8, 2 to 16]>>) -> tensor<?x?x8xf32, #graph.bounds<[1 to 4, 2 to 16, 8]>>
  %s = graph.add %x, %t : (tensor<?x?x8xf32, #graph.bounds<[1 to 4, 2 to 16, 8]>>, tensor<?x?x8xf32, #graph.bounds<[1 to 4, 2 to 16, 8]>>)
    -> tensor<?x?x8xf32, #graph.bounds<[1 to 4, 2 to 16, 8]>>
  %y = graph.reshape %s {shape = array<i64: -1, 8>} : (tensor<?x?x8xf32, #graph.bounds<[1 to 4, 2 to 16, 8]>>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// A slice beside an open dimension starts at a place of the run: a view at a scalar's offset.
// CHECK-LABEL: plan.program @main virtual symbols(%W "W" in [1, 8])
// CHECK: %[[O:.*]] = plan.eval(%{{.*}} = %W) -> 1 {
// CHECK: %[[V:.*]] = plan.view %x[0 + %[[O]]] : <ram, 128> to <ram, 128>
// CHECK: plan.launch "copy.strided"
// CHECK-SAME: r %[[V]] f32[2, s0 max 8] : <ram, 128>, w %y f32[2, s0 max 8] : <ram, 64>
func.func @main(%x: tensor<4x?xf32, #graph.bounds<[4, 1 to 8]>> {graph.name = "x", graph.dim_names = ["", "W"]})
    -> (tensor<2x?xf32, #graph.bounds<[2, 1 to 8]>> {graph.name = "y"}) {
  %y = graph.slice %x {starts = array<i64: 1, 0>, sizes = array<i64: 2, -1>}
    : (tensor<4x?xf32, #graph.bounds<[4, 1 to 8]>>) -> tensor<2x?xf32, #graph.bounds<[2, 1 to 8]>>
  return %y : tensor<2x?xf32, #graph.bounds<[2, 1 to 8]>>
}

// -----

// With a generator ops of static shapes get kernels of their own, those of open dimensions do not.
// GENERATED-LABEL: plan.program @main virtual symbols(%K "K" in [1, 8])
// GENERATED: plan.launch "model_gen_0"<{{.*}}>(r %a f32[8] : <ram, 32>, w %
// GENERATED: plan.launch "elementwise.apply"
func.func @main(%a: tensor<8xf32> {graph.name = "a"},
                %b: tensor<?xf32, #graph.bounds<[1 to 8]>> {graph.name = "b", graph.dim_names = ["K"]})
    -> (tensor<8xf32>, tensor<?xf32>) {
  %0 = graph.exp %a : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.exp %b : (tensor<?xf32, #graph.bounds<[1 to 8]>>) -> tensor<?xf32>
  return %0, %1 : tensor<8xf32>, tensor<?xf32>
}

// -----

// Sizes of other names must be equal in a run: one check before the first launch.
// CHECK-LABEL: plan.program @main virtual symbols(%N "N" in [1, 8], %M "M" in [1, 8])
// CHECK: %[[D:.*]] = plan.eval({{.*}}%N, {{.*}}%M) -> 1 from "sizes"
// CHECK: plan.check %[[D]] in [0, 0] "sizes that must be equal differ"
// CHECK: plan.launch "elementwise.apply"
func.func @main(%x: tensor<?xf32, #graph.bounds<[1 to 8]>> {graph.name = "x", graph.dim_names = ["N"]},
                %z: tensor<?xf32, #graph.bounds<[1 to 8]>> {graph.name = "z", graph.dim_names = ["M"]}) -> tensor<?xf32> {
  %y = graph.add %x, %z : (tensor<?xf32, #graph.bounds<[1 to 8]>>, tensor<?xf32, #graph.bounds<[1 to 8]>>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// A dimension without a bound, and an op whose sizes no expression gives.
// expected-error@+1 {{input 'x', dimension 0: need an upper bound, have none}}
func.func @main(%x: tensor<?xf32> {graph.name = "x"}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<1x3x?x8xf32, #graph.bounds<[1, 3, 2 to 9, 8]>> {graph.name = "x"}) -> tensor<1x3x4x8xf32> {
  // expected-error@+1 {{'graph.resize': no expression of the open dimensions gives the sizes of 'graph.resize': a resize of an open dimension to a fixed size has a scale that varies}}
  %y = graph.resize nearest %x {sizes = array<i64: 4, 8>} : (tensor<1x3x?x8xf32, #graph.bounds<[1, 3, 2 to 9, 8]>>) -> tensor<1x3x4x8xf32>
  return %y : tensor<1x3x4x8xf32>
}

// -----

func.func @main(%x: tensor<4xi64> {graph.name = "x"}) -> tensor<?xi64> {
  %l = graph.constant dense<3> : tensor<i64>
  %c = graph.constant dense<1> : tensor<i64>
  %s = graph.reduce sum %x {axes = array<i64: 0>, keep_dims = false} : (tensor<4xi64>) -> tensor<i64>
  // expected-error@+1 {{'graph.range': no expression of the open dimensions gives the sizes of 'graph.range': it runs with static shapes only}}
  %y = graph.range %s, %l, %c : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return %y : tensor<?xi64>
}

// -----

// Kernels know up to three spatial dimensions.
func.func @main(%x: tensor<1x1x2x2x2x2xf32>, %w: tensor<1x1x1x1x1x2xf32>, %i: tensor<1x1x2x2x2x2xi8>, %f: tensor<1x1x1x1x1x2xi8>)
    -> (tensor<1x1x2x2x2x1xf32>, tensor<1x1x2x2x2x1xi32>, tensor<1x1x2x2x2x3xf32>, tensor<1x1x2x2x2x1xf32>) {
  // expected-error@+2 {{no kernel can run 'graph.conv'}}
  // expected-note@+1 {{need a library kernel for operands}}
  %c = graph.conv %x, %w : (tensor<1x1x2x2x2x2xf32>, tensor<1x1x1x1x1x2xf32>) -> tensor<1x1x2x2x2x1xf32>
  // expected-error@+2 {{no kernel can run 'graph.integer_conv'}}
  // expected-note@+1 {{need a library kernel for operands}}
  %s = graph.integer_conv %i, %f : (tensor<1x1x2x2x2x2xi8>, tensor<1x1x1x1x1x2xi8>) -> tensor<1x1x2x2x2x1xi32>
  // expected-error@+2 {{no kernel can run 'graph.conv_transpose'}}
  // expected-note@+1 {{need a library kernel for operands}}
  %t = graph.conv_transpose %x, %w : (tensor<1x1x2x2x2x2xf32>, tensor<1x1x1x1x1x2xf32>) -> tensor<1x1x2x2x2x3xf32>
  // expected-error@+2 {{no kernel can run 'graph.pool'}}
  // expected-note@+1 {{need a library kernel for operands}}
  %p = graph.pool max %x {kernel = array<i64: 1, 1, 1, 2>} : (tensor<1x1x2x2x2x2xf32>) -> tensor<1x1x2x2x2x1xf32>
  return %c, %s, %t, %p : tensor<1x1x2x2x2x1xf32>, tensor<1x1x2x2x2x1xi32>, tensor<1x1x2x2x2x3xf32>, tensor<1x1x2x2x2x1xf32>
}
