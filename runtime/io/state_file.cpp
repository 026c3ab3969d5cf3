#include "runtime/io/state_file.h"

#include "runtime/core/error.h"
#include "runtime/io/file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plim::rt {
namespace {

struct StateHeader {
  char magic[8];
  uint32_t version, entries;
  uint64_t dataBytes;
  uint64_t dataHash;    // XXH3-64 of the states' bytes, state by state: each seeds the next
  uint64_t entriesHash; // XXH3-64 of the entries
  uint64_t headerHash;  // XXH3-64 of the fields above
  uint64_t reserved[2];
};
static_assert(sizeof(StateHeader) == 64);

struct StateEntry {
  uint64_t nameHash, bytes;
};

constexpr char kMagic[8] = "PLIMSTA";
constexpr uint32_t kVersion = 1;

/// Calls f(entry, home) for the durable states of the session; the same order for every variant.
template <class Fn> void durableStates(const plim_session &s, Fn f) {
  for (uint32_t i = 0; i < s.table.count(PLIM_SEC_STATES); ++i) {
    const plim_t_state &state = s.table.state(i);
    char *home = stateHome(s, i);
    if (!home || !state.durable)
      continue;
    const char *name = s.table.string(state.name);
    f(StateEntry{XXH3_64bits(name, strlen(name)), state.bytes}, home);
  }
}

/// Everything of the header but the data's hash.
StateHeader describe(const plim_session &s) {
  StateHeader h = {};
  memcpy(h.magic, kMagic, sizeof h.magic);
  h.version = kVersion;
  durableStates(s, [&](StateEntry e, const char *) {
    ++h.entries;
    h.dataBytes += e.bytes;
    h.entriesHash = XXH3_64bits_withSeed(&e, sizeof e, h.entriesHash);
  });
  return h;
}

uint64_t headerHash(const StateHeader &h) { return XXH3_64bits(&h, offsetof(StateHeader, headerHash)); }

uint64_t dataOffset(const StateHeader &h) { return sizeof h + h.entries * sizeof(StateEntry); }

Failure damaged(const char *path) {
  Failure f(PLIM_ERR_ARG);
  f.at("%s", path);
  return f;
}

struct ReadOnlyFile {
  int fd;
  explicit ReadOnlyFile(const char *path) : fd(open(path, O_RDONLY | O_CLOEXEC)) {}
  ~ReadOnlyFile() {
    if (fd >= 0)
      close(fd);
  }
};

/// Hash of `bytes` at `offset`, read through a small buffer.
plim_status hashRange(int fd, uint64_t offset, uint64_t bytes, const char *path, XXH3_state_t &state) {
  char buffer[16384];
  while (bytes) {
    uint64_t piece = bytes < sizeof buffer ? bytes : sizeof buffer, got;
    if (plim_status st = readAt(fd, buffer, piece, offset, path, got))
      return st;
    if (got < piece)
      return damaged(path).need(offset + piece).have(offset + got).say("the state file is cut short");
    XXH3_64bits_update(&state, buffer, piece);
    offset += piece;
    bytes -= piece;
  }
  return PLIM_OK;
}

} // namespace

plim_status saveStates(const plim_session &session, const char *path) {
  StateHeader h = describe(session);
  durableStates(session,
                [&](StateEntry e, char *home) { h.dataHash = XXH3_64bits_withSeed(home, e.bytes, h.dataHash); });
  h.headerHash = headerHash(h);
  NewFile file;
  if (plim_status st = file.create(path))
    return st;
  plim_status st = writeAt(file.fd, &h, sizeof h, 0, file.temporary);
  uint64_t entryAt = sizeof h, dataAt = dataOffset(h);
  durableStates(session, [&](StateEntry e, char *home) {
    if (!st)
      st = writeAt(file.fd, &e, sizeof e, entryAt, file.temporary);
    if (!st)
      st = writeAt(file.fd, home, e.bytes, dataAt, file.temporary);
    entryAt += sizeof e;
    dataAt += e.bytes;
  });
  if (!st)
    return file.finish();
  file.discard();
  return st;
}

plim_status verifyStates(const plim_session &session, const char *path, uint64_t &hash) {
  ReadOnlyFile file(path);
  struct stat info;
  if (file.fd < 0 || fstat(file.fd, &info))
    return systemFailure(path, "cannot open the state file");
  StateHeader wanted = describe(session), h;
  uint64_t got;
  if (plim_status st = readAt(file.fd, &h, sizeof h, 0, path, got))
    return st;
  if (got < sizeof h || memcmp(h.magic, kMagic, sizeof kMagic) != 0)
    return damaged(path).say("this is not a state file");
  if (h.version != kVersion)
    return damaged(path).need(kVersion).have(h.version).say("the state file is of another version");
  if (h.headerHash != headerHash(h))
    return damaged(path).say("the header of the state file is damaged");
  if (h.entries != wanted.entries || h.dataBytes != wanted.dataBytes || h.entriesHash != wanted.entriesHash)
    return damaged(path)
        .need(wanted.dataBytes)
        .have(h.dataBytes)
        .say("the states in the file are not those of this model");
  uint64_t length = dataOffset(h) + h.dataBytes;
  if (static_cast<uint64_t>(info.st_size) != length)
    return damaged(path)
        .need(length)
        .have(static_cast<uint64_t>(info.st_size))
        .say("the state file is cut short or too long");
  plim_status st = PLIM_OK;
  uint64_t at = dataOffset(h);
  hash = 0;
  durableStates(session, [&](StateEntry e, const char *) {
    if (st)
      return;
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset_withSeed(&state, hash);
    st = hashRange(file.fd, at, e.bytes, path, state);
    hash = XXH3_64bits_digest(&state);
    at += e.bytes;
  });
  if (!st && hash != h.dataHash)
    return damaged(path).say("the states in the file are damaged");
  return st;
}

plim_status loadStates(plim_session &session, const char *path, uint64_t hash) {
  ReadOnlyFile file(path);
  if (file.fd < 0)
    return systemFailure(path, "cannot open the state file");
  plim_status st = PLIM_OK;
  uint64_t at = dataOffset(describe(session)), loaded = 0, got;
  durableStates(session, [&](StateEntry e, char *home) {
    if (st)
      return;
    st = readAt(file.fd, home, e.bytes, at, path, got);
    if (!st && got < e.bytes)
      st = damaged(path).need(at + e.bytes).have(at + got).say("the state file was truncated");
    loaded = XXH3_64bits_withSeed(home, e.bytes, loaded);
    at += e.bytes;
  });
  if (!st && loaded != hash)
    return damaged(path).say("the state file changed while it was read");
  return st;
}

} // namespace plim::rt
