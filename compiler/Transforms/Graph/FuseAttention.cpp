//===- FuseAttention.cpp - --graph-fuse-attention -------------------------------------------------------------===//

#include "compiler/Transforms/Graph/Matchers.h"
#include "compiler/Transforms/Graph/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace plim::graph {
#define GEN_PASS_DEF_GRAPHFUSEATTENTION
#include "compiler/Transforms/Graph/Passes.h.inc"

namespace {

/// A product of two operands of one rank, 3 or 4, without an activation.
MatmulOp headProduct(MatmulOp op) {
  if (!op || op.getActivation() != Activation::None || op.getTransposeLhs())
    return {};
  int64_t rank = rankOf(op.getLhs());
  bool fits = (rank == 3 || rank == 4) && rankOf(op.getRhs()) == rank && rankOf(op.getResult()) == rank;
  return fits ? op : MatmulOp();
}

/// The scores: matmul(q, k^T) * scale + mask.
struct Scores {
  MatmulOp product;
  double scale = 1;
  Value mask;
};

/// Takes a scale off a value: the value that is scaled, or the same one.
Value unscaled(Value value, double &scale) {
  if (auto mul = singleUse<MulOp>(value)) {
    for (auto [factor, rest] : {std::pair<Value, Value>(mul.getLhs(), mul.getRhs()), {mul.getRhs(), mul.getLhs()}})
      if (std::optional<double> splat = splatOf(factor); splat && rest.getType() == value.getType()) {
        scale *= *splat;
        return rest;
      }
  }
  auto div = singleUse<DivOp>(value);
  std::optional<double> divisor = div ? splatOf(div.getRhs()) : std::nullopt;
  if (!divisor || *divisor == 0 || div.getLhs().getType() != value.getType())
    return value;
  scale /= *divisor;
  return div.getLhs();
}

std::optional<Scores> matchScores(Value value) {
  Scores scores;
  if (auto sum = singleUse<AddOp>(value)) {
    auto parts = commute(sum, [&](Value v) {
      double ignored = 1;
      return v.getType() == value.getType() && singleUse<MatmulOp>(unscaled(v, ignored));
    });
    if (!parts)
      return std::nullopt;
    scores.mask = parts->second;
    value = parts->first;
  }
  value = unscaled(value, scores.scale);
  scores.product = headProduct(singleUse<MatmulOp>(value));
  if (!scores.product || scores.scale == 0)
    return std::nullopt;
  // A mask on unscaled scores may have been taken for a bias or a residual.
  for (Value summand : {scores.product.getBias(), scores.product.getResidual()}) {
    if (!summand)
      continue;
    if (scores.mask || scores.scale != 1)
      return std::nullopt;
    scores.mask = summand;
  }
  return scores;
}

/// As [batch, heads, length, size]: a tensor of rank 3 gets a batch of 1.
Value asHeads(PatternRewriter &rewriter, Location loc, Value value) {
  if (rankOf(value) == 4)
    return value;
  SmallVector<int64_t> shape(shapeOf(value));
  shape.insert(shape.begin(), 1);
  return ReshapeOp::create(rewriter, loc, value, shape);
}

struct FuseAttentionPattern : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    if (!headProduct(op) || op.getBias() || op.getResidual() || op.getTransposeRhs() ||
        !isa<FloatType>(elementTypeOf(op.getResult())))
      return failure();
    auto softmax = singleUse<SoftmaxOp>(op.getLhs());
    int64_t rank = rankOf(op.getResult());
    if (!softmax || softmax.getLog() || softmax.getAxis() != rank - 1)
      return failure();
    std::optional<Scores> scores = matchScores(softmax.getInput());
    if (!scores)
      return failure();
    double scale = scores->scale;
    Value query = scores->product.getLhs(), key = scores->product.getRhs(), value = op.getRhs();
    // A factor of the query or the key is one of the scores.
    query = unscaled(query, scale);
    key = unscaled(key, scale);
    if (scale == 0)
      return failure();
    for (Value v : {query, key, value, Value(op.getResult())})
      if (!hasStaticShape(v))
        return failure();
    // Operands that repeat along batch or heads are no attention of these ranks.
    ArrayRef<int64_t> result = shapeOf(op.getResult());
    for (Value v : {query, key, value})
      if (shapeOf(v).drop_back(2) != result.drop_back(2))
        return failure();
    Location loc = op.getLoc();
    Value mask = scores->mask;
    if (mask && !broadcastsTo(dimsOf(mask.getType()), dimsOf(softmax.getType())))
      return failure();
    if (!scores->product.getTransposeRhs()) {
      SmallVector<int64_t> swap = llvm::to_vector(llvm::seq<int64_t>(0, rank));
      std::swap(swap[rank - 1], swap[rank - 2]);
      key = rewriter.createOrFold<TransposeOp>(loc, key, swap);
    }
    if (mask && rankOf(mask) == 3)
      mask = asHeads(rewriter, loc, mask);
    Value fused = AttentionOp::create(rewriter, loc, asHeads(rewriter, loc, query), asHeads(rewriter, loc, key),
                                      asHeads(rewriter, loc, value), mask, scale);
    if (rank == 3)
      fused = ReshapeOp::create(rewriter, loc, fused, result);
    rewriter.replaceOp(op, fused);
    return success();
  }
};

struct FuseAttention : impl::GraphFuseAttentionBase<FuseAttention> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseAttentionPattern>(&getContext());
    TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace plim::graph
