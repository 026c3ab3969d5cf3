#include "runtime/core/error.h"
#include "runtime/core/ledger.h"
#include "runtime/io/file.h"

#include "plim/weights.h"

#include <new>
#include <stddef.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace plim::rt;

/// The region holds this struct, then the header block.
struct plim_weight_writer {
  Region region;
  NewFile file;
  char *header;
  uint64_t headerBytes, dataBytes; // dataBytes is padded to a page
  uint64_t end;                    // of the last constant, as announced
  uint64_t at;                     // bytes of the data part written and hashed
  uint64_t inBlock;                // of the block that is being hashed
  XXH3_state_t hash;
};

namespace {

uint64_t *blockHashes(plim_weight_writer &w) {
  return reinterpret_cast<uint64_t *>(w.header + sizeof(plim_weight_header));
}

plim_status append(plim_weight_writer &w, const char *data, uint64_t bytes) {
  if (plim_status st = writeAt(w.file.fd, data, bytes, w.headerBytes + w.at, w.file.temporary))
    return st;
  while (bytes) {
    uint64_t room = PLIM_WEIGHTS_BLOCK - w.inBlock, piece = bytes < room ? bytes : room;
    XXH3_64bits_update(&w.hash, data, piece);
    data += piece;
    bytes -= piece;
    w.at += piece;
    w.inBlock += piece;
    if (w.inBlock == PLIM_WEIGHTS_BLOCK || w.at == w.dataBytes) {
      blockHashes(w)[(w.at - 1) / PLIM_WEIGHTS_BLOCK] = XXH3_64bits_digest(&w.hash);
      XXH3_64bits_reset(&w.hash);
      w.inBlock = 0;
    }
  }
  return PLIM_OK;
}

plim_status zerosUpTo(plim_weight_writer &w, uint64_t offset) {
  static const char zeros[PLIM_PAGE] = {};
  while (w.at < offset) {
    uint64_t piece = offset - w.at < sizeof zeros ? offset - w.at : sizeof zeros;
    if (plim_status st = append(w, zeros, piece))
      return st;
  }
  return PLIM_OK;
}

plim_status writeHeader(plim_weight_writer &w, uint64_t *headerHash) {
  auto *h = reinterpret_cast<plim_weight_header *>(w.header);
  memcpy(h->magic, PLIM_WEIGHTS_MAGIC, sizeof h->magic);
  h->version = PLIM_WEIGHTS_VERSION;
  h->block_bytes = PLIM_WEIGHTS_BLOCK;
  h->data_offset = w.headerBytes;
  h->data_bytes = w.dataBytes;
  h->blocks = (w.dataBytes + PLIM_WEIGHTS_BLOCK - 1) / PLIM_WEIGHTS_BLOCK;
  constexpr uint64_t hashed = offsetof(plim_weight_header, header_hash) + sizeof h->header_hash;
  h->header_hash = XXH3_64bits(w.header + hashed, w.headerBytes - hashed);
  *headerHash = XXH3_64bits(w.header, w.headerBytes);
  return writeAt(w.file.fd, w.header, w.headerBytes, 0, w.file.temporary);
}

} // namespace

extern "C" plim_status plim_weight_writer_open(const char *path, uint64_t data_bytes, plim_weight_writer **out) {
  *out = nullptr;
  uint64_t headerBytes = plim_weight_header_bytes(data_bytes);
  uint64_t own = plim_page(sizeof(plim_weight_writer));
  Region region;
  if (plim_status st = reserveRegion(own + headerBytes, nullptr, "weight writer", region))
    return st;
  auto *w = new (region.data) plim_weight_writer{};
  w->region = region;
  w->header = region.data + own;
  w->headerBytes = headerBytes;
  w->dataBytes = plim_page(data_bytes);
  w->end = data_bytes;
  XXH3_64bits_reset(&w->hash);
  if (plim_status st = w->file.create(path)) {
    releaseRegion(region);
    return st;
  }
  *out = w;
  return PLIM_OK;
}

extern "C" plim_status plim_weight_writer_put(plim_weight_writer *writer, uint64_t offset, const void *data,
                                              uint64_t bytes) {
  plim_weight_writer &w = *writer;
  if (offset < w.at)
    return Failure(PLIM_ERR_ARG).at("%s", w.file.path).need(w.at).have(offset).say("offsets must rise");
  if (offset > w.end || bytes > w.end - offset)
    return Failure(PLIM_ERR_ARG).at("%s", w.file.path).need(w.end).have(offset + bytes).say("beyond the data part");
  if (plim_status st = zerosUpTo(w, offset))
    return st;
  return append(w, static_cast<const char *>(data), bytes);
}

extern "C" plim_status plim_weight_writer_finish(plim_weight_writer *writer, uint64_t *file_bytes,
                                                 uint64_t *header_hash) {
  plim_weight_writer &w = *writer;
  plim_status st = zerosUpTo(w, w.dataBytes);
  if (!st)
    st = writeHeader(w, header_hash);
  if (!st)
    st = w.file.finish();
  *file_bytes = w.headerBytes + w.dataBytes;
  plim_weight_writer_abort(writer);
  return st;
}

extern "C" void plim_weight_writer_abort(plim_weight_writer *writer) {
  if (!writer)
    return;
  writer->file.discard();
  Region region = writer->region;
  releaseRegion(region);
}
