//===- FixedCosts.cpp - What is reserved whatever the plan ------------------------------------------------===//

#include "compiler/Lowering/PlanProblem/FixedCosts.h"
#include "compiler/Lowering/PlanProblem/ConstantLayout.h"
#include "compiler/Solver/Entries/SharedConstants.h"
#include "dialects/Plan/PlanSteps.h"
#include "plim/check.h"
#include "plim/weights.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

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

/// The weight file; what is streamed starts at a multiple of kSsdAlign in it.
static int64_t fileBytes(plim::plan::ModuleOp module, int64_t streamed) {
  if (module.getWeightsBytes())
    return module.getWeightsBytes();
  int64_t dataBytes = weightDataBytes(module);
  if (!dataBytes)
    return 0;
  dataBytes += kSsdAlign * streamed;
  return plim_weight_header_bytes(dataBytes) + plim_page(dataBytes);
}

/// Bytes of constants in memory beside those of this program: for the sake of other programs, which share the arena,
/// and gaps of the file, which stay unless something is streamed.
static int64_t foreignConstantBytes(ProgramOp program) {
  plim::plan::ModuleOp module = program.getModule();
  ConstantHomes homes = constantHomes(module);
  llvm::DenseSet<StringAttr> foreign = homes.inMemory;
  for (auto resident : program.getBody().getOps<ResidentOp>())
    if (!resident.getBuffer().use_empty())
      foreign.erase(resident.getSymbolAttr().getAttr());
  int64_t bytes = 0, all = 0;
  for (auto constant : module.getBody().getOps<ConstantOp>()) {
    int64_t aligned = solver::alignUp(constant.getBytes(), kAlign);
    all += aligned;
    if (foreign.contains(constant.getSymNameAttr()))
      bytes += aligned;
  }
  int64_t gaps = homes.streamed.empty() ? solver::alignUp(weightDataBytes(module), kAlign) - all : 0;
  return bytes + std::max<int64_t>(0, gaps);
}

/// Terms of what a session reserves that runs all programs of the module, one at a time.
static plim_reserve_terms reserveTerms(ProgramOp program, const solver::Solution *solution, int64_t streamed) {
  plim::plan::ModuleOp module = program.getModule();
  plim_reserve_terms terms = {};
  terms.workers = module.getWorkers();
  terms.stack_bytes = module.getStackBytes();
  terms.weights_bytes = fileBytes(module, streamed);
  // One arena for the weights, one for the states, and one for the run of each program that has none yet.
  terms.arenas = llvm::range_size(module.getBody().getOps<ArenaOp>()) + 2;
  for (auto each : module.getBody().getOps<ProgramOp>()) {
    ++terms.programs;
    terms.ios += each.getIos().size();
    terms.scalars = std::max<uint32_t>(terms.scalars, slotCount(each));
    terms.arenas += each.getStage() != Stage::Placed;
    uint32_t tokens = 0;
    bool transfers = false;
    int64_t spilled = 0;
    each.getBody().walk([&](Operation *op) {
      tokens += bool(tokenOf(op));
      if (auto launch = dyn_cast<LaunchOp>(op)) {
        terms.max_operands = std::max<uint32_t>(terms.max_operands, launch.getBuffers().size());
        terms.dynamic_shapes = std::max<uint32_t>(
            terms.dynamic_shapes, llvm::count_if(launch.getAccesses().getAsRange<AccessAttr>(),
                                                 [](AccessAttr a) { return !a.getShape().isStatic(); }));
      } else if (auto copy = dyn_cast<CopyOp>(op)) {
        transfers |= copy.getSrc().getType().getTier() == Tier::Ssd || copy.getDst().getType().getTier() == Tier::Ssd;
      } else if (auto alloc = dyn_cast<AllocOp>(op); alloc && alloc.getBuffer().getType().getTier() == Tier::Ssd) {
        spilled = std::max(spilled, *alloc.getOffset() + alloc.getBuffer().getType().getBytes());
      } else if (auto view = dyn_cast<ViewOp>(op);
                 view && view.getArena() && view.getBuffer().getType().getTier() == Tier::Ssd) {
        spilled = std::max(spilled, view.getOffset() + view.getBuffer().getType().getBytes());
      }
    });
    if (solution && each == program) {
      uint32_t copies = llvm::count_if(solution->actions, [](const solver::Action &action) {
        return action.kind == solver::ActionKind::Copy && action.queue != solver::Queue::Cpu;
      });
      tokens += copies;
      transfers |= copies > 0;
      spilled = solution->arena[int(solver::Tier::Ssd)];
      terms.arenas += spilled > 0;
    }
    terms.tokens = std::max(terms.tokens, tokens);
    if (transfers)
      terms.io_depth = std::max<int64_t>(module.getIoDepth(), kIoDepth);
    terms.spill_bytes = std::max<uint64_t>(terms.spill_bytes, plim_page(spilled));
  }
  return terms;
}

int64_t plim::plan::tableBytes(ProgramOp program, const solver::Solution &solution) {
  return tableBytes(
      program, solution,
      llvm::count_if(solution.storages,
                     [](const solver::Storage &storage) { return storage.region == solver::Region::File; }),
      false);
}

int64_t plim::plan::tableBytes(ProgramOp program, const solver::Solution &solution, int64_t streamed, bool spills) {
  plim_reserve_terms terms = reserveTerms(program, &solution, streamed);
  if (spills)
    terms.arenas += llvm::range_size(program.getModule().getBody().getOps<ProgramOp>());
  return int64_t(plim_reserved_overhead(&terms));
}

int64_t plim::plan::unreadConstantBytes(plim::plan::ModuleOp module, ArrayRef<PlanProblem> programs) {
  llvm::StringSet<> read;
  for (const PlanProblem &program : programs)
    for (const solver::Buffer &buffer : program.problem.buffers)
      if (buffer.kind == solver::BufferKind::Constant)
        read.insert(buffer.name);
  int64_t unread = 0, all = 0;
  for (auto constant : module.getBody().getOps<ConstantOp>()) {
    const int64_t aligned = solver::alignUp(constant.getBytes(), kAlign);
    all += aligned;
    unread += read.contains(constant.getSymName()) ? 0 : aligned;
  }
  return unread + std::max<int64_t>(0, solver::alignUp(weightDataBytes(module), kAlign) - all);
}

void plim::plan::addFixedCosts(ProgramOp program, solver::Problem &problem) {
  ModuleOp module = program.getModule();
  plim_reserve_terms terms = reserveTerms(program, nullptr, 0);
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
  int64_t foreign = used ? foreignConstantBytes(program) : 0;
  if (page(used + foreign) > page(used))
    problem.fixed.push_back({solver::kForeignConstants, solver::Tier::Ram, page(used + foreign) - page(used)});
  if (usedStates && page(stateBytes) > page(usedStates))
    problem.fixed.push_back({"states of other programs", solver::Tier::Ram, page(stateBytes) - page(usedStates)});
}
