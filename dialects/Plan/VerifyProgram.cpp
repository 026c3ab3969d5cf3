//===- VerifyProgram.cpp - What holds in programs of every stage, and in stages virtual and tiered --===//

#include "dialects/Plan/VerifyProgram.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace plim::plan;

LogicalResult ProgramOp::verify() {
  Block *block = getBlock();
  if (block->getNumArguments() != getSymbols().size() + getIos().size())
    return emitOpError() << "need one block argument a symbol and io";
  for (Value symbol : getSymbolArguments())
    if (!symbol.getType().isIndex())
      return emitOpError() << "need symbols of type index";
  if (block->empty() || !isa<ReturnOp>(block->back()))
    return emitOpError() << "need plan.return at the end";
  size_t symbols = getSymbols().size(), scalars = symbols + block->back().getNumOperands();
  for (auto [value, io] : llvm::zip_equal(getIOArguments(), getIos().getAsRange<IOAttr>())) {
    auto type = dyn_cast<BufferType>(value.getType());
    if (!type || type.getTier() != Tier::Ram)
      return emitOpError() << "io '" << io.getName() << "': need a buffer in ram";
    if (io.getShape().getExtentBytes() > type.getBytes())
      return emitOpError() << "io '" << io.getName() << "': need " << io.getShape().getExtentBytes()
                           << " bytes for its shape, have " << type.getBytes();
    if (io.getShape().getScalarsUsed() > (io.getOutput() ? scalars : symbols))
      return emitOpError() << "io '" << io.getName() << "': need a symbol for each scalar of its shape";
    if (!io.getShape().getStrides().empty() || io.getShape().getLayout() != Layout::Row)
      return emitOpError() << "io '" << io.getName() << "': need a contiguous shape in row layout";
    if (io.getReused() && (io.getOutput() || io.getState()))
      return emitOpError() << "io '" << io.getName() << "': need an input that is no state to reuse";
  }
  StringRef variant = getVariant();
  if (!variant.empty() && (!getSymName().ends_with(variant) || !getSymName().drop_back(variant.size()).ends_with(".")))
    return emitOpError() << "need a name that ends with '." << variant << "', the variant";
  return success();
}

//===----------------------------------------------------------------------===//
// In every stage
//===----------------------------------------------------------------------===//

static void verifyTokens(ProgramVerifier &v) {
  v.program.getBody().walk([&](Operation *op) {
    Value token = tokenOf(op);
    if (token && llvm::none_of(token.getUsers(), [&](Operation *user) {
          return isa<WaitOp>(user) && user->getBlock() == op->getBlock();
        }))
      v.fail(op) << "need a plan.wait for its token in the same region";
  });
}

static void verifyResidents(ProgramVerifier &v) {
  llvm::SmallDenseSet<Attribute> seen;
  for (ResidentOp resident : v.program.getBody().getOps<ResidentOp>())
    if (!seen.insert(resident.getSymbolAttr()).second)
      v.fail(resident) << "need one home for " << resident.getSymbolAttr() << " in a program";
}

/// What two launches must have in common to be clones of each other: all but instance, buffers and workspace.
static Attribute cloneKey(LaunchOp launch) {
  if (!launch.getSource())
    return {};
  return ArrayAttr::get(launch.getContext(), {launch.getSourceAttr(), launch.getCandidates(), launch.getAccesses()});
}

static void verifyClones(ProgramVerifier &v) {
  struct Clones {
    SmallVector<std::pair<LaunchOp, int64_t>> members;
    bool any = false; // an instance number other than 0
  };
  llvm::MapVector<Attribute, Clones> families;
  SmallVector<std::pair<int64_t, FlatSymbolRefAttr>> writes;
  forEachStep(v.program, [&](Operation *step, int64_t number) {
    for (BufferUse use : bufferUses(step))
      if (use.writes())
        if (FlatSymbolRefAttr state = stateOf(rootBuffer(use.operand->get())))
          writes.push_back({number, state});
    auto launch = dyn_cast<LaunchOp>(step);
    if (!launch)
      return;
    if (launch.getInstance() && !launch.getSource())
      v.fail(launch) << "need a source for a launch with an instance number";
    if (launch.getInstance() && !launch.getPure() && v.program.getStage() != Stage::Placed)
      v.fail(launch) << "need pure for a launch with an instance number";
    if (Attribute key = cloneKey(launch)) {
      families[key].members.push_back({launch, number});
      families[key].any |= launch.getInstance() != 0;
    }
  });
  for (auto &[key, clones] : families) {
    if (!clones.any)
      continue;
    llvm::SmallDenseSet<int64_t> instances;
    for (auto [launch, number] : clones.members) {
      if (!instances.insert(launch.getInstance()).second)
        v.fail(launch) << "need an instance number of its own among the clones of " << launch.getSourceAttr()
                       << ", have " << launch.getInstance();
      for (BufferUse use : bufferUses(launch)) {
        FlatSymbolRefAttr state = stateOf(rootBuffer(use.operand->get()));
        int64_t first = clones.members.front().second;
        for (auto [at, written] : writes)
          if (state && use.reads() && written == state && at >= first && at < number)
            v.fail(launch) << "need the version of state " << state << " that instance "
                           << clones.members.front().first.getInstance() << " reads; step " << at
                           << " writes it between";
      }
    }
  }
}

