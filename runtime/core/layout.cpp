#include "runtime/core/layout.h"

#include "plim/weights.h"
#include "runtime/io/transfers.h"

namespace plim::rt {
namespace {

uint64_t line(uint64_t bytes) { return (bytes + 63) / 64 * 64; }
uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/// Hands out cache-line aligned pieces of a region.
struct Cursor {
  uint64_t at = kObjectBytes;
  uint64_t take(uint64_t count, uint64_t each) {
    uint64_t offset = at;
    at += line(count * each);
    return offset;
  }
};

} // namespace

WeightsLayout::WeightsLayout(uint64_t weightsFileBytes, uint64_t arenaBytes) {
  arena = header + (weightsFileBytes ? plim_weight_header_bytes_of_file(weightsFileBytes) : 0);
  bytes = plim_page(arena) + plim_page(arenaBytes);
}

ContextLayout::ContextLayout(const plim_reserve_terms &n, uint64_t arenaBytes) {
  uint32_t list = larger(n.scalars, uint32_t(PLIM_MIN_SCALAR_LIST));
  Cursor c;
  arenaBases = c.take(n.arenas, 8);
  arenaTouched = c.take(n.arenas, 8);
  scalars = c.take(n.scalars, 8);
  listIn = c.take(list, 8);
  listOut = c.take(list, 8);
  tokens = c.take(n.tokens, 1);
  operands = c.take(n.max_operands, 8);
  shapes = c.take(n.max_operands, 8);
  spans = c.take(uint64_t(n.max_operands) + 1, kSpanBytes);
  dynamicShapes = c.take(n.dynamic_shapes, sizeof(plim_shape));
  workers = c.take(n.workers, kWorkerBytes);
  arenas = plim_page(c.at);
  stacks = arenas + arenaBytes;
  transfers = stacks + (n.workers ? n.workers - 1 : 0) * plim_page(n.stack_bytes);
  ioDepth = n.io_depth < kMostDepth ? n.io_depth : uint32_t(kMostDepth);
  bool io = ioDepth != 0;
  spillBases = transfers + io * kTransfersBytes;
  blockHashes = spillBases + io * plim_page(uint64_t(n.arenas) * 8);
  bounce = blockHashes + io * plim_page(plim_page(n.spill_bytes) / kSpillBlock * 4);
  ring = bounce + 2 * uint64_t(ioDepth) * PLIM_PAGE;
  ioStacks = ring + io * uint64_t(Ring::kBytes);
  bytes = ioStacks + uint64_t(Transfers::threadsFor(ioDepth)) * kIoStackBytes;
}

SessionLayout::SessionLayout(const plim_reserve_terms &n, uint64_t arenaBytes) {
  Cursor c;
  programs = c.take(n.programs, kProgramBytes);
  bindings = c.take(n.ios, kBindingBytes);
  arenaBases = c.take(n.arenas, 8);
  arenas = plim_page(c.at);
  bytes = arenas + arenaBytes;
}

bool onSsd(TableView t, const plim_t_view &v) {
  return v.base == PLIM_BASE_CONSTANT_FILE || (v.base == PLIM_BASE_ARENA && t.arena(v.index).tier == PLIM_SSD);
}

ArenaSet arenasOfProgram(TableView t, const plim_t_program &p) {
  ArenaSet used;
  t.viewsOfProgram(p, [&](uint32_t view) {
    const plim_t_view &v = t.view(view);
    if (v.base == PLIM_BASE_ARENA)
      used.add(v.index);
  });
  return used;
}

ScopeNeeds::ScopeNeeds(TableView t, plim_scope scope) {
  Owners owners(t);
  ArenaSet statesSeen;
  uint64_t largestOther[PLIM_TIER_COUNT] = {};
  terms.workers = t.t->workers;
  terms.stack_bytes = t.t->stack_bytes;
  terms.weights_bytes = t.t->weights_bytes;
  terms.arenas = t.count(PLIM_SEC_ARENAS);
  programsOfScope(t, scope, [&](uint32_t, const plim_t_program &p) {
    ++terms.programs;
    terms.ios += p.ios;
    terms.scalars = larger(terms.scalars, p.scalars);
    terms.tokens = larger(terms.tokens, p.tokens);
    terms.max_operands = larger(terms.max_operands, p.max_operands);
    terms.dynamic_shapes = larger(terms.dynamic_shapes, p.dynamic_shapes);
    ArenaSet used = arenasOfProgram(t, p);
    for (uint32_t i = 0; i < p.steps && !terms.io_depth; ++i) {
      const plim_t_step &s = t.step(p, i);
      bool transfer = false;
      if (s.opcode == PLIM_OP_COPY)
        t.viewsOfStep(s, [&](uint32_t view) { transfer |= onSsd(t, t.view(view)); });
      if (transfer)
        terms.io_depth = larger(t.t->io_depth, 1u);
    }
    uint64_t transient = 0, other[PLIM_TIER_COUNT] = {};
    for (uint32_t a = 0; a < terms.arenas; ++a) {
      const plim_t_arena &arena = t.arena(a);
      uint64_t bytes = plim_page(arena.bytes);
      if (!used.has(a) || arena.kind == PLIM_STACKS)
        continue;
      if (arena.tier != PLIM_RAM) {
        other[arena.tier] += bytes;
        continue;
      }
      switch (owners.of(a)) {
      case Owner::weights:
        weightsArena = larger(weightsArena, bytes);
        break;
      case Owner::session:
        if (!statesSeen.has(a))
          sessionArenas += bytes;
        statesSeen.add(a);
        break;
      case Owner::context:
        transient += bytes;
        break;
      }
    }
    contextArenas = larger(contextArenas, transient);
    for (uint32_t tier = 0; tier < PLIM_TIER_COUNT; ++tier)
      largestOther[tier] = larger(largestOther[tier], other[tier]);
  });
  for (uint32_t tier = 0; tier < PLIM_TIER_COUNT; ++tier)
    otherTiers[tier] = largestOther[tier];
  terms.spill_bytes = otherTiers[PLIM_SSD];
}

} // namespace plim::rt
