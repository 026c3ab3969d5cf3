//===- ControlFlow.cpp - Branches and loops ---------------------------------------------------===//
//
// A branch's results have one buffer each, which both regions write. What a loop carries has a buffer too, its home:
// the body reads the old value from it and the new one takes its place at the end of a trip, or at once where nothing
// reads the old one any more. A slice that a trip stacks is written where it belongs in the result. Sizes that differ
// from way to way or trip to trip are scalars of the plan's own plan.if or plan.loop.
//
//===---------------------------------------------------------------------------------------===//
#include "compiler/Lowering/GraphToPlan/ControlFlow.h"
#include "compiler/Lowering/GraphToPlan/ProgramLowering.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace plim::lowering {

std::optional<int64_t> knownScalar(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() ||
      !isa<IntegerType>(elements.getElementType()))
    return std::nullopt;
  APInt number = elements.getSplatValue<APInt>();
  return number.getBitWidth() == 1 ? int64_t(number.getZExtValue()) : number.getSExtValue();
}

bool isConditional(graph::LoopOp loop) {
  Value next = loop.getNextCondition();
  bool stays = knownScalar(next) == 1 || next == loop.getBlock()->getArgument(1);
  return !(stays && knownScalar(loop.getCondition()) == 1);
}

std::optional<int64_t> knownTrips(graph::LoopOp loop) {
  std::optional<int64_t> known = knownScalar(loop.getTrips());
  if (!known || isConditional(loop) || *known > loop.getMaxTrips())
    return std::nullopt;
  return std::max<int64_t>(*known, 0);
}

/// An element of an integer or truth value, read once the steps before have computed it.
Value ProgramLowering::loadScalar(Value value, int64_t lower, int64_t upper, StringRef source) {
  if (std::optional<int64_t> known = knownScalar(value))
    return scalarsOf({getAffineConstantExpr(*known, context)}, b.getStringAttr(source))[0];
  plan::DType type = shapeAttr(naturalOperand(value)).getDtype();
  return plan::LoadScalarOp::create(b, function.getLoc(), b.getIndexType(), bufferOf(value, source), 0, type, lower,
                                    upper, b.getStringAttr(source));
}

/// The first bytes of a buffer.
Value ProgramLowering::headOf(Value buffer, int64_t bytes) {
  if (cast<plan::BufferType>(buffer.getType()).getBytes() == bytes)
    return buffer;
  return plan::ViewOp::create(b, function.getLoc(), buffer, 0, bytes);
}

/// The sizes that a yielded value may have: those of the result, or of a slice of it.
static graph::Dims limitsOf(Value result, bool isSlice = false) {
  graph::Dims dims = graph::dimsOf(result.getType());
  if (isSlice)
    dims.erase(dims.begin());
  return dims;
}

bool ProgramLowering::isWithin(Value value, ArrayRef<graph::Dim> limits) const {
  return llvm::all_of(llvm::zip_equal(sizes.sizesOf(value), limits),
                      [&](auto pair) { return sizes.largest(std::get<0>(pair)) <= std::get<1>(pair).hi; });
}

/// Copies a value, of sizes that were checked to be within the limits, to the first bytes of a buffer.
void ProgramLowering::copyYield(Value value, Value from, Value buffer, ArrayRef<graph::Dim> limits, Location loc,
                                StringRef source) {
  plan::LaunchOp copy = copyValue(value, from, buffer, loc, source);
  SmallVector<Attribute> accesses;
  for (auto [access, operand] : llvm::zip_equal(copy.getAccesses().getAsRange<plan::AccessAttr>(), copy.getBuffers())) {
    plan::ShapeAttr shape = access.getShape();
    SmallVector<int64_t> bounds(shape.getBounds());
    for (auto [bound, limit] : llvm::zip_equal(bounds, limits))
      bound = std::min(bound, limit.hi);
    shape =
        plan::ShapeAttr::getNormalized(context, shape.getDtype(), shape.getLayout(), shape.getDims(), bounds, {}, {});
    int64_t extent = shape.getExtentBytes();
    // A place of the run goes to the end of its buffer as far as a plan can say.
    auto view = operand.getDefiningOp<plan::ViewOp>();
    bool whole = (view && view.getDynamic()) || extent == cast<plan::BufferType>(operand.getType()).getBytes();
    accesses.push_back(plan::AccessAttr::get(context, access.getMode(), 0, whole ? 0 : extent, shape));
  }
  copy.setAccessesAttr(b.getArrayAttr(accesses));
}

