// A contradiction that appears only once operands are known is refused.
// RUN: plim-opt %s --graph-infer-shapes --verify-diagnostics

func.func @f(%x: tensor<4x3xf32>, %y: tensor<5x2xf32>) -> tensor<?x?xf32> {
  %0 = graph.relu %y : (tensor<5x2xf32>) -> tensor<?x2xf32>
  // expected-error@+1 {{'graph.matmul' op needs as many columns on the left as rows on the right, has [4, 3] and [5, 2]}}
  %1 = graph.matmul %x, %0 : (tensor<4x3xf32>, tensor<?x2xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
