// plim_run: from bindings to a walk and its figures.
#include "runtime/core/run.h"

#include <string.h>

using namespace plim::rt;

namespace {

/// Marks session and context as in use for as long as it lives.
class Hold {
public:
  Hold(plim_session &s, plim_context &c) : session(s), context(c) {
    gotSession = session.busy.exchange(1) == 0;
    gotContext = gotSession && context.busy.exchange(1) == 0;
  }
  ~Hold() {
    if (gotContext)
      context.busy.store(0);
    if (gotSession)
      session.busy.store(0);
  }
  bool gotSession, gotContext;

private:
  plim_session &session;
  plim_context &context;
};

plim_status checkBound(const Run &run) {
  NameList inputs, outputs;
  for (uint32_t i = 0; i < run.p.ios; ++i) {
    const plim_t_io &io = run.t.io(run.p.first_io + i);
    if (io.state == PLIM_NONE && !run.bindings[i].bound)
      (io.is_output ? outputs : inputs).add(run.t.string(io.name));
  }
  if (inputs.empty() && outputs.empty())
    return PLIM_OK;
  return Failure(PLIM_ERR_ARG)
      .at("program %s", run.t.string(run.p.name))
      .say("not bound: %s%s%s%s", inputs.empty() ? "" : "inputs ", inputs.text(),
           outputs.empty()  ? ""
           : inputs.empty() ? "outputs "
                            : "; outputs ",
           outputs.text());
}

/// Gives each symbol the dimension that the inputs have for it; they must agree.
plim_status setSymbols(Run &run) {
  for (uint32_t k = 0; k < run.p.symbols; ++k) {
    const plim_t_symbol &symbol = run.t.symbol(run.p.first_symbol + k);
    const char *from = nullptr;
    int64_t &value = run.context.scalars[symbol.scalar];
    for (uint32_t i = 0; i < run.p.ios; ++i) {
      const plim_t_io &io = run.t.io(run.p.first_io + i);
      const plim_t_shape &s = run.t.shape(io.shape);
      for (uint32_t d = 0; d < s.rank && !io.is_output && io.state == PLIM_NONE; ++d) {
        if (s.dim_scalar[d] != symbol.scalar)
          continue;
        int64_t dim = run.bindings[i].dims[d];
        const char *name = run.t.string(io.name);
        if (from && dim != value)
          return Failure(PLIM_ERR_ARG)
              .at("input %s", name)
              .need(static_cast<uint64_t>(value))
              .have(static_cast<uint64_t>(dim))
              .say("dimension %u is %s, which input %s gives otherwise", d, run.t.string(symbol.name), from);
        from = name;
        value = dim;
      }
    }
    if (!from)
      return Failure(PLIM_ERR_ARG)
          .at("symbol %s", run.t.string(symbol.name))
          .say("no input has a dimension that gives its value");
    if (value < symbol.lower || value > symbol.upper)
      return Failure(PLIM_ERR_BOUND)
          .at("symbol %s", run.t.string(symbol.name))
          .need(static_cast<uint64_t>(value < symbol.lower ? symbol.lower : symbol.upper))
          .have(static_cast<uint64_t>(value))
          .say("its value is beyond its bounds");
  }
  return PLIM_OK;
}

bool isSymbol(const Run &run, uint32_t scalar) {
  for (uint32_t k = 0; k < run.p.symbols; ++k)
    if (run.t.symbol(run.p.first_symbol + k).scalar == scalar)
      return true;
  return false;
}

/// Bytes of every input and output in this run. An output whose dimensions the run decides counts at its bounds.
plim_status sizeBindings(Run &run, uint64_t &ioBytes) {
  ioBytes = 0;
  for (uint32_t i = 0; i < run.p.ios; ++i) {
    const plim_t_io &io = run.t.io(run.p.first_io + i);
    const plim_t_shape &s = run.t.shape(io.shape);
    Binding &b = run.bindings[i];
    if (io.state != PLIM_NONE) {
      b.data = stateHome(run.session, io.state);
      b.bytes = b.room = io.bytes;
      continue;
    }
    if (io.is_output) {
      b.bytes = plim_dtype_bytes(s.dtype);
      for (uint32_t d = 0; d < s.rank; ++d) {
        uint32_t scalar = s.dim_scalar[d];
        bool known = scalar != PLIM_NONE && isSymbol(run, scalar) && run.scalar(scalar) <= s.dims[d];
        b.bytes *= static_cast<uint64_t>(known ? run.scalar(scalar) : s.dims[d]);
      }
      if (b.room < b.bytes)
        return Failure(PLIM_ERR_ARG)
            .at("output %s", run.t.string(io.name))
            .need(b.bytes)
            .have(b.room)
            .say("the room bound to it is too small for this run");
    }
    ioBytes += b.bytes;
  }
  return PLIM_OK;
}

void recordDims(Run &run) {
  for (uint32_t i = 0; i < run.p.ios; ++i) {
    const plim_t_shape &s = run.t.shape(run.t.io(run.p.first_io + i).shape);
    for (uint32_t d = 0; d < s.rank; ++d)
      run.bindings[i].dims[d] = s.dim_scalar[d] == PLIM_NONE ? s.dims[d] : run.scalar(s.dim_scalar[d]);
    run.bindings[i].ran = 1;
  }
}

void startLive(Run &run, uint64_t ioBytes) {
  run.live[PLIM_RAM] = ioBytes;
  for (uint32_t i = 0; i < run.p.residents; ++i) {
    const plim_t_view &v = run.t.view(run.t.resident(run.p.first_resident + i).view);
    if (v.base == PLIM_BASE_ARENA)
      run.live[run.t.arena(v.index).tier] += v.bytes;
  }
  memcpy(run.livePeak, run.live, sizeof run.live);
}

plim_status prepare(Run &run, uint64_t &ioBytes) {
  if (plim_status st = checkBound(run))
    return st;
  selectProgram(run.context, run.index);
  memset(run.context.scalars, 0, run.p.scalars * sizeof *run.context.scalars);
  memset(run.context.tokens, kTokenNone, run.p.tokens);
  if (run.context.transfers)
    run.context.transfers->engine.beginRun();
  if (plim_status st = setSymbols(run))
    return st;
  return sizeBindings(run, ioBytes);
}

plim_status runProgram(Run &run) {
  uint64_t ioBytes;
  if (plim_status st = prepare(run, ioBytes))
    return st;
  startLive(run, ioBytes);
  if (run.poison())
    poisonStart(run);
  uint64_t begin = nowNs();
  plim_status st = walk(run);
  if (run.context.transfers)
    run.context.transfers->engine.abandon();
  uint64_t end = nowNs();
  if (st) {
    run.session.torn |= run.step >= run.p.first_commit_step;
    return st;
  }
  if (run.poison()) {
    poisonEnd(run);
    ++run.context.poisonRuns;
  }
  recordDims(run);
  ProgramFigures &f = figuresOf(run.session, run.index);
  for (uint32_t tier = 0; tier < PLIM_TIER_COUNT; ++tier)
    f.live[tier] = run.livePeak[tier] > f.live[tier] ? run.livePeak[tier] : f.live[tier];
  f.ioBytes = ioBytes;
  ++f.runs;
  f.poisonRuns += run.poison();
  f.lastNs = end - begin;
  f.totalNs += end - begin;
  f.steps = run.walked;
  f.transfers = run.transfers;
  f.bytesRead = run.bytesRead;
  f.bytesWritten = run.bytesWritten;
  f.stallNs = run.stallNs;
  return PLIM_OK;
}

plim_status checkObjects(const plim_session &s, const plim_context &c, uint32_t program,
                         const plim_run_options &options) {
  if (s.weights != c.weights)
    return Failure(PLIM_ERR_ARG).at("context").say("context and session are made from different weights");
  if (!scopeHolds(c.table, c.scope, program))
    return Failure(PLIM_ERR_ARG).at("context").have(program).say("the program is not in the context's scope");
  if (options.trace && (!options.trace->events || !options.trace->capacity))
    return Failure(PLIM_ERR_ARG).at("trace").need(1).say("the ring has no room");
  if (s.torn)
    return Failure(PLIM_ERR_TORN).at("session").say("an earlier run failed while it wrote states: load or reset them");
  return PLIM_OK;
}

} // namespace

extern "C" plim_status plim_run(plim_session *session, plim_context *context, uint32_t program,
                                const plim_run_options *options) {
  static const plim_run_options none = {};
  if (!options)
    options = &none;
  uint32_t index;
  if (plim_status st = resolveProgram(session->table, session->scope, program, index))
    return st;
  Hold hold(*session, *context);
  if (!hold.gotContext)
    return Failure(PLIM_ERR_BUSY).at(hold.gotSession ? "context" : "session").say("it is in use by another run");
  if (plim_status st = checkObjects(*session, *context, index, *options))
    return st;
  uint64_t pattern = context->poisonRuns % 2 ? UINT64_MAX : 0;
  TableView t = session->table;
  Run run{*session, *context, t, index, t.program(index), *options, bindingsOf(*session, index), pattern};
  plim_status st = runProgram(run);
  session->cancelled.store(0);
  return st;
}

extern "C" void plim_cancel(plim_session *session) { session->cancelled.store(1); }
