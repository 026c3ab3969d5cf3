// The algorithm asked for is written on every attention; a name that is none is refused.
// RUN: plim-opt %s --graph-choose-attention="algorithm=chunked chunk=512" | FileCheck %s --check-prefix=CHUNKED
// RUN: plim-opt %s --graph-choose-attention=algorithm=flash | FileCheck %s --check-prefix=FLASH
// RUN: plim-opt %s --graph-choose-attention=algorithm=auto | FileCheck %s --check-prefix=AUTO
// RUN: not plim-opt %s --graph-choose-attention=algorithm=fast 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not plim-opt %s --graph-choose-attention=chunk=0 2>&1 | FileCheck %s --check-prefix=CHUNK

// BAD: error: graph-choose-attention needs algorithm auto, naive, chunked or flash, has 'fast'
// CHUNK: error: graph-choose-attention needs a chunk of at least 1 row, has 0
func.func @f(%q: tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32> {
  // CHUNKED: graph.attention {{.*}} {algorithm = #graph.attention_algorithm<chunked>, chunk = 512 : i64}
  // FLASH: graph.attention {{.*}} {algorithm = #graph.attention_algorithm<flash>}
  // AUTO: graph.attention %{{.*}}, %{{.*}}, %{{.*}} : (
  %0 = graph.attention %q, %q, %q {algorithm = #graph.attention_algorithm<naive>} :
      (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
  return %0 : tensor<1x4x16x8xf32>
}
