// The one place where the runtime asks the system for memory. Every region is counted, page-rounded and populated.
#ifndef PLIM_RUNTIME_CORE_LEDGER_H
#define PLIM_RUNTIME_CORE_LEDGER_H

#include "plim/plim.h"

namespace plim::rt {

/// One region: mapped here, or lent by the caller.
struct Region {
  char *data = nullptr;
  uint64_t bytes = 0;
  bool owned = false;
};

/// Makes a region of plim_page(bytes), zero-filled and populated. `place` null or without memory: maps one. `what`
/// names the object in an error: PLIM_ERR_MEMORY, or PLIM_ERR_ARG for a misaligned place.
plim_status reserveRegion(uint64_t bytes, const plim_place *place, const char *what, Region &out);
void releaseRegion(Region &region);

} // namespace plim::rt

#endif
