//===- FuseAttention.cpp - --graph-fuse-attention -------------------------------------------------------------===//

#include "compiler/Transforms/Graph/AttentionPattern.h"
#include "compiler/Transforms/Graph/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace plim::graph {
#define GEN_PASS_DEF_GRAPHFUSEATTENTION
#include "compiler/Transforms/Graph/Passes.h.inc"

namespace {

/// A shape as the attribute of a reshape; nothing where more than one dimension is open.
std::optional<SmallVector<int64_t>> reshapeTarget(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> target;
  for (int64_t size : shape)
    target.push_back(ShapedType::isDynamic(size) ? -1 : size);
  return llvm::count(target, -1) <= 1 ? std::optional(target) : std::nullopt;
}

SmallVector<int64_t> concat(ArrayRef<int64_t> lead, ArrayRef<int64_t> rest) {
  SmallVector<int64_t> shape(lead);
  llvm::append_range(shape, rest);
  return shape;
}

bool canReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to) { return from == to || reshapeTarget(to); }

/// A key or value on its way to [batch, heads, length, size]: heads before they were repeated, transposed, reshaped,
/// then with the last two dimensions swapped.
struct HeadsView {
  Value source;
  SmallVector<int64_t> heads;       ///< shape of the heads, in the order of the source
  SmallVector<int64_t> permutation; ///< of the heads; empty where they are in order
  SmallVector<int64_t> shape;       ///< of the result, but for the swap
  bool swap = false;

  SmallVector<int64_t> permuted() const {
    SmallVector<int64_t> sizes(heads);
    for (auto [i, axis] : llvm::enumerate(permutation))
      sizes[i] = heads[axis];
    return sizes;
  }
  bool canBuild() const { return canReshape(shapeOf(source), heads) && canReshape(permuted(), shape); }
  Value build(OpBuilder &b, Location loc) const {
    Value value = source;
    const auto reshape = [&](ArrayRef<int64_t> to) {
      if (shapeOf(value) != to)
        value = b.createOrFold<ReshapeOp>(loc, value, *reshapeTarget(to));
    };
    reshape(heads);
    if (!permutation.empty())
      value = b.createOrFold<TransposeOp>(loc, value, permutation);
    reshape(shape);
    if (swap)
      value = b.createOrFold<TransposeOp>(loc, value, ArrayRef<int64_t>{0, 1, 3, 2});
    return value;
  }
};

/// Everything that a graph.attention is made of.
struct Attention {
  SmallVector<int64_t> lead; ///< [batch, query heads]
  int64_t keyHeads = 0;
  HeadsView key, value;
  WrittenScores scores;
  FoundScale queryScale, keyScale;
  double scale = 1;
  bool causal = false;
  SmallVector<ScoreMask> masks;
};

/// The input of the transposes that make a value, and the factors that are bypassed among them; `permutation` maps the
/// value's dimensions to those of the result.
Value throughTransposes(Value value, const FoundScale *scale, SmallVectorImpl<int64_t> &permutation) {
  for (;;) {
    if (Value rest = scale ? scale->behind(value) : Value()) {
      value = rest;
      continue;
    }
    auto transpose = value.getDefiningOp<TransposeOp>();
    if (!transpose)
      return value;
    for (int64_t &axis : permutation)
      axis = transpose.getPermutation()[axis];
    value = transpose.getInput();
  }
}

/// How keys or values of a product with `lead` dimensions in front come to [batch, key heads, rows, columns]; nothing
/// where they repeat in another way than along the heads.
std::optional<HeadsView> matchHeads(Value operand, const FoundScale *scale, ArrayRef<int64_t> lead,
                                    const Attention &to) {
  HeadsView view{operand, SmallVector<int64_t>(shapeOf(operand)), {}, {}, false};
  ArrayRef<int64_t> shape = shapeOf(operand), own = shape.drop_back(2);
  view.shape = concat({to.lead[0], to.keyHeads}, shape.take_back(2));
  if (lead.size() == 3) {
    // [batch, key heads, 1, ...], or the same repeated along the third.
    if (own.take_front(2) != lead.take_front(2))
      return std::nullopt;
    if (auto broadcast = operand.getDefiningOp<BroadcastOp>();
        broadcast && rankOf(broadcast.getInput()) == 5 && shapeOf(broadcast.getInput())[2] == 1 && own[2] != 1) {
      view.source = broadcast.getInput();
      own = shapeOf(view.source).drop_back(2);
      if (own.take_front(2) != lead.take_front(2) || shapeOf(view.source).take_back(2) != shape.take_back(2))
        return std::nullopt;
      view.heads.assign(shapeOf(view.source).begin(), shapeOf(view.source).end());
    }
    return own[2] == 1 ? std::optional(view) : std::nullopt;
  }
  bool same = own == lead, shared = lead.size() == 2 && own[0] == lead[0] && own[1] == 1;
  if (to.keyHeads == to.lead[1])
    return same ? std::optional(view) : std::nullopt;
  if (to.keyHeads == 1 && shared)
    return view;
  if (!same || lead.size() != 2)
    return std::nullopt;
  // Heads that were repeated, perhaps before a transpose.
  SmallVector<int64_t> permutation{0, 1, 2, 3};
  Value inner = throughTransposes(operand, scale, permutation);
  std::optional<RepeatedHeads> repeated = matchRepeatedHeads(inner, permutation[1]);
  if (!repeated || repeated->shape[permutation[1]] != to.keyHeads)
    return std::nullopt;
  view.source = repeated->source;
  view.heads = repeated->shape;
  if (permutation != SmallVector<int64_t>{0, 1, 2, 3})
    view.permutation = permutation;
  return view;
}