/// Makes all bytes of a buffer known, where the steps that follow need not write each of them.
void ProgramLowering::clear(Value buffer, StringRef source) {
  if (cast<plan::BufferType>(buffer.getType()).getBytes() > 0)
    plan::FillOp::create(b, function.getLoc(), Type(), buffer, 0, plan::QueueAttr(), b.getStringAttr(source));
}

//===----------------------------------------------------------------------===//
// Who writes and reads what in a block
//===----------------------------------------------------------------------===//

Operation *ProgramLowering::writerOf(Value root, Block &block) const {
  for (Operation &op : block) {
    if (!launches.contains(&op))
      continue;
    ArrayRef<graph::KernelCandidate> candidates = launches.candidatesOf(&op);
    if (candidates.empty() ? llvm::is_contained(op.getResults(), root)
                           : llvm::any_of(candidates.front().operands, [&](const graph::LaunchOperand &o) {
                               return o.value == root && o.access != graph::Access::Read;
                             }))
      return &op;
  }
  return nullptr;
}

/// Whether an op that overwrites `carried` reads it in place only: each element before it is written.
bool ProgramLowering::readsInPlace(Operation *op, Value carried) {
  if (isa<graph::IfOp, graph::LoopOp>(op))
    return false;
  if (op->getNumResults() == 1 && sizes.isMadeOfSizes(op->getResult(0)))
    return true; // reads no bytes
  ArrayRef<graph::KernelCandidate> candidates = launches.candidatesOf(op);
  if (candidates.empty()) {
    FailureOr<gen::KernelInfo> kernel = options.generate(op);
    if (failed(kernel))
      return false;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (operand == carried && llvm::none_of(kernel->inPlace, [&](auto pair) { return size_t(pair.first) == i; }))
        return false;
    return true;
  }
  SmallVector<plan::AliasAttr> aliases = aliasesOf(op, candidates.front());
  for (auto [i, operand] : llvm::enumerate(candidates.front().operands))
    if (operand.access == graph::Access::Read && storageOf(operand.value) == carried &&
        (operand.value != carried || llvm::none_of(aliases, [&](plan::AliasAttr alias) {
           return alias.getKind() == plan::AliasKind::InPlace && size_t(alias.getBase()) == i;
         })))
      return false;
  return true;
}

/// Whether the new value may be written to the home of the old one: nothing reads the old one from then on.
bool ProgramLowering::mayOverwrite(BlockArgument carried, Operation *writer) {
  return allReaders(carried, [&](Operation *user) {
    return carried.getOwner()->findAncestorOpInBlock(*user)->isBeforeInBlock(writer) ||
           (user == writer && readsInPlace(writer, carried));
  });
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

LogicalResult ProgramLowering::lowerIf(graph::IfOp branch) {
  std::string source = sourceName(branch);
  ArrayRef<RegionSize> open = sizes.regionSizes(branch);
  SmallVector<unsigned> wanted;
  for (OpResult result : branch->getResults())
    if (launches.needed.contains(result))
      wanted.push_back(result.getResultNumber());
  SmallVector<Region *> regions{&branch.getThenRegion(), &branch.getElseRegion()};
  for (unsigned i : wanted) {
    Value buffer = bufferOf(branch.getResult(i), source);
    int64_t bytes = cast<plan::BufferType>(buffer.getType()).getBytes();
    if (llvm::any_of(regions, [&](Region *region) {
          return sizes.largestBytes(region->front().getTerminator()->getOperand(i)) != bytes;
        }))
      clear(buffer, source);
  }
  Value condition = loadScalar(branch.getCondition(), 0, 1, source);
  SmallVector<Type> types(open.size(), b.getIndexType());
  auto step = plan::IfOp::create(b, branch.getLoc(), types, condition, b.getStringAttr(source));
  for (auto [region, target] : llvm::zip_equal(regions, MutableArrayRef<Region>(step->getRegions()))) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&target);
    Block &block = region->front();
    Operation *yield = block.getTerminator();
    SmallVector<unsigned> copied;
    for (unsigned i : wanted) {
      Value root = storageOf(yield->getOperand(i));
      if (!buffers.contains(root) && isWithin(yield->getOperand(i), limitsOf(branch.getResult(i))) &&
          writerOf(root, block))
        buffers[root] = headOf(buffers.at(branch.getResult(i)), sizes.largestBytes(root));
      else
        copied.push_back(i);
    }
    if (failed(lowerBlock(block)))
      return failure();
    addDefinitions(yield);
    for (unsigned i : copied) {
      Value value = yield->getOperand(i);
      copyYield(value, bufferOf(value, source), buffers.at(branch.getResult(i)), limitsOf(branch.getResult(i)),
                branch.getLoc(), source);
    }
    Sizes given;
    for (const RegionSize &size : open)
      given.push_back(sizes.sizesOf(yield->getOperand(size.result))[size.dim]);
    plan::YieldOp::create(b, branch.getLoc(), scalarsOf(given, b.getStringAttr(source)));
  }
  for (auto [size, value] : llvm::zip_equal(open, step.getValues()))
    symbolValues[size.outside] = value;
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static bool isTrips(graph::LoopOp loop, const RegionSize &size) { return size.result >= loop.getCarriedCount(); }

