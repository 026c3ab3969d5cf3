// Fuzz target: any bytes as a step table. The hash and the recorded peaks are made right so that the other checks are
// reached; an accepted table must also be described and sized without trouble.
#include "plim/plim.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < sizeof(plim_table))
    return 0;
  size_t room = (size + 63) / 64 * 64;
  auto *table = static_cast<plim_table *>(aligned_alloc(64, room));
  memcpy(table, data, size);
  memcpy(table->magic, PLIM_TABLE_MAGIC, sizeof table->magic);
  table->version = PLIM_TABLE_VERSION;
  table->header_bytes = sizeof *table;
  table->bytes = size;
  table->kernel_abi = PLIM_KERNEL_ABI;
  constexpr size_t hashed = offsetof(plim_table, hash) + sizeof table->hash;
  table->hash = XXH3_64bits(reinterpret_cast<const char *>(table) + hashed, size - hashed);
  plim_status st = plim_table_check(table, size);
  if (st && !strcmp(plim_last_error()->message, "its reserved peak is not what the runtime reserves")) {
    plim_table_seal(table);
    st = plim_table_check(table, size);
  }
  if (!st) {
    plim_model model = {sizeof model, PLIM_KERNEL_ABI, "fuzz", table, nullptr, nullptr, 0, 0};
    for (uint32_t p = 0; p < table->sections[PLIM_SEC_PROGRAMS].count; ++p)
      for (uint32_t i = 0; i < plim_io_count(&model, p); ++i) {
        plim_io_info info;
        if (plim_io_at(&model, p, i, &info) || !info.name)
          abort();
      }
  }
  free(table);
  return 0;
}
