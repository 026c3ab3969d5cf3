//===- JoinVariants.h - Modules of one variant each become one module ---------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_JOINVARIANTS_H
#define PLIM_COMPILER_PIPELINES_JOINVARIANTS_H

#include "dialects/Plan/PlanDialect.h"

namespace plim {

struct Variant {
  llvm::StringRef name;
  plan::ModuleOp module; // stage placed, without variants
};

/// All programs in a module with the constants and states of the first, which all of them have alike; the given modules
/// are left empty. States are in one arena. Each variant has an arena of its own for constants: the weight file from
/// its start, in which comes first what the first variant keeps, then what the next ones keep beside that.
mlir::OwningOpRef<plan::ModuleOp> joinVariants(llvm::ArrayRef<Variant> variants);

} // namespace plim

#endif
