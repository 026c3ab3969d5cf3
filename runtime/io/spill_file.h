// The file that holds what a context puts on the ssd. It has no name where the file system allows that, so nothing is
// left behind however the process ends.
#ifndef PLIM_RUNTIME_IO_SPILL_FILE_H
#define PLIM_RUNTIME_IO_SPILL_FILE_H

#include "plim/plim.h"

#include <limits.h>

namespace plim::rt {

struct SpillFile {
  int fd = -1;
  uint64_t bytes = 0;
  plim_file_mode mode = PLIM_FILE_NONE;
  bool named = false;  // the file system keeps the name of a file that is open, so close removes it
  char path[PATH_MAX]; // of the folder, or of the file where it is named

  /// Makes the file and allocates all of its bytes, a multiple of PLIM_PAGE. folder: the caller's choice, or null:
  /// PLIM_SPILL_DIR, else plimsoll in XDG_CACHE_HOME or in ~/.cache, made where it is missing. Files that a killed
  /// process left in the folder are removed. PLIM_ERR_IO, or PLIM_ERR_ARG for a path that is too long.
  plim_status create(const char *folder, uint64_t bytes);
  void close();

private:
  plim_status allocationFailure(int error) const;
};

} // namespace plim::rt

#endif
