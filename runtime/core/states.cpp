// A session's states: where they are, and how they start, move between sessions and reach a file.
#include "runtime/core/error.h"
#include "runtime/core/objects.h"
#include "runtime/io/state_file.h"

#include <string.h>

using namespace plim::rt;

namespace plim::rt {

char *stateHome(const plim_session &s, uint32_t state) {
  char *home = nullptr;
  programsOfScope(s.table, s.scope, [&](uint32_t, const plim_t_program &p) {
    for (uint32_t i = 0; i < p.residents && !home; ++i) {
      const plim_t_resident &r = s.table.resident(p.first_resident + i);
      if (r.is_state && r.index == state) {
        const plim_t_view &v = s.table.view(r.view);
        home = s.arenaBases[v.index] + v.offset;
      }
    }
  });
  return home;
}

} // namespace plim::rt

namespace {

/// Marks a session as in use for as long as it lives.
class Hold {
public:
  explicit Hold(std::atomic<uint32_t> &busy) : busy(busy), got(busy.exchange(1) == 0) {}
  ~Hold() {
    if (got)
      busy.store(0);
  }
  explicit operator bool() const { return got; }
  static plim_status refuse() { return Failure(PLIM_ERR_BUSY).at("session").say("the session is in use"); }

private:
  std::atomic<uint32_t> &busy;
  bool got;
};

void resetState(plim_session &s, uint32_t i, char *home) {
  const plim_t_state &state = s.table.state(i);
  if (state.init == PLIM_NONE)
    memset(home, 0, state.bytes);
  else
    memcpy(home, s.weights->arena + s.table.constant(state.init).offset, state.bytes);
}

/// A first value must be among the constants that were loaded.
plim_status checkFirstValues(const plim_session &s) {
  for (uint32_t i = 0; i < s.table.count(PLIM_SEC_STATES); ++i) {
    uint32_t init = s.table.state(i).init;
    if (init == PLIM_NONE || !stateHome(s, i))
      continue;
    const plim_t_constant &c = s.table.constant(init);
    if (c.offset + c.bytes > s.weights->loaded)
      return Failure(PLIM_ERR_ARG)
          .at("state %s", s.table.string(s.table.state(i).name))
          .need(c.offset + c.bytes)
          .have(s.weights->loaded)
          .say("the weights were made for programs that do not load its first value");
  }
  return PLIM_OK;
}

} // namespace

extern "C" plim_status plim_state_reset(plim_session *session) {
  Hold hold(session->busy);
  if (!hold)
    return Hold::refuse();
  if (plim_status st = checkFirstValues(*session))
    return st;
  for (uint32_t i = 0; i < session->table.count(PLIM_SEC_STATES); ++i)
    if (char *home = stateHome(*session, i))
      resetState(*session, i, home);
  session->torn = 0;
  return PLIM_OK;
}

extern "C" plim_status plim_state_data(plim_session *session, const char *name, void **data, uint64_t *bytes) {
  NameList names;
  for (uint32_t i = 0; i < session->table.count(PLIM_SEC_STATES); ++i) {
    const plim_t_state &state = session->table.state(i);
    char *home = stateHome(*session, i);
    if (!home)
      continue;
    if (!strcmp(session->table.string(state.name), name)) {
      *data = home;
      *bytes = state.bytes;
      return PLIM_OK;
    }
    names.add(session->table.string(state.name));
  }
  return Failure(PLIM_ERR_ARG).at("state %s", name).say("no such state; there is: %s", names.text());
}

extern "C" plim_status plim_state_copy(plim_session *to, const plim_session *from) {
  if (to == from)
    return PLIM_OK;
  Hold hold(to->busy);
  if (!hold)
    return Hold::refuse();
  if (to->table.t != from->table.t)
    return Failure(PLIM_ERR_ARG).at("session").say("the sessions are of different models");
  if (from->torn)
    return Failure(PLIM_ERR_TORN).at("session").say("the states to copy are torn: load or reset them first");
  NameList missing;
  for (uint32_t i = 0; i < to->table.count(PLIM_SEC_STATES); ++i)
    if (stateHome(*to, i) && !stateHome(*from, i))
      missing.add(to->table.string(to->table.state(i).name));
  if (!missing.empty())
    return Failure(PLIM_ERR_ARG).at("session").say("states that are not there: %s", missing.text());
  for (uint32_t i = 0; i < to->table.count(PLIM_SEC_STATES); ++i)
    if (char *home = stateHome(*to, i))
      memcpy(home, stateHome(*from, i), to->table.state(i).bytes);
  to->torn = 0;
  return PLIM_OK;
}

extern "C" plim_status plim_state_save(const plim_session *session, const char *path) {
  // The flag guards the bytes against a run; the session is unchanged.
  Hold hold(const_cast<plim_session *>(session)->busy);
  if (!hold)
    return Hold::refuse();
  if (session->torn)
    return Failure(PLIM_ERR_TORN).at("session").say("its states are torn: load or reset them first");
  return saveStates(*session, path);
}

extern "C" plim_status plim_state_load(plim_session *session, const char *path) {
  Hold hold(session->busy);
  if (!hold)
    return Hold::refuse();
  uint64_t hash;
  if (plim_status st = verifyStates(*session, path, hash))
    return st;
  session->torn = 1;
  if (plim_status st = loadStates(*session, path, hash))
    return st;
  for (uint32_t i = 0; i < session->table.count(PLIM_SEC_STATES); ++i)
    if (char *home = stateHome(*session, i))
      if (!session->table.state(i).durable)
        resetState(*session, i, home);
  session->torn = 0;
  return PLIM_OK;
}
