//===- Place.cpp - Stage tiered to placed --------------------------------------------------------------------===//

#include "compiler/Lowering/PlanProblem/Arenas.h"
#include "compiler/Lowering/PlanProblem/PlaceViews.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "dialects/Plan/PlanSteps.h"
#include "plim/check.h"
#include "plim/weights.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace plim::plan;

/// What needs room in a tier's transient arena of its own: other programs run at other times, but the runtime reserves
/// the largest of a variant anyway, and with an arena each program's own figure stays exact.
static void createArenas(ProgramOp program, std::array<ArenaOp, kTierCount> &arenas) {
  std::array<int64_t, kTierCount> ends{};
  program.walk([&](AllocOp alloc) {
    BufferType type = alloc.getBuffer().getType();
    int64_t &end = ends[static_cast<unsigned>(*type.getTier())];
    end = std::max(end, *alloc.getOffset() + int64_t(llvm::alignTo(type.getBytes(), kAlign)));
  });
  for (unsigned tier = 0; tier < kTierCount; ++tier)
    if (ends[tier])
      arenas[tier] = createArena(program.getModule(), ArenaKind::Transient, static_cast<Tier>(tier), ends[tier]);
}

namespace {
/// A buffer of the run: its view, and the block in which it is born and dies.
struct Live {
  ViewOp view;
  Block *block;
};
} // namespace

static SmallVector<Live> replaceAllocs(ProgramOp program, const std::array<ArenaOp, kTierCount> &arenas) {
  SmallVector<AllocOp> allocs;
  program.walk([&](AllocOp alloc) { allocs.push_back(alloc); });
  SmallVector<Live> lives;
  OpBuilder builder(program.getContext());
  auto residents = program.getBody().getOps<ResidentOp>();
  Operation *lastResident = nullptr;
  for (ResidentOp resident : llvm::make_early_inc_range(residents)) {
    if (lastResident)
      resident->moveAfter(lastResident);
    else
      resident->moveBefore(program.getBlock(), program.getBlock()->begin());
    lastResident = resident;
  }
  if (lastResident)
    builder.setInsertionPointAfter(lastResident);
  else
    builder.setInsertionPointToStart(program.getBlock());
  for (AllocOp alloc : allocs) {
    BufferType type = alloc.getBuffer().getType();
    ArenaOp arena = arenas[static_cast<unsigned>(*type.getTier())];
    auto view = ViewOp::create(builder, alloc.getLoc(), FlatSymbolRefAttr::get(arena.getSymNameAttr()),
                               *alloc.getOffset(), type, alloc.getSourceAttr());
    lives.push_back({view, alloc->getBlock()});
    alloc.getBuffer().replaceAllUsesWith(view.getBuffer());
  }
  for (AllocOp alloc : allocs)
    alloc.erase();
  return lives;
}

/// The step in `block` after which nothing of `op` is in flight.
static Operation *lastMoment(Operation *op) {
  Operation *last = op;
  if (Value token = tokenOf(op))
    for (Operation *user : token.getUsers())
      if (isa<WaitOp>(user) && user->getBlock() == op->getBlock() && last->isBeforeInBlock(user))
        last = user;
  return last;
}

/// First and last operation of the block that touch the buffer, directly or through views.
static std::pair<Operation *, Operation *> span(Live live) {
  Operation *first = nullptr, *last = nullptr;
  auto visit = [&](auto &&self, Value buffer) -> void {
    for (Operation *user : buffer.getUsers()) {
      if (auto view = dyn_cast<ViewOp>(user)) {
        self(self, view.getBuffer());
        continue;
      }
      Operation *begin = live.block->findAncestorOpInBlock(*user);
      Operation *end = live.block->findAncestorOpInBlock(*lastMoment(user));
      if (!first || begin->isBeforeInBlock(first))
        first = begin;
      if (!last || last->isBeforeInBlock(end))
        last = end;
    }
  };
  visit(visit, live.view.getBuffer());
  return {first, last};
}

/// Births come right before the first step that touches a buffer and the views made for it, deaths right after the
/// last.
static void addMarks(ArrayRef<Live> lives) {
  struct Range {
    ViewOp view;
    Operation *first, *last;
  };
  SmallVector<Range> ranges;
  for (const Live &live : lives)
    if (auto [first, last] = span(live); first)
      ranges.push_back({live.view, first, last});
  DenseMap<Operation *, Operation *> lastDeath; // by the step after which buffers die
  OpBuilder builder(lives.empty() ? nullptr : lives.front().view->getContext());
  for (Range &range : ranges) {
    Operation *before = range.first;
    while (isa_and_present<ViewOp>(before->getPrevNode()) && cast<ViewOp>(before->getPrevNode()).getDynamic())
      before = before->getPrevNode();
    builder.setInsertionPoint(before);
    MarkOp::create(builder, range.view.getLoc(), Life::Birth, range.view.getBuffer());
    Operation *&after = lastDeath.try_emplace(range.last, range.last).first->second;
    builder.setInsertionPointAfter(after);
    after = MarkOp::create(builder, range.view.getLoc(), Life::Death, range.view.getBuffer());
  }
}

/// Drops what a table has no room for, and makes waits of what copies come after.
static void simplifySteps(ProgramOp program) {
  OpBuilder builder(program.getContext());
  program.walk([&](Operation *op) {
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      launch.setCandidatesAttr(builder.getArrayAttr({launch.getCandidate(0).getPlacedForm()}));
      launch.setPure(false);
      launch.removeGroupAttr();
      launch.removeAliasesAttr();
      launch.removeSplitsAttr();
    } else if (auto copy = dyn_cast<CopyOp>(op); copy && !copy.getAfter().empty()) {
      builder.setInsertionPoint(copy);
      WaitOp::create(builder, copy.getLoc(), copy.getAfter(), copy.getQueueAttr(), copy.getSourceAttr());
      copy.getAfterMutable().clear();
    }
  });
}

LogicalResult plim::plan::placeProgram(ProgramOp program) {
  if (program.getStage() != Stage::Tiered)
    return program.emitOpError() << "need stage tiered to place, have " << stringifyStage(program.getStage());
  ModuleOp module = program.getModule();
  if (int64_t data = weightDataBytes(module); data && !module.getWeightsBytes())
    module.setWeightsBytes(plim_weight_header_bytes(data) + plim_page(data));
  if (failed(normalizeScalars(program)))
    return failure();
  std::array<ArenaOp, kTierCount> arenas;
  createArenas(program, arenas);
  SmallVector<Live> lives = replaceAllocs(program, arenas);
  simplifySteps(program);
  if (failed(placeViews(program)))
    return failure();
  llvm::erase_if(lives, [](Live &live) {
    bool unused = live.view.getBuffer().use_empty();
    if (unused)
      live.view.erase();
    return unused;
  });
  addMarks(lives);
  program.setStage(Stage::Placed);
  if (std::optional<int64_t> commit = firstStateWrite(program))
    program.setCommit(commit);
  return success();
}
