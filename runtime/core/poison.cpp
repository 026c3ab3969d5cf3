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

} // namespace

void poisonStart(Run &run) {
  fill(run.context.transient, run.context.transientBytes, run.pattern);
  for (uint32_t i = 0; i < run.p.ios; ++i) {
    const plim_t_io &io = run.t.io(run.p.first_io + i);
    if (io.is_output && io.state == PLIM_NONE)
      fill(run.bindings[i].data, run.bindings[i].bytes, run.pattern);
  }
}

void poisonBirth(Run &run, const plim_t_view &view) {
  if (run.context.arenaBases[view.index])
    measureAndFill(run, view.index, view.offset, view.bytes);
}

void poisonDeath(Run &run, const plim_t_view &view) { poisonBirth(run, view); }

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