static void verifyCommit(ProgramVerifier &v) {
  std::optional<int64_t> first = firstStateWrite(v.program);
  std::optional<int64_t> commit = v.program.getCommit();
  if (commit && first && *first < *commit)
    v.fail(v.program) << "need no write of a state before step " << *commit << " (commit), have one at step " << *first;
  if (commit && !first)
    v.fail(v.program) << "need no commit in a program that writes no state";
}

static void verifyContents(ProgramVerifier &v) {
  v.program.getBody().walk([&](Operation *op) {
    if (op->getParentOfType<EvalOp>())
      return;
    if (!isa_and_present<PlanDialect>(op->getDialect()))
      v.fail(op) << "need operations of the plan dialect in a program";
  });
}

//===----------------------------------------------------------------------===//
// Stages virtual and tiered
//===----------------------------------------------------------------------===//

static void verifyUnplaced(ProgramVerifier &v) {
  StringRef stage = stringifyStage(v.program.getStage());
  v.program.getBody().walk([&](Operation *op) {
    if (isa<MarkOp>(op))
      v.fail(op) << "need no marks in stage " << stage;
    if (auto view = dyn_cast<ViewOp>(op); view && view.getArena())
      v.fail(op) << "need no views of arenas in stage " << stage;
  });
}

static void verifyVirtual(ProgramVerifier &v) {
  v.program.getBody().walk([&](Operation *op) {
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      if (alloc.getBuffer().getType().getTier() || alloc.getOffset())
        v.fail(op) << "need a buffer without tier and offset in stage virtual";
    } else if (auto resident = dyn_cast<ResidentOp>(op)) {
      if (resident.getArena() || resident.getInFile() || resident.getBuffer().getType().getTier())
        v.fail(op) << "need a resident without home in stage virtual";
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      if (launch.getWorkspace())
        v.fail(op) << "need no workspace in stage virtual; a candidate states its bytes";
    }
  });
}

static void verifyTiered(ProgramVerifier &v) {
  v.program.getBody().walk([&](Operation *op) {
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      if (!alloc.getBuffer().getType().getTier() || !alloc.getOffset())
        v.fail(op) << "need a tier and a recorded offset in stage tiered";
      if (alloc.getGroup())
        v.fail(op) << "need the size that the choice of group " << alloc.getGroupAttr() << " gives in stage tiered";
    } else if (auto resident = dyn_cast<ResidentOp>(op)) {
      if (!resident.getArena() && !resident.getInFile())
        v.fail(op) << "need a home in stage tiered";
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      v.checkWorkspace(launch);
    }
  });
}

void ProgramVerifier::checkWorkspace(LaunchOp launch) {
  if (launch.getCandidates().size() != 1) {
    fail(launch) << "need one candidate in stage " << stringifyStage(program.getStage()) << ", have "
                 << launch.getCandidates().size();
    return;
  }
  int64_t need = launch.getCandidate(0).getWorkspaceBytes(program.getModule().getWorkers());
  int64_t have = launch.getWorkspace() ? cast<BufferType>(launch.getWorkspace().getType()).getBytes() : 0;
  if (need != have)
    fail(launch) << "need a workspace of " << need << " bytes (shared + min(workers, tasks) * scratch), have " << have;
}

LogicalResult ProgramOp::verifyRegions() {
  ProgramVerifier v{*this};
  verifyContents(v);
  if (!v.ok)
    return failure();
  verifyTokens(v);
  verifyResidents(v);
  verifyClones(v);
  verifyCommit(v);
  if (getStage() != Stage::Placed)
    verifyUnplaced(v);
  if (getStage() == Stage::Virtual)
    verifyVirtual(v);
  else if (getStage() == Stage::Tiered)
    verifyTiered(v);
  else
    verifyPlaced(v);
  return success(v.ok);
}
