//===- Candidates.cpp - Which library kernels run a graph op -----------------------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "kernels/attrs.h"
#include "kernels/epilogue/epilogue.h"
#include "kernels/registry.h"

using namespace mlir;

namespace plim::lowering {

void registerCandidates(DialectRegistry &registry) {
  registerElementwiseCandidates(registry);
  registerReductionCandidates(registry);
  registerLinearAlgebraCandidates(registry);
  registerConvolutionCandidates(registry);
  registerMovementCandidates(registry);
}

uint8_t dtypeOf(Type element) {
  if (element.isF32())
    return PLIM_F32;
  if (element.isF16())
    return PLIM_F16;
  if (element.isBF16())
    return PLIM_BF16;
  if (element.isF64())
    return PLIM_F64;
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return 0;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return PLIM_BOOL;
  case 8:
    return isUnsigned ? PLIM_U8 : PLIM_I8;
  case 16:
    return isUnsigned ? PLIM_U16 : PLIM_I16;
  case 32:
    return isUnsigned ? PLIM_U32 : PLIM_I32;
  case 64:
    return isUnsigned ? PLIM_U64 : PLIM_I64;
  default:
    return 0;
  }
}

SmallVector<int64_t> rowMajor(ArrayRef<int64_t> dims) {
  SmallVector<int64_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<int64_t>(dims[d], 1);
  return strides;
}

ArrayRef<int64_t> staticDims(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

int64_t word(double value) { return plim_attr_from_double(value); }

LaunchBuilder &LaunchBuilder::add(Value value, graph::Access access) {
  graph::LaunchOperand &o = operands.emplace_back();
  o.value = value;
  o.access = access;
  o.dims.assign(staticDims(value).begin(), staticDims(value).end());
  o.strides = rowMajor(o.dims);
  return *this;
}

LaunchBuilder &LaunchBuilder::readAs(Value value, ArrayRef<int64_t> dims, ArrayRef<int64_t> strides, int64_t offset) {
  add(value, graph::Access::Read);
  graph::LaunchOperand &o = operands.back();
  o.reshaped = true;
  o.dims.assign(dims.begin(), dims.end());
  o.strides.assign(strides.begin(), strides.end());
  o.offset = offset;
  return *this;
}

LaunchBuilder &LaunchBuilder::writeAs(Value value, ArrayRef<int64_t> dims, ArrayRef<int64_t> strides) {
  readAs(value, dims, strides);
  operands.back().access = graph::Access::Write;
  return *this;
}

LaunchBuilder &LaunchBuilder::readBroadcast(Value value, ArrayRef<int64_t> dims) {
  ArrayRef<int64_t> own = staticDims(value);
  SmallVector<int64_t> ownStrides = rowMajor(own), strides(dims.size(), 0);
  for (size_t k = 0; k < own.size(); ++k) {
    size_t from = own.size() - 1 - k, to = dims.size() - 1 - k;
    if (own[from] == dims[to] && dims[to] != 1)
      strides[to] = ownStrides[from];
  }
  // A dimension of 1 keeps its natural stride, so that an operand that is not repeated looks contiguous.
  for (size_t d = dims.size(); d-- > 0;)
    if (dims[d] == 1)
      strides[d] = d + 1 < dims.size() ? strides[d + 1] * dims[d + 1] : 1;
  return readAs(value, dims, strides);
}

StridedView viewThrough(Value value) {
  StridedView view;
  view.value = value;
  // Applied from the value upwards: the steps that lead from the source to it, innermost last.
  SmallVector<Operation *> steps;
  while (Operation *op = view.value.getDefiningOp()) {
    if (isa<graph::TransposeOp>(op) || (isa<graph::SliceOp>(op) && llvm::all_of(cast<graph::SliceOp>(op).getFullSteps(),
                                                                                [](int64_t s) { return s > 0; }))) {
      steps.push_back(op);
      view.value = op->getOperand(0);
      continue;
    }
    break;
  }
  view.dims.assign(staticDims(view.value).begin(), staticDims(view.value).end());
  view.strides = rowMajor(view.dims);
  for (Operation *op : llvm::reverse(steps)) {
    SmallVector<int64_t> dims(view.dims), strides(view.strides);
    if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      for (auto [d, from] : llvm::enumerate(transpose.getPermutation()))
        view.dims[d] = dims[from], view.strides[d] = strides[from];
      continue;
    }
    auto slice = cast<graph::SliceOp>(op);
    for (auto [d, step] : llvm::enumerate(slice.getFullSteps())) {
      view.offset += slice.getStarts()[d] * strides[d];
      view.strides[d] = strides[d] * step;
      view.dims[d] = staticDims(slice.getResult())[d];
    }
  }
  return view;
}

LaunchBuilder &LaunchBuilder::readThrough(Value value) {
  StridedView view = viewThrough(value);
  if (!view.strides.empty() && view.strides.back() != 1)
    return read(value);
  return readAs(view.value, view.dims, view.strides, view.offset);
}

LaunchBuilder &LaunchBuilder::writeThrough(Value value) {
  auto transpose = value.hasOneUse() ? dyn_cast<graph::TransposeOp>(*value.user_begin()) : graph::TransposeOp();
  if (!transpose)
    return write(value);
  SmallVector<int64_t> to = rowMajor(staticDims(transpose.getResult())), strides(to.size());
  for (auto [d, from] : llvm::enumerate(transpose.getPermutation()))
    strides[from] = to[d];
  if (!strides.empty() && strides.back() != 1)
    return write(value);
  return writeAs(transpose.getResult(), staticDims(value), strides);
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

plim_shape shapeOf(const graph::LaunchOperand &operand) {
  plim_shape shape = {};
  auto type = cast<RankedTensorType>(operand.value.getType());
  shape.dtype = dtypeOf(type.getElementType());
  shape.layout = graph::layoutOf(type) == graph::StorageLayout::Panel32 ? PLIM_PANEL32 : PLIM_ROW;
  shape.rank = uint8_t(operand.dims.size());
  for (size_t d = 0; d < operand.dims.size(); ++d)
    shape.dims[d] = operand.dims[d], shape.strides[d] = operand.strides[d];
  return shape;
}

void LaunchBuilder::offer(StringRef kernel, ArrayRef<int64_t> attrs, StringRef numerics, Candidates &candidates) const {
  const plim_kernel_entry *entry = plim_find_kernel_entry(kernel.str().c_str());
  if (!entry)
    return;
  SmallVector<plim_shape> shapes;
  for (const graph::LaunchOperand &o : operands) {
    if (o.dims.size() > PLIM_MAX_RANK || !dtypeOf(graph::elementTypeOf(o.value)))
      return;
    shapes.push_back(shapeOf(o));
  }
  SmallVector<const plim_shape *> pointers;
  for (const plim_shape &s : shapes)
    pointers.push_back(&s);
  plim_cost cost = entry->cost(pointers.data(), uint32_t(pointers.size()), attrs.data(), &plim_default_machine);
  graph::KernelCandidate &c = candidates.emplace_back();
  c.kernel = kernel.str();
  c.attrs.assign(attrs.begin(), attrs.end());
  c.operands.assign(operands.begin(), operands.end());
  c.tasks = cost.tasks;
  c.sharedBytes = int64_t(cost.shared_bytes);
  c.scratchBytes = int64_t(cost.scratch_bytes);
  c.flops = int64_t(cost.flops);
  c.bytes = int64_t(cost.bytes);
  c.nanoseconds = std::max<int64_t>(int64_t(cost.ns), 1);
  c.numericsClass = numerics.str();
}

} // namespace plim::lowering
