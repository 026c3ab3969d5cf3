// The threads of transfers: several that call pread and pwrite, or one that serves a ring; and one that compares
// hashes.
#include "runtime/io/transfers.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plim::rt {

void Transfers::serve() {
  Lock lock(*this);
  while (!stopping) {
    uint32_t place = take();
    if (place == kNoPiece) {
      lock.wait(work);
      continue;
    }
    Piece &piece = pieces[place];
    lock.open();
    prepare(piece);
    Fault fault;
    for (bool again = true; again;) {
      IoEvent e = eventOf(piece);
      auto offset = static_cast<off_t>(e.offset);
      ssize_t n =
          e.call == IoCall::write ? pwrite(e.fd, e.memory, e.bytes, offset) : pread(e.fd, e.memory, e.bytes, offset);
      again = advance(piece, n < 0 ? -errno : n, fault);
    }
    lock.close();
    finishPiece(place, fault);
    pthread_cond_signal(&work); // one more piece of its queue may go
  }
}

void Transfers::push(uint32_t place) {
  IoEvent e = eventOf(pieces[place]);
  ring.push(e.fd, e.call == IoCall::write, e.memory, static_cast<uint32_t>(e.bytes), e.offset, place);
}

void Transfers::serveByRing() {
  constexpr uint64_t bell = UINT64_MAX;
  uint32_t flying = 0;
  bool armed = false;
  for (;;) {
    bool ending;
    {
      Lock lock(*this);
      ending = stopping;
      if (ending && !flying && !armed)
        return; // nothing is left that would write a result into the rings' memory
      uint32_t place;
      while (ring.hasRoom() && (place = take()) != kNoPiece) {
        lock.open();
        prepare(pieces[place]);
        push(place);
        ++flying;
        lock.close();
      }
    }
    if (!armed && !ending && ring.hasRoom()) {
      ring.pushPoll(doorbell, bell);
      armed = true;
    }
    ring.enter(1);
    uint64_t tag;
    for (int64_t result; ring.pop(tag, result);) {
      if (tag == bell) {
        eventfd_t rings;
        eventfd_read(doorbell, &rings);
        armed = false;
        continue;
      }
      auto place = static_cast<uint32_t>(tag);
      Fault fault;
      if (advance(pieces[place], result, fault)) {
        if (!ring.hasRoom())
          ring.enter(0);
        push(place);
        continue;
      }
      --flying;
      Lock lock(*this);
      finishPiece(place, fault);
    }
  }
}

/// One transfer at a time, as its bytes arrive.
void Transfers::hashArriving() {
  uint64_t serial = 0, hashed = 0;
  XXH3_state_t hash;
  XXH3_INITSTATE(&hash);
  Lock lock(*this);
  while (!stopping) {
    uint32_t place = firstToHash();
    if (place != kNoTransfer && transfers[place].serial != serial) {
      serial = transfers[place].serial;
      hashed = 0;
      XXH3_64bits_reset(&hash);
    }
    uint64_t part = place == kNoTransfer ? 0 : arrivedUpTo(place) - hashed;
    if (!part) {
      lock.wait(progress);
      continue;
    }
    part = part < kPieceBytes ? part : uint64_t(kPieceBytes);
    Transfer &t = transfers[place];
    t.beingHashed = true;
    lock.open();
    XXH3_64bits_update(&hash, t.request.memory + hashed, part);
    hashed += part;
    lock.close();
    t.beingHashed = false;
    if (t.state == Transfer::arrived && hashed == t.request.bytes) {
      bool same = XXH3_64bits_digest(&hash) == t.request.hash;
      uint64_t start = starts[static_cast<uint32_t>(t.request.file)] + t.request.offset;
      finish(t, same ? Fault{} : Fault{TransferResult::changed, start});
    }
    pthread_cond_broadcast(&progress);
  }
}

} // namespace plim::rt
