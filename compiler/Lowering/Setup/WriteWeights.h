//===- WriteWeights.h - Constants of a plan become the weight file ------------------------------===//
//
// A constant is bytes of the model's own files, a small constant of the graph, or a result of @setup: the part of the
// graph that depends on weights alone (folded scales, transposed and packed filters). Each result of @setup is computed
// on its own, so that the compiler never holds more than one constant and what it is made from; files are mapped and
// their pages dropped once read.
//
//===---------------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_SETUP_WRITEWEIGHTS_H
#define PLIM_COMPILER_LOWERING_SETUP_WRITEWEIGHTS_H

#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include <functional>

namespace plim::lowering {

/// Places and encodes a plan of one virtual program without a budget.
using Planner = std::function<mlir::LogicalResult(plan::ModuleOp)>;

struct WeightsOptions {
  std::string path;     // of the weight file
  uint32_t threads = 1; // that run @setup
  Planner planner;      // brings a program to stage placed
  std::function<void(size_t done, size_t all)> progress;
};

enum class WeightsStatus {
  Done,
  Model,       ///< @setup needs a kernel that there is none of
  Environment, ///< a file cannot be read or written, or memory is short
};

/// Writes the weight file (at a temporary name until it is whole) and sets hash of every plan.constant, and length and
/// hash of the file on the plan's module. Constants may come from several modules, each with a @setup of its own. A
/// plan without constants gets no file. Fails with diagnostics.
WeightsStatus writeWeights(plan::ModuleOp plan, llvm::ArrayRef<ConstantSource> constants,
                           const WeightsOptions &options);

} // namespace plim::lowering

#endif
