//===- Apply.cpp - The planner's solution to plan IR in stage tiered: steps, clones and copies -------------===//

#include "compiler/Lowering/PlanProblem/Applier.h"
#include "compiler/Lowering/PlanProblem/FixedCosts.h"
#include "compiler/Lowering/PlanProblem/Reorder.h"
#include "dialects/Plan/PlanSteps.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

static int64_t bytesOf(Value buffer) { return cast<BufferType>(buffer.getType()).getBytes(); }

/// Counts runs, and gives launches numbers where one of their source runs more than once: a node may have become
/// several.
void Applier::collectRuns() {
  runs.assign(extracted.steps.size(), 0);
  for (const solver::Action &action : solution.actions)
    if (action.step >= 0)
      ++runs[action.step];
  llvm::StringMap<int64_t> others; // launches by source that cannot have a number
  program.walk([&](LaunchOp launch) {
    if (!launch.getPure() || launch->getBlock() != program.getBlock())
      ++others[launch.getSource().value_or("")];
  });
  for (auto [op, count] : llvm::zip_equal(extracted.steps, runs))
    if (auto launch = dyn_cast<LaunchOp>(op); launch && count > 1) {
      if (!launch.getSource())
        launch.setSource(extracted.problem.steps[&count - runs.begin()].name);
      nextInstance.try_emplace(*launch.getSource(), others.lookup(*launch.getSource()) ? 1 : 0);
    }
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

/// The step's own operation, or a clone with a number of its own where it runs more than once.
Operation *Applier::stepFor(const solver::Action &action) {
  Operation *op = extracted.steps[action.step];
  if (runs[action.step] > 1) {
    builder.setInsertionPoint(program.getBlock()->getTerminator());
    op = builder.clone(*op);
  } else {
    unused.erase(op);
  }
  auto launch = dyn_cast<LaunchOp>(op);
  if (launch && launch.getPure() && launch.getSource())
    if (auto next = nextInstance.find(*launch.getSource()); next != nextInstance.end())
      launch.setInstance(next->second++);
  return op;
}

LogicalResult Applier::run(const solver::Action &action, SmallVectorImpl<Operation *> &order) {
  Places places = placesOf(action);
  bool impossible = false;
  SmallVector<PieceCopy> copies = remainingCopies(extracted, solution, action, impossible);
  if (!copies.empty()) {
    auto launch = cast<LaunchOp>(stepFor(action));
    if (failed(copyPieces(launch, copies, places, order)))
      return failure();
    launch.erase();
    return success();
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
  return success();
}

/// Bytes of a value from one of its places to another. What meets the ssd has room for whole blocks at both.
FailureOr<Operation *> Applier::copy(const solver::Action &action) {
  const solver::Place &from = solution.places[action.reads[0]], &to = solution.places[action.writes[0]];
  const solver::Buffer &buffer = extracted.problem.buffers[from.buffer];
  if (from.run || to.run)
    return program.emitOpError() << "need a contiguous '" << buffer.name << "' to copy, have it in runs";
  builder.setInsertionPoint(program.getBlock()->getTerminator());
  Value source = viewOf(from, bytesOfPlace(from)), target = viewOf(to, bytesOfPlace(to));
  Type token;
  QueueAttr queue;
  if (action.queue != solver::Queue::Cpu) {
    token = TokenType::get(program.getContext());
    queue = QueueAttr::get(program.getContext(),
                           action.queue == solver::Queue::Read ? QueueKind::Read : QueueKind::Write, 0);
  }
  StringAttr node = builder.getStringAttr(buffer.source.empty() ? buffer.name : buffer.source);
  return CopyOp::create(builder, program.getLoc(), token, source, target, ValueRange(), queue, 0, node).getOperation();
}

LogicalResult Applier::run() {
  collectOwners();
  collectRuns();
  settleResidents();
  placeRegionBuffers();
  moveViews();
  SmallVector<Operation *> order;
  tokens.resize(solution.actions.size());
  unused.insert(extracted.steps.begin(), extracted.steps.end());
  for (auto [number, action] : llvm::enumerate(solution.actions)) {
    if (action.kind == solver::ActionKind::Run && failed(run(action, order)))
      return failure();
    if (action.kind == solver::ActionKind::Copy) {
      FailureOr<Operation *> op = copy(action);
      if (failed(op))
        return failure();
      tokens[number] = tokenOf(*op);
      order.push_back(*op);
    }
    if (action.kind == solver::ActionKind::Wait) {
      auto waited = llvm::map_to_vector(action.waits, [&](int copy) { return tokens[copy]; });
      builder.setInsertionPoint(program.getBlock()->getTerminator());
      order.push_back(WaitOp::create(builder, program.getLoc(), waited, QueueAttr(), StringAttr()));
    }
  }
  for (Operation *op : extracted.steps)
    if (unused.contains(op))
      op->erase();
  reorder(program, order);
  eraseUnused();
  program.setStage(Stage::Tiered);
  if (!streamed.empty())
    layOutConstants(module);
  if (llvm::any_of(tokens, [](Value token) { return bool(token); }))
    module.setIoDepth(std::max<int64_t>(module.getIoDepth(), kIoDepth));
  return success();
}

LogicalResult plim::plan::applySolution(const PlanProblem &extracted, const solver::Solution &solution) {
  return Applier(extracted, solution).run();
}