/// Homes of what the loop carries, holding the initial values, and room for what it stacks.
void ProgramLowering::enterLoop(graph::LoopOp loop, StringRef source) {
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    Value result = loop.getResult(i);
    if (i >= loop.getCarriedCount()) {
      if (launches.needed.contains(result))
        clear(bufferOf(result, source), source);
      continue;
    }
    Value home = bufferOf(result, source), initial = loop.getInitial()[i];
    int64_t bytes = sizes.largestBytes(initial);
    if (bytes != cast<plan::BufferType>(home.getType()).getBytes())
      clear(home, source);
    copyValue(initial, headOf(home, bytes), loop.getLoc(), source);
    buffers[loop.getCarried(i)] = home;
  }
}

/// The number of the trip and the condition, which is true in every trip, where the body has them as tensors.
void ProgramLowering::materialiseHeader(graph::LoopOp loop, Value iteration, StringRef source) {
  auto fill = [&](BlockArgument value, StringRef kernel, ArrayRef<int64_t> attrs, ValueRange scalars) {
    if (!launches.needed.contains(value))
      return;
    SmallVector<graph::KernelCandidate, 1> list;
    Candidates candidates{sizes, list};
    LaunchBuilder(candidates).write(value).offer(kernel, attrs);
    Value buffer =
        plan::AllocOp::create(b, loop.getLoc(), plan::BufferType::get(context, sizes.largestBytes(value)), source);
    buffers[value] = buffer;
    createLaunch(loop.getLoc(), list.front(), buffer, source, scalars);
  };
  fill(loop.getIteration(), "fill.scalars", {}, iteration);
  fill(loop.getBlock()->getArgument(1), "fill.iota", {-1, 1, 0}, {});
}

/// Where the body's values go: right to their places where nothing is in the way. The rest is copied at the end of a
/// trip; gives its results, and for stacked results the place of this trip's slice.
void ProgramLowering::placeYields(graph::LoopOp loop, SmallVectorImpl<unsigned> &copied,
                                  SmallVectorImpl<Value> &places) {
  Block &body = *loop.getBlock();
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    bool carried = i < loop.getCarriedCount();
    places.push_back(Value());
    if (!carried && !launches.needed.contains(loop.getResult(i)))
      continue;
    Value value = loop.getYielded(i), root = storageOf(value);
    if (carried && root == loop.getCarried(i))
      continue; // unchanged
    Value home = buffers.at(loop.getResult(i));
    if (carried) {
      places.back() = home;
    } else {
      AffineExpr offset = getAffineConstantExpr(graph::elementBytes(graph::elementTypeOf(value)), context);
      for (AffineExpr size : sizes.sizesOf(value))
        offset = offset * size;
      Value start = scalarsOf({sizes.regionIteration(loop) * offset})[0];
      places.back() =
          plan::ViewOp::create(b, loop.getLoc(), home, 0, cast<plan::BufferType>(home.getType()).getBytes(), start);
    }
    bool fits = !buffers.contains(root) && isWithin(value, limitsOf(loop.getResult(i), !carried));
    Operation *writer = fits ? writerOf(root, body) : nullptr;
    // What a branch or loop inside gives needs a place that does not move.
    bool direct =
        writer && (carried ? mayOverwrite(loop.getCarried(i), writer) : !isa<graph::IfOp, graph::LoopOp>(writer));
    if (direct)
      buffers[root] = carried ? headOf(home, sizes.largestBytes(root)) : places.back();
    else
      copied.push_back(i);
  }
}

