//===- AttentionPattern.cpp - Attention as models write it out ------------------------------------------------===//

#include "compiler/Transforms/Graph/AttentionPattern.h"
#include <cmath>

using namespace mlir;

namespace plim::graph {

std::optional<double> scalarOf(Value value) {
  if (std::optional<double> splat = splatOf(value))
    return splat;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() == 0)
    return std::nullopt;
  SmallVector<double> x;
  for (Value operand : op->getOperands()) {
    std::optional<double> known = scalarOf(operand);
    if (!known)
      return std::nullopt;
    x.push_back(*known);
  }
  if (isa<SqrtOp>(op))
    return std::sqrt(x[0]);
  if (isa<ReciprocalOp>(op))
    return 1 / x[0];
  if (isa<ReshapeOp, BroadcastOp>(op) || (isa<CastOp>(op) && isa<FloatType>(cast<CastOp>(op).getTo())))
    return x[0];
  if (isa<DivOp>(op) && isa<FloatType>(elementTypeOf(value)))
    return x[0] / x[1];
  if (isa<MulOp>(op) && isa<FloatType>(elementTypeOf(value)))
    return x[0] * x[1];
  if (isa<PowOp>(op) && isa<FloatType>(elementTypeOf(value)))
    return std::pow(x[0], x[1]);
  return std::nullopt;
}

/// Types may differ in what they know of bounds.
static bool haveSameShape(Value a, Value b) { return shapeOf(a) == shapeOf(b) && elementTypeOf(a) == elementTypeOf(b); }

Value scaledBy(Operation *op, double &factor) {
  const auto keepsType = [&](Value rest) { return haveSameShape(rest, op->getResult(0)); };
  if (auto mul = dyn_cast_or_null<MulOp>(op))
    for (auto [number, rest] : {std::pair<Value, Value>(mul.getLhs(), mul.getRhs()), {mul.getRhs(), mul.getLhs()}})
      if (std::optional<double> splat = scalarOf(number); splat && keepsType(rest)) {
        factor *= *splat;
        return rest;
      }
  if (auto div = dyn_cast_or_null<DivOp>(op))
    if (std::optional<double> splat = scalarOf(div.getRhs()); splat && *splat != 0 && keepsType(div.getLhs())) {
      factor /= *splat;
      return div.getLhs();
    }
  return {};
}

FoundScale findScale(Value value) {
  FoundScale found;
  while (Operation *op = value.getDefiningOp()) {
    if (!value.hasOneUse())
      break;
    if (isa<ReshapeOp, TransposeOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    Value rest = scaledBy(op, found.factor);
    if (!rest)
      break;
    found.bypasses.push_back({op, rest});
    value = rest;
  }
  return found;
}

/// The input of a reshape that changes only dimensions in front of the last two.
static Value throughLead(Value value) {
  auto reshape = singleUse<ReshapeOp>(value);
  if (!reshape)
    return {};
  ArrayRef<int64_t> from = shapeOf(reshape.getInput()), to = shapeOf(value);
  bool fits = from.size() >= 2 && to.size() >= 2 && from.take_back(2) == to.take_back(2) &&
              !ShapedType::isDynamicShape(from.drop_back(2)) && !ShapedType::isDynamicShape(to.drop_back(2));
  return fits ? Value(reshape.getInput()) : Value();
}

/// Whether a chain of scores leads from `value` to a product.
static bool leadsToProduct(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse())
    return false;
  double ignored = 1;
  if (Value rest = scaledBy(op, ignored))
    return leadsToProduct(rest);
  if (Value rest = throughLead(value))
    return leadsToProduct(rest);
  // Shapes tell the scores from a mask that broadcasts.
  if (auto add = dyn_cast<AddOp>(op))
    return (haveSameShape(add.getLhs(), value) && leadsToProduct(add.getLhs())) ||
           (haveSameShape(add.getRhs(), value) && leadsToProduct(add.getRhs()));
  if (auto select = dyn_cast<SelectOp>(op))
    return leadsToProduct(scalarOf(select.getOnFalse()) ? select.getOnTrue() : select.getOnFalse());
  return isa<MatmulOp>(op);
}

MatmulOp headProduct(MatmulOp op) {
  if (!op || op.getActivation() != Activation::None || op.getTransposeLhs())
    return {};
  int64_t rank = rankOf(op.getLhs());
  bool fits = rank >= 3 && rank <= 5 && rankOf(op.getRhs()) == rank && rankOf(op.getResult()) == rank;
  return fits ? op : MatmulOp();
}

