// Reading a weight file into planned memory.
#ifndef PLIM_RUNTIME_IO_WEIGHT_FILE_H
#define PLIM_RUNTIME_IO_WEIGHT_FILE_H

#include "plim/status.h"

namespace plim::rt {

struct WeightLoad {
  const char *path;
  uint64_t fileBytes, headerHash; // as the table names the file
  char *header;                   // page-aligned room for the header block
  char *arena;                    // page-aligned room for the data part ...
  uint64_t arenaBytes;            // ... a multiple of a page
  uint64_t needed;                // bytes of the data part to read
  bool keepOpen;                  // the file is read again, while programs run
  uint32_t buffered;              // out: 1 where direct I/O is not allowed
  uint64_t verified;              // out: bytes of the data part whose block hashes were verified
  int fd;                         // out: the file where it is kept open and was sound, the caller's; else -1
};

/// Reads header and data and verifies both, the data by whole blocks: where `needed` ends inside a block, its constants
/// remain to be verified by their own hashes. PLIM_ERR_WEIGHTS says what differs.
plim_status loadWeights(WeightLoad &load);

} // namespace plim::rt

#endif
