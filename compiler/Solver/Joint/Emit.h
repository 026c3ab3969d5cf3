//===- Emit.h - From a timeline to what runs when ------------------------------------------------===//
#ifndef PLIM_SOLVER_JOINT_EMIT_H
#define PLIM_SOLVER_JOINT_EMIT_H

#include "compiler/Solver/Joint/Joint.h"
#include "compiler/Solver/Joint/Timeline.h"

namespace plim::solver {

// Steps that only make views run just before the first use of what they make, once for each instance of their base.
// The end of a write is waited for before the slot where the timeline frees its memory; a read is issued at the slot
// where it takes its memory, those due first before others, and waited for before the first use.
JointPlan emit(const Timeline &timeline);

// Most bytes in one slot.
int64_t liveOf(const Timeline &timeline);

// When each action of a schedule starts, and at last when all have ended, ns.
std::vector<int64_t> startsOf(const Problem &problem, const Schedule &schedule);

// Starts reads earlier and ends writes later wherever memory is free, so that fewer of them stop the cpu.
void relaxTransfers(Timeline &timeline);

} // namespace plim::solver

#endif // PLIM_SOLVER_JOINT_EMIT_H
