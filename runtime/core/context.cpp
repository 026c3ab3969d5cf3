// The context: transient memory, worker threads, the spill file and the tables of the walk.
#include "runtime/core/error.h"
#include "runtime/core/objects.h"

#include "plim/weights.h"

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
  uint64_t spillAt = 0;
  for (uint32_t a = 0; a < t.count(PLIM_SEC_ARENAS); ++a) {
    c.arenaBases[a] = nullptr;
    if (!used.has(a) || owners.of(a) != Owner::context)
      continue;
    uint64_t bytes = plim_page(t.arena(a).bytes);
    if (t.arena(a).tier == PLIM_SSD) {
      if (c.transfers)
        c.spillBases[a] = spillAt;
      spillAt += bytes;
      continue;
    }
    c.arenaBases[a] = at;
    at += bytes;
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

/// Creates the spill file and starts the threads of transfers.
plim_status startTransfers(plim_context &c, const ScopeNeeds &needs, const ContextLayout &layout,
                           const plim_context_options *options) {
  if (!layout.ioDepth)
    return PLIM_OK;
  c.transfers = new (c.region.data + layout.transfers) ContextTransfers{};
  c.spillBases = at<uint64_t>(c.region, layout.spillBases);
  SpillFile &spill = c.transfers->spill;
  if (uint64_t bytes = needs.terms.spill_bytes)
    if (plim_status st = spill.create(options ? options->spill_folder : nullptr, bytes))
      return st;
  Transfers::Room room = {at<uint32_t>(c.region, layout.blockHashes), c.region.data + layout.bounce,
                          c.region.data + layout.ring, c.region.data + layout.ioStacks};
  uint64_t dataStart = c.table.t->weights_bytes ? plim_weight_header_bytes_of_file(c.table.t->weights_bytes) : 0;
  plim_status st =
      c.transfers->engine.start(room, layout.ioDepth, c.weights->fd, dataStart, spill, c.transient, needs.contextArenas,
                                static_cast<plim_io_way>(options ? options->io_way : PLIM_IO_ANY));
  if (st)
    spill.close();
  return st;
}

} // namespace

extern "C" plim_status plim_context_create(const plim_weights *weights, plim_scope scope,
                                           const plim_context_options *options, plim_context **out) {
  *out = nullptr;
  TableView t = weights->table;
  if (options && options->io_way > PLIM_IO_THREADS)
    return Failure(PLIM_ERR_ARG).at("io_way").need(PLIM_IO_THREADS).have(options->io_way).say("there is no such way");
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
  if (!st) {
    st = startTransfers(*c, needs, layout, options);
    if (st)
      c->pool.stop();
  }
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
  if (context->transfers) {
    context->transfers->engine.stop();
    context->transfers->spill.close();
  }
  Region region = context->region;
  releaseRegion(region);
}

extern "C" uint32_t plim_context_threads(const plim_context *context) { return context->pool.threads(); }
