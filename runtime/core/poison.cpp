// Poison runs: memory whose contents are undefined holds a pattern, and what the steps really touch is measured.
//
// The pattern of a word depends on its address. A byte that a step writes may equal the pattern's, with odds of 1 in
// 256; the next poison run uses the complement, so over two runs no written byte stays unseen.
#include "runtime/core/run.h"

#include <string.h>

namespace plim::rt {
namespace {

uint64_t patternAt(uintptr_t word, uint64_t flip) {
  uint64_t x = word * 0x9e3779b97f4a7c15u;
  return (x ^ x >> 29) * 0xbf58476d1ce4e5b9u ^ flip;
}

uint8_t patternByte(uintptr_t address, uint64_t flip) {
  return static_cast<uint8_t>(patternAt(address & ~uintptr_t(7), flip) >> 8 * (address & 7));
}

void fill(char *data, uint64_t bytes, uint64_t flip) {
  char *end = data + bytes;
  for (; data < end && reinterpret_cast<uintptr_t>(data) % 8 != 0; ++data)
    *data = static_cast<char>(patternByte(reinterpret_cast<uintptr_t>(data), flip));
  for (; end - data >= 8; data += 8) {
    uint64_t word = patternAt(reinterpret_cast<uintptr_t>(data), flip);
    memcpy(data, &word, 8);
  }
  for (; data < end; ++data)
    *data = static_cast<char>(patternByte(reinterpret_cast<uintptr_t>(data), flip));
}

/// End of the highest byte in [0, bytes) that differs from the pattern; 0 for none.
uint64_t changedEnd(const char *data, uint64_t bytes, uint64_t flip) {
  auto byteChanged = [&](uint64_t i) {
    return static_cast<uint8_t>(data[i]) != patternByte(reinterpret_cast<uintptr_t>(data + i), flip);
  };
  while (bytes) {
    if (reinterpret_cast<uintptr_t>(data + bytes) % 8 == 0 && bytes >= 8) {
      uint64_t word;
      memcpy(&word, data + bytes - 8, 8);
      if (word == patternAt(reinterpret_cast<uintptr_t>(data + bytes - 8), flip)) {
        bytes -= 8;
        continue;
      }
    }
    if (byteChanged(bytes - 1))
      return bytes;
    --bytes;
  }
  return 0;
}

void note(Run &run, uint32_t arena, uint64_t end) {
  if (end > run.context.arenaTouched[arena])
    run.context.arenaTouched[arena] = end;
}

/// Measures [offset, offset + bytes) of an arena and fills it again.
void measureAndFill(Run &run, uint32_t arena, uint64_t offset, uint64_t bytes) {
  char *data = run.arenaBase(arena) + offset;
  if (uint64_t end = changedEnd(data, bytes, run.pattern))
    note(run, arena, offset + end);
  fill(data, bytes, run.pattern);
}

struct Range {
  uint64_t begin, end;
};

/// What the birth or death of a buffer must leave because the buffer slides (plim_t_copy): the bytes that the COPY
/// reads after the birth, or wrote before the death. Empty where it does not slide.
Range slid(const Run &run, const plim_t_mark &m, const plim_t_view &buffer) {
  const plim_t_step *step = &run.t.step(run.p, run.step);
  const plim_t_step *first = &run.t.step(run.p, 0), *last = first + run.p.steps - 1;
  while (step->opcode == PLIM_OP_MARK && step != (m.is_death ? first : last))
    step += m.is_death ? -1 : 1;
  if (step->opcode != PLIM_OP_COPY)
    return {0, 0};
  const plim_t_copy &c = run.t.copy(step->record);
  const plim_t_view &own = run.t.view(m.is_death ? c.src : c.dst), &other = run.t.view(m.is_death ? c.dst : c.src);
  bool same = own.base == PLIM_BASE_ARENA && own.index == buffer.index && own.offset >= buffer.offset &&
              own.offset + own.bytes <= buffer.offset + buffer.bytes && other.base == PLIM_BASE_ARENA &&
              other.index == buffer.index && own.offset_scalar == PLIM_NONE && other.offset_scalar == PLIM_NONE;
  return same ? Range{other.offset, other.offset + c.bytes} : Range{0, 0};
}

} // namespace

void poisonStart(Run &run) {
  fill(run.context.transient, run.context.transientBytes, run.pattern);
  for (uint32_t i = 0; i < run.p.ios; ++i) {
    const plim_t_io &io = run.t.io(run.p.first_io + i);
    if (io.is_output && io.state == PLIM_NONE)
      fill(run.bindings[i].data, run.bindings[i].bytes, run.pattern);
  }
}

void poisonMark(Run &run, const plim_t_mark &m) {
  const plim_t_view &v = run.t.view(run.t.buffer(m.buffer).view);
  if (!run.context.arenaBases[v.index])
    return;
  uint64_t end = v.offset + v.bytes;
  Range kept = slid(run, m, v);
  if (kept.begin >= end || kept.end <= v.offset)
    return measureAndFill(run, v.index, v.offset, v.bytes);
  if (kept.begin > v.offset)
    measureAndFill(run, v.index, v.offset, kept.begin - v.offset);
  if (kept.end < end)
    measureAndFill(run, v.index, kept.end, end - kept.end);
}

void noteTransfer(Run &run, const plim_t_view &view, uint64_t offset, uint64_t bytes) {
  uint64_t end = plim_page(offset + bytes);
  for (uint32_t i = 0; i < run.t.count(PLIM_SEC_BUFFERS); ++i) {
    const plim_t_view &buffer = run.t.view(run.t.buffer(i).view);
    if (buffer.index == view.index && buffer.offset == offset && buffer.offset + buffer.bytes >= end)
      return note(run, view.index, end);
  }
  note(run, view.index, offset + bytes);
}

void poisonTarget(Run &run, const plim_t_view &view, uint64_t offset, uint64_t bytes) {
  if (run.context.arenaBases[view.index])
    measureAndFill(run, view.index, offset, bytes);
}

void poisonWorkspace(Run &run, const plim_t_launch &l) {
  const plim_t_view &v = run.t.view(l.workspace);
  measureAndFill(run, v.index, v.offset, v.bytes);
}

/// A workspace counts whole once its launch ran: how much of it is used depends on the CPU level, on how many workers
/// came to it and on sizes below their bounds. That a kernel stays inside it is the red zones' matter.
void measureWorkspace(Run &run, const plim_t_launch &l) {
  const plim_t_view &v = run.t.view(l.workspace);
  note(run, v.index, v.offset + v.bytes);
  fill(run.arenaBase(v.index) + v.offset, v.bytes, run.pattern);
}

void poisonEnd(Run &run) {
  for (uint32_t a = 0; a < run.t.count(PLIM_SEC_ARENAS); ++a)
    if (char *base = run.context.arenaBases[a])
      // Up to the page's end: a byte beyond the arena is seen too.
      note(run, a, changedEnd(base, plim_page(run.t.arena(a).bytes), run.pattern));
}

} // namespace plim::rt
