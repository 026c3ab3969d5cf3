// Figures of a session with its context and weights: planned beside measured.
#include "runtime/core/error.h"
#include "runtime/core/objects.h"

#include <string.h>

using namespace plim::rt;

namespace {

/// Highest byte that the runtime or the steps changed in an arena. Persistent arenas hold what must not be poisoned:
/// what is written there when they are made is known, the end of the last constant or state.
uint64_t measuredEnd(const plim_session &s, const plim_context &c, const Owners &owners, uint32_t arena) {
  TableView t = s.table;
  switch (owners.of(arena)) {
  case Owner::context:
    return c.arenaTouched[arena];
  case Owner::weights: {
    uint64_t end = s.weights->loaded, bytes = t.arena(arena).bytes;
    return end < bytes ? end : bytes;
  }
  case Owner::session:
    break;
  }
  uint64_t end = 0;
  programsOfScope(t, s.scope, [&](uint32_t, const plim_t_program &p) {
    for (uint32_t i = 0; i < p.residents; ++i) {
      const plim_t_resident &r = t.resident(p.first_resident + i);
      const plim_t_view &v = t.view(r.view);
      if (r.is_state && v.index == arena && v.offset + v.bytes > end)
        end = v.offset + v.bytes;
    }
  });
  return end;
}

plim_status resolvePair(const plim_session &s, const plim_context &c, uint32_t program, uint32_t &index) {
  if (plim_status st = resolveProgram(s.table, s.scope, program, index))
    return st;
  if (s.weights != c.weights || !scopeHolds(c.table, c.scope, index))
    return Failure(PLIM_ERR_ARG).at("context").say("it is of other weights or does not serve the program");
  return PLIM_OK;
}

} // namespace

extern "C" plim_status plim_arena_touched(const plim_session *session, const plim_context *context, uint32_t program,
                                          uint32_t arena, uint64_t *planned, uint64_t *measured) {
  uint32_t index;
  if (plim_status st = resolvePair(*session, *context, program, index))
    return st;
  TableView t = session->table;
  if (arena >= t.count(PLIM_SEC_ARENAS) || !arenasOfProgram(t, t.program(index)).has(arena))
    return Failure(PLIM_ERR_ARG).at("arena %u", arena).say("the program does not use it");
  *planned = t.arena(arena).touched;
  *measured = measuredEnd(*session, *context, Owners(t), arena);
  return PLIM_OK;
}

extern "C" plim_status plim_usage_of(const plim_session *session, const plim_context *context, uint32_t program,
                                     plim_usage *out) {
  uint32_t index;
  if (plim_status st = resolvePair(*session, *context, program, index))
    return st;
  TableView t = session->table;
  const plim_t_program &p = t.program(index);
  const ProgramFigures &f = figuresOf(*session, index);
  *out = {};
  bool all = session->scope.program == PLIM_NONE;
  memcpy(out->planned, all ? t.variant(session->scope.variant).peak : p.reserved_peak, sizeof out->planned);
  out->reserved[PLIM_RAM] = session->weights->region.bytes + context->region.bytes + session->region.bytes;
  out->reserved[PLIM_SSD] = context->transfers ? context->transfers->spill.bytes : 0;
  memcpy(out->live_planned, p.live_peak, sizeof out->live_planned);
  memcpy(out->live, f.live, sizeof out->live);
  ArenaSet used = arenasOfProgram(t, p);
  Owners owners(t);
  for (uint32_t a = 0; a < t.count(PLIM_SEC_ARENAS); ++a) {
    if (!used.has(a))
      continue;
    out->touched_planned[t.arena(a).tier] += t.arena(a).touched;
    out->touched[t.arena(a).tier] += measuredEnd(*session, *context, owners, a);
  }
  out->io_bytes = f.ioBytes;
  out->runs = f.runs;
  out->poison_runs = f.poisonRuns;
  out->last_ns = f.lastNs;
  out->total_ns = f.totalNs;
  out->steps = f.steps;
  out->weights_buffered = session->weights->buffered;
  out->threads = context->pool.threads();
  if (context->transfers) {
    out->io_way = context->transfers->engine.way();
    out->spill_mode = context->transfers->spill.mode;
  }
  out->transfers = f.transfers;
  out->bytes_read = f.bytesRead;
  out->bytes_written = f.bytesWritten;
  out->stall_ns = f.stallNs;
  return PLIM_OK;
}
