//===- MoveBuffers.h - Live buffers slide where fixed offsets do not fit ----------------------===//
//
// The MOVE lever: what is alive at one time may fit an arena although no fixed offsets do. Then live storages are moved
// by copies between steps (Packing/Slide.h). A storage can move while one value in it is needed: at offset 0, in one
// piece, not in flight from or to the ssd, and of a movable buffer.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_MOVEBUFFERS_H
#define PLIM_SOLVER_MOVEBUFFERS_H

#include "compiler/Solver/Packing/Packing.h"
#include "compiler/Solver/Problem.h"
#include <optional>

namespace plim::solver {

// The plan with other offsets in the ram's transient arena, which then takes at most `capacity` bytes, and with moves
// where they are needed; nothing where sliding finds no way. `runNs` says by action of the plan how long a run takes.
std::optional<Solution> moveBuffers(const Problem &problem, const Solution &plan, const std::vector<int64_t> &runNs,
                                    int64_t capacity, const PackOptions &options);

} // namespace plim::solver

#endif // PLIM_SOLVER_MOVEBUFFERS_H
