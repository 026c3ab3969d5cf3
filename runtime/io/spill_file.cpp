#include "runtime/io/spill_file.h"

#include "runtime/core/error.h"
#include "runtime/io/file.h"
#include "runtime/io/io_fault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace plim::rt {
namespace {

constexpr char kPrefix[] = "plim-spill-";

/// Zeros for a file system that cannot allocate; untouched, so it takes no memory of its own.
alignas(PLIM_PAGE) char zeros[16 * PLIM_PAGE];

bool joined(char (&out)[PATH_MAX], const char *folder, const char *name) {
  int n = snprintf(out, sizeof out, "%s/%s", folder, name);
  return n > 0 && static_cast<size_t>(n) < sizeof out;
}

/// The user's cache folder, made where it is missing.
plim_status cacheFolder(char (&out)[PATH_MAX]) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char parent[PATH_MAX];
  bool absolute = cache && cache[0] == '/';
  int n = absolute ? snprintf(parent, sizeof parent, "%s", cache) : snprintf(parent, sizeof parent, "%s/.cache", home);
  if ((!absolute && (!home || home[0] != '/')) || n < 0 || static_cast<size_t>(n) >= sizeof parent ||
      !joined(out, parent, "plimsoll"))
    return Failure(PLIM_ERR_IO)
        .at("spill folder")
        .say("the plan spills to the ssd: name a folder, set PLIM_SPILL_DIR, or set HOME");
  mkdir(parent, 0700); // open says what is wrong with either
  mkdir(out, 0700);
  return PLIM_OK;
}

/// Fields of /proc/self/stat from the third on; field 22 is when the process started, in ticks since the machine did.
unsigned long long startTime() {
  char text[512];
  int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0)
    ::close(fd);
  text[n < 0 ? 0 : n] = 0;
  const char *at = strrchr(text, ')'); // the program's name may hold anything
  for (int field = 2; at && field < 22; ++field)
    at = strchr(at + 1, ' ');
  return at ? strtoull(at, nullptr, 10) : 0;
}

/// Removes files of this kind whose owner is gone: an owner holds a lock on its file, which ends with the process, also
/// where process numbers of several machines or containers meet in one folder.
void sweep(int folder) {
  alignas(8) char entries[4096];
  for (;;) {
    long n = syscall(SYS_getdents64, folder, entries, sizeof entries); // opendir allocates
    if (n <= 0)
      break;
    for (long at = 0; at < n;) {
      auto *entry = reinterpret_cast<dirent64 *>(entries + at);
      at += entry->d_reclen;
      if (strncmp(entry->d_name, kPrefix, sizeof kPrefix - 1) != 0)
        continue;
      int fd = openat(folder, entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
      if (fd < 0)
        continue;
      if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, entry->d_name, 0);
      ::close(fd);
    }
  }
}

int openUnnamed(const char *folder, int flags) {
  int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
  int64_t result = afterFault({IoCall::unnamedFile, fd, nullptr, 0, 0}, fd < 0 ? -errno : 0);
  if (fd >= 0 && result < 0)
    ::close(fd);
  errno = static_cast<int>(-result);
  return result < 0 ? -1 : fd;
}

/// Whether another way may succeed where making an unnamed file did not.
bool unnamedRefused() { return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT; }

/// A named file; its name is removed at once, and remains only where the file system does not remove the name of a file
/// that is open.
int openNamed(int folder, const char *path, char (&file)[PATH_MAX], bool &stays) {
  char name[128];
  for (unsigned number = 0; number < 1u << 16; ++number) {
    snprintf(name, sizeof name, "%s%ld-%llu-%u", kPrefix, static_cast<long>(getpid()), startTime(), number);
    if (!joined(file, path, name)) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == EEXIST)
      continue; // another session of this process
    if (fd < 0)
      return -1;
    struct stat info;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &info) == 0 && info.st_nlink == 0) {
      ::close(fd); // swept between the two calls
      continue;
    }
    stays = unlinkat(folder, name, 0) != 0;
    return fd;
  }
  errno = EEXIST;
  return -1;
}

int64_t allocate(int fd, uint64_t bytes) {
  int error = fallocate(fd, 0, 0, static_cast<off_t>(bytes)) ? errno : 0;
  if (error == EOPNOTSUPP) {
    error = 0;
    for (uint64_t at = 0; at < bytes && !error;) {
      uint64_t piece = bytes - at < sizeof zeros ? bytes - at : sizeof zeros;
      ssize_t n = pwrite(fd, zeros, piece, static_cast<off_t>(at));
      if (n < 0 && errno != EINTR)
        error = errno;
      at += n > 0 ? static_cast<uint64_t>(n) : 0;
    }
  }
  return afterFault({IoCall::allocate, fd, nullptr, 0, bytes}, -error);
}

/// Direct I/O where the file takes it: some file systems refuse the flag, others the first read.
plim_file_mode chooseMode(int fd) {
  struct statfs info;
  if (fstatfs(fd, &info) == 0 && (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC))
    return PLIM_FILE_IN_MEMORY;
  int flags = fcntl(fd, F_GETFL);
  alignas(PLIM_PAGE) char page[PLIM_PAGE];
  bool direct = flags >= 0 && fcntl(fd, F_SETFL, flags | O_DIRECT) == 0 && pread(fd, page, sizeof page, 0) >= 0;
  if (afterFault({IoCall::directFile, fd, nullptr, 0, 0}, direct ? 0 : -EINVAL) == 0)
    return PLIM_FILE_DIRECT;
  fcntl(fd, F_SETFL, flags & ~O_DIRECT);
  return PLIM_FILE_BUFFERED;
}

} // namespace

plim_status SpillFile::allocationFailure(int error) const {
  errno = error;
  if (error != ENOSPC && error != EFBIG && error != EDQUOT)
    return systemFailure(path, "cannot allocate the spill file");
  struct statfs info;
  bool known = ftruncate(fd, 0) == 0 && fstatfs(fd, &info) == 0;
  return Failure(PLIM_ERR_IO)
      .at("%s", path)
      .code(error)
      .need(bytes)
      .have(known ? static_cast<uint64_t>(info.f_bavail) * static_cast<uint64_t>(info.f_bsize) : 0)
      .say("the file system of the spill folder has too little room");
}

plim_status SpillFile::create(const char *folder, uint64_t size) {
  if (!folder || !*folder)
    folder = getenv("PLIM_SPILL_DIR");
  if (folder && *folder) {
    int n = snprintf(path, sizeof path, "%s", folder);
    if (n < 0 || static_cast<size_t>(n) >= sizeof path)
      return Failure(PLIM_ERR_ARG).at("spill folder").need(PATH_MAX).have(strlen(folder)).say("the path is too long");
  } else if (plim_status st = cacheFolder(path)) {
    return st;
  }
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return systemFailure(path, "cannot open the spill folder");
  sweep(directory);
  fd = openUnnamed(path, 0);
  if (fd < 0 && unnamedRefused()) {
    char file[PATH_MAX];
    fd = openNamed(directory, path, file, named);
    if (named)
      memcpy(path, file, sizeof path);
  }
  int error = errno;
  ::close(directory);
  errno = error;
  if (fd < 0)
    return systemFailure(path, "cannot create a file in the spill folder");
  bytes = size;
  if (int64_t result = allocate(fd, bytes)) {
    plim_status st = allocationFailure(static_cast<int>(-result));
    close();
    return st;
  }
  mode = chooseMode(fd);
  return PLIM_OK;
}

void SpillFile::close() {
  if (fd < 0)
    return;
  if (named)
    unlink(path);
  ::close(fd);
  *this = {};
}

} // namespace plim::rt
