// The session: creation, and the bindings of inputs and outputs.
#include "runtime/core/error.h"
#include "runtime/core/objects.h"

#include <new>
#include <string.h>

using namespace plim::rt;

namespace {

/// An input or output by name, with its place in the session.
struct IoRef {
  const plim_t_io *io = nullptr;
  const plim_t_shape *shape = nullptr;
  Binding *binding = nullptr;
  const plim_t_program *program = nullptr;
};

plim_status findIo(const plim_session &s, uint32_t program, const char *name, IoRef &out) {
  TableView t = s.table;
  uint32_t index;
  if (plim_status st = resolveProgram(t, s.scope, program, index))
    return st;
  const plim_t_program &p = t.program(index);
  NameList inputs, outputs;
  for (uint32_t i = 0; i < p.ios; ++i) {
    const plim_t_io &io = t.io(p.first_io + i);
    const char *known = t.string(io.name);
    if (!strcmp(known, name)) {
      out = {&io, &t.shape(io.shape), bindingsOf(s, index) + i, &p};
      return PLIM_OK;
    }
    (io.is_output ? outputs : inputs).add(known);
  }
  return Failure(PLIM_ERR_ARG)
      .at("program %s, %s", t.string(p.name), name)
      .say("no such name; inputs: %s; outputs: %s", inputs.text(), outputs.text());
}

plim_status checkBindable(const plim_session &s, const IoRef &r, const char *name, bool output, const void *data) {
  if (s.busy.load(std::memory_order_relaxed))
    return Failure(PLIM_ERR_BUSY).at("%s", name).say("the session runs");
  const char *kind = r.io->is_output ? "output" : "input";
  if (r.io->state != PLIM_NONE)
    return Failure(PLIM_ERR_ARG).at("%s %s", kind, name).say("it is a state of the session and is not bound");
  if (static_cast<bool>(r.io->is_output) != output)
    return Failure(PLIM_ERR_ARG).at("%s", name).say("it is an %s", kind);
  uint32_t element = plim_dtype_bytes(r.shape->dtype);
  if (!data || reinterpret_cast<uintptr_t>(data) % element != 0)
    return Failure(PLIM_ERR_ARG).at("%s %s", kind, name).need(element).say("the pointer is null or not aligned");
  return PLIM_OK;
}

/// All dimensions that are wrong, in one message.
plim_status checkDims(TableView t, const IoRef &r, const char *name, const int64_t *dims, uint32_t rank) {
  const plim_t_shape &s = *r.shape;
  if (rank != s.rank)
    return Failure(PLIM_ERR_ARG).at("input %s", name).need(s.rank).have(rank).say("number of dimensions");
  NameList wrong;
  bool beyond = false;
  int64_t need = 0, have = 0;
  for (uint32_t d = 0; d < rank; ++d) {
    int64_t lower = s.dims[d], upper = s.dims[d];
    if (s.dim_scalar[d] != PLIM_NONE) {
      lower = 0;
      for (uint32_t i = 0; i < r.program->symbols; ++i) {
        const plim_t_symbol &symbol = t.symbol(r.program->first_symbol + i);
        if (symbol.scalar == s.dim_scalar[d]) {
          lower = symbol.lower;
          upper = symbol.upper < upper ? symbol.upper : upper;
        }
      }
    }
    if (dims[d] >= lower && dims[d] <= upper)
      continue;
    if (wrong.empty()) {
      need = dims[d] < lower ? lower : upper;
      have = dims[d];
    }
    beyond |= lower != upper;
    char text[] = {'d', 'i', 'm', ' ', static_cast<char>('0' + d), 0};
    wrong.add(text);
  }
  if (wrong.empty())
    return PLIM_OK;
  return Failure(beyond ? PLIM_ERR_BOUND : PLIM_ERR_ARG)
      .at("input %s", name)
      .need(static_cast<uint64_t>(need))
      .have(static_cast<uint64_t>(have))
      .say("%s differ from the model's or are beyond their bounds", wrong.text());
}

} // namespace

