// One run of a program: what its steps see.
#ifndef PLIM_RUNTIME_CORE_RUN_H
#define PLIM_RUNTIME_CORE_RUN_H

#include "runtime/core/error.h"
#include "runtime/core/objects.h"

namespace plim::rt {

/// Bytes of a view as this run has them.
struct Bytes {
  char *data;
  uint64_t bytes;
};

struct Run {
  plim_session &session;
  plim_context &context;
  TableView t;
  uint32_t index; // of the program
  const plim_t_program &p;
  const plim_run_options &options;
  Binding *bindings;
  uint64_t pattern; // of poison, alternating between runs
  uint32_t step = 0;
  uint64_t walked = 0;
  uint64_t live[PLIM_TIER_COUNT] = {}, livePeak[PLIM_TIER_COUNT] = {};
  uint64_t transfers = 0, bytesRead = 0, bytesWritten = 0, stallNs = 0;

  bool poison() const { return options.flags & PLIM_RUN_POISON; }
  int64_t scalar(uint32_t i) const { return context.scalars[i]; }

  /// A failure at the current step.
  Failure fail(plim_status status) const;

  /// First byte of an arena: the context's, the session's or the weights'.
  char *arenaBase(uint32_t arena) const {
    if (char *base = context.arenaBases[arena])
      return base;
    if (char *base = session.arenaBases[arena])
      return base;
    return session.weights->arena;
  }

  /// The view's bytes: moved by its scalar, and cut to what the caller gave for an input or output whose dimensions are
  /// below their bounds. PLIM_ERR_BOUND where the scalar leaves the view.
  plim_status resolve(uint32_t view, Bytes &out) const;
};

/// What context.tokens holds of a token.
enum : uint8_t { kTokenNone = 0, kTokenDone = 1, kTokenInFlight = 2 /* plus the number of the transfer */ };

/// COPY (copy.cpp): inside the RAM at once; from and to the ssd in flight until its token is waited on.
plim_status runCopy(Run &run, const plim_t_step &step, const plim_t_copy &copy);
plim_status runWait(Run &run, const plim_t_wait &wait);

/// Runs one LAUNCH: fills in operands and shapes, then its phases on the workers.
plim_status runLaunch(Run &run, const plim_t_launch &launch);

/// Records one piece of work. Any worker.
void traceEvent(const Run &run, const plim_trace_event &event);

/// Poison (poison.cpp). Highest changed bytes go to context.arenaTouched.
void poisonStart(Run &run);
/// Of a MARK. A slide's birth and death leave the bytes that the two buffers share.
void poisonMark(Run &run, const plim_t_mark &mark);
/// Notes the bytes of a transfer, on either side, as touched: to the end of the last block where a buffer has room for
/// it, as transfers move whole blocks.
void noteTransfer(Run &run, const plim_t_view &view, uint64_t offset, uint64_t bytes);
/// Bytes that a transfer in flight will fill.
void poisonTarget(Run &run, const plim_t_view &view, uint64_t offset, uint64_t bytes);
void poisonWorkspace(Run &run, const plim_t_launch &launch);
void measureWorkspace(Run &run, const plim_t_launch &launch);
void poisonEnd(Run &run);

/// Hash of all memory of the run outside the declared writes of its current step (redzone.cpp).
plim_status hashOutsideWrites(Run &run, uint64_t &hash);

/// Walks the program's steps from the first to RETURN.
plim_status walk(Run &run);

} // namespace plim::rt

#endif
