// The walk: one loop over a program's steps.
#include "runtime/core/run.h"

#include <string.h>

namespace plim::rt {

Failure Run::fail(plim_status status) const {
  const plim_t_step &s = t.step(p, step);
  Failure f(status);
  f.step(index, step);
  if (s.source == PLIM_NONE)
    f.at("program %s, step %u", t.string(p.name), step);
  else
    f.at("program %s, step %u, %s", t.string(p.name), step, t.string(s.source));
  return f;
}

plim_status Run::resolve(uint32_t index, Bytes &out) const {
  const plim_t_view &v = t.view(index);
  uint64_t offset = v.offset, bytes = v.bytes;
  if (v.offset_scalar != PLIM_NONE) {
    int64_t moved = scalar(v.offset_scalar);
    if (moved < 0 || static_cast<uint64_t>(moved) > bytes)
      return fail(PLIM_ERR_BOUND)
          .need(bytes)
          .have(static_cast<uint64_t>(moved))
          .say("an offset moves view %u out of its range", index);
    offset += static_cast<uint64_t>(moved);
    bytes -= static_cast<uint64_t>(moved);
  }
  if (v.base == PLIM_BASE_ARENA) {
    out = {arenaBase(v.index) + offset, bytes};
    return PLIM_OK;
  }
  const Binding &b = bindings[v.index - p.first_io];
  if (offset > b.bytes)
    offset = b.bytes;
  uint64_t rest = b.bytes - offset;
  out = {b.data + offset, rest < bytes ? rest : bytes};
  return PLIM_OK;
}

namespace {

plim_status runFill(Run &run, const plim_t_fill &f) {
  Bytes view;
  if (plim_status st = run.resolve(f.view, view))
    return st;
  uint64_t pattern = run.t.words()[f.first_word], at = 0;
  for (; at + 8 <= view.bytes; at += 8)
    memcpy(view.data + at, &pattern, 8);
  memcpy(view.data + at, &pattern, view.bytes - at);
  return PLIM_OK;
}

int64_t loadInteger(const char *data, uint32_t dtype) {
  auto as = [&]<class T>(T value) {
    memcpy(&value, data, sizeof value);
    return static_cast<int64_t>(value);
  };
  switch (dtype) {
  case PLIM_I8:
    return as(int8_t());
  case PLIM_I16:
    return as(int16_t());
  case PLIM_I32:
    return as(int32_t());
  case PLIM_U16:
    return as(uint16_t());
  case PLIM_U32:
    return as(uint32_t());
  case PLIM_I64:
  case PLIM_U64: // beyond INT64_MAX it turns negative, which no bound of a size allows
    return as(int64_t());
  default:
    return as(uint8_t());
  }
}

plim_status outsideBounds(const Run &run, int64_t value, int64_t lower, int64_t upper, const char *what) {
  return run.fail(PLIM_ERR_BOUND)
      .need(static_cast<uint64_t>(value < lower ? lower : upper))
      .have(static_cast<uint64_t>(value))
      .say("%s: %ld is not in [%ld, %ld]", what, value, lower, upper);
}

plim_status runLoad(Run &run, const plim_t_load &l) {
  Bytes view;
  if (plim_status st = run.resolve(l.view, view))
    return st;
  uint64_t end = l.offset + plim_dtype_bytes(static_cast<uint8_t>(l.dtype));
  if (end > view.bytes)
    return run.fail(PLIM_ERR_BOUND).need(end).have(view.bytes).say("the element lies beyond the bytes of this run");
  int64_t value = loadInteger(view.data + l.offset, l.dtype);
  if (value < l.lower || value > l.upper)
    return outsideBounds(run, value, l.lower, l.upper, "value read");
  run.context.scalars[l.scalar] = value;
  return PLIM_OK;
}

void runEval(Run &run, const plim_t_eval &e) {
  plim_context &c = run.context;
  const uint32_t *in = run.t.indices() + e.first_in, *out = run.t.indices() + e.first_out;
  for (uint32_t i = 0; i < e.ins; ++i)
    c.listIn[i] = c.scalars[in[i]];
  run.session.weights->model->evals[e.function](c.listIn, c.listOut);
  for (uint32_t i = 0; i < e.outs; ++i)
    c.scalars[out[i]] = c.listOut[i];
}

plim_status runCheck(Run &run, const plim_t_check &k) {
  int64_t value = run.scalar(k.scalar);
  if (value >= k.lower && value <= k.upper)
    return PLIM_OK;
  return outsideBounds(run, value, k.lower, k.upper, run.t.string(k.message));
}

/// Whether a trip is due, the counter being set.
plim_status tripDue(Run &run, const plim_t_loop &l, bool &due) {
  int64_t counter = run.scalar(l.counter), most = static_cast<int64_t>(l.max_trips);
  int64_t trips = l.trips == PLIM_NONE ? most : run.scalar(l.trips);
  due = counter < trips && (l.condition == PLIM_NONE || run.scalar(l.condition) != 0);
  if (due && counter >= most)
    return run.fail(PLIM_ERR_BOUND).need(l.max_trips).have(static_cast<uint64_t>(trips)).say("more trips than planned");
  return PLIM_OK;
}

void runMark(Run &run, const plim_t_mark &m) {
  const plim_t_view &v = run.t.view(run.t.buffer(m.buffer).view);
  uint32_t tier = run.t.arena(v.index).tier;
  run.live[tier] += m.is_death ? -v.bytes : v.bytes;
  if (run.live[tier] > run.livePeak[tier])
    run.livePeak[tier] = run.live[tier];
  if (run.poison())
    poisonMark(run, m);
}

/// Steps that change memory.
plim_status runWriter(Run &run, const plim_t_step &s) {
  switch (s.opcode) {
  case PLIM_OP_LAUNCH:
    return runLaunch(run, run.t.launch(s.record));
  case PLIM_OP_COPY:
    return runCopy(run, s, run.t.copy(s.record));
  default:
    return runFill(run, run.t.fill(s.record));
  }
}

plim_status runStep(Run &run, const plim_t_step &s, uint32_t &next) {
  int64_t *scalars = run.context.scalars;
  switch (s.opcode) {
  case PLIM_OP_LAUNCH:
  case PLIM_OP_COPY:
  case PLIM_OP_FILL: {
    uint64_t before = 0, after = 0;
    bool redZones = run.options.flags & PLIM_RUN_RED_ZONES;
    if (redZones)
      if (plim_status st = hashOutsideWrites(run, before))
        return st;
    if (plim_status st = runWriter(run, s))
      return st;
    if (redZones)
      if (plim_status st = hashOutsideWrites(run, after))
        return st;
    if (before != after)
      return run.fail(PLIM_ERR_RED_ZONE).say("the step wrote outside its declared accesses");
    if (s.token != PLIM_NONE && run.context.tokens[s.token] < kTokenInFlight)
      run.context.tokens[s.token] = kTokenDone;
    return PLIM_OK;
  }
  case PLIM_OP_WAIT:
    return runWait(run, run.t.wait(s.record));
  case PLIM_OP_LOAD:
    return runLoad(run, run.t.load(s.record));
  case PLIM_OP_EVAL:
    runEval(run, run.t.eval(s.record));
    return PLIM_OK;
  case PLIM_OP_CHECK:
    return runCheck(run, run.t.check(s.record));
  case PLIM_OP_BRANCH: {
    const plim_t_branch &b = run.t.branch(s.record);
    if (b.scalar == PLIM_NONE || scalars[b.scalar] == 0)
      next = b.target;
    return PLIM_OK;
  }
  case PLIM_OP_LOOP: {
    const plim_t_loop &l = run.t.loop(s.record);
    scalars[l.counter] = 0;
    bool due;
    plim_status st = tripDue(run, l, due);
    if (!due)
      next = l.end;
    return st;
  }
  case PLIM_OP_NEXT: {
    const plim_t_loop &l = run.t.loop(s.record);
    // The body may have set the counter to any value.
    scalars[l.counter] = static_cast<int64_t>(static_cast<uint64_t>(scalars[l.counter]) + 1);
    bool due;
    plim_status st = tripDue(run, l, due);
    if (due)
      next = l.body;
    return st;
  }
  default:
    runMark(run, run.t.mark(s.record));
    return PLIM_OK;
  }
}

/// Cancel, progress and fault, before each step.
plim_status interruptions(Run &run) {
  const plim_run_options &o = run.options;
  bool stop = run.session.cancelled.load(std::memory_order_relaxed);
  if (o.progress)
    stop |= o.progress(o.progress_data, run.step, run.p.steps) != 0;
  if (stop && run.step < run.p.first_commit_step)
    return run.fail(PLIM_ERR_CANCELLED).say("the run was cancelled");
  if (o.fault == run.step + 1)
    return run.fail(PLIM_ERR_IO).say("fault asked for by the caller");
  return PLIM_OK;
}

} // namespace

plim_status walk(Run &run) {
  for (uint32_t next;; run.step = next) {
    const plim_t_step &s = run.t.step(run.p, run.step);
    if (plim_status st = interruptions(run))
      return st;
    ++run.walked;
    next = run.step + 1;
    if (s.opcode == PLIM_OP_RETURN)
      return PLIM_OK;
    bool traced = run.options.trace && s.opcode != PLIM_OP_LAUNCH && s.opcode != PLIM_OP_MARK;
    uint64_t begin = traced ? nowNs() : 0;
    if (plim_status st = runStep(run, s, next))
      return st;
    if (traced)
      traceEvent(run, {begin, nowNs(), run.index, run.step, 0, 0, 0, 0});
  }
}

} // namespace plim::rt