/// The number of heads before they were repeated; that of the product where they were not.
int64_t keyHeadsOf(Value operand, const FoundScale &scale, ArrayRef<int64_t> lead) {
  if (lead.size() == 3)
    return lead[1];
  if (shapeOf(operand)[1] == 1)
    return 1;
  SmallVector<int64_t> permutation{0, 1, 2, 3};
  Value inner = throughTransposes(operand, &scale, permutation);
  std::optional<RepeatedHeads> repeated = matchRepeatedHeads(inner, permutation[1]);
  return repeated ? repeated->shape[permutation[1]] : lead[1];
}

std::optional<Attention> matchAttention(MatmulOp op) {
  if (!headProduct(op) || op.getBias() || op.getResidual() || op.getTransposeRhs() ||
      !isa<FloatType>(elementTypeOf(op.getResult())))
    return std::nullopt;
  std::optional<WrittenScores> scores = matchScores(op.getLhs());
  if (!scores)
    return std::nullopt;
  Attention found;
  found.scores = *scores;
  MatmulOp product = scores->product;
  Value query = product.getLhs(), key = product.getRhs(), value = op.getRhs();
  ArrayRef<int64_t> lead = shapeOf(op.getResult()).drop_back(2);
  // The query has all heads, in both products; keys and values may have fewer.
  if (shapeOf(query).drop_back(2) != lead || shapeOf(product.getResult()).drop_back(2) != lead ||
      rankOf(product.getResult()) != rankOf(op.getResult()))
    return std::nullopt;
  const auto isStatic = [](ArrayRef<int64_t> sizes) { return !ShapedType::isDynamicShape(sizes); };
  if (lead.size() == 3) {
    if (!isStatic(lead) || ArrayRef(scores->lead) != lead)
      return std::nullopt;
    found.lead = {lead[0], lead[1] * lead[2]};
  } else if (lead.size() == 1) {
    found.lead = scores->lead.size() == 2 ? scores->lead : SmallVector<int64_t>{1, lead[0]};
    if (scores->lead.size() > 2 || (scores->lead.size() == 1 && scores->lead[0] != lead[0]))
      return std::nullopt;
  } else {
    found.lead.assign(lead.begin(), lead.end());
    if (ArrayRef(scores->lead) != lead)
      return std::nullopt;
  }
  if (!isStatic(ArrayRef(found.lead).drop_front()))
    return std::nullopt;
  found.queryScale = findScale(query);
  found.keyScale = findScale(key);
  found.keyHeads = lead.size() == 1 ? found.lead[1] : keyHeadsOf(key, found.keyScale, lead);
  std::optional<HeadsView> keys = matchHeads(key, &found.keyScale, lead, found),
                           values = matchHeads(value, nullptr, lead, found);
  // Keys repeated in one way and values in another.
  if (!keys || !values || found.keyHeads < 1 || found.lead[1] % found.keyHeads)
    return std::nullopt;
  found.key = *keys, found.value = *values;
  found.key.swap = !product.getTransposeRhs();
  found.scale = scores->scale * found.queryScale.factor * found.keyScale.factor;
  if (found.scale == 0 || !std::isfinite(found.scale))
    return std::nullopt;
  return found;
}