/// select(condition, scores, hidden), or the other way round: the scores.
static Value matchSelect(SelectOp select, ScoreMask &mask) {
  mask.keep = select.getCondition();
  std::optional<double> hidden = scalarOf(select.getOnFalse());
  Value scores = select.getOnTrue();
  if (!hidden) {
    hidden = scalarOf(select.getOnTrue());
    scores = select.getOnFalse();
    mask.keepIsInverted = true;
  }
  if (!hidden || !haveSameShape(scores, select.getResult()))
    return {};
  // A row that is hidden as a whole is the average of all values where the number is finite. Adding the number gives
  // the same only where it swallows the score: from f32's rounding on.
  mask.hidden = *hidden;
  bool swallows = std::isinf(*hidden) || *hidden <= (elementTypeOf(scores).isF32() ? -1e9 : mostHidden);
  return *hidden < 0 && swallows ? scores : Value();
}

/// The softmax that gives the weights: itself, or select(is_nan(softmax), 0, softmax).
static SoftmaxOp matchSoftmax(Value weights) {
  if (auto softmax = singleUse<SoftmaxOp>(weights))
    return softmax;
  auto select = singleUse<SelectOp>(weights);
  auto isNan = select ? singleUse<IsNanOp>(select.getCondition()) : IsNanOp();
  if (!isNan || isNan.getInput() != select.getOnFalse() || scalarOf(select.getOnTrue()) != 0.0 ||
      select.getOnFalse().getType() != select.getType())
    return {};
  auto softmax = isNan.getInput().getDefiningOp<SoftmaxOp>();
  // A row without any visible key is NaN there; attention gives it zeros as well.
  return softmax && llvm::range_size(softmax->getUses()) == 2 ? softmax : SoftmaxOp();
}

std::optional<WrittenScores> matchScores(Value weights) {
  WrittenScores scores;
  while (Value inner = throughLead(weights))
    weights = inner;
  SoftmaxOp softmax = matchSoftmax(weights);
  if (!softmax || softmax.getLog() || softmax.getAxis() != rankOf(softmax.getInput()) - 1)
    return std::nullopt;
  Value value = softmax.getInput();
  std::optional<SmallVector<int64_t>> lead;
  const auto addMask = [&](const ScoreMask &mask, Value where) {
    SmallVector<int64_t> here(shapeOf(where).drop_back(2));
    // A factor that comes after a mask would be one of the mask; all masks have one shape of scores.
    if (scores.scale != 1 || (lead && *lead != here))
      return false;
    lead = here;
    scores.masks.push_back(mask);
    return true;
  };
  while (!value.getDefiningOp<MatmulOp>()) {
    if (!leadsToProduct(value))
      return std::nullopt;
    if (Value rest = scaledBy(value.getDefiningOp(), scores.scale)) {
      value = rest;
    } else if (Value rest = throughLead(value)) {
      value = rest;
    } else if (auto add = value.getDefiningOp<AddOp>()) {
      bool first = haveSameShape(add.getLhs(), value) && leadsToProduct(add.getLhs());
      ScoreMask mask;
      mask.added = first ? add.getRhs() : add.getLhs();
      if (!addMask(mask, value))
        return std::nullopt;
      value = first ? add.getLhs() : add.getRhs();
    } else {
      ScoreMask mask;
      Value rest = matchSelect(value.getDefiningOp<SelectOp>(), mask);
      if (!rest || !addMask(mask, value))
        return std::nullopt;
      value = rest;
    }
  }
  if (!value.hasOneUse())
    return std::nullopt;
  scores.product = headProduct(value.getDefiningOp<MatmulOp>());
  if (!scores.product || scores.scale == 0 || !std::isfinite(scores.scale))
    return std::nullopt;
  // A mask on unscaled scores may have been taken for a bias or a residual.
  for (Value summand : {scores.product.getBias(), scores.product.getResidual()}) {
    ScoreMask mask;
    mask.added = summand;
    if (summand && !addMask(mask, value))
      return std::nullopt;
  }
  scores.lead = lead.value_or(SmallVector<int64_t>(shapeOf(value).drop_back(2)));
  return scores;
}

/// Dimensions without those of size 1.
static SmallVector<int64_t> withoutOnes(ArrayRef<int64_t> shape) {
  return llvm::filter_to_vector(shape, [](int64_t size) { return size != 1; });
}

static size_t openSizes(ArrayRef<int64_t> shape) { return llvm::count_if(shape, ShapedType::isDynamic); }

