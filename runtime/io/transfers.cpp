#include "runtime/io/transfers.h"

#include "runtime/core/error.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plim::rt {
namespace {

uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

/// 0 stands for a block that nothing has been written to.
uint32_t blockHash(const char *block) {
  auto hash = static_cast<uint32_t>(XXH3_64bits(block, kSpillBlock));
  return hash ? hash : 1;
}

uint64_t wholeBlocks(uint64_t bytes) { return bytes / PLIM_PAGE * PLIM_PAGE; }

} // namespace

plim_status Transfers::start(const Room &memory, uint32_t most, int weightsFd, uint64_t weightsStart,
                             const SpillFile &spill, char *arenas, uint64_t arenaBytes, plim_io_way wanted) {
  room = memory;
  depth = most;
  fds[static_cast<uint32_t>(FileKind::weights)] = weightsFd;
  fds[static_cast<uint32_t>(FileKind::spill)] = spill.fd;
  starts[static_cast<uint32_t>(FileKind::weights)] = weightsStart;
  spillBytes = spill.bytes;
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&work, nullptr);
  pthread_cond_init(&progress, nullptr);
  pthread_cond_init(&arrival, nullptr);
  chosen = PLIM_IO_THREADS;
  if (wanted != PLIM_IO_THREADS && ring.open(room.ring)) {
    doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (doorbell < 0)
      ring.close();
    else
      chosen = wanted == PLIM_IO_URING || !ring.registerMemory(arenas, arenaBytes) ? PLIM_IO_URING : PLIM_IO_REGISTERED;
  }
  plim_status st = startThreads();
  if (st)
    stop();
  return st;
}

plim_status Transfers::startThreads() {
  bool byRing = chosen != PLIM_IO_THREADS;
  static constexpr PlannedThread::Body hash = [](void *t) -> void * {
    static_cast<Transfers *>(t)->hashArriving();
    return nullptr;
  };
  static constexpr PlannedThread::Body calls = [](void *t) -> void * {
    static_cast<Transfers *>(t)->serve();
    return nullptr;
  };
  static constexpr PlannedThread::Body rings = [](void *t) -> void * {
    static_cast<Transfers *>(t)->serveByRing();
    return nullptr;
  };
  for (uint32_t wanted = byRing ? 2 : threadsFor(depth); threads < wanted; ++threads)
    if (int error = records[threads].start(room.stacks + uint64_t(threads) * kIoStackBytes, kIoStackBytes,
                                           threads == 0 ? hash
                                           : byRing     ? rings
                                                        : calls,
                                           this))
      return Failure(PLIM_ERR_MEMORY)
          .at("I/O thread %u", threads)
          .code(error)
          .need(wanted)
          .have(threads)
          .say("the system refused a thread with a stack of %u bytes", uint32_t(kIoStackBytes));
  return PLIM_OK;
}

void Transfers::stop() {
  {
    Lock lock(*this);
    stopping = true;
    pthread_cond_broadcast(&work);
    pthread_cond_broadcast(&progress);
  }
  wake();
  for (; threads; --threads)
    records[threads - 1].join();
  ring.close();
  if (doorbell >= 0)
    close(doorbell);
  pthread_cond_destroy(&arrival);
  pthread_cond_destroy(&progress);
  pthread_cond_destroy(&work);
  pthread_mutex_destroy(&mutex);
}

void Transfers::wake() {
  if (doorbell >= 0)
    eventfd_write(doorbell, 1);
}

// ---- The caller's side ----

void Transfers::beginRun() { memset(room.blockHashes, 0, spillBytes / kSpillBlock * sizeof *room.blockHashes); }

uint32_t Transfers::submit(const TransferRequest &request, bool held) {
  uint32_t place = 0;
  bool idle = false;
  {
    Lock lock(*this);
    while (place < kMostTransfers && transfers[place].state != Transfer::unused)
      ++place;
    if (place == kMostTransfers)
      return kNoTransfer;
    if (begin(transfers[place], request) && !held)
      idle = enqueue(place);
  }
  if (idle)
    wake();
  return place;
}

