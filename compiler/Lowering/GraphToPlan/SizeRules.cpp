//===- SizeRules.cpp - The shape rule of each op over expressions -------------------------===//
#include "compiler/Lowering/GraphToPlan/SymbolicDims.h"
#include "dialects/Graph/Windows.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace plim::lowering {
namespace {

/// A product: a number and factors that are no numbers.
struct Product {
  int64_t number = 1;
  Sizes factors;

  void multiply(AffineExpr expr) {
    if (std::optional<int64_t> constant = constantOf(expr)) {
      number *= *constant;
    } else if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr); binary && expr.getKind() == AffineExprKind::Mul) {
      multiply(binary.getLHS());
      multiply(binary.getRHS());
    } else {
      factors.push_back(expr);
    }
  }
  AffineExpr whole(MLIRContext *context) const {
    AffineExpr result = getAffineConstantExpr(1, context);
    for (AffineExpr factor : factors)
      result = result * factor;
    return result * number;
  }
};

} // namespace

AffineExpr SymbolicDims::quotient(AffineExpr a, AffineExpr b) const {
  Product above, below;
  above.multiply(a);
  below.multiply(b);
  llvm::erase_if(below.factors, [&](AffineExpr factor) {
    auto *same = llvm::find(above.factors, factor);
    if (same == above.factors.end())
      return false;
    above.factors.erase(same);
    return true;
  });
  int64_t common = std::gcd(above.number, below.number);
  if (common > 1)
    above.number /= common, below.number /= common;
  return simplified(above.whole(context).floorDiv(below.whole(context)));
}

void SizeRule::need(AffineExpr value, int64_t lower, int64_t upper, const Twine &message) {
  graph::Dim range = known.rangeOf(value);
  if (range.lo < lower || range.hi > upper)
    conditions.push_back({value, lower, upper, op, message.str()});
}

AffineExpr SizeRule::equal(AffineExpr a, AffineExpr b) {
  AffineExpr difference = known.simplified(a - b);
  if (difference == number(0))
    return constantOf(b) ? b : a;
  need(difference, 0, 0, "sizes that must be equal differ");
  return constantOf(b) ? b : a;
}

void SizeRule::equalAll(SizesRef a, SizesRef b) {
  for (auto [x, y] : llvm::zip(a, b))
    equal(x, y);
}

Sizes SizeRule::broadcast(SizesRef a, SizesRef b) {
  Sizes result(std::max(a.size(), b.size()), number(1));
  for (size_t i = 0; i < result.size(); ++i) {
    AffineExpr x = i < a.size() ? a[a.size() - 1 - i] : number(1), y = i < b.size() ? b[b.size() - 1 - i] : number(1);
    result[result.size() - 1 - i] = x == number(1) ? y : y == number(1) ? x : equal(x, y);
  }
  return result;
}

Sizes SizeRule::elementwise() {
  Sizes result;
  for (Value operand : op->getOperands())
    result = broadcast(result, of(operand));
  return result;
}

Sizes SizeRule::matmul(graph::MatmulOp matmul) {
  Sizes a = of(matmul.getLhs()), b = of(matmul.getRhs());
  bool isRow = a.size() == 1, isColumn = b.size() == 1;
  if (isRow)
    a.insert(a.begin(), number(1));
  else if (matmul.getTransposeLhs())
    std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (isColumn)
    b.push_back(number(1));
  else if (matmul.getTransposeRhs())
    std::swap(b[b.size() - 1], b[b.size() - 2]);
  equal(a.back(), b[b.size() - 2]);
  Sizes result = broadcast(SizesRef(a).drop_back(2), SizesRef(b).drop_back(2));
  if (!isRow)
    result.push_back(a[a.size() - 2]);
  if (!isColumn)
    result.push_back(b.back());
  if (matmul.getResidual())
    equalAll(of(matmul.getResidual()), result);
  return result;
}

Sizes SizeRule::attention(graph::AttentionOp attention) {
  Sizes q = of(attention.getQuery()), k = of(attention.getKey()), v = of(attention.getValue());
  equal(q[0], k[0]);
  equal(k[0], v[0]);
  equal(k[1], v[1]);
  equal(k[2], v[2]);
  equal(q[3], k[3]);
  if (attention.getMask())
    broadcast(of(attention.getMask()), {q[0], q[1], q[2], k[2]});
  return {q[0], q[1], q[2], v[3]};
}

