// plim_table_check: header and sections, then the two other parts.
#include "runtime/core/table_check.h"

#include <stddef.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plim::rt {
namespace {

plim_status checkHeader(const plim_table *t, uint64_t bytes) {
  if (memcmp(t->magic, PLIM_TABLE_MAGIC, sizeof t->magic) != 0)
    return Failure(PLIM_ERR_TABLE).at("header").say("this is not a step table");
  if (t->version != PLIM_TABLE_VERSION)
    return Failure(PLIM_ERR_TABLE)
        .at("header")
        .need(PLIM_TABLE_VERSION)
        .have(t->version)
        .say("the table is of version %u, this runtime reads version %u", t->version, PLIM_TABLE_VERSION);
  if (t->header_bytes != sizeof(plim_table))
    return Failure(PLIM_ERR_TABLE).at("header").need(sizeof(plim_table)).have(t->header_bytes).say("header size");
  if (t->bytes != bytes)
    return Failure(PLIM_ERR_TABLE).at("header").need(t->bytes).have(bytes).say("the table is cut short or too long");
  constexpr size_t hashed = offsetof(plim_table, hash) + sizeof t->hash;
  if (XXH3_64bits(reinterpret_cast<const char *>(t) + hashed, bytes - hashed) != t->hash)
    return Failure(PLIM_ERR_TABLE).at("header").say("the table's hash differs: it was changed after it was made");
  if (t->kernel_abi != PLIM_KERNEL_ABI)
    return Failure(PLIM_ERR_TABLE)
        .at("header")
        .need(PLIM_KERNEL_ABI)
        .have(t->kernel_abi)
        .say("the table was made for kernel interface %u, this runtime has %u", t->kernel_abi, PLIM_KERNEL_ABI);
  if (t->workers < 1 || t->workers > PLIM_MAX_WORKERS)
    return Failure(PLIM_ERR_TABLE).at("header").need(PLIM_MAX_WORKERS).have(t->workers).say("number of workers");
  if (t->isa_min >= PLIM_ISA_COUNT)
    return Failure(PLIM_ERR_TABLE).at("header").have(t->isa_min).say("unknown CPU level");
  if (t->stack_bytes % PLIM_PAGE != 0 || t->stack_bytes > (uint64_t(1) << 32))
    return Failure(PLIM_ERR_TABLE).at("header").need(PLIM_PAGE).have(t->stack_bytes).say("size of a worker's stack");
  return PLIM_OK;
}

plim_status checkSections(const plim_table *t) {
  uint64_t end = sizeof(plim_table);
  for (uint32_t s = 0; s < PLIM_SEC_COUNT; ++s) {
    const plim_t_span &span = t->sections[s];
    if (span.offset % 8 != 0 || span.offset < end || span.offset > t->bytes)
      return Failure(PLIM_ERR_TABLE).at("section %u", s).need(end).have(span.offset).say("offset out of place");
    // A record number is a uint32_t below PLIM_NONE.
    if (span.count >= PLIM_NONE || span.count > (t->bytes - span.offset) / kRecordBytes[s])
      return Failure(PLIM_ERR_TABLE)
          .at("section %u", s)
          .need((t->bytes - span.offset) / kRecordBytes[s])
          .have(span.count)
          .say("more records than the table has room for");
    end = span.offset + span.count * kRecordBytes[s];
  }
  const plim_t_span &strings = t->sections[PLIM_SEC_STRINGS];
  if (strings.count && reinterpret_cast<const char *>(t)[strings.offset + strings.count - 1] != 0)
    return Failure(PLIM_ERR_TABLE).at("section %u", PLIM_SEC_STRINGS).say("the last string has no end");
  if (t->sections[PLIM_SEC_ARENAS].count > PLIM_MAX_ARENAS)
    return Failure(PLIM_ERR_TABLE)
        .at("section %u", PLIM_SEC_ARENAS)
        .need(PLIM_MAX_ARENAS)
        .have(t->sections[PLIM_SEC_ARENAS].count)
        .say("too many arenas");
  return PLIM_OK;
}

plim_status checkAll(const plim_table *table, uint64_t bytes) {
  if (plim_status st = checkHeader(table, bytes))
    return st;
  if (plim_status st = checkSections(table))
    return st;
  TableView t{table};
  // Owners reads residents and their views before they are checked.
  for (uint32_t i = 0; i < t.count(PLIM_SEC_RESIDENTS); ++i) {
    uint32_t view = t.resident(i).view;
    if (view >= t.count(PLIM_SEC_VIEWS) ||
        (t.view(view).base == PLIM_BASE_ARENA && t.view(view).index >= t.count(PLIM_SEC_ARENAS)))
      return Failure(PLIM_ERR_TABLE).at("resident %u", i).say("no such view or arena");
  }
  Owners owners(t);
  if (plim_status st = checkRecords(t, owners))
    return st;
  for (uint32_t i = 0; i < t.count(PLIM_SEC_PROGRAMS); ++i)
    if (plim_status st = checkProgram(t, owners, i))
      return st;
  for (uint32_t i = 0; i < t.count(PLIM_SEC_PROGRAMS); ++i)
    if (plim_status st = checkFigures(t, owners, i))
      return st;
  for (uint32_t i = 0; i < t.count(PLIM_SEC_VARIANTS); ++i) {
    const plim_t_variant &v = t.variant(i);
    uint64_t peak[PLIM_TIER_COUNT];
    plim_variant_reserved_bytes(table, i, peak);
    if (memcmp(peak, v.peak, sizeof peak) != 0)
      return Failure(PLIM_ERR_TABLE)
          .at("variant %s", t.string(v.name))
          .need(peak[PLIM_RAM])
          .have(v.peak[PLIM_RAM])
          .say("its peak is not what the runtime reserves");
    if (i > 0 && t.variant(i - 1).peak[PLIM_RAM] < v.peak[PLIM_RAM])
      return Failure(PLIM_ERR_TABLE).at("variant %s", t.string(v.name)).say("variants are not by falling RAM peak");
  }
  return PLIM_OK;
}

} // namespace
} // namespace plim::rt

extern "C" plim_status plim_table_check(const void *table, uint64_t bytes) {
  using namespace plim::rt;
  if (!table || reinterpret_cast<uintptr_t>(table) % 64 != 0)
    return Failure(PLIM_ERR_ARG).at("table").need(64).say("the table must be aligned to 64 bytes in memory");
  if (bytes < sizeof(plim_table))
    return Failure(PLIM_ERR_TABLE).at("table").need(sizeof(plim_table)).have(bytes).say("shorter than its header");
  return checkAll(static_cast<const plim_table *>(table), bytes);
}
