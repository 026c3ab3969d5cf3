// The three objects as the runtime sees them. Each lies at the start of its region; its tables follow as layout.h says.
#ifndef PLIM_RUNTIME_CORE_OBJECTS_H
#define PLIM_RUNTIME_CORE_OBJECTS_H

#include "runtime/core/layout.h"
#include "runtime/core/ledger.h"
#include "runtime/core/pool.h"
#include "runtime/io/transfers.h"

#include "plim/plim.h"

#include <atomic>
#include <time.h>

/// Bytes [begin, end) that a step declares to write.
struct WriteSpan {
  char *begin, *end;
};

struct plim_weights {
  plim::rt::Region region;
  const plim_model *model;
  plim::rt::TableView table;
  plim_isa isa;
  char *arena;       // its layout is the file's data part
  uint64_t loaded;   // bytes of the data part that are there: up to the end of the last constant that was asked for
  uint32_t buffered; // 1: the file system did not allow direct I/O
  int fd;            // of the file where a program of the table reads it while it runs, else -1
};

namespace plim::rt {

/// What the transfers of a context need.
struct ContextTransfers {
  SpillFile spill;
  Transfers engine;
};

} // namespace plim::rt

struct plim_context {
  plim::rt::Region region;
  const plim_weights *weights;
  plim::rt::TableView table;
  plim_scope scope;
  plim::rt::Pool pool;
  std::atomic<uint32_t> busy;
  uint32_t program; // whose arenas arenaBases holds, PLIM_NONE at first
  uint32_t poisonRuns;
  char *transient; // all arenas of the program that runs
  uint64_t transientBytes;
  char **arenaBases;      // by arena; null where the program does not use it, or it is not the context's
  uint64_t *arenaTouched; // highest byte seen changed, by arena
  int64_t *scalars, *listIn, *listOut;
  uint8_t *tokens;
  void **operands;
  const plim_shape **shapes;
  plim_shape *dynamicShapes;
  WriteSpan *spans;
  plim::rt::ContextTransfers *transfers; // null where no program of the scope has any
  uint64_t *spillBases;                  // by arena: where those on the ssd start in the spill file
};

/// One input or output of one program.
struct Binding {
  char *data;
  uint64_t room;  // bytes that the caller gave
  uint64_t bytes; // that this run uses
  int64_t dims[PLIM_MAX_RANK];
  uint32_t bound, ran; // ran: dims are those of the last run
};

/// A session's figures of one program.
struct ProgramFigures {
  uint64_t live[PLIM_TIER_COUNT];
  uint64_t ioBytes, runs, poisonRuns, lastNs, totalNs, steps;
  uint64_t transfers, bytesRead, bytesWritten, stallNs;
  uint32_t firstBinding;
};

struct plim_session {
  plim::rt::Region region;
  const plim_weights *weights;
  plim::rt::TableView table;
  plim_scope scope;
  std::atomic<uint32_t> busy, cancelled;
  uint32_t torn;
  uint32_t bindingCount;
  ProgramFigures *programs; // of the scope, in order
  Binding *bindings;
  char **arenaBases; // by arena; null where it holds no state
};

namespace plim::rt {

static_assert(sizeof(plim_weights) <= kObjectBytes && sizeof(plim_context) <= kObjectBytes &&
              sizeof(plim_session) <= kObjectBytes);
static_assert(sizeof(ContextTransfers) <= kTransfersBytes);
static_assert(sizeof(Binding) <= kBindingBytes && sizeof(ProgramFigures) <= kProgramBytes &&
              sizeof(Pool::Worker) <= kWorkerBytes && sizeof(WriteSpan) == kSpanBytes);

bool scopeHolds(TableView t, plim_scope scope, uint32_t program);

/// Turns a caller's program index (PLIM_NONE: the only one) into an index, or fails.
plim_status resolveProgram(TableView t, plim_scope scope, uint32_t program, uint32_t &out);

/// Refuses a scope that names no variant or program of the table.
plim_status checkScope(TableView t, plim_scope scope);

inline ProgramFigures &figuresOf(const plim_session &s, uint32_t program) {
  return s.programs[s.scope.program == PLIM_NONE ? program - s.table.variant(s.scope.variant).first_program : 0];
}
inline Binding *bindingsOf(const plim_session &s, uint32_t program) {
  return s.bindings + figuresOf(s, program).firstBinding;
}

/// Whether this runtime offers all that the programs of a scope use, and the model has their kernels.
plim_status checkPrograms(const plim_model &model, plim_scope scope, plim_isa isa);

/// Whether weights serve the programs of a scope: a sound scope, programs that can run, constants that are loaded.
plim_status checkServes(const plim_weights &weights, plim_scope scope);

/// First byte of a state of the session.
char *stateHome(const plim_session &s, uint32_t state);

/// Points the context's arenas at those of a program.
void selectProgram(plim_context &c, uint32_t program);

inline uint64_t nowNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

} // namespace plim::rt

#endif
