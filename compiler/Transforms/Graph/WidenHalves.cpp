//===- WidenHalves.cpp - --graph-widen-halves --------------------------------------------------------------------===//

#include "compiler/Transforms/Graph/Matchers.h"
#include "compiler/Transforms/Graph/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace plim::graph {
#define GEN_PASS_DEF_GRAPHWIDENHALVES
#include "compiler/Transforms/Graph/Passes.h.inc"

namespace {

bool isHalf(Type element) { return element.isF16() || element.isBF16(); }

template <typename OpTy> struct WidenHalf : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (!isHalf(type.getElementType()))
      return failure();
    Location loc = op.getLoc();
    auto wide = cast<OpTy>(rewriter.clone(*op));
    rewriter.setInsertionPoint(wide);
    for (OpOperand &operand : wide->getOpOperands())
      if (isHalf(elementTypeOf(operand.get())))
        operand.set(CastOp::create(rewriter, loc, operand.get(), TypeAttr::get(rewriter.getF32Type())));
    wide.getResult().setType(RankedTensorType::get(type.getShape(), rewriter.getF32Type(), type.getEncoding()));
    rewriter.setInsertionPointAfter(wide);
    rewriter.replaceOpWithNewOp<CastOp>(op, wide.getResult(), TypeAttr::get(type.getElementType()));
    return success();
  }
};

struct WidenHalves : impl::GraphWidenHalvesBase<WidenHalves> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<WidenHalf<MatmulOp>, WidenHalf<ConvOp>, WidenHalf<ConvTransposeOp>, WidenHalf<AttentionOp>,
            WidenHalf<PoolOp>>(context);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      getOperation()->emitWarning("graph-widen-halves stopped before its rewrites came to an end");
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace plim::graph