Sizes SizeRule::reduced(Value input, ArrayRef<int64_t> axes, bool keepDims) {
  Sizes result;
  for (auto [d, size] : llvm::enumerate(of(input)))
    if (!llvm::is_contained(axes, int64_t(d)))
      result.push_back(size);
    else if (keepDims)
      result.push_back(number(1));
  return result;
}

template <typename OpTy> Sizes SizeRule::convolution(OpTy conv, bool transposed) {
  Sizes result = of(conv.getInput());
  graph::Window w = conv.getWindow();
  int64_t channels = graph::channelAxis(conv.getLayout(), result.size());
  result[channels] = number(graph::dimsOf(conv.getType())[channels].lo);
  ArrayRef<int64_t> extra;
  if constexpr (std::is_same_v<OpTy, graph::ConvTransposeOp>)
    extra = conv.getOutputPadding();
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    AffineExpr &size = result[graph::firstSpatialAxis(conv.getLayout()) + i];
    int64_t extent = (w.kernel[i] - 1) * w.dilations[i] + 1, pads = w.padLow[i] + w.padHigh[i];
    size = transposed ? (size - 1) * w.strides[i] + (extent - pads + (extra.empty() ? 0 : extra[i]))
                      : (size + (pads - extent)).floorDiv(w.strides[i]) + 1;
  }
  if constexpr (!std::is_same_v<OpTy, graph::IntegerConvOp>)
    if (conv.getResidual())
      equalAll(of(conv.getResidual()), result);
  return result;
}

FailureOr<Sizes> SizeRule::pool(graph::PoolOp pool) {
  Sizes result = of(pool.getInput());
  graph::Window w = pool.getWindow();
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    AffineExpr &size = result[graph::firstSpatialAxis(pool.getLayout()) + i];
    int64_t extent = (w.kernel[i] - 1) * w.dilations[i] + 1, pads = w.padLow[i] + w.padHigh[i];
    // The last window may start in the padding, and does not count then.
    if (pool.getCeil() && !constantOf(size) && w.strides[i] + w.padHigh[i] > extent)
      return refuse("the windows of a pooling with ceil may start in the padding");
    int64_t up = pool.getCeil() ? w.strides[i] - 1 : 0;
    size = (size + (pads - extent + up)).floorDiv(w.strides[i]) + 1;
  }
  return result;
}

FailureOr<Sizes> SizeRule::resize(graph::ResizeOp resize) {
  Sizes result = of(resize.getInput());
  size_t first = size_t(graph::firstSpatialAxis(resize.getLayout()));
  for (size_t i = 0; i + 2 < result.size(); ++i) {
    AffineExpr &size = result[first + i];
    if (!resize.getSizes().empty()) {
      if (!constantOf(size))
        return refuse("a resize of an open dimension to a fixed size has a scale that varies");
      size = number(resize.getSizes()[i]);
      continue;
    }
    // A scale is p / 2^q; with small p and q the product is exact as the floating-point rule's is.
    double scale = resize.getScales()[i];
    int64_t divisor = 1;
    while (scale != std::floor(scale) && divisor < (1 << 20))
      scale *= 2, divisor *= 2;
    if (scale != std::floor(scale) || scale > (1 << 20))
      return refuse("a scale is no fraction of a power of two");
    size = (size * int64_t(scale)).floorDiv(divisor);
  }
  return result;
}

FailureOr<Sizes> SizeRule::reshape(graph::ReshapeOp reshape) {
  Product elements, taken;
  for (AffineExpr size : of(reshape.getInput()))
    elements.multiply(size);
  Sizes result;
  std::optional<size_t> open;
  for (auto [i, size] : llvm::enumerate(reshape.getShape())) {
    if (size == -1)
      open = i;
    result.push_back(number(std::max<int64_t>(size, 0)));
    if (size != -1)
      taken.multiply(result.back());
  }
  if (!open) {
    equal(elements.whole(context), taken.whole(context));
    return result;
  }
  // What both have leaves the quotient.
  for (AffineExpr factor : taken.factors) {
    auto *found = llvm::find(elements.factors, factor);
    if (found == elements.factors.end())
      return refuse("the dimensions that are kept do not divide the number of elements");
    elements.factors.erase(found);
  }
  if (taken.number == 0)
    return refuse("a dimension of size 0 leaves the open one undefined");
  if (elements.number % taken.number == 0) {
    elements.number /= taken.number;
    result[*open] = elements.whole(context);
    return result;
  }
  AffineExpr whole = elements.whole(context);
  need(whole % taken.number, 0, 0, "the number of elements does not divide into the sizes of the reshape");
  result[*open] = whole.floorDiv(taken.number);
  return result;
}

