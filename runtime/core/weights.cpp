// The weights: constants in memory, laid out as the weight file's data part.
#include "runtime/core/error.h"
#include "runtime/core/objects.h"
#include "runtime/io/weight_file.h"

#include <new>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace plim::rt;

// Referenced by generated objects: a model made for another kernel interface does not link.
extern "C" const uint32_t PLIM_KERNEL_ABI_SYMBOL = PLIM_KERNEL_ABI;

namespace {

/// Bytes of the data part that the scope's constants need in memory: up to the end of the last one.
uint64_t constantsEnd(TableView t, plim_scope scope) {
  uint64_t end = 0;
  programsOfScope(t, scope, [&](uint32_t, const plim_t_program &p) {
    for (uint32_t i = 0; i < p.residents; ++i) {
      const plim_t_resident &r = t.resident(p.first_resident + i);
      const plim_t_view &v = t.view(r.view);
      if (!r.is_state && v.base == PLIM_BASE_ARENA && v.offset + v.bytes > end)
        end = v.offset + v.bytes;
    }
  });
  return end;
}

/// Whether any program reads constants from the file while it runs.
bool readsFile(TableView t) {
  for (uint32_t i = 0; i < t.count(PLIM_SEC_COPIES); ++i)
    if (t.view(t.copy(i).src).base == PLIM_BASE_CONSTANT_FILE)
      return true;
  return false;
}

/// Constants of which a part lies beyond what block hashes have verified.
plim_status verifyConstants(TableView t, plim_scope scope, const char *path, const char *arena, uint64_t verified) {
  plim_status st = PLIM_OK;
  programsOfScope(t, scope, [&](uint32_t, const plim_t_program &p) {
    for (uint32_t i = 0; i < p.residents && !st; ++i) {
      const plim_t_resident &r = t.resident(p.first_resident + i);
      const plim_t_view &v = t.view(r.view);
      if (r.is_state || v.base != PLIM_BASE_ARENA || v.offset + v.bytes <= verified)
        continue;
      const plim_t_constant &c = t.constant(r.index);
      if (XXH3_64bits(arena + v.offset, v.bytes) != c.hash)
        st = Failure(PLIM_ERR_WEIGHTS)
                 .at("%s", path)
                 .say("constant %s of the weight file was changed", t.string(c.name));
    }
  });
  return st;
}

} // namespace

plim_status plim::rt::checkServes(const plim_weights &weights, plim_scope scope) {
  if (plim_status st = checkScope(weights.table, scope))
    return st;
  if (plim_status st = checkPrograms(*weights.model, scope, weights.isa))
    return st;
  uint64_t end = constantsEnd(weights.table, scope);
  if (end > weights.loaded)
    return Failure(PLIM_ERR_ARG)
        .at("weights")
        .need(end)
        .have(weights.loaded)
        .say("the weights were made for programs that use fewer constants");
  return PLIM_OK;
}

extern "C" plim_status plim_weights_create(const plim_model *model, plim_scope scope, const char *path,
                                           const plim_place *place, plim_weights **out) {
  *out = nullptr;
  if (plim_status st = plim_model_check(model, scope))
    return st;
  TableView t{model->table};
  if (t.t->weights_bytes && !path)
    return Failure(PLIM_ERR_ARG).at("weights").need(t.t->weights_bytes).say("the model has a weight file, but no path");
  ScopeNeeds needs(t, scope);
  WeightsLayout layout(needs.terms.weights_bytes, needs.weightsArena);
  Region region;
  if (plim_status st = reserveRegion(layout.bytes, place, "weights", region))
    return st;
  auto *w = new (region.data) plim_weights{};
  w->region = region;
  w->model = model;
  w->table = t;
  w->isa = plim_cpu_isa();
  w->fd = -1;
  w->arena = region.data + plim_page(layout.arena);
  if (t.t->weights_bytes) {
    w->loaded = constantsEnd(t, scope);
    WeightLoad load = {path,
                       t.t->weights_bytes,
                       t.t->weights_hash,
                       region.data + layout.header,
                       w->arena,
                       needs.weightsArena,
                       w->loaded,
                       readsFile(t),
                       0,
                       0,
                       -1};
    plim_status st = loadWeights(load);
    if (!st)
      st = verifyConstants(t, scope, path, w->arena, load.verified);
    if (st) {
      if (load.fd >= 0)
        close(load.fd);
      releaseRegion(region);
      return st;
    }
    w->buffered = load.buffered;
    w->fd = load.fd;
  }
  *out = w;
  return PLIM_OK;
}

extern "C" void plim_weights_destroy(plim_weights *weights) {
  if (!weights)
    return;
  if (weights->fd >= 0)
    close(weights->fd);
  Region region = weights->region;
  releaseRegion(region);
}
