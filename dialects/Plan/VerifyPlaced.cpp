//===- VerifyPlaced.cpp - The normal form of stage placed -----------------------------------------===//
//
// A placed program is a step table in another notation, so its form is what the table can hold:
//
// - homes of residents first, then all views at fixed offsets, then steps; a view at a scalar's offset stands right
//   before its first user; views of views are folded;
// - one birth and one death of each view of an arena, around all that touches it, in one block;
// - launches have one kernel without predicted costs; what copies wait for is a plan.wait;
// - a table has scalar slots, not values: what a loop carries or an if gives is computed by a step of the same block
// and
//   used for nothing else, so that both may share a slot.
//
//===----------------------------------------------------------------------------------------------===//

#include "dialects/Plan/VerifyProgram.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace plim::plan;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// A table names a scalar in each dimension, so decoding gives the scalars of all shapes in the order of their first
/// use.
static bool hasDimsInOrder(LaunchOp launch) {
  unsigned next = 0;
  bool ordered = true;
  auto visit = [&](AffineExpr expr) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
      ordered &= symbol.getPosition() <= next;
      next = std::max(next, symbol.getPosition() + 1);
    }
  };
  for (AccessAttr access : launch.getAccesses().getAsRange<AccessAttr>()) {
    llvm::for_each(access.getShape().getDims(), visit);
    llvm::for_each(access.getShape().getStrides(), visit);
  }
  llvm::SmallDenseSet<Value> distinct(launch.getDims().begin(), launch.getDims().end());
  return ordered && next == launch.getDims().size() && distinct.size() == next;
}

/// The same of the scalars that plan.return gives.
static bool hasSizesInOrder(ProgramOp program) {
  unsigned symbols = program.getSymbols().size(), next = symbols;
  bool ordered = true;
  for (IOAttr io : program.getIos().getAsRange<IOAttr>())
    for (AffineExpr dim : io.getShape().getDims())
      if (auto symbol = dyn_cast<AffineSymbolExpr>(dim); symbol && symbol.getPosition() >= symbols) {
        ordered &= symbol.getPosition() <= next;
        next = std::max(next, symbol.getPosition() + 1);
      }
  Operation *end = program.getBlock()->getTerminator();
  llvm::SmallDenseSet<Value> distinct(end->operand_begin(), end->operand_end());
  distinct.insert(program.getSymbolArguments().begin(), program.getSymbolArguments().end());
  return ordered && next == symbols + end->getNumOperands() && distinct.size() == next;
}

static void verifyLaunch(ProgramVerifier &v, LaunchOp launch) {
  if (!hasDimsInOrder(launch))
    v.fail(launch) << "need just the scalars of its shapes in dims, in the order of their first use, in stage placed";
  v.checkWorkspace(launch);
  if (launch.getCandidates().size() == 1 && launch.getCandidate(0) != launch.getCandidate(0).getPlacedForm())
    v.fail(launch) << "need a kernel without cost, layouts, numerics, label and alias support in stage placed";
  if (launch.getPure() || launch.getGroup() || launch.getAliases() || launch.getSplits())
    v.fail(launch) << "need no pure, group, aliases and splits in stage placed";
  for (auto [index, access] : llvm::enumerate(launch.getAccesses().getAsRange<AccessAttr>())) {
    if (access.getOffset() || access.getSpan())
      v.fail(launch) << "operand " << index << ": need a view in place of a range in stage placed";
    if (!access.getShape().isTableForm())
      v.fail(launch) << "operand " << index
                     << ": need dimensions and strides that are a number or a scalar in stage placed";
  }
}

