//===- SplitAxes.cpp - How a launch can be cut into pieces of rows ----------------------------===//
//
// What splitting could do with an op (compiler/Transforms/Graph/Split), in the numbers of its launch: a lower bound on
// memory that holds for plans in pieces needs the smallest ones. Where the numbers would say too much of an operand,
// they say nothing of it.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Lowering/GraphToPlan/ProgramLowering.h"
#include "compiler/Transforms/Graph/Split/Pieces.h"
#include <map>

using namespace mlir;

namespace plim::lowering {
namespace {

bool isStatic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

/// The ways of all kernels, each with the smallest pieces that one of them has.
SmallVector<solver::SplitWay> finestWays(graph::PiecesOpInterface op, ArrayRef<plan::CandidateAttr> candidates) {
  std::map<std::pair<bool, int>, solver::SplitWay> finest;
  for (plan::CandidateAttr candidate : candidates) {
    SmallVector<solver::SplitWay> ways;
    op.getSplitWays(candidate.getKernel(), ways);
    for (solver::SplitWay &way : ways) {
      way.align = way.tile > 1 ? 1 : way.align; // pieces may begin between tiles
      if (auto [at, isNew] = finest.try_emplace({way.carried, way.axis}, way); !isNew)
        at->second.align = std::min(at->second.align, way.align);
    }
  }
  return llvm::map_to_vector(finest, [](const auto &one) { return one.second; });
}

void append(SmallVectorImpl<int64_t> &halos, const solver::SplitAxis::Operand &o) {
  halos.append({o.stride, o.before, o.after, o.divisor});
}

} // namespace

SmallVector<plan::SplitAttr> ProgramLowering::splitsOf(Operation *op, ArrayRef<graph::LaunchOperand> operands,
                                                       ArrayRef<plan::CandidateAttr> candidates) const {
  SmallVector<plan::SplitAttr> splits;
  auto pieces = dyn_cast<graph::PiecesOpInterface>(op);
  if (!options.splits || !pieces || op->getNumResults() != 1 || op->getParentOp() != function ||
      !isStatic(op->getResult(0)) || !llvm::all_of(op->getOperands(), isStatic))
    return splits;
  for (const solver::SplitWay &way : finestWays(pieces, candidates)) {
    int64_t extent = way.carried ? graph::staticDims(op->getOperand(0))[size_t(way.operands[0].axis)]
                                 : graph::staticDims(op->getResult(0))[size_t(way.axis)];
    if (extent <= 1)
      continue;
    int64_t piece = std::min(way.align, extent);
    SmallVector<int64_t> halos;
    for (const graph::LaunchOperand &o : operands) {
      if (o.access == graph::Access::Write)
        continue;
      // Through a slice or a transpose that the kernel follows by strides, rows are not known.
      auto same = llvm::find_if(op->getOperands(), [&](Value v) { return storageOf(v) == storageOf(o.value); });
      if (same == op->operand_end()) {
        append(halos, {.divisor = 0});
        continue;
      }
      const solver::SplitOperand &part = way.operands[size_t(same - op->operand_begin())];
      int64_t rows = part.axis < 0 ? 0 : graph::staticDims(*same)[size_t(part.axis)];
      append(halos, solver::leastOperand(part, piece, extent, rows));
    }
    plan::Combine combine = way.carried ? plan::Combine::Sum : plan::Combine::Concat;
    splits.push_back(plan::SplitAttr::get(context, "axis" + std::to_string(way.axis), extent, piece, combine, halos));
  }
  return splits;
}

} // namespace plim::lowering
