//===- FixedCosts.cpp - What is reserved whatever the plan ------------------------------------------------===//

#include "compiler/Lowering/PlanProblem/FixedCosts.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "dialects/Plan/PlanSteps.h"
#include "plim/check.h"
#include "plim/weights.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

int64_t plim::plan::weightDataBytes(plim::plan::ModuleOp module) {
  int64_t end = 0;
  for (auto constant : module.getBody().getOps<ConstantOp>())
    end = std::max(end, constant.getOffset() + constant.getBytes());
  return end;
}

/// Scalar slots of the step table: symbols, results, trips; what a loop carries or an if gives shares slots.
static int64_t slotCount(ProgramOp program) {
  int64_t slots = program.getSymbols().size();
  program.getBody().walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](LoadScalarOp) { slots += 1; })
        .Case([&](EvalOp eval) { slots += eval.getNumResults(); })
        .Case([&](LaunchOp launch) { slots += launch.getValues().size(); })
        .Case([&](LoopOp loop) { slots += 1 - int64_t(loop.getInits().size()); })
        .Case([&](IfOp branch) { slots -= branch.getNumResults(); });
  });
  return slots;
}

void plim::plan::addFixedCosts(ProgramOp program, solver::Problem &problem) {
  ModuleOp module = program.getModule();
  plim_reserve_terms terms = {};
  terms.workers = module.getWorkers();
  terms.stack_bytes = module.getStackBytes();
  terms.weights_bytes = module.getWeightsBytes();
  int64_t dataBytes = weightDataBytes(module);
  if (!terms.weights_bytes && dataBytes)
    terms.weights_bytes = plim_weight_header_bytes(dataBytes) + plim_page(dataBytes);
  // A session may run all programs of the module, one at a time.
  for (auto each : module.getBody().getOps<ProgramOp>()) {
    ++terms.programs;
    terms.ios += each.getIos().size();
    terms.scalars = std::max<uint32_t>(terms.scalars, slotCount(each));
    uint32_t tokens = 0;
    each.getBody().walk([&](Operation *op) {
      if (tokenOf(op))
        ++tokens;
      if (auto launch = dyn_cast<LaunchOp>(op)) {
        terms.max_operands = std::max<uint32_t>(terms.max_operands, launch.getBuffers().size());
        terms.dynamic_shapes = std::max<uint32_t>(
            terms.dynamic_shapes, llvm::count_if(launch.getAccesses().getAsRange<AccessAttr>(),
                                                 [](AccessAttr a) { return !a.getShape().isStatic(); }));
      }
    });
    terms.tokens = std::max(terms.tokens, tokens);
  }
  // One arena for the weights, one for the states, and one for the run of each program that has none yet.
  terms.arenas = llvm::range_size(module.getBody().getOps<ArenaOp>()) + 2;
  for (auto other : module.getBody().getOps<ProgramOp>())
    terms.arenas += other.getStage() != Stage::Placed;
  problem.fixed.push_back({"tables and worker stacks", solver::Tier::Ram, int64_t(plim_reserved_overhead(&terms))});

  int64_t used = 0, stateBytes = 0, usedStates = 0;
  for (const solver::Buffer &buffer : problem.buffers) {
    if (buffer.kind == solver::BufferKind::Constant)
      used += solver::alignUp(buffer.bytes, kAlign);
    else if (buffer.kind == solver::BufferKind::State)
      usedStates += solver::alignUp(buffer.bytes, kAlign);
  }
  for (auto state : module.getBody().getOps<StateOp>())
    stateBytes += solver::alignUp(state.getBytes(), kAlign);
  auto page = [](int64_t bytes) { return int64_t(plim_page(bytes)); };
  if (used && page(dataBytes) > page(used))
    problem.fixed.push_back({"constants of other programs", solver::Tier::Ram, page(dataBytes) - page(used)});
  if (usedStates && page(stateBytes) > page(usedStates))
    problem.fixed.push_back({"states of other programs", solver::Tier::Ram, page(stateBytes) - page(usedStates)});
}
