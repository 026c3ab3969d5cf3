//===- RandomPlan.h - Plans in stage virtual with the structure of real models ---------------===//
//
//   RandomPlan plan = makeRandomPlan(context, seed);       // @main in *plan.module
//
// The seed decides the family and what is strewn in: constants, states that are updated in place, by a launch or by a
// copy, views, pieces of concatenations, images cut in pieces of rows, buffers that are filled part by part, global
// reductions, loops, branches, steps that may not run again. The kernels are those of MixKernels.h. Launches of the
// program that have several kernels have a source of their own. Equal arguments, equal plans.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_TEST_COMPILER_CONTRACT_RANDOMPLAN_H
#define PLIM_TEST_COMPILER_CONTRACT_RANDOMPLAN_H

#include "dialects/Plan/PlanDialect.h"

#include "mlir/IR/OwningOpRef.h"

namespace plim::test {

enum class PlanFamily : uint8_t { Layered, SeriesParallel, Transformer, UNet, ResNet };
inline constexpr unsigned kPlanFamilies = 5;

struct PlanStyle {
  bool large = false;   // buffers of tens of KiB in place of one or two: transfers are worth what they reserve
  bool inPieces = true; // false: images are not cut, which changes no result
};

struct RandomPlan {
  mlir::OwningOpRef<plan::ModuleOp> module;
  bool hasBranch = false; // a run may leave out steps
  bool hasLoop = false, hasState = false;
};

RandomPlan makeRandomPlan(mlir::MLIRContext &context, unsigned seed, PlanStyle style = {});

} // namespace plim::test

#endif // PLIM_TEST_COMPILER_CONTRACT_RANDOMPLAN_H