/// False where the transfer has ended before it began.
bool Transfers::begin(Transfer &t, const TransferRequest &request) {
  t = {};
  t.request = request;
  t.serial = ++serials;
  t.next = kNoTransfer;
  t.state = Transfer::held;
  if (request.file == FileKind::spill) {
    uint32_t *first = room.blockHashes + request.offset / kSpillBlock;
    uint64_t blocks = plim_page(request.bytes) / kSpillBlock;
    if (request.write)
      memset(first, 0, blocks * sizeof *first);
    for (uint64_t i = 0; i < blocks && !request.write; ++i)
      if (!first[i]) {
        t.state = Transfer::done;
        t.error = TransferResult::unwritten;
        t.errorAt = request.offset + i * kSpillBlock;
        return false;
      }
  }
  return true;
}

/// Whether more of its queue may be in flight: else the end of what is in flight leads to it.
bool Transfers::enqueue(uint32_t place) {
  Transfer &t = transfers[place];
  Queue &queue = queues[t.request.write];
  t.state = Transfer::queued;
  (queue.last == kNoTransfer ? queue.first : transfers[queue.last].next) = place;
  queue.last = place;
  if (queue.inFlight == depth)
    return false;
  pthread_cond_broadcast(&work);
  return true;
}

uint32_t Transfers::oldest() {
  Lock lock(*this);
  uint32_t found = kNoTransfer;
  for (uint32_t i = 0; i < kMostTransfers; ++i)
    if (transfers[i].state != Transfer::unused &&
        (found == kNoTransfer || transfers[i].serial < transfers[found].serial))
      found = i;
  return found;
}

TransferResult Transfers::wait(uint32_t place, uint64_t &stallNs) {
  Transfer &t = transfers[place];
  bool idle;
  {
    Lock lock(*this);
    idle = t.state == Transfer::held && enqueue(place);
  }
  if (idle)
    wake();
  Lock lock(*this);
  if (t.state != Transfer::done) {
    uint64_t begin = now();
    while (t.state != Transfer::done)
      lock.wait(arrival);
    stallNs += now() - begin;
  }
  TransferResult result{t.error, t.errorAt, t.request, t.beginNs, t.endNs};
  t.state = Transfer::unused;
  return result;
}

void Transfers::abandon() {
  Lock lock(*this);
  for (Queue &queue : queues)
    queue.first = queue.last = kNoTransfer;
  bool inFlight = true;
  while (inFlight) {
    inFlight = false;
    for (Transfer &t : transfers)
      inFlight |= t.inFlight != 0 || t.beingHashed;
    if (inFlight)
      lock.wait(progress);
  }
  for (Transfer &t : transfers)
    t.state = Transfer::unused;
}

// ---- Pieces ----

/// The next piece of the queue's first transfer. Whole blocks first, then the tail.
bool Transfers::cut(Queue &queue, Piece &piece) {
  if (queue.first == kNoTransfer || queue.inFlight == depth)
    return false;
  uint32_t place = queue.first;
  Transfer &t = transfers[place];
  const TransferRequest &r = t.request;
  uint64_t whole = wholeBlocks(r.bytes);
  piece = {};
  piece.transfer = place;
  piece.offset = starts[static_cast<uint32_t>(r.file)] + r.offset + t.issued;
  piece.used = true;
  if (t.issued < whole) {
    uint64_t rest = whole - t.issued;
    piece.memory = r.memory + t.issued;
    piece.bytes = static_cast<uint32_t>(ring.span(piece.memory, rest < kPieceBytes ? rest : uint64_t(kPieceBytes)));
    t.issued += piece.bytes;
  } else {
    piece.memory = room.bounce + static_cast<uint64_t>(&piece - pieces) * PLIM_PAGE;
    piece.bytes = PLIM_PAGE;
    piece.tail = static_cast<uint32_t>(r.bytes - whole);
    t.issued = r.bytes;
  }
  if (!t.beginNs)
    t.beginNs = now();
  if (t.issued == r.bytes) {
    queue.first = t.next;
    if (queue.first == kNoTransfer)
      queue.last = kNoTransfer;
  }
  ++t.inFlight;
  ++queue.inFlight;
  return true;
}

/// A piece to move, of the two queues in turn; kNoPiece where there is none or the depth is reached.
uint32_t Transfers::take() {
  uint32_t place = 0;
  while (place < 2 * depth && pieces[place].used)
    ++place;
  if (place == 2 * depth)
    return kNoPiece;
  for (uint32_t i = 0; i < 2; ++i, turn ^= 1)
    if (cut(queues[turn], pieces[place])) {
      turn ^= 1;
      return place;
    }
  return kNoPiece;
}

