//===- JoinVariants.h - Modules of one variant each become one module ---------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_JOINVARIANTS_H
#define PLIM_COMPILER_PIPELINES_JOINVARIANTS_H

#include "compiler/Pipelines/ConstantNumbers.h"
#include "dialects/Plan/PlanDialect.h"

namespace plim {

struct Variant {
  llvm::StringRef name;
  plan::ModuleOp module;                              // stage placed, without variants
  llvm::ArrayRef<lowering::ConstantSource> constants; // of the module
};

struct JoinedVariants {
  mlir::OwningOpRef<plan::ModuleOp> module;
  std::vector<lowering::ConstantSource> constants;
};

/// All programs in a module with the states of the first, which all of them have alike; the given modules are left
/// empty. Constants of the same number are there once. States are in one arena. Each variant has an arena of its own
/// for constants: the weight file from its start, in which comes first what the first variant keeps, then what the next
/// ones keep beside that.
JoinedVariants joinVariants(llvm::ArrayRef<Variant> variants, ConstantNumbers &numbers);

} // namespace plim

#endif
