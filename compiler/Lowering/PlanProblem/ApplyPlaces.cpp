//===- ApplyPlaces.cpp - Homes, storages and views of a solution ---------------------------------------------===//

#include "compiler/Lowering/PlanProblem/Applier.h"
#include "compiler/Lowering/PlanProblem/Arenas.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

static int64_t bytesOf(Value buffer) { return cast<BufferType>(buffer.getType()).getBytes(); }

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
    if (streamed.contains(extracted.buffers.lookup(resident.getBuffer())) && !state) {
      resident.setInFile(true);
      resident.getBuffer().setType(BufferType::get(program.getContext(), bytesOf(resident.getBuffer()), Tier::Ssd));
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
  for (const solver::Place &place : solution.places)
    if (place.storage >= 0 && solution.storages[place.storage].region == solver::Region::File)
      streamed.insert(place.buffer);
  for (const solver::Action &action : solution.actions)
    if (action.kind == solver::ActionKind::Copy && action.queue != solver::Queue::Cpu)
      for (const std::vector<int> *list : {&action.reads, &action.writes})
        onBlocks.insert(solution.places[list->front()].storage);
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
  int64_t align = onBlocks.contains(number) ? kSsdAlign : kAlign;
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

/// What branches and loops allocate gets its place in the buffer of its step, which may lie in the caller's memory.
void Applier::placeRegionBuffers() {
  llvm::DenseMap<int, const solver::Place *> places; // by buffer
  for (const solver::Place &place : solution.places)
    if (place.storage >= 0)
      places[place.buffer] = &place;
  auto toRam = [&](auto &&self, Value buffer) -> void {
    buffer.setType(BufferType::get(program.getContext(), bytesOf(buffer), Tier::Ram));
    for (Operation *user : buffer.getUsers())
      if (auto view = dyn_cast<ViewOp>(user))
        self(self, view.getBuffer());
  };
  for (auto [buffer, offset] : extracted.regionOffsets) {
    const solver::Place *place = places.lookup(extracted.buffers.at(buffer));
    if (!place)
      continue;
    const solver::Storage &storage = solution.storages[place->storage];
    toRam(toRam, buffer);
    auto alloc = buffer.getDefiningOp<AllocOp>();
    if (storage.region == solver::Region::Transient) {
      alloc.setOffset(storage.offset + place->offset + offset);
      continue;
    }
    builder.setInsertionPoint(alloc);
    Value lent = ViewOp::create(builder, alloc.getLoc(), base(place->storage), place->offset + offset, bytesOf(buffer));
    buffer.replaceAllUsesWith(lent);
  }
}

/// Views of buffers move with them: one view of the place, of which they become parts.
void Applier::moveViews() {
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
}

/// Old buffers, and views that nothing uses any more.
void Applier::eraseUnused() {
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
}
