//===- SimplifyEpilogues.cpp - Bias, residual, activation and padding into matmul, convolution, pool ------------===//

#include "compiler/Transforms/Graph/Matchers.h"
#include "compiler/Transforms/Graph/Simplify.h"
#include <cmath>

using namespace mlir;

namespace plim::graph {
namespace {

//===----------------------------------------------------------------------===//
// Bias and residual
//===----------------------------------------------------------------------===//

/// Whether an op's result is used once and nothing was applied to it yet.
template <typename OpTy> bool isOpen(OpTy op) {
  return op && op.getActivation() == Activation::None && !op.getResidual();
}

/// A copy of `op` in place of `last`, so that operands computed between the two can be used.
template <typename OpTy, typename F> void moveInto(PatternRewriter &rewriter, Operation *last, OpTy op, F change) {
  auto moved = cast<OpTy>(rewriter.clone(*op));
  moved->setLoc(last->getLoc());
  change(moved);
  rewriter.replaceOp(last, moved->getResults());
}

/// matmul + vector of one element a column
template <typename OpTy> struct MatmulBias : OpRewritePattern<AddOp> {
  using OpRewritePattern<AddOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    auto parts = commute(op, [](Value v) {
      auto matmul = singleUse<OpTy>(v);
      return isOpen(matmul) && !matmul.getBias();
    });
    if (!parts || parts->first.getType() != op.getType() || !hasStaticShape(parts->second) ||
        layoutOf(parts->second.getType()))
      return failure();
    ArrayRef<int64_t> shape = shapeOf(parts->second);
    Dims result = dimsOf(op.getType());
    if (shape.empty() || result.empty() || Dim(shape.back()) != result.back() ||
        ShapedType::getNumElements(shape) != shape.back())
      return failure();
    Value bias = parts->second;
    if (shape.size() != 1)
      bias = ReshapeOp::create(rewriter, op.getLoc(), bias, ArrayRef<int64_t>{shape.back()});
    moveInto(rewriter, op, parts->first.template getDefiningOp<OpTy>(),
             [&](OpTy moved) { moved.getBiasMutable().assign(bias); });
    return success();
  }
};

/// op + tensor of the result's type. Of two candidates the later one, whose operand the other is anyway alive for.
template <typename OpTy> struct Residual : OpRewritePattern<AddOp> {
  using OpRewritePattern<AddOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    // Equal dynamic dimensions may still broadcast.
    if (op.getLhs().getType() != op.getType() || op.getRhs().getType() != op.getType() || op.getLhs() == op.getRhs() ||
        !hasStaticShape(op.getResult()))
      return failure();
    OpTy chosen;
    Value residual;
    for (auto [value, other] : {std::pair<Value, Value>(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
      auto candidate = singleUse<OpTy>(value);
      if (!isOpen(candidate) || candidate->getBlock() != op->getBlock())
        continue;
      if (!chosen || chosen->isBeforeInBlock(candidate)) {
        chosen = candidate;
        residual = other;
      }
    }
    if (!chosen)
      return failure();
    moveInto(rewriter, op, chosen, [&](OpTy moved) { moved.getResidualMutable().assign(residual); });
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Activation
//===----------------------------------------------------------------------===//

struct ActivationParts {
  Activation kind;
  double alpha = 0, beta = 0;
};

/// An op as an activation of a matmul or convolution, where there is one.
std::optional<ActivationParts> activationOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<ActivationParts>>(op)
      .Case([](ReluOp) { return ActivationParts{Activation::Relu}; })
      .Case([](LeakyReluOp leaky) { return ActivationParts{Activation::LeakyRelu, leaky.getAlpha()}; })
      .Case([](ClipOp clip) -> std::optional<ActivationParts> {
        if (!clip.getMin() || !clip.getMax())
          return std::nullopt;
        return ActivationParts{Activation::Clip, *clip.getMin(), *clip.getMax()};
      })
      .Case(
          [](HardSigmoidOp hard) { return ActivationParts{Activation::HardSigmoid, hard.getAlpha(), hard.getBeta()}; })
      .Case([](HardSwishOp hard) -> std::optional<ActivationParts> {
        // The epilogue has the usual slope only; exporters round it.
        if (std::fabs(hard.getAlpha() - 1.0 / 6) > 1e-6 || hard.getBeta() != 0.5)
          return std::nullopt;
        return ActivationParts{Activation::HardSwish};
      })
      .Case([](SigmoidOp) { return ActivationParts{Activation::Sigmoid}; })
      .Case([](SiluOp) { return ActivationParts{Activation::Silu}; })
      .Case([](TanhOp) { return ActivationParts{Activation::Tanh}; })
      .Case(
          [](GeluOp gelu) { return ActivationParts{gelu.getApproximate() ? Activation::GeluTanh : Activation::Gelu}; })
      .Default([](Operation *) { return std::nullopt; });
}

template <typename OpTy> struct FoldActivation : OpInterfaceRewritePattern<ScalarBodyOpInterface> {
  using OpInterfaceRewritePattern<ScalarBodyOpInterface>::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ScalarBodyOpInterface op, PatternRewriter &rewriter) const override {
    std::optional<ActivationParts> parts = activationOf(op);
    if (!parts)
      return failure();
    auto inner = singleUse<OpTy>(op->getOperand(0));
    if (!inner || inner.getActivation() != Activation::None || !isa<FloatType>(elementTypeOf(inner.getResult())))
      return failure();
    moveInto(rewriter, op, inner, [&](OpTy moved) {
      moved.setActivation(parts->kind);
      moved.setAlpha(parts->alpha);
      moved.setBeta(parts->beta);
    });
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Transposed operands
//===----------------------------------------------------------------------===//

bool swapsMatrix(ArrayRef<int64_t> permutation) {
  int64_t rank = permutation.size();
  if (rank < 2 || permutation[rank - 1] != rank - 2)
    return false;
  return llvm::all_of(llvm::seq<int64_t>(0, rank - 2), [&](int64_t i) { return permutation[i] == i; });
}

/// A transpose of the last two dimensions of an operand is a flag; not on the left of packed weights, whose kernels
/// walk rows.
struct TransposedOperand : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto lhs = op.getLhs().getDefiningOp<TransposeOp>(), rhs = op.getRhs().getDefiningOp<TransposeOp>();
    bool swapsLhs = lhs && swapsMatrix(lhs.getPermutation()), swapsRhs = rhs && swapsMatrix(rhs.getPermutation());
    swapsLhs = swapsLhs && !layoutOf(op.getRhs().getType());
    if (!swapsLhs && !swapsRhs)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      if (swapsLhs) {
        op.getLhsMutable().assign(lhs.getInput());
        op.setTransposeLhs(!op.getTransposeLhs());
      }
      if (swapsRhs) {
        op.getRhsMutable().assign(rhs.getInput());
        op.setTransposeRhs(!op.getTransposeRhs());
      }
    });
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// A pad, perhaps under a transpose, whose only use is a window op: its pads in the order of the op's dimensions.
struct PadSource {
  PadOp pad;
  TransposeOp transpose;
  SmallVector<int64_t> low, high;

  static std::optional<PadSource> of(Value value) {
    PadSource source;
    source.transpose = singleUse<TransposeOp>(value);
    source.pad = singleUse<PadOp>(source.transpose ? Value(source.transpose.getInput()) : value);
    if (!source.pad)
      return std::nullopt;
    for (int64_t i = 0, rank = rankOf(value); i < rank; ++i) {
      int64_t axis = source.transpose ? source.transpose.getPermutation()[i] : i;
      source.low.push_back(source.pad.getLow()[axis]);
      source.high.push_back(source.pad.getHigh()[axis]);
    }
    return source;
  }

  /// Drops the entries of batch and channels; false where those are padded.
  bool keepSpatial(ImageLayout layout) {
    size_t channel = layout == ImageLayout::NCHW ? 1 : low.size() - 1;
    bool spatialOnly = !low[0] && !high[0] && !low[channel] && !high[channel];
    for (SmallVector<int64_t> *list : {&low, &high}) {
      list->erase(list->begin() + channel);
      list->erase(list->begin());
    }
    return spatialOnly;
  }

  Value unpadded(PatternRewriter &rewriter) {
    if (!transpose)
      return pad.getInput();
    return TransposeOp::create(rewriter, transpose.getLoc(), pad.getInput(), transpose.getPermutation());
  }

  /// The pads of a window with these added.
  SmallVector<int64_t> addedTo(const Window &window) {
    SmallVector<int64_t> pads;
    for (auto [a, b] : llvm::zip(window.padLow, low))
      pads.push_back(a + b);
    for (auto [a, b] : llvm::zip(window.padHigh, high))
      pads.push_back(a + b);
    return pads;
  }
};

struct PadIntoConv : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    std::optional<PadSource> source = PadSource::of(op.getInput());
    if (!source || !source->keepSpatial(op.getLayout()) || source->pad.getMode() != PadMode::Constant ||
        source->pad.getValue() != 0)
      return failure();
    Value input = source->unpadded(rewriter);
    rewriter.modifyOpInPlace(op, [&] {
      op.setPads(source->addedTo(op.getWindow()));
      op.getInputMutable().assign(input);
    });
    return success();
  }
};

