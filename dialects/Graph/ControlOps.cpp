//===- ControlOps.cpp - Branches, loops, fused regions, kernels of users ---------------------------------------===//

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/ControlOps.cpp.inc"

/// Checks the types that a region yields against those needed.
static LogicalResult verifyYield(Operation *op, StringRef region, TypeRange have, TypeRange need) {
  if (have.size() != need.size())
    return op->emitOpError("needs ") << region << " to yield " << need.size() << " values, has " << have.size();
  for (auto [i, h, n] : llvm::enumerate(have, need))
    if (!areCompatible(h, n))
      return op->emitOpError("needs ") << region << " to yield " << n << " as value " << i << ", has " << h;
  return success();
}

static TypeRange yieldedTypes(Region &region) { return region.front().getTerminator()->getOperandTypes(); }

//===----------------------------------------------------------------------===//
// fused
//===----------------------------------------------------------------------===//

ParseResult FusedOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto parseInput = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()) || parser.parseColonType(argument.type));
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseInput) || parser.parseArrow() ||
      parser.parseLParen() ||
      (failed(parser.parseOptionalRParen()) && (parser.parseTypeList(state.types) || parser.parseRParen())) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  SmallVector<Type> types = llvm::map_to_vector(arguments, [](const auto &argument) { return argument.type; });
  if (parser.resolveOperands(operands, types, loc, state.operands))
    return failure();
  return parser.parseRegion(*state.addRegion(), arguments);
}

void FusedOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
    auto [argument, input] = pair;
    printer << argument << " = " << input << " : " << input.getType();
  });
  printer << ") -> (" << getResultTypes() << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

YieldOp FusedOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }

LogicalResult FusedOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("needs block arguments of its operands' types, has ")
           << block.getArgumentTypes() << " for " << getInputs().getTypes();
  if (!isa<YieldOp>(block.getTerminator()))
    return emitOpError("needs a graph.yield at the end of its region, has ") << block.getTerminator()->getName();
  for (Operation &op : block.without_terminator()) {
    auto resize = dyn_cast<ResizeOp>(op);
    bool repeats = resize && isa<BlockArgument>(resize.getInput()) && resize.getRepeats();
    bool fusible = isa<ScalarBodyOpInterface, DecomposeOpInterface, BroadcastOp, ReduceOp, ReshapeOp, FillOp>(op) ||
                   op.hasTrait<OpTrait::ConstantLike>();
    if (!fusible && !repeats)
      return emitOpError("needs elementwise, broadcast, reduce and normalisation ops in its region, has ")
             << op.getName();
  }
  return verifyYield(*this, "its region", yieldedTypes(getBody()), getResultTypes());
}

/// A result may overwrite an operand that only elementwise ops read, element for element, on the way to it: a reduction
/// reads a whole row before any element of it is written, so it does no harm either.
SmallVector<plim::graph::Alias> FusedOp::getAliases() {
  SmallVector<plim::graph::Alias> aliases;
  for (auto [r, result] : llvm::enumerate(getOutputs()))
    for (auto [i, input] : llvm::enumerate(getInputs()))
      if (dimsOf(input.getType()) == dimsOf(result.getType()) &&
          elementBytes(elementTypeOf(input)) == elementBytes(elementTypeOf(result)))
        aliases.push_back({static_cast<unsigned>(r), static_cast<unsigned>(i), AliasKind::InPlace});
  return getOutputs().size() == 1 ? aliases : SmallVector<plim::graph::Alias>();
}

//===----------------------------------------------------------------------===//
// if, loop, custom
//===----------------------------------------------------------------------===//

LogicalResult IfOp::verify() {
  if (elementsOf(dimsOf(getCondition().getType())) != Dim(1))
    return emitOpError("needs a condition of one element, has ") << getCondition().getType();
  if (failed(verifyYield(*this, "the then region", yieldedTypes(getThenRegion()), getResultTypes())))
    return failure();
  return verifyYield(*this, "the else region", yieldedTypes(getElseRegion()), getResultTypes());
}

namespace {

/// A branch whose condition is known is the region that it takes.
struct InlineKnownBranch : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr condition;
    if (!matchPattern(op.getCondition(), m_Constant(&condition)) || !condition.isSplat())
      return failure();
    Region &taken = condition.getSplatValue<bool>() ? op.getThenRegion() : op.getElseRegion();
    Operation *yield = taken.front().getTerminator();
    SmallVector<Value> results(yield->getOperands());
    rewriter.inlineBlockBefore(&taken.front(), op);
    rewriter.eraseOp(yield);
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void IfOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<InlineKnownBranch>(context);
}

