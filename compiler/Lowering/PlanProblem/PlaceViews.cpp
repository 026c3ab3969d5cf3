//===- PlaceViews.cpp - Views in the form of stage placed ----------------------------------------------------===//

#include "compiler/Lowering/PlanProblem/PlaceViews.h"
#include "dialects/Plan/PlanSteps.h"

#include "mlir/IR/Builders.h"

#include <map>

using namespace mlir;
using namespace plim::plan;

namespace {

/// A range of a root buffer.
struct Range {
  Value root;
  int64_t offset = 0, bytes = 0;
  Value dynamic;
};

class ViewPlacer {
public:
  explicit ViewPlacer(ProgramOp program) : program(program), builder(program.getContext()) {
    headEnd = &program.getBlock()->front();
    while (isa<ResidentOp>(headEnd) || (isa<ViewOp>(headEnd) && cast<ViewOp>(headEnd).getArena()))
      headEnd = headEnd->getNextNode();
  }

  LogicalResult run() {
    WalkResult result = program.walk([&](Operation *op) -> WalkResult {
      if (!isStep(op))
        return WalkResult::advance();
      if (auto launch = dyn_cast<LaunchOp>(op))
        return placeLaunch(launch);
      for (BufferUse use : bufferUses(op))
        if (failed(place(op, *use.operand, 0, 0)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    eraseOldViews();
    return success();
  }

private:
  LogicalResult placeLaunch(LaunchOp launch) {
    madeForStep.clear();
    SmallVector<Attribute> accesses;
    for (auto [operand, access] :
         llvm::zip_equal(launch.getBuffersMutable(), launch.getAccesses().getAsRange<AccessAttr>())) {
      if (failed(place(launch, operand, access.getOffset(), access.getSpan())))
        return failure();
      accesses.push_back(AccessAttr::get(access.getMode(), access.getShape()));
    }
    launch.setAccessesAttr(builder.getArrayAttr(accesses));
    for (OpOperand &operand : launch.getWorkspaceMutable())
      if (failed(place(launch, operand, 0, 0)))
        return failure();
    return success();
  }

  FailureOr<Range> resolve(Operation *op, Value buffer) {
    Range range;
    range.bytes = cast<BufferType>(buffer.getType()).getBytes();
    while (auto view = buffer.getDefiningOp<ViewOp>()) {
      if (view.getArena())
        break;
      if (view.getDynamic() && range.dynamic)
        return op->emitOpError() << "need one scalar as the offset of a view, have several";
      if (view.getDynamic())
        range.dynamic = view.getDynamic();
      range.offset += view.getOffset();
      buffer = view.getBase();
    }
    range.root = buffer;
    return range;
  }

  /// Points the operand to the bytes [offset, offset + span) of what it is now (span 0: to its end).
  LogicalResult place(Operation *op, OpOperand &operand, int64_t offset, int64_t span) {
    FailureOr<Range> range = resolve(op, operand.get());
    if (failed(range))
      return failure();
    range->offset += offset;
    range->bytes = span ? span : range->bytes - offset;
    operand.set(range->dynamic ? dynamicView(op, *range) : fixedView(*range));
    return success();
  }

  Value fixedView(const Range &range) {
    if (range.offset == 0 && range.bytes == cast<BufferType>(range.root.getType()).getBytes())
      return range.root;
    Value &known = fixed[{range.root.getAsOpaquePointer(), range.offset, range.bytes}];
    if (!known) {
      builder.setInsertionPoint(headEnd);
      auto view = ViewOp::create(builder, program.getLoc(), range.root, range.offset, range.bytes);
      placed.insert(view);
      known = view.getBuffer();
    }
    return known;
  }

  Value dynamicView(Operation *op, const Range &range) {
    auto key =
        std::make_tuple(range.root.getAsOpaquePointer(), range.offset, range.bytes, range.dynamic.getAsOpaquePointer());
    Value &known = madeForStep[key];
    if (!known || !isa<LaunchOp>(op)) {
      builder.setInsertionPoint(op);
      auto view = ViewOp::create(builder, op->getLoc(), range.root, range.offset, range.bytes, range.dynamic);
      placed.insert(view);
      known = view.getBuffer();
    }
    return known;
  }

  void eraseOldViews() {
    SmallVector<ViewOp> old;
    program.walk([&](ViewOp view) {
      if (!view.getArena() && !placed.contains(view))
        old.push_back(view);
    });
    for (ViewOp view : llvm::reverse(old))
      view.erase();
  }

  ProgramOp program;
  OpBuilder builder;
  Operation *headEnd; // the first operation after residents and buffers of the run
  std::map<std::tuple<void *, int64_t, int64_t>, Value> fixed;
  std::map<std::tuple<void *, int64_t, int64_t, void *>, Value> madeForStep; // views that the launch at hand has
  llvm::SmallPtrSet<Operation *, 32> placed;
};

} // namespace

LogicalResult plim::plan::placeViews(ProgramOp program) { return ViewPlacer(program).run(); }
