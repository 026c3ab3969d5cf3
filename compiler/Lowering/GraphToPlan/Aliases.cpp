//===- Aliases.cpp - Which operands of a launch may share bytes ------------------------------===//
#include "compiler/Lowering/GraphToPlan/ProgramLowering.h"
#include "dialects/Graph/PartialOps.h"

using namespace mlir;

namespace plim::lowering {

/// Each piece of a concatenation may be written right into its place of the result.
SmallVector<plan::AliasAttr> ProgramLowering::concatAliases(graph::ConcatOp concat,
                                                            const graph::KernelCandidate &c) const {
  SmallVector<plan::AliasAttr> aliases;
  // A piece lies in runs at fixed distances, which open sizes do not have.
  if (!cast<RankedTensorType>(concat.getType()).hasStaticShape())
    return aliases;
  int64_t element = graph::elementBytes(graph::elementTypeOf(concat.getResult()));
  ArrayRef<int64_t> whole = cast<RankedTensorType>(concat.getType()).getShape();
  size_t axis = size_t(concat.getAxis());
  int64_t inner = element, outer = 1, offset = 0, last = int64_t(c.operands.size()) - 1;
  for (size_t d = 0; d < whole.size(); ++d)
    (d < axis ? outer : inner) *= d == axis ? 1 : whole[d];
  for (int64_t i = 0; i < last; ++i) {
    int64_t run = sizes.largest(c.operands[size_t(i)].dims[axis]) * inner;
    const bool liesTogether = outer == 1 || run == whole[axis] * inner;
    // Kernels write rows of neighbours: elements that lie apart each are copied there.
    if (run > 0 && (liesTogether || run > element))
      aliases.push_back(plan::AliasAttr::get(context, plan::AliasKind::Into, i, last, offset, liesTogether ? 0 : run,
                                             liesTogether ? 0 : whole[axis] * inner, c.nanoseconds / last));
    offset += run;
  }
  return aliases;
}

/// The last states may be written over the initial ones.
static SmallVector<plan::AliasAttr> recurrenceAliases(graph::RecurrenceOp net, const graph::KernelCandidate &c) {
  SmallVector<plan::AliasAttr> aliases;
  auto indexOf = [&](Value value, graph::Access access) {
    return llvm::find_if(c.operands,
                         [&](const graph::LaunchOperand &o) {
                           return o.value == value && o.access == access && !o.offset &&
                                  isContiguous(o.dims, o.strides);
                         }) -
           c.operands.begin();
  };
  for (auto [last, initial] :
       {std::pair<Value, Value>(net.getLastHidden(), net.getHidden()), {net.getLastCell(), net.getCell()}}) {
    int64_t read = indexOf(initial, graph::Access::Read), write = indexOf(last, graph::Access::Write);
    if (initial && read < int64_t(c.operands.size()) && write < int64_t(c.operands.size()))
      aliases.push_back(plan::AliasAttr::get(net.getContext(), plan::AliasKind::InPlace, write, read, 0, 0, 0, 0));
  }
  return aliases;
}

SmallVector<plan::AliasAttr> ProgramLowering::aliasesOf(Operation *op, const graph::KernelCandidate &c) const {
  if (auto concat = dyn_cast<graph::ConcatOp>(op))
    return concatAliases(concat, c);
  if (auto net = dyn_cast<graph::RecurrenceOp>(op))
    return recurrenceAliases(net, c);
  SmallVector<plan::AliasAttr> aliases;
  ArrayRef<graph::LaunchOperand> operands = c.operands;
  int64_t last = int64_t(operands.size()) - 1;
  if (c.kernel == "copy.strided") {
    if (op->hasAttr(graph::kCopyAttr))
      return aliases;
    const graph::LaunchOperand &source = operands[0];
    std::optional<int64_t> offset = fixedOffset(source);
    // The bounds of two open sizes may differ although one is part of the other in every run.
    int64_t bytes = sizes.largestBytes(operands[1].value);
    if (offset && isContiguous(source.dims, source.strides) && bytes > 0 &&
        *offset + bytes <= sizes.largestBytes(source.value))
      aliases.push_back(plan::AliasAttr::get(context, plan::AliasKind::View, 1, 0, *offset, 0, 0, c.nanoseconds));
    return aliases;
  }
  if (auto gather = dyn_cast<graph::PartialGatherOp>(op)) {
    if (gather.getSoFar())
      aliases.push_back(plan::AliasAttr::get(context, plan::AliasKind::InPlace, last, 2, 0, 0, 0, 0));
    return aliases;
  }
  if (!StringRef(c.kernel).starts_with("elementwise"))
    return aliases;
  for (int64_t i = 0; i < last; ++i)
    if (operands[i].strides == operands[last].strides && fixedOffset(operands[i]) == 0 &&
        graph::elementTypeOf(operands[i].value) == graph::elementTypeOf(operands[last].value) &&
        sizes.largestBytes(operands[i].value) == sizes.largestBytes(operands[last].value))
      aliases.push_back(plan::AliasAttr::get(context, plan::AliasKind::InPlace, last, i, 0, 0, 0, 0));
  return aliases;
}

} // namespace plim::lowering
