#include "runtime/io/ring.h"

#include "plim/check.h"
#include "runtime/io/io_fault.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace plim::rt {
namespace {

constexpr uint64_t kChunkBytes = uint64_t(1) << 30; // the most that the system registers as one buffer
constexpr uint32_t kMostChunks = 64;

// Single mapping of both rings (5.4), results that are never dropped (5.5), plain reads and writes (5.6, with the
// third).
constexpr uint32_t kNeeded = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP | IORING_FEAT_CUR_PERSONALITY;

template <class T> T *at(char *base, uint64_t offset) { return reinterpret_cast<T *>(base + offset); }

/// Since 6.5 (IORING_SETUP_NO_MMAP) the rings lie where the caller says; each is one page, so it is contiguous.
int setupIn(char *memory, io_uring_params &p) {
  p = {};
  p.flags = 1u << 14;
  p.sq_off.resv2 = reinterpret_cast<uint64_t>(memory); // user_addr in later headers
  p.cq_off.resv2 = reinterpret_cast<uint64_t>(memory + PLIM_PAGE);
  return static_cast<int>(syscall(SYS_io_uring_setup, Ring::kEntries, &p));
}

bool mapOver(char *memory, int fd, uint64_t what) {
  return mmap(memory, PLIM_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd,
              static_cast<off_t>(what)) != MAP_FAILED;
}

/// Fresh pages in place of those that the system has or shares. It ends a ring some time after its file is closed, and
/// writes to the ring's pages then: they must no longer be the caller's. False where the system is out of two pages,
/// which no other call would give then.
bool giveBack(char *memory) {
  return mmap(memory, Ring::kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1,
              0) != MAP_FAILED;
}

/// Earlier the system has the memory of the rings, which is mapped over that of the caller.
int setupOver(char *memory, io_uring_params &p) {
  p = {};
  int fd = static_cast<int>(syscall(SYS_io_uring_setup, Ring::kEntries, &p));
  if (fd < 0 || (mapOver(memory, fd, IORING_OFF_SQES) && mapOver(memory + PLIM_PAGE, fd, IORING_OFF_SQ_RING)))
    return fd;
  close(fd);
  giveBack(memory);
  return -1;
}

} // namespace

bool Ring::open(char *room) {
  static_assert(kEntries * sizeof(io_uring_sqe) == PLIM_PAGE && kBytes == 2 * PLIM_PAGE);
  io_uring_params p;
  fd = setupIn(room, p);
  if (fd < 0)
    fd = setupOver(room, p);
  if (fd < 0)
    return false;
  memory = room;
  uint64_t resultEnd = p.cq_off.cqes + p.cq_entries * sizeof(io_uring_cqe);
  uint64_t indexEnd = p.sq_off.array + p.sq_entries * sizeof(uint32_t);
  bool fits =
      (p.features & kNeeded) == kNeeded && p.sq_entries == kEntries && resultEnd <= PLIM_PAGE && indexEnd <= PLIM_PAGE;
  if (afterFault({IoCall::ring, fd, nullptr, 0, 0}, fits ? 0 : -EINVAL) != 0) {
    close();
    return false;
  }
  char *rings = room + PLIM_PAGE;
  entries = at<io_uring_sqe>(room, 0);
  results = at<io_uring_cqe>(rings, p.cq_off.cqes);
  submitTail = at<uint32_t>(rings, p.sq_off.tail);
  submitIndex = at<uint32_t>(rings, p.sq_off.array);
  submitMask = *at<uint32_t>(rings, p.sq_off.ring_mask);
  resultHead = at<uint32_t>(rings, p.cq_off.head);
  resultTail = at<uint32_t>(rings, p.cq_off.tail);
  resultMask = *at<uint32_t>(rings, p.cq_off.ring_mask);
  return true;
}

void Ring::close() {
  if (fd < 0)
    return;
  ::close(fd);
  giveBack(memory);
  *this = {};
}

bool Ring::registerMemory(char *data, uint64_t bytes) {
  iovec chunks[kMostChunks];
  uint32_t count = 0;
  uint64_t done = 0;
  for (; done < bytes && count < kMostChunks; ++count) {
    uint64_t piece = bytes - done < kChunkBytes ? bytes - done : kChunkBytes;
    chunks[count] = {data + done, piece};
    done += piece;
  }
  if (!count)
    return false;
  int64_t result = syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS, chunks, count) ? -errno : 0;
  if (result == 0) {
    registered = data;
    registeredBytes = done;
  }
  if (afterFault({IoCall::registerBuffers, fd, data, 0, bytes}, result) != 0)
    registeredBytes = 0;
  return registeredBytes != 0;
}

uint64_t Ring::span(const char *data, uint64_t bytes) const {
  if (data < registered || data >= registered + registeredBytes)
    return bytes;
  uint64_t offset = static_cast<uint64_t>(data - registered), end = (offset / kChunkBytes + 1) * kChunkBytes;
  end = end < registeredBytes ? end : registeredBytes;
  return bytes < end - offset ? bytes : end - offset;
}

io_uring_sqe &Ring::next() {
  uint32_t tail = *submitTail + pending++;
  io_uring_sqe &entry = entries[tail & submitMask];
  memset(&entry, 0, sizeof entry);
  submitIndex[tail & submitMask] = tail & submitMask;
  return entry;
}

void Ring::push(int file, bool write, char *data, uint32_t bytes, uint64_t offset, uint64_t tag) {
  io_uring_sqe &entry = next();
  bool fixed = data >= registered && data + bytes <= registered + registeredBytes;
  entry.opcode =
      fixed ? (write ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED) : (write ? IORING_OP_WRITE : IORING_OP_READ);
  entry.fd = file;
  entry.addr = reinterpret_cast<uint64_t>(data);
  entry.len = bytes;
  entry.off = offset;
  entry.user_data = tag;
  if (fixed)
    entry.buf_index = static_cast<uint16_t>(static_cast<uint64_t>(data - registered) / kChunkBytes);
}

void Ring::pushPoll(int file, uint64_t tag) {
  io_uring_sqe &entry = next();
  entry.opcode = IORING_OP_POLL_ADD;
  entry.fd = file;
  entry.poll32_events = POLLIN;
  entry.user_data = tag;
}

void Ring::enter(uint32_t atLeast) {
  uint32_t tail = *submitTail;
  __atomic_store_n(submitTail, tail + pending, __ATOMIC_RELEASE);
  // Waiting may be interrupted; a full result ring takes no more submissions until it is emptied (EBUSY, EAGAIN).
  for (uint32_t left = pending;;) {
    long n = syscall(SYS_io_uring_enter, fd, left, atLeast, atLeast ? IORING_ENTER_GETEVENTS : 0, nullptr, 0);
    left -= n > 0 ? static_cast<uint32_t>(n) : 0;
    if (left == 0 && (n >= 0 || errno != EINTR))
      break;
  }
  pending = 0;
}

bool Ring::pop(uint64_t &tag, int64_t &result) {
  uint32_t head = *resultHead;
  if (head == __atomic_load_n(resultTail, __ATOMIC_ACQUIRE))
    return false;
  const io_uring_cqe &entry = results[head & resultMask];
  tag = entry.user_data;
  result = entry.res;
  __atomic_store_n(resultHead, head + 1, __ATOMIC_RELEASE);
  return true;
}

} // namespace plim::rt