Sizes SizeRule::broadcastTo(graph::BroadcastOp broadcast) {
  Sizes from = of(broadcast.getInput()), result;
  size_t missing = broadcast.getShape().size() - from.size();
  for (auto [i, size] : llvm::enumerate(broadcast.getShape())) {
    AffineExpr old = i < missing ? number(1) : from[i - missing];
    if (size == -1)
      result.push_back(old);
    else
      result.push_back(old == number(1) ? number(size) : equal(old, number(size)));
  }
  return result;
}

Sizes SizeRule::slice(graph::SliceOp slice) {
  Sizes result = of(slice.getInput());
  for (auto [d, step] : llvm::enumerate(slice.getFullSteps())) {
    int64_t start = slice.getStarts()[d], size = slice.getSizes()[d];
    if (size == -1) {
      result[d] = result[d] - start;
      continue;
    }
    if (size > 0)
      need(result[d], std::max(start, start + (size - 1) * step) + 1, graph::Dim::kUnbounded,
           "a slice ends beyond dimension " + Twine(d));
    result[d] = number(size);
  }
  return result;
}

Sizes SizeRule::concat(graph::ConcatOp concat) {
  Sizes result = of(concat.getInputs().front());
  for (Value input : concat.getInputs().drop_front())
    for (auto [d, size] : llvm::enumerate(of(input)))
      result[d] = int64_t(d) == concat.getAxis() ? result[d] + size : equal(result[d], size);
  return result;
}

Sizes SizeRule::pad(graph::PadOp pad) {
  Sizes result = of(pad.getInput());
  for (size_t d = 0; d < result.size(); ++d) {
    int64_t low = pad.getLow()[d], high = pad.getHigh()[d];
    if (pad.getMode() == graph::PadMode::Reflect && (low || high))
      need(result[d], std::max(low, high) + 1, graph::Dim::kUnbounded, "a reflected pad is as long as its dimension");
    result[d] = result[d] + (low + high);
  }
  return result;
}

Sizes SizeRule::gather(graph::GatherOp gather) {
  Sizes from = of(gather.getInput()), result(from.begin(), from.begin() + gather.getAxis());
  llvm::append_range(result, of(gather.getIndices()));
  result.append(from.begin() + gather.getAxis() + 1, from.end());
  return result;
}

/// Rows so far are of the result's sizes.
Sizes SizeRule::partialGather(graph::PartialGatherOp gather) {
  Sizes result = of(gather.getIndices());
  llvm::append_range(result, SizesRef(of(gather.getPiece())).drop_front());
  if (Value soFar = gather.getSoFar())
    for (auto [have, want] : llvm::zip_equal(of(soFar), result))
      equal(have, want);
  return result;
}

Sizes SizeRule::gatherNd(graph::GatherNdOp gather) {
  Sizes from = of(gather.getInput()), result = of(gather.getIndices());
  int64_t batch = gather.getBatchDims(), coordinates = *constantOf(result.back());
  result.pop_back();
  for (int64_t d = 0; d < batch; ++d)
    equal(from[d], result[d]);
  result.append(from.begin() + batch + coordinates, from.end());
  return result;
}

Sizes SizeRule::oneHot(graph::OneHotOp oneHot) {
  Sizes result = of(oneHot.getIndices());
  result.insert(result.begin() + oneHot.getAxis(), number(oneHot.getDepth()));
  return result;
}

