// Where everything lies inside the regions of the three objects. The sizes here are the planned ones:
// plim_reserved_bytes adds them up for the compiler, the create functions reserve them, so plan and ledger cannot
// differ.
#ifndef PLIM_RUNTIME_CORE_LAYOUT_H
#define PLIM_RUNTIME_CORE_LAYOUT_H

#include "runtime/core/table_view.h"

#include "plim/plim.h"

namespace plim::rt {

/// Room of an object's own fields, fixed so that a plan does not depend on the release that made it.
inline constexpr uint64_t kObjectBytes = 4096;
inline constexpr uint64_t kBindingBytes = 96;  // one input or output
inline constexpr uint64_t kProgramBytes = 256; // a session's figures of one program
inline constexpr uint64_t kWorkerBytes = 128;  // one worker of the pool
inline constexpr uint64_t kSpanBytes = 16;     // one declared write of a launch

/// Offsets in the weights' region: the object, the header block of the file, then the arena.
struct WeightsLayout {
  uint64_t header = kObjectBytes, arena = 0, bytes = 0;
  WeightsLayout(uint64_t weightsFileBytes, uint64_t arenaBytes);
};

inline constexpr uint64_t kTransfersBytes = 20480; // the engine of transfers

/// Offsets in the context's region: the object, tables of the walk, arenas, worker stacks (lowest first), and what
/// transfers need, which is empty where ioDepth is 0.
struct ContextLayout {
  uint64_t arenaBases, arenaTouched, scalars, listIn, listOut, tokens, operands, shapes, spans, dynamicShapes, workers;
  uint64_t arenas, stacks, transfers, spillBases, blockHashes, bounce, ring, ioStacks, bytes;
  uint32_t ioDepth;
  ContextLayout(const plim_reserve_terms &terms, uint64_t arenaBytes);
};

/// Offsets in the session's region: the object, figures a program, bindings, tables, arenas of the states.
struct SessionLayout {
  uint64_t programs, bindings, arenaBases, arenas, bytes;
  SessionLayout(const plim_reserve_terms &terms, uint64_t arenaBytes);
};

/// What the programs of a scope need together: the maximum where they take turns, the sum where they all stay.
struct ScopeNeeds {
  plim_reserve_terms terms = {};
  uint64_t weightsArena = 0; // page-rounded bytes of RAM
  uint64_t contextArenas = 0;
  uint64_t sessionArenas = 0;
  uint64_t otherTiers[PLIM_TIER_COUNT] = {}; // on the ssd: the length of the spill file
  ScopeNeeds(TableView t, plim_scope scope);
};

/// Calls f(index, program) for the programs of a scope, in order.
template <class Fn> void programsOfScope(TableView t, plim_scope scope, Fn f) {
  if (scope.program != PLIM_NONE) {
    f(scope.program, t.program(scope.program));
    return;
  }
  const plim_t_variant &v = t.variant(scope.variant);
  for (uint32_t i = 0; i < v.programs; ++i)
    f(v.first_program + i, t.program(v.first_program + i));
}

/// Whether a view is of the ssd: of an arena there, or of the weight file.
bool onSsd(TableView t, const plim_t_view &view);

/// Arenas that a program's steps and residents use.
ArenaSet arenasOfProgram(TableView t, const plim_t_program &p);

} // namespace plim::rt

#endif
