// Whole reads and writes on files, and files that appear under their name only when they are complete.
#ifndef PLIM_RUNTIME_IO_FILE_H
#define PLIM_RUNTIME_IO_FILE_H

#include "plim/status.h"

#include <limits.h>

namespace plim::rt {

/// Reads until `bytes` are there or the file ends; `got` says how many. Interrupted calls go on.
plim_status readAt(int fd, void *data, uint64_t bytes, uint64_t offset, const char *path, uint64_t &got);
plim_status writeAt(int fd, const void *data, uint64_t bytes, uint64_t offset, const char *path);

/// PLIM_ERR_IO for what errno says.
plim_status systemFailure(const char *path, const char *what);

/// A file under a temporary name beside its final one.
struct NewFile {
  int fd = -1;
  char path[PATH_MAX];
  char temporary[PATH_MAX];

  /// Creates "<path>.<pid>.tmp".
  plim_status create(const char *finalPath);
  /// Syncs, closes and renames; removes the temporary file on failure.
  plim_status finish();
  /// Closes and removes. Does nothing after finish.
  void discard();
};

} // namespace plim::rt

#endif
