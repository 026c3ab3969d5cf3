// Red-zone runs: a hash over all memory of the run but the bytes that the current step declares to write.
#include "runtime/core/run.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plim::rt {
namespace {

/// Declared writes of the step, by rising address.
struct Writes {
  WriteSpan *spans;
  uint32_t count = 0;

  void add(char *begin, uint64_t bytes) {
    uint32_t i = count++;
    for (; i > 0 && spans[i - 1].begin > begin; --i)
      spans[i] = spans[i - 1];
    spans[i] = {begin, begin + bytes};
  }
};

plim_status declaredWrites(Run &run, const plim_t_step &s, Writes &out) {
  Bytes bytes;
  auto add = [&](uint32_t view) {
    plim_status st = run.resolve(view, bytes);
    if (!st)
      out.add(bytes.data, bytes.bytes);
    return st;
  };
  if (s.opcode == PLIM_OP_COPY) {
    uint32_t dst = run.t.copy(s.record).dst;
    return onSsd(run.t, run.t.view(dst)) ? PLIM_OK : add(dst);
  }
  if (s.opcode == PLIM_OP_FILL)
    return add(run.t.fill(s.record).view);
  if (s.opcode != PLIM_OP_LAUNCH)
    return PLIM_OK;
  const plim_t_launch &l = run.t.launch(s.record);
  for (uint32_t i = 0; i < l.operands; ++i) {
    const plim_t_operand &o = run.t.operand(l.first_operand + i);
    if (o.access & PLIM_ACCESS_WRITE)
      if (plim_status st = add(o.view))
        return st;
  }
  return l.workspace == PLIM_NONE ? PLIM_OK : add(l.workspace);
}

uint64_t hashGaps(const char *begin, uint64_t bytes, const Writes &writes, uint64_t hash) {
  const char *at = begin, *end = begin + bytes;
  for (uint32_t i = 0; i < writes.count; ++i) {
    const WriteSpan &w = writes.spans[i];
    if (w.end <= at || w.begin >= end)
      continue;
    if (w.begin > at)
      hash = XXH3_64bits_withSeed(at, static_cast<size_t>(w.begin - at), hash);
    at = w.end < end ? w.end : end;
  }
  return at < end ? XXH3_64bits_withSeed(at, static_cast<size_t>(end - at), hash) : hash;
}

} // namespace

plim_status hashOutsideWrites(Run &run, uint64_t &hash) {
  Writes writes{run.context.spans};
  if (plim_status st = declaredWrites(run, run.t.step(run.p, run.step), writes))
    return st;
  hash = hashGaps(run.context.transient, run.context.transientBytes, writes, 0);
  for (uint32_t a = 0; a < run.t.count(PLIM_SEC_ARENAS); ++a)
    if (char *base = run.session.arenaBases[a])
      hash = hashGaps(base, plim_page(run.t.arena(a).bytes), writes, hash);
  hash = hashGaps(run.session.weights->arena, run.session.weights->loaded, writes, hash);
  for (uint32_t i = 0; i < run.p.ios; ++i)
    if (run.t.io(run.p.first_io + i).state == PLIM_NONE)
      hash = hashGaps(run.bindings[i].data, run.bindings[i].room, writes, hash);
  return PLIM_OK;
}

} // namespace plim::rt