/// A max pool ignores its own padding. It may stand for -inf, and for copies of the edge where every window that sees
/// such a copy sees the edge as well: up to kernel - 1 of them.
struct PadIntoMaxPool : OpRewritePattern<PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PoolOp op, PatternRewriter &rewriter) const override {
    std::optional<PadSource> source = PadSource::of(op.getInput());
    if (op.getKind() != PoolKind::Max || op.getCeil() || !source || !source->keepSpatial(op.getLayout()))
      return failure();
    Window window = op.getWindow();
    SmallVector<int64_t> pads = source->addedTo(window);
    size_t rank = window.kernel.size();
    for (size_t i = 0; i < 2 * rank; ++i)
      if (pads[i] >= window.kernel[i % rank] || window.dilations[i % rank] != 1)
        return failure();
    bool isLowest = source->pad.getMode() == PadMode::Constant &&
                    source->pad.getValue() == -std::numeric_limits<double>::infinity();
    if (!isLowest && source->pad.getMode() != PadMode::Edge)
      return failure();
    Value input = source->unpadded(rewriter);
    rewriter.modifyOpInPlace(op, [&] {
      op.setPads(pads);
      op.getInputMutable().assign(input);
    });
    return success();
  }
};

} // namespace

void populateEpiloguePatterns(RewritePatternSet &patterns) {
  patterns.add<MatmulBias<MatmulOp>, MatmulBias<QuantizedMatmulOp>, Residual<MatmulOp>, Residual<QuantizedMatmulOp>,
               Residual<ConvOp>, FoldActivation<MatmulOp>, FoldActivation<QuantizedMatmulOp>, FoldActivation<ConvOp>,
               FoldActivation<ConvTransposeOp>, TransposedOperand, PadIntoConv, PadIntoMaxPool>(patterns.getContext());
}

} // namespace plim::graph
