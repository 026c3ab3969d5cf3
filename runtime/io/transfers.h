// Transfers between planned memory and two files, the weight file and the spill file. They run on threads of their own
// while the steps of the program go on: by io_uring (ring.h) where the system allows it, else by pread and pwrite.
//
// A transfer is cut into pieces of at most kPieceBytes. Each queue serves its transfers in order and has at most
// `depth` pieces in flight. Whole blocks of PLIM_PAGE go straight between memory and file; what is left of the last
// block goes through a page of its own, so that no byte beyond the transfer is touched in memory.
//
// What is written to the spill file is hashed by block and compared when it comes back; a block that no finished
// transfer of the run has written cannot be read.
#ifndef PLIM_RUNTIME_IO_TRANSFERS_H
#define PLIM_RUNTIME_IO_TRANSFERS_H

#include "runtime/core/planned_thread.h"
#include "runtime/io/io_fault.h"
#include "runtime/io/ring.h"
#include "runtime/io/spill_file.h"

#include <pthread.h>

namespace plim::rt {

enum : uint32_t {
  kMostDepth = 32,       // pieces in flight on one queue; a larger io_depth of a table counts as this
  kMostTransfers = 64,   // in flight or queued, both queues together
  kMostPieces = 64,      // in flight: 2 * kMostDepth
  kMostIoThreads = 4,    // pread and pwrite; io_uring takes one. One more compares hashes
  kIoStackBytes = 32768, // of one thread, its guard page included
  kPieceBytes = 1u << 20,
  kNoTransfer = UINT32_MAX
};

/// Bytes of the spill file that one hash of 4 bytes stands for.
inline constexpr uint64_t kSpillBlock = PLIM_PAGE;

enum class FileKind : uint32_t { weights, spill };

struct TransferRequest {
  FileKind file;
  bool write;      // memory to file; the spill file only
  char *memory;    // a multiple of PLIM_PAGE
  uint64_t offset; // in the file, likewise
  uint64_t bytes;  // any; more than 0
  uint64_t hash;   // XXH3-64 that the bytes must have when they arrive, or 0
  uint32_t step, token;
};

struct TransferResult {
  enum : int32_t { cutShort = -1, changed = -2, unwritten = -3 };
  int32_t error = 0; // 0, an errno, or one of the above
  uint64_t at = 0;   // first byte of the file that is concerned
  TransferRequest request = {};
  uint64_t beginNs = 0, endNs = 0;
};

class Transfers {
public:
  /// Planned memory of the engine, each part at least as large as layout.h says and page-aligned.
  struct Room {
    uint32_t *blockHashes; // one a block of the spill file
    char *bounce;          // 2 * depth pages
    char *ring;            // Ring::kBytes
    char *stacks;          // threadsFor(depth) * kIoStackBytes
  };

  static uint32_t threadsFor(uint32_t depth) {
    return depth == 0 ? 0 : 1 + (depth < kMostIoThreads ? depth : uint32_t(kMostIoThreads));
  }

  /// Starts the threads. `arenas` is what transfers mostly move, to be registered with the ring. wanted: PLIM_IO_ANY,
  /// or the best way to try. PLIM_ERR_MEMORY where the system refuses a thread; then nothing is left behind.
  plim_status start(const Room &room, uint32_t depth, int weightsFd, uint64_t weightsStart, const SpillFile &spill,
                    char *arenas, uint64_t arenaBytes, plim_io_way wanted);
  /// With no transfer in flight.
  void stop();

  /// Forgets what earlier runs wrote.
  void beginRun();

  /// Queues a transfer, or keeps it back until it is waited on (held). kNoTransfer where all places are taken. The
  /// caller waits on every transfer once.
  uint32_t submit(const TransferRequest &request, bool held);
  /// The oldest transfer that was not yet waited on; kNoTransfer for none.
  uint32_t oldest();
  /// Waits for its end. `stallNs` grows by the time it took.
  TransferResult wait(uint32_t transfer, uint64_t &stallNs);
  /// Starts no more pieces, waits for those in flight and forgets all transfers.
  void abandon();

  plim_io_way way() const { return chosen; }

private:
  struct Transfer {
    TransferRequest request;
    uint64_t issued, serial, beginNs, endNs, errorAt;
    int32_t error;
    uint32_t inFlight, next;
    bool beingHashed; // a part of it
    enum State : uint32_t { unused, held, queued, arrived, done } state;
  };
  struct Piece {
    uint32_t transfer;
    uint32_t bytes, moved; // whole blocks
    uint32_t tail;         // bytes of the transfer in a last block that is moved through a page of its own; else 0
    char *memory;
    uint64_t offset; // in the file
    bool used;
  };
  struct Fault {
    int32_t error = 0;
    uint64_t at = 0;
  };
  static constexpr uint32_t kNoPiece = UINT32_MAX;
  struct Queue {
    uint32_t first = kNoTransfer, last = kNoTransfer, inFlight = 0;
  };
  class Lock {
  public:
    explicit Lock(Transfers &t) : mutex(t.mutex) { pthread_mutex_lock(&mutex); }
    ~Lock() { pthread_mutex_unlock(&mutex); }
    void wait(pthread_cond_t &condition) { pthread_cond_wait(&condition, &mutex); }
    void open() { pthread_mutex_unlock(&mutex); }
    void close() { pthread_mutex_lock(&mutex); }

  private:
    pthread_mutex_t &mutex;
  };

  // Bodies of the threads (serve_transfers.cpp).
  void serve();
  void serveByRing();
  void hashArriving();
  plim_status startThreads();

  // With the lock held.
  bool begin(Transfer &transfer, const TransferRequest &request);
  bool enqueue(uint32_t transfer);
  uint32_t take();
  bool cut(Queue &queue, Piece &piece);
  void finishPiece(uint32_t piece, const Fault &fault);
  uint32_t firstToHash() const;
  uint64_t arrivedUpTo(uint32_t transfer) const;
  void finish(Transfer &transfer, const Fault &fault);

  // Without it. A piece in flight belongs to the thread that took it.
  void prepare(Piece &piece);
  bool advance(Piece &piece, int64_t result, Fault &fault);
  Fault checkBlocks(const Piece &piece);
  int fileOf(const Piece &piece) const { return fds[static_cast<uint32_t>(transfers[piece.transfer].request.file)]; }
  IoEvent eventOf(const Piece &piece) const;
  void push(uint32_t piece);
  void wake();

  Room room = {};
  uint32_t depth = 0, threads = 0;
  int fds[2] = {-1, -1};
  uint64_t starts[2] = {}; // of the data in the file
  uint64_t spillBytes = 0;
  plim_io_way chosen = PLIM_IO_ANY;
  Ring ring;
  int doorbell = -1; // an eventfd that wakes the thread of the ring
  pthread_mutex_t mutex;
  pthread_cond_t work, progress, arrival; // something to do; a piece or a part of a hash is done; a transfer is
  bool stopping = false;
  uint64_t serials = 0;
  Queue queues[2];   // read, write
  uint32_t turn = 0; // the queue that gets the next piece
  Transfer transfers[kMostTransfers] = {};
  Piece pieces[kMostPieces] = {};
  PlannedThread records[kMostIoThreads + 1] = {}; // the first compares hashes
};

} // namespace plim::rt

#endif
