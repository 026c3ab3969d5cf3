// Fuzz target for step tables. The input's first byte says how the rest is read:
//   even   the bytes of a table
//   odd    edits of a sound table that uses everything: 8 bytes each, where (4-byte words) and what
// The hash is made right, so that the other checks are reached, and where nothing but the recorded peaks is wrong, they
// are too. Whatever is accepted then runs, under the sanitizers.
#include "test/runtime/WholePlan.h"

#include "plim/plim.h"

#include <cstdlib>
#include <cstring>

using namespace plim::test;

namespace {

Table rawTable(const uint8_t *data, size_t size) {
  Table table(size);
  memcpy(table.bytes(), data, size);
  plim_table *t = table.get();
  memcpy(t->magic, PLIM_TABLE_MAGIC, sizeof t->magic);
  t->version = PLIM_TABLE_VERSION;
  t->header_bytes = sizeof *t;
  t->bytes = size;
  t->kernel_abi = PLIM_KERNEL_ABI;
  return table;
}

Table editedTable(const Table &sound, const uint8_t *data, size_t size) {
  Table table(sound);
  for (size_t at = 0; at + 8 <= size; at += 8) {
    uint32_t where, what;
    memcpy(&where, data + at, 4);
    memcpy(&what, data + at + 4, 4);
    uint64_t first = offsetof(plim_table, workers) / 4, words = table.size() / 4 - first;
    memcpy(table.bytes() + 4 * (first + where % words), &what, 4);
  }
  return table;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Table sound = wholePlan().finish();
  bool edits = size > 0 && data[0] % 2 == 1;
  if (size < 1 || (!edits && size - 1 < sizeof(plim_table)))
    return 0;
  Table table = edits ? editedTable(sound, data + 1, size - 1) : rawTable(data + 1, size - 1);
  table.rehash();
  plim_status st = plim_table_check(table.get(), table.size());
  if (st && !strcmp(plim_last_error()->message, "its reserved peak is not what the runtime reserves")) {
    plim_table_seal(table.get());
    st = plim_table_check(table.get(), table.size());
  }
  if (!st && !staysWithinBounds(std::move(table)))
    abort();
  return 0;
}
