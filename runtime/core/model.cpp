// Finding programs in a model, describing them, and checking that model, runtime and CPU fit each other.
#include "runtime/core/error.h"
#include "runtime/core/objects.h"

#include <stdlib.h>
#include <string.h>

using namespace plim::rt;

namespace plim::rt {

bool scopeHolds(TableView t, plim_scope scope, uint32_t program) {
  if (program >= t.count(PLIM_SEC_PROGRAMS) || t.program(program).variant != scope.variant)
    return false;
  return scope.program == PLIM_NONE || scope.program == program;
}

plim_status checkScope(TableView t, plim_scope scope) {
  if (scope.variant >= t.count(PLIM_SEC_VARIANTS))
    return Failure(PLIM_ERR_ARG)
        .at("scope")
        .need(t.count(PLIM_SEC_VARIANTS))
        .have(scope.variant)
        .say("there is no such variant");
  if (scope.program != PLIM_NONE && !scopeHolds(t, scope, scope.program))
    return Failure(PLIM_ERR_ARG).at("scope").have(scope.program).say("the variant has no such program");
  return PLIM_OK;
}

plim_status resolveProgram(TableView t, plim_scope scope, uint32_t program, uint32_t &out) {
  if (program == PLIM_NONE && scope.program == PLIM_NONE && t.variant(scope.variant).programs == 1)
    program = t.variant(scope.variant).first_program;
  out = program == PLIM_NONE ? scope.program : program;
  if (out == PLIM_NONE)
    return Failure(PLIM_ERR_ARG).at("program").say("several programs are in scope: name one");
  if (!scopeHolds(t, scope, out))
    return Failure(PLIM_ERR_ARG).at("program").have(out).say("the program is not in the object's scope");
  return PLIM_OK;
}

} // namespace plim::rt

