#include "runtime/io/weight_file.h"

#include "runtime/core/error.h"
#include "runtime/io/file.h"

#include "plim/check.h"
#include "plim/weights.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

extern "C" uint64_t plim_weight_header_bytes(uint64_t dataBytes) {
  uint64_t blocks = (plim_page(dataBytes) + PLIM_WEIGHTS_BLOCK - 1) / PLIM_WEIGHTS_BLOCK;
  return plim_page(sizeof(plim_weight_header) + 8 * blocks);
}

extern "C" uint64_t plim_weight_header_bytes_of_file(uint64_t fileBytes) {
  if (fileBytes % PLIM_PAGE != 0 || fileBytes < PLIM_PAGE)
    return 0;
  // The header grows by a page each 512 MiB of data. The whole file gives an estimate that is never too small and at
  // most a page too large for each 512 MiB of header.
  for (uint64_t header = plim_weight_header_bytes(fileBytes); header >= PLIM_PAGE; header -= PLIM_PAGE) {
    if (header > fileBytes)
      continue;
    uint64_t right = plim_weight_header_bytes(fileBytes - header);
    if (right == header)
      return header;
    if (right > header)
      break;
  }
  return 0;
}

namespace plim::rt {
namespace {

constexpr uint64_t kReadBytes = 8 * uint64_t(PLIM_WEIGHTS_BLOCK);

Failure changed(const char *path) {
  Failure f(PLIM_ERR_WEIGHTS);
  f.at("%s", path);
  return f;
}

class Loader {
public:
  explicit Loader(WeightLoad &load) : load(load) {}
  ~Loader() {
    if (fd >= 0)
      close(fd);
  }

  plim_status run() {
    if (plim_status st = open())
      return st;
    if (plim_status st = readHeader())
      return st;
    if (plim_status st = readData())
      return st;
    if (load.keepOpen) {
      load.fd = fd;
      fd = -1;
    }
    return PLIM_OK;
  }

private:
  plim_status open() {
    fd = ::open(load.path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    if (fd < 0 && errno == EINVAL)
      if (plim_status st = openBuffered())
        return st;
    if (fd < 0)
      return systemFailure(load.path, "cannot open the weight file");
    struct stat info;
    if (fstat(fd, &info))
      return systemFailure(load.path, "cannot look at the weight file");
    if (static_cast<uint64_t>(info.st_size) != load.fileBytes)
      return changed(load.path)
          .need(load.fileBytes)
          .have(static_cast<uint64_t>(info.st_size))
          .say("the weight file has another length than when the model was compiled");
    return PLIM_OK;
  }

  plim_status openBuffered() {
    load.buffered = 1;
    if (fd >= 0)
      close(fd);
    fd = ::open(load.path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? systemFailure(load.path, "cannot open the weight file") : PLIM_OK;
  }

  /// Some file systems take O_DIRECT when opening and refuse it when reading.
  plim_status read(char *data, uint64_t bytes, uint64_t offset) {
    uint64_t got;
    plim_status st = readAt(fd, data, bytes, offset, load.path, got);
    if (st && plim_last_error()->code == EINVAL && !load.buffered) {
      if (plim_status again = openBuffered())
        return again;
      st = readAt(fd, data, bytes, offset, load.path, got);
    }
    if (!st && got < bytes)
      return changed(load.path).need(offset + bytes).have(offset + got).say("the weight file was truncated");
    return st;
  }

  plim_status readHeader() {
    headerBytes = plim_weight_header_bytes_of_file(load.fileBytes);
    if (plim_status st = read(load.header, headerBytes, 0))
      return st;
    const auto &h = header();
    if (memcmp(h.magic, PLIM_WEIGHTS_MAGIC, sizeof h.magic) != 0)
      return changed(load.path).say("this is not a weight file");
    if (h.version != PLIM_WEIGHTS_VERSION)
      return changed(load.path).need(PLIM_WEIGHTS_VERSION).have(h.version).say("the weight file is of another version");
    constexpr uint64_t hashed = offsetof(plim_weight_header, header_hash) + sizeof h.header_hash;
    uint64_t blocks = (load.fileBytes - headerBytes + PLIM_WEIGHTS_BLOCK - 1) / PLIM_WEIGHTS_BLOCK;
    if (h.header_hash != XXH3_64bits(load.header + hashed, headerBytes - hashed) ||
        h.block_bytes != PLIM_WEIGHTS_BLOCK || h.data_offset != headerBytes ||
        h.data_bytes != load.fileBytes - headerBytes || h.blocks != blocks)
      return changed(load.path).say("the header of the weight file is damaged");
    if (XXH3_64bits(load.header, headerBytes) != load.headerHash)
      return changed(load.path).say("the weight file is not the one that the model was compiled with");
    return PLIM_OK;
  }

  plim_status readData() {
    uint64_t dataBytes = header().data_bytes;
    uint64_t end = plim_page(load.needed) < dataBytes ? plim_page(load.needed) : dataBytes;
    if (end > load.arenaBytes)
      return changed(load.path).need(end).have(load.arenaBytes).say("the weights' arena is too small");
    const auto *hashes = reinterpret_cast<const uint64_t *>(load.header + sizeof(plim_weight_header));
    for (uint64_t at = 0; at < end; at += kReadBytes) {
      uint64_t piece = end - at < kReadBytes ? end - at : kReadBytes;
      if (plim_status st = read(load.arena + at, piece, headerBytes + at))
        return st;
      for (uint64_t b = at; b < at + piece; b += PLIM_WEIGHTS_BLOCK) {
        uint64_t whole = dataBytes - b < PLIM_WEIGHTS_BLOCK ? dataBytes - b : PLIM_WEIGHTS_BLOCK;
        if (b + whole > end)
          break;
        if (XXH3_64bits(load.arena + b, whole) != hashes[b / PLIM_WEIGHTS_BLOCK])
          return changed(load.path).say("bytes [%lu, %lu) of the weight file were changed", headerBytes + b,
                                        headerBytes + b + whole);
        load.verified = b + whole;
      }
    }
    return PLIM_OK;
  }

  const plim_weight_header &header() const { return *reinterpret_cast<const plim_weight_header *>(load.header); }

  WeightLoad &load;
  int fd = -1;
  uint64_t headerBytes = 0;
};

} // namespace

plim_status loadWeights(WeightLoad &load) { return Loader(load).run(); }

} // namespace plim::rt
