// The threads of transfers: several that call pread and pwrite, or one that serves a ring.
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
    for (uint32_t arrived; (arrived = firstArrived()) != kNoTransfer;) {
      Transfer &t = transfers[arrived];
      t.state = Transfer::checking;
      lock.open();
      uint64_t hash = XXH3_64bits(t.request.memory, t.request.bytes);
      lock.close();
      finishHashed(t, hash);
    }
  }
}

void Transfers::serveByRing() {
  constexpr uint64_t bell = UINT64_MAX;
  uint32_t flying = 0, hashing = kNoTransfer;
  uint64_t hashed = 0;
  bool armed = false, ending = false;
  XXH3_state_t hash;
  XXH3_INITSTATE(&hash);
  for (;;) {
    {
      Lock lock(*this);
      ending = stopping;
      if (ending && !flying && !armed)
        return; // nothing is left that would write a result into the rings' memory
      uint32_t place;
      while (ring.hasRoom() && (place = take()) != kNoPiece) {
        lock.open();
        Piece &piece = pieces[place];
        prepare(piece);
        IoEvent e = eventOf(piece);
        ring.push(e.fd, e.call == IoCall::write, e.memory, static_cast<uint32_t>(e.bytes), e.offset, place);
        ++flying;
        lock.close();
      }
      if (hashing == kNoTransfer && (hashing = firstArrived()) != kNoTransfer) {
        transfers[hashing].state = Transfer::checking;
        hashed = 0;
        XXH3_64bits_reset(&hash);
      }
    }
    if (!armed && !ending && ring.hasRoom()) {
      ring.pushPoll(doorbell, bell);
      armed = true;
    }
    ring.enter(hashing == kNoTransfer ? 1 : 0);
    uint64_t tag;
    for (int64_t result; ring.pop(tag, result);) {
      if (tag == bell) {
        eventfd_t rings;
        eventfd_read(doorbell, &rings);
        armed = false;
        continue;
      }
      auto place = static_cast<uint32_t>(tag);
      Piece &piece = pieces[place];
      Fault fault;
      if (advance(piece, result, fault)) {
        if (!ring.hasRoom())
          ring.enter(0);
        IoEvent e = eventOf(piece);
        ring.push(e.fd, e.call == IoCall::write, e.memory, static_cast<uint32_t>(e.bytes), e.offset, place);
        continue;
      }
      --flying;
      Lock lock(*this);
      finishPiece(place, fault);
    }
    if (hashing == kNoTransfer)
      continue;
    // A part at a time, so that the ring does not run dry meanwhile.
    Transfer &t = transfers[hashing];
    uint64_t rest = t.request.bytes - hashed, part = rest < kPieceBytes ? rest : uint64_t(kPieceBytes);
    XXH3_64bits_update(&hash, t.request.memory + hashed, part);
    hashed += part;
    if (hashed < t.request.bytes)
      continue;
    Lock lock(*this);
    finishHashed(t, XXH3_64bits_digest(&hash));
    hashing = kNoTransfer;
  }
}

} // namespace plim::rt
