// The context: transient memory, worker threads and the tables of the walk.
#include "runtime/core/error.h"
#include "runtime/core/objects.h"

#include <new>
#include <sched.h>
#include <string.h>

using namespace plim::rt;

namespace plim::rt {

void selectProgram(plim_context &c, uint32_t program) {
  if (c.program == program)
    return;
  c.program = program;
  TableView t = c.table;
  Owners owners(t);
  ArenaSet used = arenasOfProgram(t, t.program(program));
  char *at = c.transient;
  for (uint32_t a = 0; a < t.count(PLIM_SEC_ARENAS); ++a) {
    c.arenaBases[a] = nullptr;
    if (!used.has(a) || owners.of(a) != Owner::context)
      continue;
    c.arenaBases[a] = at;
    at += plim_page(t.arena(a).bytes);
  }
  c.transientBytes = static_cast<uint64_t>(at - c.transient);
}

} // namespace plim::rt

namespace {

uint32_t usableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) ? 1 : static_cast<uint32_t>(CPU_COUNT(&set));
}

template <class T> T *at(const Region &region, uint64_t offset) { return reinterpret_cast<T *>(region.data + offset); }

} // namespace

extern "C" plim_status plim_context_create(const plim_weights *weights, plim_scope scope,
                                           const plim_context_options *options, plim_context **out) {
  *out = nullptr;
  TableView t = weights->table;
  if (plim_status st = checkServes(*weights, scope))
    return st;
  ScopeNeeds needs(t, scope);
  ContextLayout layout(needs.terms, needs.contextArenas);
  Region region;
  if (plim_status st = reserveRegion(layout.bytes, options ? &options->place : nullptr, "context", region))
    return st;
  auto *c = new (region.data) plim_context{};
  c->region = region;
  c->weights = weights;
  c->table = t;
  c->scope = scope;
  c->program = PLIM_NONE;
  c->transient = region.data + layout.arenas;
  c->arenaBases = at<char *>(region, layout.arenaBases);
  c->arenaTouched = at<uint64_t>(region, layout.arenaTouched);
  c->scalars = at<int64_t>(region, layout.scalars);
  c->listIn = at<int64_t>(region, layout.listIn);
  c->listOut = at<int64_t>(region, layout.listOut);
  c->tokens = at<uint8_t>(region, layout.tokens);
  c->operands = at<void *>(region, layout.operands);
  c->shapes = at<const plim_shape *>(region, layout.shapes);
  c->dynamicShapes = at<plim_shape>(region, layout.dynamicShapes);
  c->spans = at<WriteSpan>(region, layout.spans);
  uint32_t threads = options && options->threads ? options->threads : usableCpus();
  threads = threads < t.t->workers ? threads : t.t->workers;
  plim_status st = c->pool.start(at<Pool::Worker>(region, layout.workers), threads, region.data + layout.stacks,
                                 plim_page(t.t->stack_bytes));
  if (st) {
    releaseRegion(region);
    return st;
  }
  *out = c;
  return PLIM_OK;
}

extern "C" void plim_context_destroy(plim_context *context) {
  if (!context)
    return;
  context->pool.stop();
  Region region = context->region;
  releaseRegion(region);
}

extern "C" uint32_t plim_context_threads(const plim_context *context) { return context->pool.threads(); }
