//===- MovableBuffers.h - What may be spilled, streamed, slid or made again --------------*- C++ -*-===//
#pragma once

#include "compiler/Lowering/PlanProblem/PlanProblem.h"

namespace plim::plan {

/// Sets `movable` of all buffers. One instance at one place have those of `filled` (by buffer: several steps write it,
/// or one updates it), what a step names that is no launch, or through a view, and constants that are small, that an
/// impure step needs, or that another program keeps in memory (`kept` too).
void markMovable(PlanProblem &extracted, const std::vector<bool> &filled, const llvm::StringSet<> &kept);

} // namespace plim::plan
