//===- Extract.cpp - Plan IR to the planner's problem --------------------------------------------------===//
//
// Every step of the program's block is a step of the problem; a plan.if or plan.loop is one step with all that its
// regions touch, one buffer that holds what they allocate, and the largest workspace of its launches. A buffer that
// several steps write is written by the first of them; the others count as readers, and keep their order.
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Lowering/PlanProblem/FixedCosts.h"
#include "compiler/Lowering/PlanProblem/LaunchLevers.h"
#include "compiler/Lowering/PlanProblem/MovableBuffers.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "compiler/Lowering/PlanProblem/RegionBuffers.h"
#include "dialects/Plan/PlanSteps.h"
#include "plim/check.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

namespace {

class Extractor {
public:
  Extractor(ProgramOp program, const FitRequest &request)
      : program(program), module(program.getModule()), request(request), problem(result.problem) {}

  FailureOr<PlanProblem> run();

private:
  struct Access {
    int step;
    bool reads, writes;
  };

  void addBuffers();
  void addRegionBuffers();
  int addBuffer(Value root, std::string name, solver::BufferKind kind, StringRef source = {}, int64_t align = kAlign);
  void addStep(Operation *op);
  void addLaunch(solver::Step &step, LaunchOp launch);
  void addComposite(solver::Step &step, Operation *op);
  void addScalarOrder(int number, Operation *op);
  void addAccesses();
  solver::Candidate candidateOf(CandidateAttr candidate) const;
  int bufferOf(Value value) { return result.buffers.at(rootBuffer(value)); }

  ProgramOp program;
  plim::plan::ModuleOp module;
  const FitRequest &request;
  PlanProblem result;
  solver::Problem &problem;
  int lastCheck = -1; // the last step so far that may refuse a run
  llvm::MapVector<StringAttr, int> groups;
  DenseMap<Operation *, int> stepOf;
  DenseMap<Attribute, int> stateBuffers;     // by name of the state
  std::vector<std::vector<Access>> accesses; // by buffer, in program order
  std::vector<bool> isShared;                // by buffer: written by several steps, or read and written by one
};

int64_t bytesOf(Value buffer) { return cast<BufferType>(buffer.getType()).getBytes(); }

std::string sourceOf(Operation *op) {
  auto source = op->getAttrOfType<StringAttr>("source");
  return source ? source.str() : "";
}

} // namespace

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

int Extractor::addBuffer(Value root, std::string name, solver::BufferKind kind, StringRef source, int64_t align) {
  solver::Buffer buffer;
  buffer.name = std::move(name);
  buffer.source = source.str();
  buffer.bytes = bytesOf(root);
  buffer.align = align;
  buffer.kind = kind;
  problem.buffers.push_back(std::move(buffer));
  return result.buffers[root] = int(problem.buffers.size()) - 1;
}

