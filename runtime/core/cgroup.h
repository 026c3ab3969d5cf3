// Where the memory cgroups of this process are: of the two hierarchies, the one that counts memory.
#ifndef PLIM_RUNTIME_CORE_CGROUP_H
#define PLIM_RUNTIME_CORE_CGROUP_H

#include <limits.h>
#include <stdint.h>

namespace plim::rt {

/// Reads a small file from its start; cuts what does not fit. The text ends with NUL. False where it cannot be read.
bool readText(const char *path, char *text, uint64_t bytes);

/// The number behind `key` at the start of a line, as in "inactive_file 4096" or "MemTotal:  16 kB".
bool numberAfter(const char *text, const char *key, uint64_t &out);

/// The folders of the process's memory cgroup and those above it, innermost first.
class CgroupPath {
public:
  /// Looks in <root>/proc/self; a v1 memory hierarchy goes before the v2 one, which then does not count memory.
  explicit CgroupPath(const char *root);

  bool found() const { return used > 0; }
  bool isV2() const { return v2; }
  const char *folder() const { return text; }
  /// To the folder above; false at the mount point.
  bool up();

private:
  char text[PATH_MAX] = {};
  uint64_t used = 0;  // length of the text
  uint64_t mount = 0; // of the part of it that is the mount point
  bool v2 = false;

  bool locate(const char *root, bool wantV2);
};

} // namespace plim::rt

#endif