FailureOr<Sizes> SizeRule::sizes() {
  using namespace graph;
  return TypeSwitch<Operation *, FailureOr<Sizes>>(op)
      .Case([&](MatmulOp o) { return matmul(o); })
      .Case([&](QuantizedMatmulOp o) {
        Sizes result = of(o.getLhs()), weights = of(o.getRhs());
        equal(result.back(), weights[0]);
        result.back() = weights[1];
        if (o.getResidual())
          equalAll(of(o.getResidual()), result);
        return result;
      })
      .Case([&](IntegerMatmulOp o) {
        Sizes a = of(o.getLhs()), b = of(o.getRhs());
        equal(a.back(), b[b.size() - 2]);
        Sizes result = broadcast(SizesRef(a).drop_back(2), SizesRef(b).drop_back(2));
        result.append({a[a.size() - 2], b.back()});
        return result;
      })
      .Case([&](AttentionOp o) { return attention(o); })
      .Case([&](ConvOp o) { return convolution(o, false); })
      .Case([&](IntegerConvOp o) { return convolution(o, false); })
      .Case([&](ConvTransposeOp o) { return convolution(o, true); })
      .Case([&](PoolOp o) { return pool(o); })
      .Case([&](ResizeOp o) { return resize(o); })
      .Case([&](ReduceOp o) { return reduced(o.getInput(), o.getAxes(), o.getKeepDims()); })
      .Case([&](ArgReduceOp o) { return reduced(o.getInput(), {int64_t(o.getAxis())}, o.getKeepDims()); })
      .Case([&](TransposeOp o) {
        return llvm::map_to_vector(o.getPermutation(), [&](int64_t axis) { return of(o.getInput())[axis]; });
      })
      .Case([&](ReshapeOp o) { return reshape(o); })
      .Case([&](BroadcastOp o) { return broadcastTo(o); })
      .Case([&](SliceOp o) { return slice(o); })
      .Case([&](ConcatOp o) { return concat(o); })
      .Case([&](PadOp o) { return pad(o); })
      .Case([&](GatherOp o) { return gather(o); })
      .Case([&](PartialGatherOp o) { return partialGather(o); })
      .Case([&](GatherElementsOp o) { return of(o.getIndices()); })
      .Case([&](GatherNdOp o) { return gatherNd(o); })
      .Case([&](OneHotOp o) { return oneHot(o); })
      .Case([&](DynamicReshapeOp o) { return dynamicReshape(o); })
      .Case([&](DynamicBroadcastOp o) { return dynamicBroadcast(o); })
      .Case([&](DynamicSliceOp o) { return dynamicSlice(o); })
      .Case([&](DynamicFillOp o) { return resultSizes(o.getShape(), [](size_t) { return Dim::kUnbounded; }); })
      .Case([&](DynamicRangeOp o) { return resultSizes(o.getSize(), [](size_t) { return Dim::kUnbounded; }); })
      .Case([&](NonzeroOp o) { return nonzero(o); })
      .Case([&](ShapeOfOp o) { return Sizes{number(rankOf(o.getInput()))}; })
      .Case<SoftmaxOp, CumsumOp, LayerNormOp, RmsNormOp, BatchNormOp, GroupNormOp, InstanceNormOp, ScatterElementsOp,
            ScatterNdOp>([&](Operation *o) { return of(o->getOperand(0)); })
      .Case([&](ScalarBodyOpInterface) { return elementwise(); })
      .Default([&](Operation *) { return refuse("it runs with static shapes only"); });
}

SmallVector<Sizes> SizeRule::recurrence(graph::RecurrenceOp net) {
  Sizes projected = of(net.getProjected());
  AffineExpr directions = number(net.getDirections()), size = number(net.getHiddenSize()), sequences = projected[1];
  if (net.getLengths())
    equal(of(net.getLengths())[0], sequences);
  for (Value state : {net.getHidden(), net.getCell()})
    if (state)
      equal(of(state)[1], sequences);
  Sizes last{directions, sequences, size};
  SmallVector<Sizes> results{{projected[0], directions, sequences, size}};
  results.append(net->getNumResults() - 1, last);
  return results;
}

FailureOr<SmallVector<Sizes>> SizeRule::infer() {
  if (auto topK = dyn_cast<graph::TopKOp>(op)) {
    Sizes result = of(topK.getInput());
    need(result[topK.getAxis()], topK.getK(), graph::Dim::kUnbounded, "top_k asks for more elements than there are");
    result[topK.getAxis()] = number(topK.getK());
    return SmallVector<Sizes>{result, result};
  }
  if (auto op = dyn_cast<graph::FusedOp>(this->op))
    return fused(op);
  if (auto op = dyn_cast<graph::UniqueOp>(this->op))
    return unique(op);
  if (auto op = dyn_cast<graph::NonMaxSuppressionOp>(this->op))
    return nonMaxSuppression(op);
  if (auto net = dyn_cast<graph::RecurrenceOp>(op))
    return recurrence(net);
  FailureOr<Sizes> one = sizes();
  if (failed(one))
    return failure();
  return SmallVector<Sizes>{std::move(*one)};
}

} // namespace plim::lowering