namespace {

const char *const tierNames[] = {"ram", "pinned", "ssd", "gpu"};
const char *const queueNames[] = {"cpu", "read", "write", "stream"};

plim_status checkKernel(const plim_model &model, uint32_t i, plim_isa isa) {
  TableView t{model.table};
  const plim_t_kernel &wanted = t.kernel(i);
  const char *name = t.string(wanted.name);
  const plim_kernel *k = model.kernels ? model.kernels[i] : nullptr;
  if (!k)
    return Failure(PLIM_ERR_KERNEL).at("kernel %s", name).say("the model does not have this kernel");
  if (k->abi != PLIM_KERNEL_ABI)
    return Failure(PLIM_ERR_KERNEL)
        .at("kernel %s", name)
        .need(PLIM_KERNEL_ABI)
        .have(k->abi)
        .say("the kernel was built for another kernel interface");
  if (strcmp(k->name, name) != 0)
    return Failure(PLIM_ERR_KERNEL).at("kernel %s", name).say("the model has %s in its place", k->name);
  if (k->phases != wanted.phases)
    return Failure(PLIM_ERR_KERNEL).at("kernel %s", name).need(wanted.phases).have(k->phases).say("number of phases");
  int lowest = PLIM_ISA_BASE;
  while (lowest < PLIM_ISA_COUNT && !k->fn[lowest])
    ++lowest;
  if (lowest == PLIM_ISA_COUNT)
    return Failure(PLIM_ERR_KERNEL).at("kernel %s", name).say("the kernel has no code");
  if (lowest > isa)
    return Failure(PLIM_ERR_CPU)
        .at("kernel %s", name)
        .need(static_cast<uint64_t>(lowest))
        .have(isa)
        .say("the kernel has code for higher CPU levels only");
  return PLIM_OK;
}

/// What the table may say about the ssd but this runtime does not offer.
const char *copyNotOffered(TableView t, const plim_t_step &s) {
  const plim_t_copy &c = t.copy(s.record);
  const plim_t_view &src = t.view(c.src), &dst = t.view(c.dst);
  bool from = onSsd(t, src), to = onSsd(t, dst);
  if (!from && !to)
    return s.queue == 0 ? nullptr : "a copy inside the ram runs on queue cpu:0";
  if (from && to)
    return "a copy goes from the ssd to the ssd";
  if (s.queue != 0 && s.queue != (from ? PLIM_QUEUE_READ : PLIM_QUEUE_WRITE))
    return "a copy from the ssd runs on queue read:0, one to it on write:0";
  const plim_t_view &near = from ? dst : src, &far = from ? src : dst;
  if (near.base != PLIM_BASE_ARENA)
    return "a copy between the ssd and an input or output";
  if (near.offset % PLIM_PAGE != 0 || far.offset % PLIM_PAGE != 0)
    return "a copy between the ssd and the ram at an offset that is no multiple of 4096";
  return nullptr;
}

const char *stepNotOffered(TableView t, const plim_t_step &s) {
  if (s.opcode == PLIM_OP_COPY)
    return copyNotOffered(t, s);
  bool ssd = false;
  t.viewsOfStep(s, [&](uint32_t view) { ssd |= onSsd(t, t.view(view)); });
  return ssd && s.opcode != PLIM_OP_MARK ? "a step other than a copy works on the ssd" : nullptr;
}

/// What the table may say but this runtime does not offer.
plim_status checkOffered(TableView t, uint32_t index, const plim_model &model, plim_isa isa) {
  const plim_t_program &p = t.program(index);
  ArenaSet used = arenasOfProgram(t, p);
  for (uint32_t a = 0; a < t.count(PLIM_SEC_ARENAS); ++a) {
    const plim_t_arena &arena = t.arena(a);
    if (used.has(a) && arena.tier != PLIM_RAM && arena.tier != PLIM_SSD)
      return Failure(PLIM_ERR_UNSUPPORTED)
          .at("program %s, arena %u", t.string(p.name), a)
          .say("tier %s is not offered by this runtime, which has: ram, ssd", tierNames[arena.tier]);
    if (used.has(a) && arena.tier == PLIM_SSD && arena.kind != PLIM_TRANSIENT)
      return Failure(PLIM_ERR_UNSUPPORTED)
          .at("program %s, arena %u", t.string(p.name), a)
          .say("an arena on the ssd that outlasts a run is not offered by this runtime");
  }
  for (uint32_t i = 0; i < p.steps; ++i) {
    const plim_t_step &s = t.step(p, i);
    auto refusal = [&] {
      return Failure(PLIM_ERR_UNSUPPORTED).at("program %s, step %u", t.string(p.name), i).step(index, i);
    };
    if (s.queue != 0 && (s.opcode != PLIM_OP_COPY || (s.queue & 15) == PLIM_QUEUE_STREAM || s.queue >> 4 != 0))
      return refusal().say(
          "queue %s:%u is not offered by this runtime, which has: cpu:0, and for copies read:0, write:0",
          queueNames[s.queue & 15], s.queue >> 4);
    if (const char *what = stepNotOffered(t, s))
      return refusal().say("%s, which is not offered by this runtime", what);
    if (s.opcode == PLIM_OP_LAUNCH)
      if (plim_status st = checkKernel(model, t.launch(s.record).kernel, isa))
        return st;
    if (s.opcode == PLIM_OP_EVAL) {
      uint32_t function = t.eval(s.record).function;
      if (function >= model.eval_count || !model.evals || !model.evals[function])
        return Failure(PLIM_ERR_KERNEL)
            .at("program %s, step %u", t.string(p.name), i)
            .step(index, i)
            .need(function)
            .have(model.eval_count)
            .say("the model does not have this scalar function");
    }
  }
  return PLIM_OK;
}

plim_status findProgram(const plim_model *model, const char *program, uint32_t variant, plim_scope *out) {
  TableView t{model->table};
  const plim_t_variant &v = t.variant(variant);
  if (!program) {
    *out = {variant, v.programs == 1 ? v.first_program : PLIM_NONE};
    return PLIM_OK;
  }
  NameList names;
  for (uint32_t i = 0; i < v.programs; ++i) {
    const char *name = t.string(t.program(v.first_program + i).name);
    if (!strcmp(name, program)) {
      *out = {variant, v.first_program + i};
      return PLIM_OK;
    }
    names.add(name);
  }
  return Failure(PLIM_ERR_ARG).at("program %s", program).say("no such program; there is: %s", names.text());
}

} // namespace

plim_status plim::rt::checkPrograms(const plim_model &model, plim_scope scope, plim_isa isa) {
  TableView t{model.table};
  plim_status st = PLIM_OK;
  programsOfScope(t, scope, [&](uint32_t i, const plim_t_program &) {
    if (!st)
      st = checkOffered(t, i, model, isa);
  });
  return st;
}

extern "C" plim_status plim_find_in_variant(const plim_model *model, const char *program, uint32_t variant,
                                            plim_scope *out) {
  if (plim_status st = checkScope({model->table}, {variant, PLIM_NONE}))
    return st;
  return findProgram(model, program, variant, out);
}

