#include "runtime/core/ledger.h"

#include "runtime/core/error.h"

#include <atomic>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace {

std::atomic<uint64_t> heldNow{0}, heldPeak{0};

void count(uint64_t bytes) {
  uint64_t now = heldNow.fetch_add(bytes) + bytes, peak = heldPeak.load();
  while (now > peak && !heldPeak.compare_exchange_weak(peak, now))
    ;
}

constexpr uint64_t kLargePage = uint64_t(2) << 20;

/// Fresh memory of `bytes` that starts at a large page, so that as much as can be lies in them; null where there is
/// none. What is mapped to find it is address space alone, which no limit of data counts, and is given back.
void *mapAtLargePage(uint64_t bytes) {
  const uint64_t around = bytes + kLargePage;
  void *p = mmap(nullptr, around, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return nullptr;
  char *start = static_cast<char *>(p);
  uint64_t before = (kLargePage - reinterpret_cast<uintptr_t>(p) % kLargePage) % kLargePage;
  if (before)
    munmap(start, before);
  munmap(start + before + bytes, kLargePage - before);
  if (mprotect(start + before, bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(start + before, bytes);
    return nullptr;
  }
  return start + before;
}

/// Fresh zeroed memory, populated: where the system has them by large pages, which end where the region ends, so that
/// its size stays as planned. Weights that are read once a run stream faster through few page-table entries, and a disk
/// moves bytes faster into them.
void *mapPopulated(uint64_t bytes) {
  if (bytes < kLargePage)
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  void *p = mapAtLargePage(bytes);
  if (!p)
    return MAP_FAILED;
  madvise(p, bytes, MADV_HUGEPAGE); // a wish
  if (madvise(p, bytes, MADV_POPULATE_WRITE) != 0)
    for (uint64_t at = 0; at < bytes; at += PLIM_PAGE) // before Linux 5.14
      static_cast<volatile char *>(p)[at] = 0;
  return p;
}

} // namespace

extern "C" void plim_ledger_totals(uint64_t *now, uint64_t *peak) {
  *now = heldNow.load();
  *peak = heldPeak.load();
}

namespace plim::rt {

plim_status reserveRegion(uint64_t bytes, const plim_place *place, const char *what, Region &out) {
  bytes = plim_page(bytes);
  if (place && place->memory) {
    if (reinterpret_cast<uintptr_t>(place->memory) % PLIM_PAGE != 0)
      return Failure(PLIM_ERR_ARG).at("%s", what).need(PLIM_PAGE).say("the memory given is not aligned to a page");
    if (place->bytes < bytes)
      return Failure(PLIM_ERR_MEMORY)
          .at("%s", what)
          .need(bytes)
          .have(place->bytes)
          .say("the memory given is too small");
    out = {static_cast<char *>(place->memory), bytes, false};
    memset(out.data, 0, bytes); // also populates it
  } else {
    void *p = mapPopulated(bytes);
    if (p == MAP_FAILED)
      return Failure(PLIM_ERR_MEMORY).at("%s", what).code(errno).need(bytes).say("the system refused the memory");
    out = {static_cast<char *>(p), bytes, true};
  }
  count(bytes);
  return PLIM_OK;
}

void releaseRegion(Region &region) {
  if (!region.data)
    return;
  if (region.owned)
    munmap(region.data, region.bytes);
  heldNow.fetch_sub(region.bytes);
  region = {};
}

} // namespace plim::rt
