//===- Candidates.cpp - Which library kernels run a graph op -----------------------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "compiler/Lowering/KernelType.h"
#include "dialects/Graph/PartialOps.h"
#include "kernels/attrs.h"
#include "kernels/epilogue/epilogue.h"
#include "kernels/registry.h"

using namespace mlir;

namespace plim::lowering {

void registerCandidates(DialectRegistry &registry) {
  registerElementwiseCandidates(registry);
  registerRecurrentCandidates(registry);
  registerReductionCandidates(registry);
  registerLinearAlgebraCandidates(registry);
  registerConvolutionCandidates(registry);
  registerMovementCandidates(registry);
  registerDynamicCandidates(registry);
  registerQuantizedCandidates(registry);
}

Sizes rowMajor(SizesRef dims) {
  if (dims.empty())
    return {};
  Sizes strides(dims.size(), getAffineConstantExpr(1, dims.front().getContext()));
  for (size_t d = dims.size(); d-- > 1;)
    strides[d - 1] = constantOf(dims[d]) == 0 ? strides[d] : strides[d] * dims[d];
  return strides;
}

std::optional<int64_t> constantOf(AffineExpr size) {
  auto constant = dyn_cast<AffineConstantExpr>(size);
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

bool isContiguous(SizesRef dims, SizesRef strides) {
  for (auto [dim, stride, natural] : llvm::zip_equal(dims, strides, rowMajor(dims)))
    if (!isOne(dim) && stride != natural)
      return false;
  return true;
}

int64_t word(double value) { return plim_attr_from_double(value); }

LaunchBuilder &LaunchBuilder::add(Value value, graph::Access access) {
  graph::LaunchOperand &o = operands.emplace_back();
  o.value = value;
  o.access = access;
  o.dims = Sizes(candidates.of(value));
  o.strides = candidates.sizes.stridesOf(value);
  return *this;
}

LaunchBuilder &LaunchBuilder::readAs(Value value, SizesRef dims, SizesRef strides, AffineExpr offset) {
  add(value, graph::Access::Read);
  graph::LaunchOperand &o = operands.back();
  o.dims = Sizes(dims);
  o.strides = Sizes(strides);
  o.offset = offset;
  return *this;
}

LaunchBuilder &LaunchBuilder::writeAs(Value value, SizesRef dims, SizesRef strides, AffineExpr offset) {
  readAs(value, dims, strides, offset);
  operands.back().access = graph::Access::Write;
  return *this;
}

LaunchBuilder &LaunchBuilder::readBroadcast(Value value, SizesRef dims) {
  SizesRef own = candidates.of(value);
  if (dims.empty())
    return readAs(value, {}, {});
  MLIRContext *context = dims.front().getContext();
  Sizes ownStrides = rowMajor(own), strides(dims.size(), getAffineConstantExpr(0, context));
  for (size_t k = 0; k < own.size(); ++k) {
    size_t from = own.size() - 1 - k, to = dims.size() - 1 - k;
    // Sizes that are not 1 are equal in every run, if not by their expressions.
    if (!isOne(own[from]))
      strides[to] = ownStrides[from];
  }
  // A dimension of 1 keeps its natural stride, so that an operand that is not repeated looks contiguous.
  for (size_t d = dims.size(); d-- > 0;)
    if (isOne(dims[d]))
      strides[d] = d + 1 < dims.size() ? strides[d + 1] * dims[d + 1] : getAffineConstantExpr(1, context);
  return readAs(value, dims, strides);
}

StridedView viewThrough(const graph::SizeSource &sizes, Value value) {
  StridedView view;
  view.value = value;
  // Applied from the value upwards: the steps that lead from the source to it, innermost last.
  SmallVector<Operation *> steps;
  while (Operation *op = view.value.getDefiningOp()) {
    auto slice = dyn_cast<graph::SliceOp>(op);
    if (!isa<graph::TransposeOp, graph::DynamicSliceOp>(op) &&
        !(slice && llvm::all_of(slice.getFullSteps(), [](int64_t s) { return s > 0; })))
      break;
    if (!steps.empty() && op->hasAttr(graph::kCopyAttr))
      break;
    steps.push_back(op);
    view.value = op->getOperand(0);
  }
  view.dims = Sizes(sizes.sizesOf(view.value));
  view.strides = sizes.stridesOf(view.value);
  for (Operation *op : llvm::reverse(steps)) {
    Sizes dims(view.dims), strides(view.strides);
    if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      for (auto [d, from] : llvm::enumerate(transpose.getPermutation()))
        view.dims[d] = dims[from], view.strides[d] = strides[from];
      continue;
    }
    auto dynamic = dyn_cast<graph::DynamicSliceOp>(op);
    SmallVector<int64_t> steps =
        dynamic ? SmallVector<int64_t>(dynamic.getSteps()) : cast<graph::SliceOp>(op).getFullSteps();
    for (auto [d, step] : llvm::enumerate(steps)) {
      AffineExpr start = dynamic ? sizes.entriesOf(dynamic.getStarts())[d]
                                 : getAffineConstantExpr(cast<graph::SliceOp>(op).getStarts()[d], op->getContext());
      if (constantOf(start) != 0)
        view.offset = view.offset ? view.offset + strides[d] * start : strides[d] * start;
      view.strides[d] = strides[d] * step;
      view.dims[d] = sizes.sizesOf(op->getResult(0))[d];
    }
  }
  return view;
}

LaunchBuilder &LaunchBuilder::readThrough(Value value) {
  StridedView view = viewThrough(candidates.sizes, value);
  if (!view.strides.empty() && !isOne(view.strides.back()))
    return read(value);
  return readAs(view.value, view.dims, view.strides, view.offset);
}

LaunchBuilder &LaunchBuilder::writeThrough(Value value) {
  auto transpose = value.hasOneUse() ? dyn_cast<graph::TransposeOp>(*value.user_begin()) : graph::TransposeOp();
  // In a region, the transposition may run at another time, or not at all.
  if (!transpose || transpose->getBlock() != value.getParentBlock())
    return write(value);
  Sizes to = rowMajor(candidates.of(transpose.getResult())), strides(to);
  for (auto [d, from] : llvm::enumerate(transpose.getPermutation()))
    strides[from] = to[d];
  if (!strides.empty() && !isOne(strides.back()))
    return write(value);
  return writeAs(transpose.getResult(), candidates.of(value), strides);
}

int64_t activationCode(graph::Activation activation) {
  switch (activation) {
  case graph::Activation::None:
    return PLIM_ACT_NONE;
  case graph::Activation::Relu:
    return PLIM_ACT_RELU;
  case graph::Activation::LeakyRelu:
    return PLIM_ACT_LEAKY_RELU;
  case graph::Activation::Clip:
    return PLIM_ACT_CLIP;
  case graph::Activation::HardSigmoid:
    return PLIM_ACT_HARD_SIGMOID;
  case graph::Activation::HardSwish:
    return PLIM_ACT_HARD_SWISH;
  case graph::Activation::Sigmoid:
    return PLIM_ACT_SIGMOID;
  case graph::Activation::Silu:
    return PLIM_ACT_SILU;
  case graph::Activation::Tanh:
    return PLIM_ACT_TANH;
  case graph::Activation::Gelu:
    return PLIM_ACT_GELU_ERF;
  case graph::Activation::GeluTanh:
    return PLIM_ACT_GELU_TANH;
  }
  llvm_unreachable("activation");
}

plim_shape largestShape(const graph::SizeSource &sizes, const graph::LaunchOperand &operand) {
  plim_shape shape = {};
  auto type = cast<RankedTensorType>(operand.value.getType());
  shape.dtype = kernelType(type.getElementType());
  shape.layout = graph::layoutOf(type) == graph::StorageLayout::Panel32 ? PLIM_PANEL32 : PLIM_ROW;
  shape.rank = uint8_t(operand.dims.size());
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    shape.dims[d] = sizes.largest(operand.dims[d]);
    shape.strides[d] = sizes.largest(operand.strides[d]);
  }
  return shape;
}

