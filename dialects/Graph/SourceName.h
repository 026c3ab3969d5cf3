//===- SourceName.h - What a location calls an op ---------------------------------------*- C++ -*-===//
#pragma once

#include "mlir/IR/Operation.h"

namespace plim::graph {

/// The node that an op comes from, by its location; of several the last.
std::optional<llvm::StringRef> locationName(mlir::Operation *op);

} // namespace plim::graph
