//===- Apply.cpp - The planner's solution to plan IR in stage tiered --------------------------------------===//

#include "compiler/Lowering/PlanProblem/Arenas.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "dialects/Plan/PlanSteps.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

static int64_t bytesOf(Value buffer) { return cast<BufferType>(buffer.getType()).getBytes(); }

//===----------------------------------------------------------------------===//
// Order and candidates alone
//===----------------------------------------------------------------------===//

/// Moves buffers to the head of the program and steps to its end in the order of `ops`; views at a scalar's offset go
/// with their first user.
static void reorder(ProgramOp program, ArrayRef<Operation *> ops) {
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

//===----------------------------------------------------------------------===//
// The whole solution
//===----------------------------------------------------------------------===//

namespace {

class Applier {
public:
  Applier(const PlanProblem &extracted, const solver::Solution &solution)
      : extracted(extracted), solution(solution), program(extracted.program), module(program.getModule()),
        builder(program.getContext()), bases(solution.storages.size()) {}

  LogicalResult run();

private:
  /// Buffers that a step's region uses are seen from where they are made.
  using Places = DenseMap<int, const solver::Place *>; // by buffer

  void settleResidents();
  void collectOwners();
  void placeRegionBuffers();
  Block *blockOf(int storage);
  Value base(int storage);
  Places placesOf(const solver::Action &action) const;
  Value viewOf(const solver::Place &place, int64_t bytes);
  LogicalResult rewrite(Operation *op, const Places &places);
  LogicalResult rewriteLaunch(LaunchOp launch, const Places &places);
  LogicalResult copyPieces(LaunchOp launch, ArrayRef<PieceCopy> copies, const Places &places,
                           SmallVectorImpl<Operation *> &order);
  void addWorkspace(LaunchOp launch, int64_t offset);
  Operation *stepFor(const solver::Action &action);

  const PlanProblem &extracted;
  const solver::Solution &solution;
  ProgramOp program;
  plim::plan::ModuleOp module;
  OpBuilder builder;
  SmallVector<Value> bases;                  // by storage; made when first asked for
  DenseMap<int, SmallVector<Value>> rootsOf; // by buffer: root values (an io and a resident may be one state)
  DenseMap<int, int> owners;                 // by storage: the buffer whose bytes it is
  llvm::SmallPtrSet<Operation *, 16> seen;   // steps that have run once; the next time is a clone
  DenseMap<int, int> instances;              // by step: clones made
};

} // namespace

/// Homes of constants and states: fixed by the module, not by the solution, so that all programs agree.
void Applier::settleResidents() {
  for (IOAttr io : program.getIos().getAsRange<IOAttr>()) {
    auto residents = program.getBody().getOps<ResidentOp>();
    if (!io.getState() || llvm::any_of(residents, [&](ResidentOp r) { return r.getSymbolAttr() == io.getState(); }))
      continue;
    auto state = cast<StateOp>(SymbolTable::lookupSymbolIn(module, io.getState()));
    builder.setInsertionPointToStart(program.getBlock());
    ResidentOp::create(builder, program.getLoc(), BufferType::get(program.getContext(), state.getBytes()),
                       io.getState(), FlatSymbolRefAttr(), IntegerAttr(), UnitAttr());
  }
  for (auto resident : llvm::make_early_inc_range(program.getBody().getOps<ResidentOp>())) {
    auto state = dyn_cast<StateOp>(SymbolTable::lookupSymbolIn(module, resident.getSymbolAttr()));
    bool isIO = llvm::any_of(program.getIos().getAsRange<IOAttr>(),
                             [&](IOAttr io) { return io.getState() == resident.getSymbolAttr(); });
    if (resident.getBuffer().use_empty() && !isIO) {
      resident.erase();
      continue;
    }
    ArenaOp arena = state ? stateArena(module) : constantArena(module);
    int64_t offset = state
                         ? stateOffset(module, state.getSymNameAttr())
                         : cast<ConstantOp>(SymbolTable::lookupSymbolIn(module, resident.getSymbolAttr())).getOffset();
    resident.setArenaAttr(FlatSymbolRefAttr::get(arena.getSymNameAttr()));
    resident.setOffset(offset);
    resident.getBuffer().setType(BufferType::get(program.getContext(), bytesOf(resident.getBuffer()), Tier::Ram));
  }
}

/// The caller's buffer or the constant that a storage is, else the buffer that is no alias.
void Applier::collectOwners() {
  for (auto [value, buffer] : extracted.buffers)
    rootsOf[buffer].push_back(value);
  for (const solver::Place &place : solution.places) {
    if (place.storage < 0)
      continue;
    bool fixed = extracted.problem.buffers[place.buffer].kind != solver::BufferKind::Transient;
    auto [it, isNew] = owners.try_emplace(place.storage, place.buffer);
    if (!isNew &&
        (fixed || (place.alias < 0 && extracted.problem.buffers[it->second].kind == solver::BufferKind::Transient)))
      it->second = place.buffer;
  }
}

/// Where the storage is born and dies: the region of its buffers if they share one, else the program.
Block *Applier::blockOf(int storage) {
  Block *common = nullptr;
  for (const solver::Place &place : solution.places) {
    if (place.storage != storage)
      continue;
    for (Value root : rootsOf.lookup(place.buffer)) {
      Block *block = root.getParentBlock();
      if (common && common != block)
        return program.getBlock();
      common = block;
    }
  }
  return common;
}

Value Applier::base(int number) {
  if (bases[number])
    return bases[number];
  const solver::Storage &storage = solution.storages[number];
  int owner = owners.at(number);
  if (storage.region != solver::Region::Transient)
    return bases[number] = rootsOf.at(owner).front();
  int64_t align = kAlign;
  StringRef source;
  int64_t largest = -1;
  for (const solver::Place &place : solution.places)
    if (place.storage == number) {
      const solver::Buffer &buffer = extracted.problem.buffers[place.buffer];
      align = std::max(align, buffer.align);
      if (buffer.bytes > largest)
        largest = buffer.bytes, source = buffer.source;
    }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(blockOf(number));
  auto type = BufferType::get(program.getContext(), storage.bytes, static_cast<Tier>(storage.tier));
  auto alloc = AllocOp::create(builder, program.getLoc(), type, source, align);
  alloc.setOffset(storage.offset);
  return bases[number] = alloc.getBuffer();
}

Applier::Places Applier::placesOf(const solver::Action &action) const {
  Places places;
  for (const std::vector<int> *list : {&action.reads, &action.writes})
    for (int number : *list)
      places[solution.places[number].buffer] = &solution.places[number];
  return places;
}

Value Applier::viewOf(const solver::Place &place, int64_t bytes) {
  Value whole = base(place.storage);
  if (place.offset == 0 && bytesOf(whole) == bytes)
    return whole;
  return ViewOp::create(builder, program.getLoc(), whole, place.offset, bytes);
}

LogicalResult Applier::rewriteLaunch(LaunchOp launch, const Places &places) {
  SmallVector<Attribute> accesses(launch.getAccesses().begin(), launch.getAccesses().end());
  for (auto [index, operand] : llvm::enumerate(launch.getBuffersMutable())) {
    Value root = rootBuffer(operand.get());
    auto buffer = extracted.buffers.find(root);
    if (buffer == extracted.buffers.end() || root != operand.get() || extracted.regionOffsets.count(root))
      continue; // a view: rewritten where it is made; of a region: it stays and gets its place
    const solver::Place &place = *places.at(buffer->second);
    if (extracted.problem.buffers[place.buffer].kind == solver::BufferKind::State)
      continue;
    AccessAttr access = launch.getAccess(unsigned(index));
    int64_t span = access.getSpan() ? access.getSpan() : bytesOf(root) - access.getOffset();
    std::optional<AccessAttr> moved = stridedAccess(access, bytesOf(root), place.run, place.stride);
    if (!moved)
      return launch.emitOpError() << "operand " << index << ": no shape follows the runs of its alias";
    if (place.run)
      access = *moved, span = access.getSpan();
    Value whole = base(place.storage);
    int64_t offset = access.getOffset() + place.offset;
    bool all = offset == 0 && span == bytesOf(whole);
    operand.set(whole);
    accesses[index] = AccessAttr::get(launch.getContext(), access.getMode(), offset, all ? 0 : span, access.getShape());
  }
  launch.setAccessesAttr(builder.getArrayAttr(accesses));
  return success();
}

/// Points a step and all in its regions to the places of the buffers.
LogicalResult Applier::rewrite(Operation *op, const Places &places) {
  WalkResult result = op->walk([&](Operation *inner) -> WalkResult {
    if (auto launch = dyn_cast<LaunchOp>(inner))
      return rewriteLaunch(launch, places);
    if (isa<ViewOp>(inner))
      return WalkResult::advance();
    for (BufferUse use : bufferUses(inner)) {
      auto buffer = extracted.buffers.find(use.operand->get());
      if (buffer == extracted.buffers.end() || extracted.regionOffsets.count(use.operand->get()) ||
          extracted.problem.buffers[buffer->second].kind == solver::BufferKind::State)
        continue;
      const solver::Place &place = *places.at(buffer->second);
      builder.setInsertionPoint(inner);
      use.operand->set(viewOf(place, bytesOf(use.operand->get())));
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// The launch of a concatenation of which some pieces are in place becomes a copy of each of the others.
LogicalResult Applier::copyPieces(LaunchOp launch, ArrayRef<PieceCopy> copies, const Places &places,
                                  SmallVectorImpl<Operation *> &order) {
  unsigned result = 0;
  while (!launch.getAccess(result).writes())
    ++result;
  CandidateAttr chosen = launch.getCandidate(0);
  for (const PieceCopy &copy : copies) {
    builder.setInsertionPoint(launch);
    auto kernel = CandidateAttr::get(builder.getContext(),
                                     CandidateSpec{.kernel = "copy.strided",
                                                   .tasks = chosen.getTasks(),
                                                   .ns = chosen.getNs() / int64_t(launch.getBuffers().size())});
    auto op = LaunchOp::create(builder, launch.getLoc(), {kernel},
                               {launch.getBuffers()[copy.operand], launch.getBuffers()[result]},
                               {copy.source, copy.target}, launch.getSource().value_or(""), launch.getPure());
    if (failed(rewriteLaunch(op, places)))
      return failure();
    order.push_back(op);
  }
  return success();
}

void Applier::addWorkspace(LaunchOp launch, int64_t offset) {
  int64_t bytes = launch.getCandidate(0).getWorkspaceBytes(module.getWorkers());
  if (!bytes)
    return;
  builder.setInsertionPoint(launch);
  auto alloc = AllocOp::create(builder, launch.getLoc(), BufferType::get(program.getContext(), bytes, Tier::Ram),
                               launch.getSource() ? *launch.getSource() : StringRef());
  alloc.setOffset(offset);
  launch.getWorkspaceMutable().assign(alloc.getBuffer());
}

/// What branches and loops allocate gets its place in the buffer of its step.
void Applier::placeRegionBuffers() {
  llvm::DenseMap<int, int64_t> starts; // by buffer
  for (const solver::Place &place : solution.places)
    if (place.storage >= 0)
      starts[place.buffer] = solution.storages[place.storage].offset + place.offset;
  auto toRam = [&](auto &&self, Value buffer) -> void {
    buffer.setType(BufferType::get(program.getContext(), bytesOf(buffer), Tier::Ram));
    for (Operation *user : buffer.getUsers())
      if (auto view = dyn_cast<ViewOp>(user))
        self(self, view.getBuffer());
  };
  for (auto [buffer, offset] : extracted.regionOffsets) {
    buffer.getDefiningOp<AllocOp>().setOffset(starts.lookup(extracted.buffers.at(buffer)) + offset);
    toRam(toRam, buffer);
  }
}

/// The step's own operation the first time, a clone with a number of its own each time after.
Operation *Applier::stepFor(const solver::Action &action) {
  Operation *op = extracted.steps[action.step];
  if (seen.insert(op).second)
    return op;
  builder.setInsertionPoint(program.getBlock()->getTerminator());
  Operation *clone = builder.clone(*op);
  cast<LaunchOp>(clone).setInstance(++instances[action.step]);
  return clone;
}

LogicalResult Applier::run() {
  settleResidents();
  collectOwners();
  placeRegionBuffers();
  // Views of buffers move with them: one view of the place, of which they become parts.
  SmallVector<ViewOp> views;
  program.walk([&](ViewOp view) {
    if (view.getBase() && extracted.buffers.count(view.getBase()) && !extracted.regionOffsets.count(view.getBase()))
      views.push_back(view);
  });
  for (ViewOp view : views) {
    int buffer = extracted.buffers.at(view.getBase());
    if (extracted.problem.buffers[buffer].kind == solver::BufferKind::State) {
      // A state is where it is: the view stays, in the tier of the home.
      view.getBuffer().setType(
          BufferType::get(program.getContext(), bytesOf(view.getBuffer()), view.getBase().getType().getTier()));
      continue;
    }
    auto place = llvm::find_if(solution.places, [&](const solver::Place &p) { return p.buffer == buffer; });
    if (place == solution.places.end() || place->storage < 0)
      continue;
    builder.setInsertionPoint(view);
    view.getBaseMutable().assign(viewOf(*place, bytesOf(view.getBase())));
    view.getBuffer().setType(BufferType::get(program.getContext(), bytesOf(view.getBuffer()),
                                             static_cast<Tier>(solution.storages[place->storage].tier)));
  }
  SmallVector<Operation *> order;
  llvm::SmallPtrSet<Operation *, 16> elided;
  for (const solver::Action &action : solution.actions) {
    Places places = placesOf(action);
    if (action.kind == solver::ActionKind::Copy) {
      builder.setInsertionPoint(program.getBlock()->getTerminator());
      const solver::Place &from = solution.places[action.reads[0]], &to = solution.places[action.writes[0]];
      int64_t bytes = extracted.problem.buffers[from.buffer].bytes;
      Value source = viewOf(from, bytes), target = viewOf(to, bytes);
      order.push_back(CopyOp::create(builder, program.getLoc(), Type(), source, target, ValueRange(), QueueAttr(), 0,
                                     StringAttr()));
      continue;
    }
    if (action.kind == solver::ActionKind::Elided) {
      elided.insert(extracted.steps[action.step]);
      continue;
    }
    bool impossible = false;
    SmallVector<PieceCopy> copies = remainingCopies(extracted, solution, action, impossible);
    if (!copies.empty()) {
      auto launch = cast<LaunchOp>(extracted.steps[action.step]);
      if (failed(copyPieces(launch, copies, places, order)))
        return failure();
      elided.insert(launch);
      continue;
    }
    Operation *op = stepFor(action);
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      launch.setCandidatesAttr(builder.getArrayAttr({launch.getCandidate(unsigned(action.candidate))}));
      launch.removeAliasesAttr();
      launch.removeGroupAttr();
    }
    if (failed(rewrite(op, places)))
      return failure();
    op->walk([&](LaunchOp launch) { addWorkspace(launch, action.workspaceOffset); });
    order.push_back(op);
  }
  for (Operation *op : elided)
    op->erase();
  reorder(program, order);
  // Old buffers, and views that nothing uses any more.
  bool changed = true;
  while (changed) {
    changed = false;
    SmallVector<Operation *> dead;
    program.walk([&](Operation *op) {
      if (isa<ViewOp, AllocOp>(op) && op->use_empty())
        dead.push_back(op);
    });
    for (Operation *op : dead)
      op->erase(), changed = true;
  }
  program.setStage(Stage::Tiered);
  return success();
}

LogicalResult plim::plan::applySolution(const PlanProblem &extracted, const solver::Solution &solution) {
  return Applier(extracted, solution).run();
}
