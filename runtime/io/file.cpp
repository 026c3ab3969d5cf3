#include "runtime/io/file.h"

#include "runtime/core/error.h"
#include "runtime/io/io_fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

namespace plim::rt {
namespace {

constexpr uint64_t kMostAtOnce = uint64_t(1) << 30; // Linux moves at most 2 GiB - 4096 a call

/// The rename lasts only when the folder is on the disk too. A folder that cannot be opened or synced is no failure:
/// some file systems refuse it.
void syncFolder(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  size_t length = slash ? static_cast<size_t>(slash - path) + 1 : 0;
  memcpy(folder, path, length);
  memcpy(folder + length, ".", 2);
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync(fd);
  close(fd);
}

} // namespace

plim_status systemFailure(const char *path, const char *what) {
  int error = errno;
  // strerrordesc_np gives a constant string; strerror may allocate.
  const char *text = strerrordesc_np(error);
  return Failure(PLIM_ERR_IO).at("%s", path).code(error).say("%s: %s", what, text ? text : "unknown error");
}

plim_status readAt(int fd, void *data, uint64_t bytes, uint64_t offset, const char *path, uint64_t &got) {
  got = 0;
  while (got < bytes) {
    uint64_t piece = bytes - got < kMostAtOnce ? bytes - got : kMostAtOnce;
    char *at = static_cast<char *>(data) + got;
    ssize_t result = pread(fd, at, piece, static_cast<off_t>(offset + got));
    int64_t n = afterFault({IoCall::loadFile, fd, at, offset + got, piece}, result < 0 ? -errno : result);
    if (n == -EINTR)
      continue;
    if (n < 0) {
      errno = static_cast<int>(-n);
      return systemFailure(path, "cannot read");
    }
    if (n == 0)
      break;
    got += static_cast<uint64_t>(n);
  }
  return PLIM_OK;
}

plim_status writeAt(int fd, const void *data, uint64_t bytes, uint64_t offset, const char *path) {
  for (uint64_t done = 0; done < bytes;) {
    uint64_t piece = bytes - done < kMostAtOnce ? bytes - done : kMostAtOnce;
    ssize_t result = pwrite(fd, static_cast<const char *>(data) + done, piece, static_cast<off_t>(offset + done));
    int64_t n = afterFault({IoCall::saveFile, fd, nullptr, offset + done, piece}, result < 0 ? -errno : result);
    if (n == -EINTR)
      continue;
    if (n < 0) {
      errno = static_cast<int>(-n);
      return systemFailure(path, "cannot write");
    }
    done += static_cast<uint64_t>(n);
  }
  return PLIM_OK;
}

plim_status NewFile::create(const char *finalPath) {
  size_t length = strlen(finalPath);
  int n = snprintf(temporary, sizeof temporary, "%s.%ld.tmp", finalPath, static_cast<long>(getpid()));
  if (length == 0 || n < 0 || static_cast<size_t>(n) >= sizeof temporary)
    return Failure(PLIM_ERR_ARG).at("path").need(PATH_MAX).have(length).say("the path is empty or too long");
  memcpy(path, finalPath, length + 1);
  fd = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return fd < 0 ? systemFailure(temporary, "cannot create") : PLIM_OK;
}

plim_status NewFile::finish() {
  plim_status st = fsync(fd) ? systemFailure(temporary, "cannot sync") : PLIM_OK;
  if (close(fd) && !st)
    st = systemFailure(temporary, "cannot close");
  fd = -1;
  if (!st && rename(temporary, path))
    st = systemFailure(path, "cannot rename to");
  if (st)
    unlink(temporary);
  else
    syncFolder(path);
  return st;
}

void NewFile::discard() {
  if (fd < 0)
    return;
  close(fd);
  unlink(temporary);
  fd = -1;
}

} // namespace plim::rt
