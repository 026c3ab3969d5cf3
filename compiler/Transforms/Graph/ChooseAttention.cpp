//===- ChooseAttention.cpp - --graph-choose-attention --------------------------------------------------------===//

#include "compiler/Transforms/Graph/Passes.h"

using namespace mlir;

namespace plim::graph {
#define GEN_PASS_DEF_GRAPHCHOOSEATTENTION
#include "compiler/Transforms/Graph/Passes.h.inc"

namespace {

struct ChooseAttention : impl::GraphChooseAttentionBase<ChooseAttention> {
  using GraphChooseAttentionBase::GraphChooseAttentionBase;

  void runOnOperation() override {
    std::optional<AttentionAlgorithm> kind = symbolizeAttentionAlgorithm(algorithm);
    if (!kind) {
      getOperation().emitError("graph-choose-attention needs algorithm auto, naive, chunked or flash, has '")
          << algorithm << "'";
      return signalPassFailure();
    }
    if (chunk < 1) {
      getOperation().emitError("graph-choose-attention needs a chunk of at least 1 row, has ") << chunk.getValue();
      return signalPassFailure();
    }
    getOperation().walk([&](AttentionOp op) {
      op.setAlgorithm(*kind);
      op.setChunk(chunk);
    });
  }
};

} // namespace
} // namespace plim::graph