void Extractor::addBuffers() {
  for (auto [value, io] : llvm::zip_equal(program.getIOArguments(), program.getIos().getAsRange<IOAttr>())) {
    if (FlatSymbolRefAttr state = io.getState()) {
      stateBuffers[state] = addBuffer(value, io.getName().str(), solver::BufferKind::State);
      continue;
    }
    const solver::BufferKind kind = io.getOutput() ? solver::BufferKind::Output : solver::BufferKind::Input;
    const int number = addBuffer(value, io.getName().str(), kind);
    problem.buffers[number].reused = io.getReused();
  }
  // Constants in the order of the weight file: the arena that holds them mirrors it.
  llvm::SmallVector<ResidentOp> residents(program.getBody().getOps<ResidentOp>());
  DenseMap<Attribute, int64_t> rank;
  int64_t next = 0;
  for (Operation &op : module.getBody().getOps())
    if (auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      rank[FlatSymbolRefAttr::get(name)] = isa<ConstantOp>(op) ? cast<ConstantOp>(op).getOffset() : INT32_MAX + next++;
  llvm::stable_sort(residents,
                    [&](ResidentOp a, ResidentOp b) { return rank[a.getSymbolAttr()] < rank[b.getSymbolAttr()]; });
  for (ResidentOp resident : residents) {
    if (resident.getBuffer().use_empty() && !stateBuffers.count(resident.getSymbolAttr()))
      continue; // applySolution drops it
    StringRef name = resident.getSymbol();
    if (!stateOf(resident.getBuffer())) {
      addBuffer(resident.getBuffer(), name.str(), solver::BufferKind::Constant, name);
    } else if (auto known = stateBuffers.find(resident.getSymbolAttr()); known != stateBuffers.end()) {
      result.buffers[resident.getBuffer()] = known->second; // the io and the resident are the same bytes
    } else {
      stateBuffers[resident.getSymbolAttr()] =
          addBuffer(resident.getBuffer(), name.str(), solver::BufferKind::State, name);
    }
  }
  addRegionBuffers();
  for (AllocOp alloc : program.getBody().getOps<AllocOp>()) {
    if (alloc.getBuffer().use_empty())
      continue;
    std::string source = sourceOf(alloc);
    std::string name = source.empty() ? ("buffer" + Twine(problem.buffers.size())).str() : source;
    int number = addBuffer(alloc.getBuffer(), name, solver::BufferKind::Transient, source, alloc.getAlign());
    if (alloc.getGroup()) {
      problem.buffers[number].group = groups.insert({alloc.getGroupAttr(), int(groups.size())}).first->second;
      problem.buffers[number].sizes.assign(alloc.getSizes()->begin(), alloc.getSizes()->end());
    }
  }
}

/// Of each branch or loop, one buffer that holds all of its own.
void Extractor::addRegionBuffers() {
  for (Operation &op : *program.getBlock()) {
    if (!isa<IfOp, LoopOp>(op))
      continue;
    llvm::DenseMap<Value, int64_t> offsets;
    int64_t bytes = packRegionBuffers(&op, offsets);
    if (offsets.empty())
      continue;
    int number = -1;
    op.walk([&](AllocOp alloc) {
      auto offset = offsets.find(alloc.getBuffer());
      if (offset == offsets.end())
        return;
      std::string source = sourceOf(&op);
      if (number < 0)
        number = addBuffer(alloc.getBuffer(), source.empty() ? op.getName().getStringRef().str() : source,
                           solver::BufferKind::Transient, source);
      result.buffers[alloc.getBuffer()] = number;
      result.regionOffsets[alloc.getBuffer()] = offset->second;
    });
    problem.buffers[number].bytes = bytes;
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

solver::Candidate Extractor::candidateOf(CandidateAttr candidate) const {
  solver::Candidate c;
  c.kernel = candidate.getKernel().str();
  c.label = candidate.getLabel().str();
  c.ns = candidate.getNs();
  c.sharedBytes = candidate.getShared();
  c.scratchBytes = candidate.getScratch();
  c.tasks = candidate.getTasks();
  c.numerics = candidate.getNumerics().str();
  c.flags = (candidate.getInPlace() ? solver::kInPlaceOk : 0) | (candidate.getStrided() ? solver::kSubrangeOk : 0);
  c.barredBy = candidate.getBarredBy().str();
  return c;
}

void Extractor::addLaunch(solver::Step &step, LaunchOp launch) {
  for (CandidateAttr candidate : launch.getCandidates().getAsRange<CandidateAttr>())
    step.candidates.push_back(candidateOf(candidate));
  step.pure = launch.getPure() && !launch.getNumResults();
  if (launch.getGroup()) {
    step.group = groups.insert({launch.getGroupAttr(), int(groups.size())}).first->second;
    std::vector<std::string> &choices = problem.groups[step.group].choices;
    if (choices.empty())
      for (const solver::Candidate &c : step.candidates)
        choices.push_back(c.label.empty() ? c.kernel : c.label);
  }
}

/// The fastest candidate that nothing bars: launches inside of regions take it.
static CandidateAttr fastestCandidate(LaunchOp launch) {
  CandidateAttr best;
  for (CandidateAttr candidate : launch.getCandidates().getAsRange<CandidateAttr>())
    if (candidate.getBarredBy().empty() && (!best || candidate.getNs() < best.getNs()))
      best = candidate;
  return best ? best : launch.getCandidate(0);
}

void Extractor::addComposite(solver::Step &step, Operation *op) {
  solver::Candidate whole;
  whole.kernel = op->getName().getStringRef().str();
  whole.flags = 0;
  int64_t trips = isa<LoopOp>(op) ? std::max<int64_t>(1, cast<LoopOp>(op).getMaxTrips()) : 1;
  op->walk([&](LaunchOp launch) {
    CandidateAttr candidate = fastestCandidate(launch);
    launch.setCandidatesAttr(ArrayAttr::get(launch.getContext(), {candidate}));
    whole.sharedBytes = std::max(whole.sharedBytes, candidate.getWorkspaceBytes(module.getWorkers()));
    whole.ns = std::min(solver::kMaxNs, whole.ns + candidate.getNs() * trips);
  });
  step.candidates.push_back(whole);
  step.pure = false;
}

/// Steps that compute a scalar come before those that use it, also where they use it as the offset of a view.
void Extractor::addScalarOrder(int number, Operation *op) {
  llvm::SmallSetVector<int, 4> before;
  auto visit = [&](auto &&self, Value value) -> void {
    if (auto view = value.getDefiningOp<ViewOp>()) {
      for (Value operand : view->getOperands())
        self(self, operand);
    } else if (Operation *def = value.getDefiningOp(); def && !isa<BufferType>(value.getType())) {
      auto known = stepOf.find(program.getBlock()->findAncestorOpInBlock(*def));
      if (known != stepOf.end() && known->second != number)
        before.insert(known->second);
    }
  };
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      visit(visit, operand);
  });
  problem.steps[number].after.assign(before.begin(), before.end());
}

void Extractor::addStep(Operation *op) {
  int number = int(problem.steps.size());
  stepOf[op] = number;
  result.steps.push_back(op);
  solver::Step &step = problem.steps.emplace_back();
  step.source = sourceOf(op);
  step.name = step.source.empty() ? op->getName().getStringRef().str() : step.source;
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    addLaunch(step, launch);
  } else if (isa<IfOp, LoopOp>(op)) {
    addComposite(step, op);
  } else {
    solver::Candidate candidate;
    candidate.kernel = op->getName().getStringRef().str();
    candidate.flags = 0;
    step.candidates.push_back(candidate);
    step.pure = false; // it runs once: others use its scalars
  }
  auto touch = [&](Operation *inner) {
    for (BufferUse use : bufferUses(inner)) {
      std::vector<Access> &all = accesses[bufferOf(use.operand->get())];
      if (all.empty() || all.back().step != number)
        all.push_back({number, false, false});
      all.back().reads |= use.reads();
      all.back().writes |= use.writes();
    }
  };
  op->walk(touch);
  // What a step in flight touches stays until the plan.wait for it.
  if (auto wait = dyn_cast<WaitOp>(op))
    for (Value token : wait.getTokens())
      for (BufferUse use : bufferUses(token.getDefiningOp())) {
        std::vector<Access> &all = accesses[bufferOf(use.operand->get())];
        if (all.empty() || all.back().step != number)
          all.push_back({number, true, false});
      }
  addScalarOrder(number, op);
  // What a check refuses has written nothing.
  if (isa<CheckOp>(op))
    lastCheck = number;
  else if (lastCheck >= 0 && !isa<EvalOp, LoadScalarOp>(op) && !llvm::is_contained(step.after, lastCheck))
    step.after.push_back(lastCheck);
}

