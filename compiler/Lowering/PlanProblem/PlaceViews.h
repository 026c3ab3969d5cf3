//===- PlaceViews.h - Views in the form of stage placed -----------------------------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

namespace plim::plan {

/// Folds views of views, makes views of what accesses have as ranges, puts views at fixed offsets before all steps and
/// those at a scalar's offset before each of their users. Buffers of the run are views of arenas already.
mlir::LogicalResult placeViews(ProgramOp program);

} // namespace plim::plan