void Transfers::prepare(Piece &piece) {
  const TransferRequest &r = transfers[piece.transfer].request;
  if (!r.write || !piece.tail)
    return;
  memcpy(piece.memory, r.memory + wholeBlocks(r.bytes), piece.tail);
  memset(piece.memory + piece.tail, 0, PLIM_PAGE - piece.tail);
}

IoEvent Transfers::eventOf(const Piece &piece) const {
  return {transfers[piece.transfer].request.write ? IoCall::write : IoCall::read, fileOf(piece),
          piece.memory + piece.moved, piece.offset + piece.moved, piece.bytes - piece.moved};
}

/// Takes the result of one call. True where the piece has to go on.
bool Transfers::advance(Piece &piece, int64_t result, Fault &fault) {
  result = afterFault(eventOf(piece), result);
  if (result == -EINTR || result == -EAGAIN)
    return true;
  uint64_t moved = result > 0 ? wholeBlocks(static_cast<uint64_t>(result)) : 0;
  if (moved == 0) {
    fault = {result < 0 ? static_cast<int32_t>(-result) : int32_t(TransferResult::cutShort),
             piece.offset + piece.moved};
    return false;
  }
  piece.moved += static_cast<uint32_t>(moved);
  if (piece.moved < piece.bytes)
    return true;
  fault = checkBlocks(piece);
  const TransferRequest &r = transfers[piece.transfer].request;
  if (piece.tail && !r.write && !fault.error)
    memcpy(r.memory + wholeBlocks(r.bytes), piece.memory, piece.tail);
  return false;
}

/// Notes the hashes of blocks of the spill file that were written, compares those of blocks that were read.
Transfers::Fault Transfers::checkBlocks(const Piece &piece) {
  const TransferRequest &r = transfers[piece.transfer].request;
  if (r.file != FileKind::spill)
    return {};
  uint32_t *hashes = room.blockHashes + piece.offset / kSpillBlock;
  for (uint64_t at = 0; at < piece.bytes; at += kSpillBlock, ++hashes) {
    uint32_t hash = blockHash(piece.memory + at);
    if (r.write)
      *hashes = hash;
    else if (*hashes != hash)
      return {TransferResult::changed, piece.offset + at};
  }
  return {};
}

void Transfers::finishPiece(uint32_t place, const Fault &fault) {
  Piece &piece = pieces[place];
  Transfer &t = transfers[piece.transfer];
  Queue &queue = queues[t.request.write];
  if (fault.error && !t.error) {
    t.error = fault.error;
    t.errorAt = fault.at;
    if (t.issued < t.request.bytes && queue.first == piece.transfer) { // the rest of it is of no use
      t.issued = t.request.bytes;
      queue.first = t.next;
      if (queue.first == kNoTransfer)
        queue.last = kNoTransfer;
    }
  }
  piece.used = false;
  --queue.inFlight;
  if (--t.inFlight == 0 && t.state == Transfer::queued && t.issued == t.request.bytes) {
    t.state = Transfer::arrived;
    if (t.error || t.request.write || !t.request.hash)
      finish(t, {t.error, t.errorAt});
  }
  pthread_cond_broadcast(&progress);
}

/// The oldest transfer on its way whose bytes have a hash to meet.
uint32_t Transfers::firstToHash() const {
  uint32_t found = kNoTransfer;
  for (uint32_t i = 0; i < kMostTransfers; ++i) {
    const Transfer &t = transfers[i];
    if ((t.state == Transfer::queued || t.state == Transfer::arrived) && t.request.hash && !t.request.write &&
        (found == kNoTransfer || t.serial < transfers[found].serial))
      found = i;
  }
  return found;
}

/// Bytes from the start of a transfer that are all there.
uint64_t Transfers::arrivedUpTo(uint32_t place) const {
  const Transfer &t = transfers[place];
  uint64_t start = starts[static_cast<uint32_t>(t.request.file)] + t.request.offset, end = t.issued;
  for (uint32_t i = 0; i < 2 * depth; ++i)
    if (pieces[i].used && pieces[i].transfer == place && pieces[i].offset - start < end)
      end = pieces[i].offset - start;
  return end;
}

void Transfers::finish(Transfer &t, const Fault &fault) {
  t.error = fault.error;
  t.errorAt = fault.at;
  t.endNs = now();
  t.state = Transfer::done;
  pthread_cond_broadcast(&arrival);
}

} // namespace plim::rt