/// Turns the accesses of each buffer into reads and writes of the steps.
void Extractor::addAccesses() {
  isShared.assign(problem.buffers.size(), false);
  for (int b = 0; b < int(problem.buffers.size()); ++b) {
    const std::vector<Access> &all = accesses[b];
    bool made = problem.buffers[b].kind == solver::BufferKind::Transient ||
                problem.buffers[b].kind == solver::BufferKind::Output;
    int64_t writers = llvm::count_if(all, [](const Access &a) { return a.writes; });
    bool both = llvm::any_of(all, [](const Access &a) { return a.reads && a.writes; });
    isShared[b] = made && !all.empty() && (writers != 1 || both || !all.front().writes);
    for (auto [i, access] : llvm::enumerate(all)) {
      solver::Step &step = problem.steps[access.step];
      if (!isShared[b]) {
        if (access.reads)
          step.reads.push_back(b);
        if (access.writes)
          step.writes.push_back(b);
        continue;
      }
      (i == 0 ? step.writes : step.reads).push_back(b);
      step.pure &= !access.writes; // run again, it would find what the others wrote
      // Keep the order of accesses wherever one of two writes.
      for (size_t j = 0; j < i; ++j)
        if ((access.writes || all[j].writes) && !llvm::is_contained(step.after, all[j].step))
          step.after.push_back(all[j].step);
    }
  }
}

FailureOr<PlanProblem> Extractor::run() {
  result.program = program;
  problem.workers = module.getWorkers();
  problem.granule = PLIM_PAGE;
  problem.countIo = request.countIO;
  problem.levers = request.levers;
  problem.links = request.links;
  for (unsigned tier = 0; tier < kTierCount; ++tier) {
    int64_t otherwise = static_cast<Tier>(tier) == Tier::Ssd ? 0 : solver::kUnbounded;
    problem.tiers[tier].capacity = request.budget[tier].value_or(otherwise);
  }
  program.getBody().walk([&](Operation *op) {
    if (auto group = op->getAttrOfType<StringAttr>("group"))
      groups.insert({group, int(groups.size())});
  });
  for (auto &[name, number] : groups)
    problem.groups.push_back({name.str(), {}});
  addBuffers();
  accesses.resize(problem.buffers.size());
  for (Operation &op : *program.getBlock())
    if (isStep(&op) && !isa<ReturnOp>(op))
      addStep(&op);
  addAccesses();
  markMovable(result, isShared, request.kept);
  for (auto [number, op] : llvm::enumerate(result.steps))
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      addSplits(result, launch, problem.steps[number]);
      addAliases(result, launch, int(number), isShared);
    }
  addFixedCosts(program, problem);
  std::vector<std::string> errors = solver::validate(problem);
  if (errors.empty())
    errors = solver::unplannable(problem);
  for (const std::string &error : errors)
    emitError(program.getLoc()) << "program '" << program.getSymName() << "': " << error;
  if (!errors.empty())
    return failure();
  return std::move(result);
}

FailureOr<PlanProblem> plim::plan::extractProblem(ProgramOp program, const FitRequest &request) {
  return Extractor(program, request).run();
}
