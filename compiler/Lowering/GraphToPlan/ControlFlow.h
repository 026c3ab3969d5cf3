//===- ControlFlow.h - What is known of branches and loops before they run ------------------===//
#ifndef PLIM_COMPILER_LOWERING_GRAPHTOPLAN_CONTROLFLOW_H
#define PLIM_COMPILER_LOWERING_GRAPHTOPLAN_CONTROLFLOW_H

#include "dialects/Graph/GraphDialect.h"

namespace plim::lowering {

/// The value of an integer or truth value that is a constant.
std::optional<int64_t> knownScalar(mlir::Value value);

/// Whether anything but the number of trips can end the loop.
bool isConditional(graph::LoopOp loop);

/// The number of trips, where it is the same in every run.
std::optional<int64_t> knownTrips(graph::LoopOp loop);

} // namespace plim::lowering

#endif