struct FuseAttentionPattern : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    std::optional<Attention> found = matchAttention(op);
    if (!found)
      return failure();
    Value query = found->scores.product.getLhs();
    SmallVector<int64_t> queryShape = concat(found->lead, shapeOf(query).take_back(2));
    SmallVector<int64_t> result(shapeOf(op.getResult()));
    bool reshapes = result.size() != 4 || found->lead != SmallVector<int64_t>(ArrayRef(result).drop_back(2));
    if (!canReshape(shapeOf(query), queryShape) || !found->key.canBuild() || !found->value.canBuild() ||
        (reshapes && !reshapeTarget(result)) || failed(matchMasks(*found)))
      return failure();

    Location loc = op.getLoc();
    rewriter.setInsertionPoint(op);
    std::optional<Value> mask = buildMask(*found, rewriter, loc);
    if (!mask)
      return failure();
    for (const FoundScale *scale : {&found->queryScale, &found->keyScale})
      for (auto [scaling, rest] : scale->bypasses)
        rewriter.replaceAllUsesWith(scaling->getResult(0), rest);
    // The operands may be what was just bypassed.
    query = found->scores.product.getLhs();
    for (HeadsView *view : {&found->key, &found->value})
      while (Value rest = found->keyScale.behind(view->source))
        view->source = rest;
    if (shapeOf(query) != ArrayRef(queryShape))
      query = rewriter.createOrFold<ReshapeOp>(loc, query, *reshapeTarget(queryShape));
    Value key = found->key.build(rewriter, loc), value = found->value.build(rewriter, loc);
    Value fused = AttentionOp::create(rewriter, loc, query, key, value, *mask, found->scale, found->causal);
    if (reshapes)
      fused = ReshapeOp::create(rewriter, loc, fused, *reshapeTarget(result));
    fused.setType(op.getType()); // which may know more or less of a bound
    rewriter.replaceOp(op, fused);
    return success();
  }

  /// Sorts masks out: those that hide nothing, the causal one, and those that stay.
  static LogicalResult matchMasks(Attention &found) {
    ArrayRef<int64_t> scores = shapeOf(found.scores.product.getResult()).take_back(2);
    Dims dims;
    for (int64_t size : found.scores.lead)
      dims.push_back(ShapedType::isDynamic(size) ? Dim() : Dim(size));
    llvm::append_range(dims, ArrayRef(dimsOf(found.scores.product.getType())).take_back(2));
    for (const ScoreMask &mask : found.scores.masks) {
      MaskKind kind = kindOf(mask, scores[0], scores[1]);
      if (kind == MaskKind::Causal)
        found.causal = true;
      if (kind != MaskKind::Other)
        continue;
      Value value = mask.added ? mask.added : mask.keep;
      Dims own = dimsOf(value.getType());
      for (auto [at, dim] : llvm::zip(llvm::reverse(own), llvm::reverse(dims)))
        if (!canBeEqual(at, dim) && at != Dim(1))
          return failure();
      if (own.size() > dims.size())
        return failure();
      found.masks.push_back(mask);
    }
    return success();
  }

  /// The sum of all masks as [batch, heads, queries, keys] of fewer leading dimensions; null without masks, nothing
  /// where one has a shape that attention does not take.
  static std::optional<Value> buildMask(Attention &found, PatternRewriter &rewriter, Location loc) {
    Type element = elementTypeOf(found.scores.product.getResult());
    size_t lead = found.scores.lead.size();
    SmallVector<std::optional<SmallVector<int64_t>>> targets;
    for (const ScoreMask &mask : found.masks) {
      ArrayRef<int64_t> shape = shapeOf(mask.added ? mask.added : mask.keep);
      std::optional<SmallVector<int64_t>> target;
      size_t own = shape.size() > 2 ? shape.size() - 2 : 0;
      if (own != 0 && lead != 2) {
        // Heads of a product of rank 3 are the only dimension in front, those of rank 5 two that lie together.
        SmallVector<int64_t> padded(lead - own, 1);
        llvm::append_range(padded, shape.take_front(own));
        SmallVector<int64_t> four;
        if (lead == 1)
          four = {1, padded[0]};
        else if (padded[1] == 1 && padded[2] == 1)
          four = {padded[0], 1};
        else if (ArrayRef(padded).drop_front() == ArrayRef(found.scores.lead).drop_front())
          four = {padded[0], padded[1] * padded[2]};
        else
          return std::nullopt;
        target = reshapeTarget(concat(four, shape.take_back(2)));
        if (!target)
          return std::nullopt;
      }
      targets.push_back(target);
    }
    Value sum;
    for (auto [mask, target] : llvm::zip(found.masks, targets)) {
      Value value = mask.added ? mask.added : mask.keep;
      if (target)
        value = rewriter.createOrFold<ReshapeOp>(loc, value, *target);
      if (!mask.added) {
        const auto number = [&](double x) -> Value {
          return FillOp::create(rewriter, loc, RankedTensorType::get({}, element), x);
        };
        Value shown = number(0), hidden = number(mask.hidden);
        value = SelectOp::create(rewriter, loc, value, mask.keepIsInverted ? hidden : shown,
                                 mask.keepIsInverted ? shown : hidden);
      }
      sum = sum ? AddOp::create(rewriter, loc, sum, value) : value;
    }
    return sum;
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
