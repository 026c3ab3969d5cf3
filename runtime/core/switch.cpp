// A session goes on with the programs of another variant.
#include "runtime/core/error.h"
#include "runtime/core/objects.h"

#include <string.h>

using namespace plim::rt;

namespace {

/// The scope's counterpart in a variant; PLIM_ERR_ARG where it has no program of that name.
plim_status counterpart(TableView t, plim_scope scope, uint32_t variant, plim_scope &out) {
  out = {variant, PLIM_NONE};
  if (plim_status st = checkScope(t, out))
    return st;
  if (scope.program == PLIM_NONE)
    return PLIM_OK;
  const char *wanted = t.string(t.program(scope.program).name);
  const plim_t_variant &v = t.variant(variant);
  for (uint32_t i = 0; i < v.programs; ++i)
    if (!strcmp(t.string(t.program(v.first_program + i).name), wanted)) {
      out.program = v.first_program + i;
      return PLIM_OK;
    }
  return Failure(PLIM_ERR_ARG).at("variant %s", t.string(v.name)).say("it has no program %s", wanted);
}

/// Bindings and states stay where they are: both variants must have the same programs with the same inputs and outputs,
/// in order, and keep states in the same arenas at the same place.
plim_status checkAlike(const plim_session &s, plim_scope to) {
  TableView t = s.table;
  const uint32_t first = s.scope.program == PLIM_NONE ? t.variant(s.scope.variant).first_program : s.scope.program;
  const uint32_t count = s.scope.program == PLIM_NONE ? t.variant(s.scope.variant).programs : 1;
  const uint32_t other = to.program == PLIM_NONE ? t.variant(to.variant).first_program : to.program;
  const char *name = t.string(t.variant(to.variant).name);
  if (to.program == PLIM_NONE && t.variant(to.variant).programs != count)
    return Failure(PLIM_ERR_ARG)
        .at("variant %s", name)
        .need(count)
        .have(t.variant(to.variant).programs)
        .say("number of programs");
  Owners owners(t);
  for (uint32_t i = 0; i < count; ++i) {
    const plim_t_program &p = t.program(first + i), &q = t.program(other + i);
    bool alike = !strcmp(t.string(p.name), t.string(q.name)) && p.ios == q.ios;
    for (uint32_t k = 0; alike && k < p.ios; ++k) {
      const plim_t_io &a = t.io(p.first_io + k), &b = t.io(q.first_io + k);
      alike = !strcmp(t.string(a.name), t.string(b.name)) && a.is_output == b.is_output && a.state == b.state &&
              a.bytes == b.bytes && t.shape(a.shape).rank == t.shape(b.shape).rank;
    }
    if (!alike)
      return Failure(PLIM_ERR_ARG)
          .at("variant %s, program %s", name, t.string(q.name))
          .say("its inputs and outputs are not those of program %s", t.string(p.name));
    ArenaSet used = arenasOfProgram(t, q);
    for (uint32_t a = 0; a < t.count(PLIM_SEC_ARENAS); ++a)
      if (used.has(a) && owners.of(a) == Owner::session && !s.arenaBases[a])
        return Failure(PLIM_ERR_ARG)
            .at("variant %s, program %s", name, t.string(q.name))
            .say("it keeps states in another arena than the session: copy them to a session of that variant");
  }
  // A state lies where its program has it in the arena.
  for (uint32_t r = 0; r < count; ++r) {
    const plim_t_program &q = t.program(other + r);
    for (uint32_t k = 0; k < q.residents; ++k) {
      const plim_t_resident &resident = t.resident(q.first_resident + k);
      if (!resident.is_state)
        continue;
      const plim_t_view &view = t.view(resident.view);
      if (s.arenaBases[view.index] + view.offset != stateHome(s, resident.index))
        return Failure(PLIM_ERR_ARG)
            .at("variant %s, state %s", name, t.string(t.state(resident.index).name))
            .say("it lies elsewhere in the arena: copy the states to a session of that variant");
    }
  }
  return PLIM_OK;
}

} // namespace

extern "C" plim_status plim_session_switch(plim_session *session, uint32_t variant) {
  if (session->busy.exchange(1))
    return Failure(PLIM_ERR_BUSY).at("session").say("it runs");
  plim_scope to = {};
  plim_status st = counterpart(session->table, session->scope, variant, to);
  if (!st)
    st = checkServes(*session->weights, to);
  if (!st)
    st = checkAlike(*session, to);
  if (!st && variant != session->scope.variant) {
    uint32_t i = 0;
    programsOfScope(session->table, to, [&](uint32_t, const plim_t_program &) {
      const uint32_t firstBinding = session->programs[i].firstBinding;
      session->programs[i] = {};
      session->programs[i++].firstBinding = firstBinding;
    });
    session->scope = to;
  }
  session->busy.store(0);
  return st;
}
