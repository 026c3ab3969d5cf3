//===- ModelObject.h - The step table and what it calls in an object file -----------------===//
#ifndef PLIM_COMPILER_EMIT_MODELOBJECT_H
#define PLIM_COMPILER_EMIT_MODELOBJECT_H

#include "compiler/Lowering/Generated/ObjectBuilder.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"

namespace plim::emit {

/// Adds <prefix>_model and what it points to (PlanToLLVM.h) to the generated kernels of an object. The table's kernels
/// are the builder's own, each compiled before, library kernels, or C symbols of the user's.
mlir::LogicalResult addModel(gen::ObjectBuilder &object, llvm::StringRef prefix, const plan::EncodedTable &table,
                             mlir::Location loc);

} // namespace plim::emit

#endif
