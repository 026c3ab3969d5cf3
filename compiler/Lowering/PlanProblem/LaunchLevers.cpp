//===- LaunchLevers.cpp - What a launch lets the planner do --------------------------------------------===//
#include "compiler/Lowering/PlanProblem/LaunchLevers.h"
#include "dialects/Plan/PlanSteps.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

/// A launch has an operand for each access, a step one for each buffer.
void plim::plan::addSplits(PlanProblem &extracted, LaunchOp launch, solver::Step &step) {
  if (!launch.getSplits())
    return;
  for (SplitAttr split : launch.getSplits()->getAsRange<SplitAttr>()) {
    solver::SplitAxis axis;
    axis.name = split.getAxis().str();
    axis.extent = split.getExtent();
    axis.minPiece = split.getMinPiece();
    axis.combine = static_cast<solver::SplitAxis::Combine>(split.getCombine());
    axis.operands.assign(step.reads.size(), {.divisor = 0});
    ArrayRef<int64_t> halos = split.getHalos();
    for (auto [buffer, access] : llvm::zip_equal(launch.getBuffers(), launch.getAccesses().getAsRange<AccessAttr>())) {
      if (!access.reads())
        continue;
      const solver::SplitAxis::Operand part{halos[0], halos[1], halos[2], halos[3]};
      halos = halos.drop_front(4);
      auto at = llvm::find(step.reads, extracted.buffers.at(rootBuffer(buffer)));
      if (at == step.reads.end())
        continue;
      // Of several accesses each holds: all of the buffer, where one needs that.
      solver::SplitAxis::Operand &known = axis.operands[size_t(at - step.reads.begin())];
      if (known.divisor == 0 || (part.stride == 0 && part.divisor > 0))
        known = part;
    }
    step.splits.push_back(std::move(axis));
  }
}

void plim::plan::addAliases(PlanProblem &extracted, LaunchOp launch, int number, const std::vector<bool> &isShared) {
  if (!launch.getAliases() || launch.getNumResults())
    return;
  solver::Problem &problem = extracted.problem;
  for (AliasAttr attr : launch.getAliases()->getAsRange<AliasAttr>()) {
    Value operand = launch.getBuffers()[attr.getOperand()], base = launch.getBuffers()[attr.getBase()];
    AccessAttr access = launch.getAccess(attr.getOperand()), baseAccess = launch.getAccess(attr.getBase());
    solver::Alias alias;
    alias.kind = static_cast<solver::AliasKind>(attr.getKind());
    alias.buffer = extracted.buffers.at(rootBuffer(operand));
    alias.base = extracted.buffers.at(rootBuffer(base));
    alias.step = number;
    alias.offset = attr.getOffset();
    alias.run = attr.getRun();
    alias.stride = attr.getStride();
    alias.savedNs = attr.getSavedNs();
    // The alias speaks of whole buffers; the launch must use them as such.
    bool whole = rootBuffer(operand) == operand && rootBuffer(base) == base && access.getOffset() == 0;
    // A value that is concatenated twice lies in one place; the other one needs its copy.
    if (alias.kind == solver::AliasKind::Into)
      whole &= llvm::count_if(launch.getBuffers(), [&](Value v) { return rootBuffer(v) == operand; }) == 1;
    if (alias.kind != solver::AliasKind::View)
      whole &= baseAccess.getOffset() == 0;
    bool transient =
        problem.buffers[alias.buffer].kind == solver::BufferKind::Transient ||
        (alias.kind == solver::AliasKind::InPlace && problem.buffers[alias.buffer].kind == solver::BufferKind::Output);
    solver::BufferKind kind = problem.buffers[alias.base].kind;
    bool baseFits = alias.kind == solver::AliasKind::InPlace
                        ? kind == solver::BufferKind::Transient
                        : kind != solver::BufferKind::State &&
                              (alias.kind == solver::AliasKind::Into || kind != solver::BufferKind::Output);
    if (whole && transient && baseFits && !isShared[alias.buffer] && !isShared[alias.base] &&
        alias.buffer != alias.base)
      problem.aliases.push_back(alias);
  }
}
