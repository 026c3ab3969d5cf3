//===- SourceName.cpp - What a location calls an op ---------------------------------------------------===//
#include "dialects/Graph/SourceName.h"

#include "mlir/IR/Location.h"

using namespace mlir;

std::optional<StringRef> plim::graph::locationName(Operation *op) {
  Location loc = op->getLoc();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (isa<NameLoc>(part))
        loc = part;
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().getValue();
  return std::nullopt;
}
