//===- IntegerProducts.cpp - Products of dequantised operands as those of integers -----------------------------===//
//
// product((x - xz) xs, (w - wz) ws) = product(x - xz, w - wz) xs ws: the sums are exact in i32 as long as
// terms * 255 * 255 does not pass it.
//
//===------------------------------------------------------------------------------------------------------------===//

#include "compiler/Transforms/Graph/DequantizedWeight.h"
#include "compiler/Transforms/Graph/Matchers.h"

using namespace mlir;

namespace plim::graph {
namespace {

constexpr int64_t mostTerms = std::numeric_limits<int32_t>::max() / (255 * 255);

/// An activation of an epilogue as an op of its own.
Value activated(PatternRewriter &rewriter, Location loc, Value x, Activation kind, double alpha, double beta) {
  switch (kind) {
  case Activation::None:
    return x;
  case Activation::Relu:
    return ReluOp::create(rewriter, loc, x);
  case Activation::LeakyRelu:
    return LeakyReluOp::create(rewriter, loc, x, alpha);
  case Activation::Clip:
    return ClipOp::create(rewriter, loc, x, rewriter.getF64FloatAttr(alpha), rewriter.getF64FloatAttr(beta));
  case Activation::HardSigmoid:
    return HardSigmoidOp::create(rewriter, loc, x, alpha, beta);
  case Activation::HardSwish:
    return HardSwishOp::create(rewriter, loc, x);
  case Activation::Sigmoid:
    return SigmoidOp::create(rewriter, loc, x);
  case Activation::Silu:
    return SiluOp::create(rewriter, loc, x);
  case Activation::Tanh:
    return TanhOp::create(rewriter, loc, x);
  case Activation::Gelu:
    return GeluOp::create(rewriter, loc, x);
  case Activation::GeluTanh:
    return GeluOp::create(rewriter, loc, x, true);
  }
  llvm_unreachable("activation");
}

/// The sums scaled, with the epilogue of the op that they replace. `scale` and `bias` broadcast to them, or are null.
template <typename OpTy>
void finish(PatternRewriter &rewriter, OpTy op, Value sums, Value inputScale, Value scale, Value bias) {
  Location loc = op.getLoc();
  Value y = CastOp::create(rewriter, loc, sums, TypeAttr::get(elementTypeOf(op.getResult())));
  Value factor =
      inputScale && scale ? Value(MulOp::create(rewriter, loc, scale, inputScale)) : (inputScale ? inputScale : scale);
  if (factor)
    y = MulOp::create(rewriter, loc, y, factor);
  if (bias)
    y = AddOp::create(rewriter, loc, y, bias);
  if (op.getResidual())
    y = AddOp::create(rewriter, loc, y, op.getResidual());
  y = activated(rewriter, loc, y, op.getActivation(), op.getAlpha(), op.getBeta());
  if (y.getType() != op.getType())
    y.setType(cast<RankedTensorType>(op.getType()));
  rewriter.replaceOp(op, y);
}

Value asScalar(PatternRewriter &rewriter, Location loc, Value value) {
  return value ? rewriter.createOrFold<ReshapeOp>(loc, value, ArrayRef<int64_t>{}) : Value();
}

/// Whether a scale or zero of a filter [O, ...] is one number, or one an output channel.
bool isOfOutputs(Value value, ArrayRef<int64_t> filter) {
  if (!value || ShapedType::getNumElements(shapeOf(value)) == 1)
    return true;
  ArrayRef<int64_t> shape = shapeOf(value);
  return shape.size() == filter.size() && shape[0] == filter[0] && ShapedType::getNumElements(shape) == filter[0];
}

struct IntegerConvolution : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    if (op.getLayout() != ImageLayout::NCHW || !elementTypeOf(op.getResult()).isF32())
      return failure();
    auto input = DequantizedWeight::ofActivation(op.getInput());
    auto filter = input ? DequantizedWeight::of(op.getFilter()) : std::nullopt;
    if (!filter || filter->blocks || !elementTypeOf(filter->stored).isInteger(8))
      return failure();
    ArrayRef<int64_t> shape = shapeOf(filter->stored);
    if (shape[0] == 0 || ShapedType::getNumElements(shape) / shape[0] > mostTerms ||
        !isOfOutputs(filter->scale, shape) || !isOfOutputs(filter->zero, shape))
      return failure();
    Location loc = op.getLoc();
    // One number a channel of [N, O, spatial...].
    auto overChannels = [&](Value value) -> Value {
      if (!value)
        return value;
      SmallVector<int64_t> dims(shape.size() - 1, 1);
      dims[0] = ShapedType::getNumElements(shapeOf(value));
      return rewriter.createOrFold<ReshapeOp>(loc, value, dims);
    };
    SmallVector<int64_t> zeroDims;
    if (filter->zero && ShapedType::getNumElements(shapeOf(filter->zero)) != 1)
      zeroDims.push_back(shape[0]);
    Value sums = IntegerConvOp::create(rewriter, loc, input->stored, filter->stored, input->zeroAs(rewriter, loc, {}),
                                       filter->zeroAs(rewriter, loc, zeroDims), op.getStrides(), op.getPads(),
                                       op.getDilations(), op.getGroups(), op.getKernel());
    finish(rewriter, op, sums, asScalar(rewriter, loc, input->scale), overChannels(filter->scale),
           overChannels(op.getBias()));
    return success();
  }
};

struct IntegerProduct : OpRewritePattern<MatmulOp> {
  IntegerProduct(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    if (!elementTypeOf(op.getResult()).isF32() || rankOf(op.getLhs()) < 2 || rankOf(op.getRhs()) != 2 ||
        op.getTransposeLhs() || layoutOf(op.getRhs().getType()))
      return failure();
    auto lhs = DequantizedWeight::ofActivation(op.getLhs());
    auto rhs = lhs ? DequantizedWeight::of(op.getRhs()) : std::nullopt;
    auto matrix = rhs ? QuantizedMatrix::of(*rhs, op.getTransposeRhs()) : std::nullopt;
    if (!matrix || matrix->hasRowScale() || matrix->groups != 1 || matrix->k > mostTerms ||
        !elementTypeOf(rhs->stored).isInteger(8))
      return failure();
    Location loc = op.getLoc();
    QuantizedMatrix::Operands operands = matrix->build(rewriter, loc);
    Value sums = IntegerMatmulOp::create(rewriter, loc, lhs->stored, operands.stored, lhs->zeroAs(rewriter, loc, {}),
                                         operands.zero);
    finish(rewriter, op, sums, asScalar(rewriter, loc, lhs->scale), operands.scale, op.getBias());
    return success();
  }
};

} // namespace

void populateIntegerProductPatterns(RewritePatternSet &patterns) {
  patterns.add<IntegerConvolution, IntegerProduct>(patterns.getContext());
}

} // namespace plim::graph