extern "C" plim_status plim_session_create(const plim_weights *weights, plim_scope scope, const plim_place *place,
                                           plim_session **out) {
  *out = nullptr;
  TableView t = weights->table;
  if (plim_status st = checkServes(*weights, scope))
    return st;
  ScopeNeeds needs(t, scope);
  SessionLayout layout(needs.terms, needs.sessionArenas);
  Region region;
  if (plim_status st = reserveRegion(layout.bytes, place, "session", region))
    return st;
  auto *s = new (region.data) plim_session{};
  s->region = region;
  s->weights = weights;
  s->table = t;
  s->scope = scope;
  s->programs = reinterpret_cast<ProgramFigures *>(region.data + layout.programs);
  s->bindings = reinterpret_cast<Binding *>(region.data + layout.bindings);
  s->arenaBases = reinterpret_cast<char **>(region.data + layout.arenaBases);
  s->bindingCount = needs.terms.ios;
  Owners owners(t);
  char *at = region.data + layout.arenas;
  uint32_t firstBinding = 0;
  programsOfScope(t, scope, [&](uint32_t index, const plim_t_program &p) {
    figuresOf(*s, index).firstBinding = firstBinding;
    firstBinding += p.ios;
    ArenaSet used = arenasOfProgram(t, p);
    for (uint32_t a = 0; a < needs.terms.arenas; ++a) {
      if (!used.has(a) || owners.of(a) != Owner::session || s->arenaBases[a])
        continue;
      s->arenaBases[a] = at;
      at += plim_page(t.arena(a).bytes);
    }
  });
  if (plim_status st = plim_state_reset(s)) {
    releaseRegion(region);
    return st;
  }
  *out = s;
  return PLIM_OK;
}

extern "C" void plim_session_destroy(plim_session *session) {
  if (!session)
    return;
  Region region = session->region;
  releaseRegion(region);
}

extern "C" plim_status plim_bind_input(plim_session *session, uint32_t program, const char *name, const void *data,
                                       uint64_t bytes, const int64_t *dims, uint32_t rank) {
  IoRef r;
  if (plim_status st = findIo(*session, program, name, r))
    return st;
  if (plim_status st = checkBindable(*session, r, name, false, data))
    return st;
  if (!dims && r.shape->dynamic)
    return Failure(PLIM_ERR_ARG).at("input %s", name).say("it has dynamic dimensions: give their sizes");
  if (!dims) {
    dims = r.shape->dims;
    rank = r.shape->rank;
  }
  if (plim_status st = checkDims(session->table, r, name, dims, rank))
    return st;
  uint64_t need = plim_dtype_bytes(r.shape->dtype);
  for (uint32_t d = 0; d < rank; ++d)
    need *= static_cast<uint64_t>(dims[d]);
  if (bytes != need)
    return Failure(PLIM_ERR_ARG).at("input %s", name).need(need).have(bytes).say("number of bytes");
  // The runtime only reads through it: the table check refuses writes to inputs.
  *r.binding = {static_cast<char *>(const_cast<void *>(data)), bytes, bytes, {}, 1, 0};
  memcpy(r.binding->dims, dims, rank * sizeof *dims);
  return PLIM_OK;
}

extern "C" plim_status plim_bind_output(plim_session *session, uint32_t program, const char *name, void *data,
                                        uint64_t bytes) {
  IoRef r;
  if (plim_status st = findIo(*session, program, name, r))
    return st;
  if (plim_status st = checkBindable(*session, r, name, true, data))
    return st;
  if (!r.shape->dynamic && bytes < r.io->bytes)
    return Failure(PLIM_ERR_ARG).at("output %s", name).need(r.io->bytes).have(bytes).say("number of bytes");
  *r.binding = {static_cast<char *>(data), bytes, 0, {}, 1, 0};
  return PLIM_OK;
}

extern "C" plim_status plim_io_dims(const plim_session *session, uint32_t program, const char *name, int64_t *dims,
                                    uint32_t *rank) {
  IoRef r;
  if (plim_status st = findIo(*session, program, name, r))
    return st;
  bool fixed = !r.shape->dynamic;
  if (!fixed && !r.binding->ran)
    return Failure(PLIM_ERR_ARG).at("%s", name).say("the program has not run since it was bound");
  *rank = r.shape->rank;
  memcpy(dims, fixed ? r.shape->dims : r.binding->dims, sizeof r.binding->dims);
  return PLIM_OK;
}
