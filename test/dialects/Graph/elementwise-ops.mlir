// Elementwise ops print and parse back to themselves, with broadcasting and every attribute.
// RUN: plim-opt %s | plim-opt | FileCheck %s
// RUN: plim-opt %s --mlir-print-op-generic | plim-opt | FileCheck %s

// CHECK-LABEL: func.func @arithmetic
func.func @arithmetic(%a: tensor<4x1x8xf32>, %b: tensor<3x1xf32>, %i: tensor<4xi64>) -> tensor<4x3x8xf32> {
  // CHECK: graph.add %{{.*}}, %{{.*}} : (tensor<4x1x8xf32>, tensor<3x1xf32>) -> tensor<4x3x8xf32>
  %0 = graph.add %a, %b : (tensor<4x1x8xf32>, tensor<3x1xf32>) -> tensor<4x3x8xf32>
  %1 = graph.sub %0, %b : (tensor<4x3x8xf32>, tensor<3x1xf32>) -> tensor<4x3x8xf32>
  %2 = graph.mul %1, %b : (tensor<4x3x8xf32>, tensor<3x1xf32>) -> tensor<4x3x8xf32>
  %3 = graph.div %2, %b : (tensor<4x3x8xf32>, tensor<3x1xf32>) -> tensor<4x3x8xf32>
  %4 = graph.pow %3, %b : (tensor<4x3x8xf32>, tensor<3x1xf32>) -> tensor<4x3x8xf32>
  %5 = graph.min %4, %b : (tensor<4x3x8xf32>, tensor<3x1xf32>) -> tensor<4x3x8xf32>
  %6 = graph.max %5, %b : (tensor<4x3x8xf32>, tensor<3x1xf32>) -> tensor<4x3x8xf32>
  // CHECK: graph.mod %{{.*}}, %{{.*}} {fmod = true} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %7 = graph.mod %i, %i {fmod = true} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %8 = graph.neg %6 : (tensor<4x3x8xf32>) -> tensor<4x3x8xf32>
  %9 = graph.abs %8 : (tensor<4x3x8xf32>) -> tensor<4x3x8xf32>
  %10 = graph.sign %9 : (tensor<4x3x8xf32>) -> tensor<4x3x8xf32>
  return %10 : tensor<4x3x8xf32>
}

// CHECK-LABEL: func.func @activations
func.func @activations(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: graph.relu
  %0 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.clip %{{.*}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64}
  %1 = graph.clip %0 {min = 0.0 : f64, max = 6.0 : f64} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.leaky_relu %{{.*}} {alpha = 2.000000e-01 : f64}
  %2 = graph.leaky_relu %1 {alpha = 0.2 : f64} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.hard_swish %{{.*}} : (tensor<8xf32>)
  %3 = graph.hard_swish %2 : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.gelu %{{.*}} {approximate = true}
  %4 = graph.gelu %3 {approximate = true} : (tensor<8xf32>) -> tensor<8xf32>
  %5 = graph.prelu %4, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %5 : tensor<8xf32>
}

// CHECK-LABEL: func.func @logic
func.func @logic(%x: tensor<8xf32>, %y: tensor<2x1xf32>) -> tensor<2x8xi64> {
  // CHECK: graph.less %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<2x1xf32>) -> tensor<2x8xi1>
  %0 = graph.less %x, %y : (tensor<8xf32>, tensor<2x1xf32>) -> tensor<2x8xi1>
  %1 = graph.not %0 : (tensor<2x8xi1>) -> tensor<2x8xi1>
  %2 = graph.select %1, %x, %y : (tensor<2x8xi1>, tensor<8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  // CHECK: graph.cast %{{.*}} {to = i64} : (tensor<2x8xf32>) -> tensor<2x8xi64>
  %3 = graph.cast %2 {to = i64} : (tensor<2x8xf32>) -> tensor<2x8xi64>
  // CHECK: graph.is_inf %{{.*}} {negative = false} : (tensor<2x8xf32>) -> tensor<2x8xi1>
  %4 = graph.is_inf %2 {negative = false} : (tensor<2x8xf32>) -> tensor<2x8xi1>
  %5 = graph.shift_left %3, %3 : (tensor<2x8xi64>, tensor<2x8xi64>) -> tensor<2x8xi64>
  return %5 : tensor<2x8xi64>
}

// Bounds follow through: the dynamic dimension of the result has those of the operand.
// CHECK-LABEL: func.func @bounds
func.func @bounds(%x: tensor<?x8xf32, #graph.bounds<[1 to 32, 8]>>, %y: tensor<8xf32>)
    -> tensor<?x8xf32, #graph.bounds<[1 to 32, 8]>> {
  // CHECK: -> tensor<?x8xf32, #graph.bounds<[1 to 32, 8]>>
  %0 = graph.add %x, %y : (tensor<?x8xf32, #graph.bounds<[1 to 32, 8]>>, tensor<8xf32>)
      -> tensor<?x8xf32, #graph.bounds<[1 to 32, 8]>>
  return %0 : tensor<?x8xf32, #graph.bounds<[1 to 32, 8]>>
}
