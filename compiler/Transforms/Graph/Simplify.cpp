//===- Simplify.cpp - --graph-simplify ---------------------------------------------------------------------===//

#include "compiler/Transforms/Graph/Simplify.h"
#include "compiler/Transforms/Graph/Passes.h"
#include "compiler/Transforms/Graph/Permute.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace plim::graph {
#define GEN_PASS_DEF_GRAPHSIMPLIFY
#include "compiler/Transforms/Graph/Passes.h.inc"

namespace {

/// What every trip of a loop computes alike is computed once, before it. What only repeats elements stays with what
/// reads them.
void hoistInvariants(func::FuncOp function) {
  auto isOutside = [](Value value, Region *region) { return !region->isAncestor(value.getParentRegion()); };
  auto isWork = [](Operation *op, Region *) {
    return op->getNumRegions() == 0 && isPure(op) && !isa<FillOp, BroadcastOp>(op);
  };
  function.walk([&](LoopOp loop) {
    moveLoopInvariantCode(&loop.getBody(), isOutside, isWork, [&](Operation *op, Region *) { op->moveBefore(loop); });
  });
}

struct Simplify : impl::GraphSimplifyBase<Simplify> {
  LogicalResult initialize(MLIRContext *context) override {
    // What exporters write out is found first, because a moved transpose or an epilogue would hide a part of it; then
    // once more, because transposes that are gone may have hidden others.
    RewritePatternSet find(context), move(context), fold(context);
    for (RewritePatternSet *patterns : {&find, &move, &fold}) {
      for (RegisteredOperationName op : context->getRegisteredOperations())
        if (op.getDialectNamespace() == GraphDialect::getDialectNamespace())
          op.getCanonicalizationPatterns(*patterns, context);
      populateActivationPatterns(*patterns);
      populateNormPatterns(*patterns);
    }
    populateSinkTransposes(move);
    populateSinkTransposes(fold);
    populateAffinePatterns(fold);
    populateEpiloguePatterns(fold);
    stages[0] = std::move(find);
    stages[1] = std::move(move);
    stages[2] = std::move(fold);
    return success();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    hoistInvariants(getOperation());
    for (const FrozenRewritePatternSet &patterns : stages) {
      // Equal subexpressions must be one value for patterns that ask for it.
      eliminateCommonSubExpressions(rewriter, getAnalysis<DominanceInfo>(), getOperation());
      if (failed(applyPatternsGreedily(getOperation(), patterns)))
        getOperation()->emitWarning("graph-simplify stopped before its rewrites came to an end");
    }
    eliminateCommonSubExpressions(rewriter, getAnalysis<DominanceInfo>(), getOperation());
  }

  FrozenRewritePatternSet stages[3];
};

} // namespace
} // namespace plim::graph
