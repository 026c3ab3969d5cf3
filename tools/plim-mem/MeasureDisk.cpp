//===- MeasureDisk.cpp - Direct reads and writes of a disk ----------------------------------------===//
#include "tools/plim-mem/Measure.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <thread>
#include <unistd.h>
#include <vector>

namespace plim::mem {
namespace {

constexpr int64_t kRequest = int64_t(1) << 20, kBlock = 4096;

// A file without a name; where the file system has none, one that is unlinked at once.
int openUnnamed(const std::string &folder, int flags) {
  int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | flags, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
    return fd;
  std::string name = folder + "/plim-mem-XXXXXX";
  fd = mkostemp(name.data(), flags);
  if (fd >= 0)
    unlink(name.c_str());
  return fd;
}

class Disk {
public:
  Disk(int fd, const Effort &effort, int depth)
      : fd(fd), bytes(std::max(kRequest, effort.diskBytes / kRequest * kRequest)), requests(effort.latencyRequests),
        depth(depth) {}

  DiskSpeed measure() {
    DiskSpeed speed;
    // Blocks are there before the clock runs, so that a write measures the disk and not the file system's allocation.
    if (int failed = posix_fallocate(fd, 0, bytes); failed != 0 && failed != EOPNOTSUPP)
      error = failed;
    transferAll(true); // fills what was allocated: a read of blocks never written costs nothing
    speed.writeBytesPerSecond = transferAll(true);
    speed.readBytesPerSecond = transferAll(false);
    speed.writeLatencyNs = latency(true);
    speed.readLatencyNs = latency(false);
    if (error)
      speed.error = std::strerror(error);
    return speed;
  }

private:
  const int fd;
  const int64_t bytes;
  const int requests, depth;
  std::atomic<int> error{0};

  using Memory = std::unique_ptr<char, decltype(&std::free)>;
  static Memory blocks(int64_t size) {
    Memory memory(static_cast<char *>(std::aligned_alloc(kBlock, size_t(size))), &std::free);
    for (int64_t i = 0; memory && i < size; i += 8) { // not zeros: some disks do not store those
      const uint64_t word = uint64_t(i) * 0x9e3779b97f4a7c15u + 1;
      std::memcpy(memory.get() + i, &word, 8);
    }
    return memory;
  }

  bool transfer(bool write, char *memory, int64_t size, int64_t offset) {
    for (int64_t done = 0; done < size;) {
      const ssize_t got = write ? pwrite(fd, memory + done, size_t(size - done), offset + done)
                                : pread(fd, memory + done, size_t(size - done), offset + done);
      if (got <= 0) {
        if (got < 0 && errno == EINTR)
          continue;
        error = got < 0 ? errno : EIO;
        return false;
      }
      done += got;
    }
    return true;
  }

  // The whole file, `depth` requests in flight; bytes a second.
  double transferAll(bool write) {
    std::vector<Memory> memory;
    for (int k = 0; k < depth; ++k)
      if (memory.push_back(blocks(kRequest)); !memory.back())
        error = ENOMEM;
    if (error)
      return 0;
    std::atomic<int64_t> next{0};
    const double begin = wallNs();
    std::vector<std::thread> threads;
    for (int k = 0; k < depth; ++k)
      threads.emplace_back([&, k] {
        for (int64_t at; (at = next.fetch_add(kRequest)) < bytes && !error;)
          transfer(write, memory[k].get(), kRequest, at);
      });
    for (std::thread &thread : threads)
      thread.join();
    if (write && fdatasync(fd) != 0)
      error = errno;
    return double(bytes) / std::max(1.0, wallNs() - begin) * 1e9;
  }

  double latency(bool write) {
    Memory memory = blocks(kBlock);
    if (!memory || error)
      return 0;
    std::vector<double> times;
    uint64_t random = 1;
    for (int k = 0; k < requests && !error; ++k) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const int64_t at = int64_t(random >> 33) % (bytes / kBlock) * kBlock;
      const double begin = wallNs();
      transfer(write, memory.get(), kBlock, at);
      times.push_back(wallNs() - begin);
    }
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : times[times.size() / 2];
  }
};

} // namespace

DiskSpeed measureDisk(const std::string &folder, const Effort &effort, int depth) {
  DiskSpeed speed;
  bool direct = true;
  int fd = openUnnamed(folder, O_DIRECT | O_CLOEXEC);
  if (fd < 0 && errno == EINVAL) {
    direct = false;
    fd = openUnnamed(folder, O_CLOEXEC);
  }
  if (fd < 0) {
    speed.error = std::strerror(errno);
    return speed;
  }
  speed = Disk(fd, effort, depth).measure();
  speed.direct = direct;
  close(fd);
  return speed;
}

} // namespace plim::mem