/// The end of a trip: what one carried value takes from another goes through buffers of its own, since all change at
/// once.
void ProgramLowering::copyYields(graph::LoopOp loop, ArrayRef<unsigned> copied, ArrayRef<Value> places,
                                 StringRef source) {
  DenseMap<unsigned, Value> kept;
  for (unsigned i : copied) {
    Value value = loop.getYielded(i);
    auto old = dyn_cast<BlockArgument>(storageOf(value));
    if (i >= loop.getCarriedCount() || !old || old.getOwner() != loop.getBlock() || old.getArgNumber() < 2)
      continue;
    kept[i] =
        plan::AllocOp::create(b, loop.getLoc(), plan::BufferType::get(context, sizes.largestBytes(value)), source);
    copyValue(value, kept[i], loop.getLoc(), source);
  }
  // Slices first: a carried value that is stacked as it was is still there.
  SmallVector<unsigned> order(copied);
  llvm::stable_sort(order, [](unsigned a, unsigned c) { return a > c; });
  for (unsigned i : order) {
    Value value = loop.getYielded(i);
    Value own = kept.lookup(i);
    copyYield(value, own ? own : bufferOf(value, source), places[i],
              limitsOf(loop.getResult(i), i >= loop.getCarriedCount()), loop.getLoc(), source);
  }
}

LogicalResult ProgramLowering::lowerLoop(graph::LoopOp loop) {
  std::string source = sourceName(loop);
  Location loc = loop.getLoc();
  ArrayRef<RegionSize> open = sizes.regionSizes(loop);
  enterLoop(loop, source);
  std::optional<int64_t> known = knownScalar(loop.getTrips());
  bool fixed = known && *known <= loop.getMaxTrips();
  Value trips = fixed ? Value() : loadScalar(loop.getTrips(), INT64_MIN, INT64_MAX, source);
  bool conditional = isConditional(loop);
  SmallVector<Value> inits;
  if (conditional)
    inits.push_back(loadScalar(loop.getCondition(), 0, 1, source));
  Sizes initial;
  for (const RegionSize &size : open)
    initial.push_back(isTrips(loop, size) ? getAffineConstantExpr(0, context)
                                          : sizes.sizesOf(loop.getInitial()[size.result])[size.dim]);
  llvm::append_range(inits, scalarsOf(initial, b.getStringAttr(source)));
  SmallVector<Type> types(inits.size(), b.getIndexType());
  int64_t most = fixed ? std::max<int64_t>(*known, 0) : loop.getMaxTrips();
  auto step = plan::LoopOp::create(b, loc, types, most, trips, inits, conditional, b.getStringAttr(source));
  {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Type> arguments(inits.size() + 1, b.getIndexType());
    Block *block = b.createBlock(&step.getBody(), {}, arguments, SmallVector<Location>(arguments.size(), loc));
    Value iteration = block->getArgument(0);
    symbolValues[cast<AffineSymbolExpr>(sizes.regionIteration(loop)).getPosition()] = iteration;
    for (auto [size, value] : llvm::zip_equal(open, block->getArguments().drop_front(1 + conditional)))
      if (!isTrips(loop, size))
        symbolValues[*size.inside] = value;
    materialiseHeader(loop, iteration, source);
    SmallVector<unsigned> copied;
    SmallVector<Value> places;
    placeYields(loop, copied, places);
    if (failed(lowerBlock(*loop.getBlock())))
      return failure();
    addDefinitions(loop.getYield());
    SmallVector<Value> next;
    if (conditional) {
      bool stays = loop.getNextCondition() == loop.getBlock()->getArgument(1);
      next.push_back(stays ? scalarsOf({getAffineConstantExpr(1, context)}, b.getStringAttr(source))[0]
                           : loadScalar(loop.getNextCondition(), 0, 1, source));
    }
    copyYields(loop, copied, places, source);
    // The sizes last: up to here, those of the old values are used.
    Sizes given;
    for (const RegionSize &size : open)
      given.push_back(isTrips(loop, size) ? sizes.regionIteration(loop) + 1
                                          : sizes.sizesOf(loop.getYielded(size.result))[size.dim]);
    llvm::append_range(next, scalarsOf(given, b.getStringAttr(source)));
    plan::YieldOp::create(b, loc, next);
  }
  for (auto [size, value] : llvm::zip_equal(open, step.getValues().drop_front(conditional)))
    symbolValues[size.outside] = value;
  return success();
}

} // namespace plim::lowering
