//===- Register.h - The one place where dialects and passes are registered ----------*- C++ -*-===//
//
// Every tool calls these two, so that a dialect or pass added here is known to all of them.
//
//===------------------------------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace plim {

/// The project's dialects and the upstream ones that their passes read or create.
void registerAllPlimDialects(mlir::DialectRegistry &registry);

/// The project's passes and pipelines, and the upstream passes that pipelines and tests use. Call once a process.
void registerAllPlimPasses();

} // namespace plim
