// What a program reserves and what lives in it, from the table alone; the compiler writes these figures into the table.
#include "runtime/core/error.h"
#include "runtime/core/layout.h"

#include <stddef.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace plim::rt;

namespace {

void scopeBytes(TableView t, plim_scope scope, uint64_t out[PLIM_TIER_COUNT]) {
  ScopeNeeds n(t, scope);
  memcpy(out, n.otherTiers, sizeof n.otherTiers);
  out[PLIM_RAM] = plim_reserved_overhead(&n.terms) + n.weightsArena + n.contextArenas + n.sessionArenas;
}

uint64_t &touchedOf(TableView t, plim_table *table, uint32_t arena) {
  auto *arenas =
      reinterpret_cast<plim_t_arena *>(reinterpret_cast<char *>(table) + t.t->sections[PLIM_SEC_ARENAS].offset);
  return arenas[arena].touched;
}

} // namespace

extern "C" uint64_t plim_reserved_overhead(const plim_reserve_terms *terms) {
  return WeightsLayout(terms->weights_bytes, 0).bytes + ContextLayout(*terms, 0).bytes + SessionLayout(*terms, 0).bytes;
}

extern "C" plim_status plim_reserved_bytes(const plim_table *table, uint32_t program, uint64_t out[PLIM_TIER_COUNT]) {
  TableView t{table};
  if (program >= t.count(PLIM_SEC_PROGRAMS))
    return Failure(PLIM_ERR_ARG).need(program).have(t.count(PLIM_SEC_PROGRAMS)).say("there is no such program");
  scopeBytes(t, {t.program(program).variant, program}, out);
  return PLIM_OK;
}

extern "C" plim_status plim_variant_reserved_bytes(const plim_table *table, uint32_t variant,
                                                   uint64_t out[PLIM_TIER_COUNT]) {
  TableView t{table};
  if (variant >= t.count(PLIM_SEC_VARIANTS))
    return Failure(PLIM_ERR_ARG).need(variant).have(t.count(PLIM_SEC_VARIANTS)).say("there is no such variant");
  scopeBytes(t, {variant, PLIM_NONE}, out);
  return PLIM_OK;
}

extern "C" uint64_t plim_io_bytes(const plim_table *table, uint32_t program) {
  TableView t{table};
  const plim_t_program &p = t.program(program);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < p.ios; ++i) {
    const plim_t_io &io = t.io(p.first_io + i);
    sum += io.state == PLIM_NONE ? io.bytes : 0;
  }
  return sum;
}

extern "C" void plim_live_bytes(const plim_table *table, uint32_t program, uint64_t out[PLIM_TIER_COUNT]) {
  TableView t{table};
  const plim_t_program &p = t.program(program);
  uint64_t now[PLIM_TIER_COUNT] = {};
  now[PLIM_RAM] = plim_io_bytes(table, program);
  for (uint32_t i = 0; i < p.residents; ++i) {
    const plim_t_view &v = t.view(t.resident(p.first_resident + i).view);
    if (v.base == PLIM_BASE_ARENA)
      now[t.arena(v.index).tier] += v.bytes;
  }
  memcpy(out, now, sizeof now);
  for (uint32_t i = 0; i < p.steps; ++i) {
    const plim_t_step &s = t.step(p, i);
    if (s.opcode != PLIM_OP_MARK)
      continue;
    const plim_t_mark &m = t.mark(s.record);
    const plim_t_view &v = t.view(t.buffer(m.buffer).view);
    uint32_t tier = t.arena(v.index).tier;
    now[tier] += m.is_death ? -v.bytes : v.bytes;
    if (now[tier] > out[tier])
      out[tier] = now[tier];
  }
}

extern "C" void plim_table_seal(plim_table *table) {
  TableView t{table};
  char *base = reinterpret_cast<char *>(table);
  auto *programs = reinterpret_cast<plim_t_program *>(base + table->sections[PLIM_SEC_PROGRAMS].offset);
  auto *variants = reinterpret_cast<plim_t_variant *>(base + table->sections[PLIM_SEC_VARIANTS].offset);
  for (uint32_t a = 0; a < t.count(PLIM_SEC_ARENAS); ++a)
    touchedOf(t, table, a) = 0;
  for (uint32_t i = 0; i < t.count(PLIM_SEC_PROGRAMS); ++i) {
    t.viewsOfProgram(programs[i], [&](uint32_t index) {
      const plim_t_view &v = t.view(index);
      if (v.base == PLIM_BASE_ARENA && v.offset + v.bytes > touchedOf(t, table, v.index))
        touchedOf(t, table, v.index) = v.offset + v.bytes;
    });
    plim_reserved_bytes(table, i, programs[i].reserved_peak);
    plim_live_bytes(table, i, programs[i].live_peak);
  }
  for (uint32_t i = 0; i < t.count(PLIM_SEC_VARIANTS); ++i)
    plim_variant_reserved_bytes(table, i, variants[i].peak);
  constexpr size_t hashed = offsetof(plim_table, hash) + sizeof table->hash;
  table->hash = XXH3_64bits(base + hashed, table->bytes - hashed);
}
