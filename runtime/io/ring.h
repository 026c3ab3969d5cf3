// An io_uring whose rings lie in planned memory. The three system calls are made directly, so that nothing but the C
// library is linked.
#ifndef PLIM_RUNTIME_IO_RING_H
#define PLIM_RUNTIME_IO_RING_H

#include <stdint.h>

struct io_uring_sqe;
struct io_uring_cqe;

namespace plim::rt {

class Ring {
public:
  enum : uint32_t {
    kEntries = 64, // submissions that wait for one call of enter
    kBytes = 8192  // the submission entries, and both rings
  };

  /// Puts the rings into `memory`, zeros, page-aligned and kBytes long. False where the system has no io_uring, forbids
  /// it, or has one from before Linux 5.6.
  bool open(char *memory);
  /// The memory is the caller's again, as fresh pages.
  void close();
  /// Registers memory, in chunks, for faster transfers. False where the limit of locked memory (RLIMIT_MEMLOCK) or the
  /// system forbids it; transfers then go without.
  bool registerMemory(char *memory, uint64_t bytes);

  /// Room for one more submission before the next enter.
  bool hasRoom() const { return pending < kEntries; }
  /// The longest part of [memory, + bytes) that one transfer can move: registered memory ends at chunks.
  uint64_t span(const char *memory, uint64_t bytes) const;
  void push(int fd, bool write, char *memory, uint32_t bytes, uint64_t offset, uint64_t tag);
  /// Tag comes back once the file can be read.
  void pushPoll(int fd, uint64_t tag);
  /// Hands over what was pushed and waits for `atLeast` results.
  void enter(uint32_t atLeast);
  /// Takes one result. False where there is none.
  bool pop(uint64_t &tag, int64_t &result);

private:
  io_uring_sqe &next();

  int fd = -1;
  char *memory = nullptr;
  char *registered = nullptr;
  uint64_t registeredBytes = 0;
  io_uring_sqe *entries = nullptr;
  io_uring_cqe *results = nullptr;
  uint32_t *submitTail = nullptr, *submitIndex = nullptr, *resultHead = nullptr, *resultTail = nullptr;
  uint32_t submitMask = 0, resultMask = 0;
  uint32_t pending = 0;
};

} // namespace plim::rt

#endif