static void verifySteps(ProgramVerifier &v) {
  v.program.getBody().walk([&](Operation *op) {
    if (isa<AllocOp>(op))
      v.fail(op) << "need no alloc in stage placed";
    else if (auto launch = dyn_cast<LaunchOp>(op))
      verifyLaunch(v, launch);
    else if (auto copy = dyn_cast<CopyOp>(op); copy && !copy.getAfter().empty())
      v.fail(op) << "need a plan.wait in place of after in stage placed";
    else if (auto branch = dyn_cast<IfOp>(op); branch && !branch.getElseRegion().empty() && !branch.getNumResults() &&
                                               llvm::hasSingleElement(branch.getElseRegion().front()))
      v.fail(op) << "need a step in its else region, or no else region, in stage placed";
  });
  if (firstStateWrite(v.program) && !v.program.getCommit())
    v.fail(v.program) << "need commit in a program that writes a state, in stage placed";
  for (IOAttr io : v.program.getIos().getAsRange<IOAttr>())
    if (!llvm::all_of(io.getShape().getDims(),
                      [](AffineExpr e) { return isa<AffineConstantExpr, AffineSymbolExpr>(e); }))
      v.fail(v.program) << "io '" << io.getName() << "': need dimensions that are a number or a symbol in stage placed";
  if (!hasSizesInOrder(v.program))
    v.fail(v.program.getBlock()->getTerminator())
        << "need just the scalars of outputs, each once, in the order of their first use, in stage placed";
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// A view at a scalar's offset stands right before its first user; others of its kind may stand between.
static void verifyDynamicView(ProgramVerifier &v, ViewOp view) {
  Operation *next = view->getNextNode();
  while (next && isa<ViewOp>(next))
    next = next->getNextNode();
  if (!next || !llvm::is_contained(view.getBuffer().getUsers(), next))
    v.fail(view) << "need a view at a scalar's offset right before its first user in stage placed";
}

static void verifyView(ProgramVerifier &v, ViewOp view) {
  if (view.getBuffer().use_empty())
    v.fail(view) << "need a use";
  if (!view.getBase())
    return;
  if (auto base = view.getBase().getDefiningOp<ViewOp>(); base && !base.getArena())
    v.fail(view) << "need a view of a whole buffer, not of a view, in stage placed";
  if (!view.getDynamic() && view.getOffset() == 0 && view.getBase().getType() == view.getBuffer().getType())
    v.fail(view) << "need a part of the buffer, not the whole, in stage placed";
}

static void verifyHead(ProgramVerifier &v) {
  bool residents = true, views = true;
  for (Operation &op : *v.program.getBlock()) {
    auto view = dyn_cast<ViewOp>(op);
    if (isa<ResidentOp>(op)) {
      if (!residents)
        v.fail(&op) << "need residents before views and steps in stage placed";
      if (!cast<ResidentOp>(op).getArena() && !cast<ResidentOp>(op).getInFile())
        v.fail(&op) << "need a home in stage placed";
    } else if (view && !view.getDynamic()) {
      residents = false;
      if (!views)
        v.fail(&op) << "need views at fixed offsets before all steps in stage placed";
    } else {
      residents = views = false;
    }
  }
  v.program.getBody().walk([&](ViewOp view) {
    verifyView(v, view);
    if (view.getDynamic())
      verifyDynamicView(v, view);
    else if (view->getBlock() != v.program.getBlock())
      v.fail(view) << "need views at fixed offsets before all steps in stage placed";
  });
}

//===----------------------------------------------------------------------===//
// Live ranges
//===----------------------------------------------------------------------===//

namespace {
struct LiveRange {
  SmallVector<MarkOp, 2> births, deaths;
  SmallVector<Operation *> users; // steps, also through views
};
} // namespace

static LiveRange liveRangeOf(Value buffer) {
  LiveRange range;
  for (Operation *user : buffer.getUsers()) {
    if (auto mark = dyn_cast<MarkOp>(user)) {
      (mark.getLife() == Life::Birth ? range.births : range.deaths).push_back(mark);
    } else if (auto view = dyn_cast<ViewOp>(user)) {
      llvm::append_range(range.users, view.getBuffer().getUsers());
    } else {
      range.users.push_back(user);
    }
  }
  return range;
}

/// The step, or the last plan.wait for its token.
static Operation *lastMoment(Operation *step) {
  Operation *last = step;
  if (Value token = tokenOf(step))
    for (Operation *user : token.getUsers())
      if (isa<WaitOp>(user) && user->getBlock() == step->getBlock() && last->isBeforeInBlock(user))
        last = user;
  return last;
}

static void verifyLiveRange(ProgramVerifier &v, ViewOp view) {
  LiveRange range = liveRangeOf(view.getBuffer());
  if (range.births.size() != 1 || range.deaths.size() != 1) {
    v.fail(view) << "need one birth and one death, have " << range.births.size() << " and " << range.deaths.size();
    return;
  }
  Operation *birth = range.births[0], *death = range.deaths[0];
  if (birth->getBlock() != death->getBlock() || !birth->isBeforeInBlock(death)) {
    v.fail(death) << "need a death after the birth in the same block";
    return;
  }
  for (Operation *user : range.users) {
    Operation *first = ancestorIn(birth->getBlock(), user);
    if (!first || !birth->isBeforeInBlock(first) || !first->isBeforeInBlock(death))
      v.fail(user) << "need a buffer between its birth and its death";
    else if (Operation *last = ancestorIn(birth->getBlock(), lastMoment(user)); !last->isBeforeInBlock(death))
      v.fail(death) << "need the death of a buffer after the plan.wait for a step that uses it";
  }
}

/// Bytes of an arena that a buffer is; nothing of any other buffer.
static std::optional<std::pair<ViewOp, int64_t>> arenaRange(Value buffer) {
  int64_t offset = 0;
  auto view = buffer.getDefiningOp<ViewOp>();
  if (view && !view.getArena() && !view.getDynamic()) {
    offset = view.getOffset();
    view = view.getBase().getDefiningOp<ViewOp>();
  }
  if (!view || !view.getArena())
    return std::nullopt;
  return std::pair(view, view.getOffset() + offset);
}

/// A buffer that slides over bytes of itself: nothing may see both, so birth, copy and death follow each other.
static void verifySlide(ProgramVerifier &v, CopyOp copy) {
  auto from = arenaRange(copy.getSrc()), to = arenaRange(copy.getDst());
  int64_t bytes = cast<BufferType>(copy.getSrc().getType()).getBytes();
  if (!from || !to || from->first == to->first || from->first.getArena() != to->first.getArena() ||
      from->second + bytes <= to->second || to->second + bytes <= from->second)
    return;
  auto birth = dyn_cast_or_null<MarkOp>(copy->getPrevNode()), death = dyn_cast_or_null<MarkOp>(copy->getNextNode());
  if (copy.getToken() || !birth || birth.getLife() != Life::Birth || birth.getBuffer() != to->first.getBuffer() ||
      !death || death.getLife() != Life::Death || death.getBuffer() != from->first.getBuffer())
    v.fail(copy) << "need the birth of its target right before and the death of its source right after, on the cpu, "
                    "where a copy slides bytes over themselves";
}

static void verifyLiveRanges(ProgramVerifier &v) {
  v.program.getBody().walk([&](Operation *op) {
    if (auto copy = dyn_cast<CopyOp>(op))
      verifySlide(v, copy);
    if (auto view = dyn_cast<ViewOp>(op); view && view.getArena())
      verifyLiveRange(v, view);
    if (auto mark = dyn_cast<MarkOp>(op)) {
      auto buffer = mark.getBuffer().getDefiningOp<ViewOp>();
      if (!buffer || !buffer.getArena())
        v.fail(mark) << "need a view of an arena";
    }
  });
}

//===----------------------------------------------------------------------===//
// Scalar slots
//===----------------------------------------------------------------------===//

/// The slot of `value` may be another's too: a step of `block` computes it for one use.
static bool ownsSlot(Value value, Block *block) {
  Operation *def = value.getDefiningOp();
  return isa_and_present<EvalOp, LoadScalarOp, LaunchOp>(def) && def->getBlock() == block && value.hasOneUse();
}

/// Slots are numbered as values are computed, and decoding gives what a loop carries in that order.
static bool computedInOrder(ValueRange values) {
  for (auto [a, b] : llvm::zip(values, values.drop_front(values.empty() ? 0 : 1))) {
    auto x = cast<OpResult>(a), y = cast<OpResult>(b);
    if (x.getOwner() == y.getOwner() ? x.getResultNumber() >= y.getResultNumber()
                                     : !x.getOwner()->isBeforeInBlock(y.getOwner()))
      return false;
  }
  return true;
}

static void verifyLoopSlots(ProgramVerifier &v, LoopOp loop) {
  Block *body = &loop.getBody().front();
  bool owned = true;
  for (auto [index, init] : llvm::enumerate(loop.getInits()))
    if (!ownsSlot(init, loop->getBlock())) {
      owned = false;
      v.fail(loop) << "carried scalar " << index
                   << ": need a start computed in the same block and used by the loop only";
    }
  if (owned && !computedInOrder(loop.getInits().drop_front(loop.getConditional())))
    v.fail(loop) << "need carried scalars in the order in which their starts are computed";
  for (auto [index, next] : llvm::enumerate(body->back().getOperands())) {
    Operation *def = next.getDefiningOp();
    if (!ownsSlot(next, body)) {
      v.fail(loop) << "carried scalar " << index << ": need a next value computed in the body and only yielded";
      continue;
    }
    for (Operation *user : body->getArgument(index + 1).getUsers())
      if (Operation *at = ancestorIn(body, user); at != def && def->isBeforeInBlock(at))
        v.fail(loop) << "carried scalar " << index << ": need no use of its value after the next one is computed";
  }
}

static void verifySlots(ProgramVerifier &v) {
  v.program.getBody().walk([&](Operation *op) {
    if (auto loop = dyn_cast<LoopOp>(op))
      verifyLoopSlots(v, loop);
    auto branch = dyn_cast<IfOp>(op);
    if (!branch || !branch.getNumResults())
      return;
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
      for (auto [index, value] : llvm::enumerate(region->front().back().getOperands()))
        if (!ownsSlot(value, &region->front()))
          v.fail(op) << "result " << index << ": need a value computed in the region and only yielded";
  });
}

void plim::plan::verifyPlaced(ProgramVerifier &v) {
  verifySteps(v);
  verifyHead(v);
  verifyLiveRanges(v);
  verifySlots(v);
}