void LaunchBuilder::offer(StringRef kernel, ArrayRef<int64_t> attrs, StringRef numerics) const {
  const plim_kernel_entry *entry = plim_find_kernel_entry(kernel.str().c_str());
  if (!entry)
    return;
  SmallVector<plim_shape> shapes;
  for (const graph::LaunchOperand &o : operands) {
    if (o.dims.size() > PLIM_MAX_RANK || !kernelType(graph::elementTypeOf(o.value)))
      return;
    shapes.push_back(largestShape(candidates.sizes, o));
  }
  SmallVector<const plim_shape *> pointers;
  for (const plim_shape &s : shapes)
    pointers.push_back(&s);
  plim_cost cost = entry->cost(pointers.data(), uint32_t(pointers.size()), attrs.data(), &plim_default_machine);
  graph::KernelCandidate c;
  c.kernel = kernel.str();
  c.attrs.assign(attrs.begin(), attrs.end());
  c.tasks = cost.tasks;
  c.sharedBytes = int64_t(cost.shared_bytes);
  c.scratchBytes = int64_t(cost.scratch_bytes);
  c.flops = int64_t(cost.flops);
  c.bytes = int64_t(cost.bytes);
  c.nanoseconds = std::max<int64_t>(int64_t(cost.ns), 1);
  c.numericsClass = numerics.str();
  offer(std::move(c));
}

void LaunchBuilder::offer(graph::KernelCandidate kernel) const {
  kernel.operands.assign(operands.begin(), operands.end());
  candidates.list.push_back(std::move(kernel));
}

} // namespace plim::lowering
