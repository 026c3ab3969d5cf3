//===- RegionSizes.cpp - Sizes of what branches and loops give ------------------------------===//
//
// A size that is the same on both ways of a branch, or in all trips of a loop, is the expression that it is outside.
// Any other one is a symbol that the branch or the loop computes, within the bounds of the result's type.
//
//===---------------------------------------------------------------------------------------===//
#include "compiler/Lowering/GraphToPlan/ControlFlow.h"
#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include "compiler/Lowering/GraphToPlan/SymbolicDims.h"

using namespace mlir;

namespace plim::lowering {

AffineExpr SymbolicDims::addRegionSymbol(graph::Dim bounds) {
  allSymbols.push_back({"", bounds});
  return getAffineSymbolExpr(allSymbols.size() - 1, context);
}

static unsigned positionOf(AffineExpr symbol) { return cast<AffineSymbolExpr>(symbol).getPosition(); }

/// What a region gives for a dimension must be within the bounds of the result's type.
void SymbolicDims::boundYield(Operation *yield, AffineExpr size, graph::Dim bounds) {
  graph::Dim range = rangeOf(size);
  if (range.lo < bounds.lo || range.hi > bounds.hi)
    allConditions.push_back({size, bounds.lo, bounds.hi, yield, "a size is beyond the bounds of its result"});
}

LogicalResult SymbolicDims::addIf(graph::IfOp branch) {
  size_t before = allSymbols.size();
  Operation *yields[] = {branch.getThenRegion().front().getTerminator(),
                         branch.getElseRegion().front().getTerminator()};
  if (failed(addBlock(branch.getThenRegion().front())) || failed(addBlock(branch.getElseRegion().front())))
    return failure();
  SmallVector<RegionSize> &open = regions[branch].sizes;
  open.clear();
  for (auto [r, result] : llvm::enumerate(branch.getResults())) {
    Sizes own;
    for (auto [d, declared] : llvm::enumerate(graph::dimsOf(result.getType()))) {
      AffineExpr ways[] = {sizesOf(yields[0]->getOperand(r))[d], sizesOf(yields[1]->getOperand(r))[d]};
      graph::Dim x = rangeOf(ways[0]), y = rangeOf(ways[1]);
      graph::Dim bounds{std::max(declared.lo, std::min(x.lo, y.lo)), std::min(declared.hi, std::max(x.hi, y.hi))};
      boundYield(yields[0], ways[0], bounds);
      boundYield(yields[1], ways[1], bounds);
      if (bounds.isStatic()) {
        own.push_back(getAffineConstantExpr(bounds.lo, context));
      } else if (ways[0] == ways[1] && namesOnly(ways[0], before)) {
        own.push_back(ways[0]);
      } else {
        own.push_back(addRegionSymbol(bounds));
        open.push_back({unsigned(r), unsigned(d), positionOf(own.back()), std::nullopt});
      }
    }
    sizes[result] = std::move(own);
  }
  return success();
}

/// The sizes of a loop's body and results, where `varying` says which sizes (value and dimension) of what it carries
/// change from trip to trip. Adds to them where a trip changes another one; then nothing of the result counts.
FailureOr<bool> SymbolicDims::addTrips(graph::LoopOp loop, llvm::SetVector<CarriedSize> &varying) {
  Regions &own = regions[loop];
  own.sizes.clear();
  own.iteration = addRegionSymbol({0, std::max<int64_t>(loop.getMaxTrips() - 1, 0)});
  for (BlockArgument header : loop.getBlock()->getArguments().take_front(2))
    sizes[header] = Sizes(cast<RankedTensorType>(header.getType()).getRank(), getAffineConstantExpr(1, context));
  entries[loop.getIteration()] = {own.iteration};
  for (unsigned k = 0; k < loop.getCarriedCount(); ++k) {
    BlockArgument carried = loop.getCarried(k);
    Sizes inside;
    for (auto [d, declared] : llvm::enumerate(graph::dimsOf(carried.getType()))) {
      AffineExpr initial = sizesOf(loop.getInitial()[k])[d];
      boundYield(loop, initial, declared);
      if (declared.isStatic()) {
        inside.push_back(getAffineConstantExpr(declared.lo, context));
      } else if (!varying.contains({k, unsigned(d)})) {
        inside.push_back(initial);
      } else {
        inside.push_back(addRegionSymbol(declared));
        own.sizes.push_back({k, unsigned(d), 0, positionOf(inside.back())});
      }
    }
    sizes[carried] = std::move(inside);
  }
  if (failed(addBlock(*loop.getBlock())))
    return failure();
  bool settled = true;
  for (unsigned k = 0; k < loop.getCarriedCount(); ++k)
    for (auto [d, declared] : llvm::enumerate(graph::dimsOf(loop.getCarried(k).getType()))) {
      AffineExpr next = sizesOf(loop.getYielded(k))[d];
      boundYield(loop.getYield(), next, declared);
      if (!declared.isStatic() && next != sizesOf(loop.getCarried(k))[d])
        settled &= !varying.insert({k, unsigned(d)});
    }
  return settled;
}

LogicalResult SymbolicDims::addLoop(graph::LoopOp loop) {
  size_t before = allSymbols.size(), definitions = allDefinitions.size(), conditions = allConditions.size();
  auto refuse = [&](const Twine &why) { return loop.emitError("'") << sourceName(loop) << "': " << why; };
  for (unsigned k = 0; k < loop.getCarriedCount(); ++k)
    for (auto [d, declared] : llvm::enumerate(graph::dimsOf(loop.getCarried(k).getType())))
      if (!declared.isBounded())
        return refuse("carried value " + Twine(k) + ", dimension " + Twine(d) + ": need an upper bound, have none");
  llvm::SetVector<CarriedSize> varying;
  for (bool settled = false; !settled;) {
    allSymbols.resize(before);
    allDefinitions.resize(definitions);
    allConditions.resize(conditions);
    FailureOr<bool> added = addTrips(loop, varying);
    if (failed(added))
      return failure();
    settled = *added;
  }
  Regions &own = regions[loop];
  for (unsigned k = 0; k < loop.getCarriedCount(); ++k)
    sizes[loop.getResult(k)] = sizes.at(loop.getCarried(k));
  for (RegionSize &size : own.sizes) {
    AffineExpr symbol = addRegionSymbol(graph::dimsOf(loop.getResult(size.result).getType())[size.dim]);
    size.outside = positionOf(symbol);
    sizes[loop.getResult(size.result)][size.dim] = symbol;
  }
  return addStacks(loop, before);
}

/// A stack has as many slices as the loop has trips, all of one size.
LogicalResult SymbolicDims::addStacks(graph::LoopOp loop, size_t before) {
  Regions &own = regions[loop];
  auto refuse = [&](const Twine &why) { return loop.emitError("'") << sourceName(loop) << "': " << why; };
  AffineExpr trips;
  if (std::optional<int64_t> known = knownTrips(loop))
    trips = getAffineConstantExpr(*known, context);
  for (unsigned i = loop.getCarriedCount(); i < loop.getNumResults(); ++i) {
    if (!trips) {
      trips = addRegionSymbol({0, loop.getMaxTrips()});
      own.sizes.push_back({i, 0, positionOf(trips), std::nullopt});
    }
    graph::Dims declared = graph::dimsOf(loop.getResult(i).getType());
    if (declared[0].isStatic() && trips != getAffineConstantExpr(declared[0].lo, context))
      return refuse("result " + Twine(i) + " stacks " + Twine(declared[0].lo) +
                    " slices, but the number of trips is not known to be that");
    Sizes all{trips};
    for (auto [d, slice] : llvm::enumerate(sizesOf(loop.getYielded(i)))) {
      boundYield(loop.getYield(), slice, declared[d + 1]);
      bool fixed = declared[d + 1].isStatic();
      if (!fixed && !namesOnly(slice, before))
        return refuse("result " + Twine(i) + ": need stacked slices of one size, have dimension " + Twine(d) +
                      " change from trip to trip");
      all.push_back(fixed ? getAffineConstantExpr(declared[d + 1].lo, context) : slice);
    }
    sizes[loop.getResult(i)] = std::move(all);
  }
  return success();
}

} // namespace plim::lowering