extern "C" plim_status plim_find(const plim_model *model, const char *program, const char *variant, plim_scope *out) {
  TableView t{model->table};
  NameList names;
  for (uint32_t i = 0; i < t.count(PLIM_SEC_VARIANTS); ++i) {
    if (!variant || !strcmp(t.string(t.variant(i).name), variant))
      return findProgram(model, program, i, out);
    names.add(t.string(t.variant(i).name));
  }
  return Failure(PLIM_ERR_ARG)
      .at("variant %s", variant ? variant : "")
      .say("no such variant; there is: %s", names.text());
}

extern "C" plim_status plim_model_check(const plim_model *model, plim_scope scope) {
  if (!model || !model->table || model->struct_bytes != sizeof(plim_model))
    return Failure(PLIM_ERR_ARG)
        .at("model")
        .need(sizeof(plim_model))
        .have(model ? model->struct_bytes : 0)
        .say("not a model, or one of another version");
  if (model->kernel_abi != PLIM_KERNEL_ABI)
    return Failure(PLIM_ERR_TABLE)
        .at("model")
        .need(PLIM_KERNEL_ABI)
        .have(model->kernel_abi)
        .say("the model was made for another kernel interface");
  if (plim_status st = plim_table_check(model->table, model->table->bytes))
    return st;
  TableView t{model->table};
  if (plim_status st = checkScope(t, scope))
    return st;
  const char *cap = getenv("PLIM_ISA");
  if (cap && strcmp(cap, "base") != 0 && strcmp(cap, "v3") != 0 && strcmp(cap, "v4") != 0)
    return Failure(PLIM_ERR_CPU).at("PLIM_ISA").say("need base, v3 or v4, have '%.32s'", cap);
  plim_isa isa = plim_cpu_isa();
  if (isa < static_cast<int>(t.t->isa_min))
    return Failure(PLIM_ERR_CPU)
        .at("cpu")
        .need(t.t->isa_min)
        .have(isa)
        .say("the model needs x86-64-v%u, this CPU (or PLIM_ISA) offers x86-64-v%u",
             t.t->isa_min ? t.t->isa_min + 2 : 1, isa ? isa + 2u : 1u);
  return checkPrograms(*model, scope, isa);
}

extern "C" uint32_t plim_io_count(const plim_model *model, uint32_t program) {
  TableView t{model->table};
  return program < t.count(PLIM_SEC_PROGRAMS) ? t.program(program).ios : 0;
}

extern "C" plim_status plim_io_at(const plim_model *model, uint32_t program, uint32_t index, plim_io_info *out) {
  TableView t{model->table};
  if (index >= plim_io_count(model, program))
    return Failure(PLIM_ERR_ARG)
        .at("program %u", program)
        .need(index)
        .have(plim_io_count(model, program))
        .say("there is no such input or output");
  const plim_t_program &p = t.program(program);
  const plim_t_io &io = t.io(p.first_io + index);
  const plim_t_shape &s = t.shape(io.shape);
  *out = {};
  out->name = t.string(io.name);
  out->dtype = s.dtype;
  out->rank = s.rank;
  out->is_output = static_cast<uint8_t>(io.is_output);
  out->is_state = io.state != PLIM_NONE;
  out->is_reused = io.is_reused;
  out->bytes = io.bytes;
  for (uint32_t d = 0; d < s.rank; ++d) {
    out->dims[d] = out->lower[d] = s.dims[d];
    if (s.dim_scalar[d] == PLIM_NONE)
      continue;
    out->dynamic |= 1u << d;
    out->lower[d] = 0;
    for (uint32_t i = 0; i < p.symbols; ++i) {
      const plim_t_symbol &symbol = t.symbol(p.first_symbol + i);
      if (symbol.scalar != s.dim_scalar[d])
        continue;
      out->lower[d] = symbol.lower;
      if (symbol.upper < out->dims[d])
        out->dims[d] = symbol.upper;
    }
  }
  return PLIM_OK;
}

extern "C" plim_status plim_query_sizes(const plim_model *model, plim_scope scope, plim_sizes *out) {
  TableView t{model->table};
  if (plim_status st = checkScope(t, scope))
    return st;
  ScopeNeeds n(t, scope);
  *out = {WeightsLayout(n.terms.weights_bytes, n.weightsArena).bytes, ContextLayout(n.terms, n.contextArenas).bytes,
          SessionLayout(n.terms, n.sessionArenas).bytes};
  return PLIM_OK;
}