LogicalResult LoopOp::verify() {
  if (elementsOf(dimsOf(getTrips().getType())) != Dim(1) || elementsOf(dimsOf(getCondition().getType())) != Dim(1))
    return emitOpError("needs trips and a condition of one element, has ")
           << getTrips().getType() << " and " << getCondition().getType();
  if (getMaxTrips() < 0)
    return emitOpError("needs max_trips of at least 0, has ") << getMaxTrips();
  SmallVector<Type> arguments{getTrips().getType(), getCondition().getType()};
  llvm::append_range(arguments, getInitial().getTypes());
  Block &block = getBody().front();
  if (block.getNumArguments() != arguments.size() || !areCompatible(arguments, block.getArgumentTypes()))
    return emitOpError("needs block arguments ") << arguments << ", has " << block.getArgumentTypes();
  size_t carried = getInitial().size();
  if (getOutputs().size() < carried)
    return emitOpError("needs a result for each of ") << carried << " carried values, has " << getOutputs().size();
  // Yields: condition, carried values, and one slice of each stack.
  SmallVector<Type> yields{getCondition().getType()};
  for (auto [i, result] : llvm::enumerate(getResultTypes())) {
    auto type = cast<RankedTensorType>(result);
    if (i < carried) {
      if (type != block.getArgument(2 + unsigned(i)).getType())
        return emitOpError("needs a result of its carried block argument's type ")
               << block.getArgument(2 + unsigned(i)).getType() << ", has " << type;
      yields.push_back(type);
      continue;
    }
    if (type.getRank() == 0)
      return emitOpError("needs a stacked result of rank 1 or more, has ") << type;
    yields.push_back(tensorOf(ArrayRef(dimsOf(type)).drop_front(), type.getElementType()));
  }
  return verifyYield(*this, "its region", yieldedTypes(getBody()), yields);
}

namespace {

/// Builds the loop again without some of its results, and replaces the old one. Carried values that go are replaced by
/// their initial values in the body.
void keepResults(LoopOp loop, const BitVector &keep, PatternRewriter &rewriter) {
  // First of all, since others may yield them too.
  BitVector droppedArguments(loop.getBlock()->getNumArguments());
  for (unsigned i = 0; i < loop.getCarriedCount(); ++i)
    if (!keep[i]) {
      rewriter.replaceAllUsesWith(loop.getCarried(i), loop.getInitial()[i]);
      droppedArguments.set(2 + i);
    }
  SmallVector<Value> initial, yields{loop.getNextCondition()};
  SmallVector<Type> types;
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    if (!keep[i])
      continue;
    types.push_back(loop.getResult(i).getType());
    yields.push_back(loop.getYielded(i));
    if (i < loop.getCarriedCount())
      initial.push_back(loop.getInitial()[i]);
  }
  auto narrow =
      LoopOp::create(rewriter, loop.getLoc(), types, loop.getTrips(), loop.getCondition(), initial, loop.getMaxTrips());
  rewriter.inlineRegionBefore(loop.getBody(), narrow.getBody(), narrow.getBody().end());
  rewriter.modifyOpInPlace(narrow.getYield(), [&] { narrow.getYield()->setOperands(yields); });
  rewriter.modifyOpInPlace(narrow, [&] { narrow.getBlock()->eraseArguments(droppedArguments); });
  unsigned next = 0;
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (keep[i])
      rewriter.replaceAllUsesWith(loop.getResult(i), narrow.getResult(next++));
    else if (i < loop.getInitial().size())
      rewriter.replaceAllUsesWith(loop.getResult(i), loop.getInitial()[i]);
  rewriter.eraseOp(loop);
}

/// Carried values that no trip changes are their initial values; results and carried values that nothing needs go.
struct DropUnchangedCarried : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopOp loop, PatternRewriter &rewriter) const override {
    BitVector keep(loop.getNumResults(), true);
    for (unsigned i = 0; i < loop.getNumResults(); ++i) {
      bool unused = loop.getResult(i).use_empty();
      if (i >= loop.getCarriedCount()) {
        keep[i] = !unused;
        continue;
      }
      BlockArgument carried = loop.getCarried(i);
      bool sameType =
          loop.getInitial()[i].getType() == carried.getType() && loop.getResult(i).getType() == carried.getType();
      keep[i] = !(sameType && loop.getYielded(i) == carried) && !(unused && carried.use_empty());
    }
    if (keep.all())
      return failure();
    keepResults(loop, keep, rewriter);
    return success();
  }
};

/// A loop that never starts gives its initial values.
struct DropLoopWithoutTrips : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopOp loop, PatternRewriter &rewriter) const override {
    DenseElementsAttr condition, trips;
    bool never =
        (matchPattern(loop.getCondition(), m_Constant(&condition)) && condition.isSplat() &&
         !condition.getSplatValue<bool>()) ||
        (matchPattern(loop.getTrips(), m_Constant(&trips)) && trips.isSplat() && trips.getSplatValue<int64_t>() <= 0);
    if (!never || loop.getNumResults() != loop.getCarriedCount() ||
        loop.getInitial().getTypes() != loop.getResultTypes())
      return failure();
    rewriter.replaceOp(loop, loop.getInitial());
    return success();
  }
};

} // namespace

void LoopOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnchangedCarried, DropLoopWithoutTrips>(context);
}

LogicalResult CustomOp::verify() {
  if (getKernel().empty())
    return emitOpError("needs the name of a kernel, has an empty one");
  if (getTasks() < 1 || getSharedBytes() < 0 || getScratchBytes() < 0)
    return emitOpError("needs at least 1 task and workspaces of at least 0 bytes, has ")
           << getTasks() << ", " << getSharedBytes() << " and " << getScratchBytes();
  return success();
}
