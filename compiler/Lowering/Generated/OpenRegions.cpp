//===- OpenRegions.cpp - Regions over an open number of rows --------------===//
#include "compiler/Lowering/Generated/FromGraph.h"
#include "dialects/Graph/OpenRows.h"

using namespace mlir;
namespace plim::gen {

bool isOpen(Operation *op) {
  auto open = [](Type type) { return !cast<RankedTensorType>(type).hasStaticShape(); };
  return llvm::any_of(op->getOperandTypes(), open) || llvm::any_of(op->getResultTypes(), open);
}

/// The op on the most rows, in a module of its own.
static OwningOpRef<ModuleOp> closeRows(Operation *op, const graph::OpenRows &rows, Operation *&closed) {
  OwningOpRef<ModuleOp> holder = ModuleOp::create(op->getLoc());
  closed = op->clone();
  holder->getBody()->push_back(closed);
  auto retype = [&](auto values) {
    bool ok = true;
    for (Value v : values) {
      RankedTensorType type = rows.closed(v.getType());
      ok &= bool(type);
      if (type)
        v.setType(type);
    }
    return ok;
  };
  for (OpOperand &operand : closed->getOpOperands())
    operand.set(holder->getBody()->addArgument(operand.get().getType(), op->getLoc()));
  if (!retype(holder->getBody()->getArguments()) || !retype(closed->getResults()))
    return nullptr;
  if (auto fused = dyn_cast<graph::FusedOp>(closed)) {
    if (!retype(fused.getBody().getArguments()))
      return nullptr;
    for (Operation &inner : fused.getBody().front().without_terminator())
      if (!rows.cover(&inner))
        return nullptr;
    for (Operation &inner : fused.getBody().front().without_terminator())
      retype(inner.getResults());
  } else if (!rows.cover(op)) {
    return nullptr;
  }
  return holder;
}

FailureOr<Region> regionOfRows(Operation *op, EmitError emitError,
                               function_ref<FailureOr<Region>(Operation *)> regionOf) {
  std::optional<graph::OpenRows> rows =
      op->getNumResults() ? graph::OpenRows::of(op->getResult(0).getType()) : std::nullopt;
  Operation *closed = nullptr;
  OwningOpRef<ModuleOp> holder = rows ? closeRows(op, *rows, closed) : nullptr;
  if (!holder)
    return refuse(emitError, "a generated kernel with open sizes needs rows of fixed sizes");
  FailureOr<Region> region = regionOf(closed);
  if (failed(region))
    return failure();
  // Fixed sizes inside of a row are the vector axis.
  if (region->space.size() < 2 || region->space.front() != rows->most() ||
      (region->reduceRows && region->space.size() < 3))
    return refuse(emitError, "a generated kernel with open sizes needs more than one element a row");
  region->open = OpenSpace{unsigned(op->getNumOperands()), rows->leading()};
  return region;
}

} // namespace plim::gen