/// Whether a size of one element is dimension `axis` of `value`, or of what `value` is a reshape of.
static bool isSizeOf(Value size, Value value, int64_t axis) {
  while (auto reshape = size.getDefiningOp<ReshapeOp>())
    size = reshape.getInput();
  Value list;
  std::optional<int64_t> entry;
  DenseIntElementsAttr index;
  if (auto gather = size.getDefiningOp<GatherOp>()) {
    list = gather.getInput();
    if (matchPattern(gather.getIndices(), m_Constant(&index)) && index.getNumElements() == 1)
      entry = (*index.value_begin<APInt>()).getSExtValue();
  } else if (auto slice = size.getDefiningOp<SliceOp>(); slice && rankOf(slice.getInput()) == 1) {
    list = slice.getInput();
    entry = slice.getStarts()[0];
  }
  auto shape = list ? list.getDefiningOp<ShapeOfOp>() : ShapeOfOp();
  if (!shape || !entry)
    return false;
  int64_t rank = rankOf(shape.getInput());
  entry = *entry < 0 ? *entry + rank : *entry;
  for (Value at = value;; axis = -1) {
    if (at == shape.getInput() && axis >= 0)
      return *entry == axis;
    // The only open dimension before a reshape is the only one behind it.
    if (at == shape.getInput())
      return openSizes(shapeOf(at)) == 1 && openSizes(shapeOf(value)) == 1 &&
             ShapedType::isDynamic(shapeOf(at)[*entry]);
    auto reshape = at.getDefiningOp<ReshapeOp>();
    if (!reshape)
      return false;
    at = reshape.getInput();
  }
}

/// Whether a broadcast keeps all dimensions that are open.
static bool keepsOpenSizes(Operation *op) {
  auto dynamic = dyn_cast<DynamicBroadcastOp>(op);
  if (!dynamic)
    return true;
  auto sizes = dynamic.getShape().getDefiningOp<ConcatOp>();
  ArrayRef<int64_t> to = shapeOf(op->getResult(0));
  if (!sizes || sizes.getInputs().size() != to.size())
    return false;
  for (auto [axis, size] : llvm::enumerate(sizes.getInputs()))
    if (ShapedType::isDynamic(to[axis]) && !isSizeOf(size, op->getOperand(0), axis))
      return false;
  return true;
}

std::optional<RepeatedHeads> matchRepeatedHeads(Value value, int64_t axis) {
  ArrayRef<int64_t> shape = shapeOf(value);
  int64_t heads = shape[axis];
  if (ShapedType::isDynamic(heads) || heads < 2)
    return std::nullopt;
  RepeatedHeads found{{}, SmallVector<int64_t>(shape), 1};
  if (auto gather = value.getDefiningOp<GatherOp>()) {
    // Indices 0 0 0 1 1 1 ...
    DenseIntElementsAttr indices;
    if (gather.getAxis() != axis || rankOf(gather.getIndices()) != 1 ||
        !matchPattern(gather.getIndices(), m_Constant(&indices)))
      return std::nullopt;
    int64_t sources = shapeOf(gather.getInput())[axis];
    if (ShapedType::isDynamic(sources) || sources < 1 || heads % sources || heads == sources)
      return std::nullopt;
    found.repeats = heads / sources;
    for (auto [i, index] : llvm::enumerate(indices.getValues<APInt>()))
      if (index.getSExtValue() != static_cast<int64_t>(i) / found.repeats)
        return std::nullopt;
    found.source = gather.getInput();
    found.shape[axis] = sources;
    return found;
  }
  // A reshape of a broadcast of one dimension of size 1, which lies behind the heads.
  Operation *broadcast = value.getDefiningOp();
  if (isa_and_nonnull<ReshapeOp, DynamicReshapeOp>(broadcast) && openSizes(shape) <= 1)
    broadcast = broadcast->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<BroadcastOp, DynamicBroadcastOp>(broadcast))
    return std::nullopt;
  ArrayRef<int64_t> from = shapeOf(broadcast->getOperand(0)), to = shapeOf(broadcast->getResult(0));
  if (from.size() != to.size() || !keepsOpenSizes(broadcast))
    return std::nullopt;
  std::optional<int64_t> repeated;
  for (auto [i, sizes] : llvm::enumerate(llvm::zip(from, to)))
    if (std::get<0>(sizes) != std::get<1>(sizes)) {
      if (repeated)
        return std::nullopt;
      repeated = i;
    }
  if (!repeated || from[*repeated] != 1 || ShapedType::isDynamic(to[*repeated]) || heads % to[*repeated])
    return std::nullopt;
  found.repeats = to[*repeated];
  found.shape[axis] = heads / found.repeats;
  found.source = broadcast->getOperand(0);
  SmallVector<int64_t> before(shape.take_front(axis));
  before.push_back(found.shape[axis]);
  bool fits = withoutOnes(to.take_front(*repeated)) == withoutOnes(before) &&
              withoutOnes(to.drop_front(*repeated + 1)) == withoutOnes(shape.drop_front(axis + 1));
  return fits ? std::optional(found) : std::nullopt;
}

} // namespace plim::graph
