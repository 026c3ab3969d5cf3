//===- Reorder.cpp - Order and candidates alone --------------------------------------------------------------===//

#include "compiler/Lowering/PlanProblem/Reorder.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

void plim::plan::reorder(ProgramOp program, ArrayRef<Operation *> ops) {
  Operation *end = program.getBlock()->getTerminator();
  SmallVector<Operation *> head;
  for (Operation &op : *program.getBlock())
    if (isa<ResidentOp, AllocOp>(op))
      head.push_back(&op);
  for (Operation &op : *program.getBlock())
    if (auto view = dyn_cast<ViewOp>(op);
        view && !isa_and_present<ViewOp>(view.getBase().getDefiningOp()) && !view.getDynamic())
      head.push_back(&op);
  for (Operation *op : head)
    op->moveBefore(end);
  llvm::SmallPtrSet<Operation *, 16> moved(head.begin(), head.end());
  auto place = [&](auto &&self, Operation *op) -> void {
    if (op->getBlock() != program.getBlock() || !moved.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp(); isa_and_present<ViewOp>(def))
        self(self, def);
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *def = operand.getDefiningOp(); inner != op && isa_and_present<ViewOp>(def))
          self(self, def);
    });
    op->moveBefore(end);
  };
  for (Operation *op : ops)
    place(place, op);
}

void plim::plan::applyOrder(const PlanProblem &extracted, ArrayRef<int> order) {
  reorder(extracted.program, llvm::map_to_vector(order, [&](int step) { return extracted.steps[step]; }));
}

void plim::plan::applyCandidates(const PlanProblem &extracted, const solver::Solution &solution) {
  for (const solver::Action &action : solution.actions)
    if (auto launch = action.step < 0 ? LaunchOp() : dyn_cast<LaunchOp>(extracted.steps[action.step]))
      launch.setCandidatesAttr(ArrayAttr::get(launch.getContext(), {launch.getCandidate(unsigned(action.candidate))}));
}
