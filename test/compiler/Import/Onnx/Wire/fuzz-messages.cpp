// Makes libFuzzer change protocol buffers as messages; one time in eight as bytes, so that the decoder sees damage too.
#include "test/compiler/Import/Onnx/Wire/MessageMutator.h"

#include <cstring>

using namespace plim::onnx::wire;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

static std::string_view view(const uint8_t *data, size_t size) { return {reinterpret_cast<const char *>(data), size}; }

/// Bytes that libFuzzer may add to one leaf.
static constexpr size_t growth = 16;

static void mutateBytes(std::string &bytes) {
  const size_t size = bytes.size();
  bytes.resize(size + growth);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(bytes.data()), size, bytes.size()));
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  auto message = random() % 8 ? parseMessage(view(data, size)) : std::nullopt;
  if (message) {
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes)
      mutate(*message, random, mutateBytes);
    const std::string out = writeMessage(*message);
    if (out.size() <= maxSize) {
      memcpy(data, out.data(), out.size());
      return out.size();
    }
  }
  return LLVMFuzzerMutate(data, size, maxSize);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t firstSize, const uint8_t *second,
                                            size_t secondSize, uint8_t *out, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  auto message = parseMessage(view(first, firstSize));
  const auto other = parseMessage(view(second, secondSize));
  if (!message || !other)
    return 0;
  crossOver(*message, *other, random);
  const std::string bytes = writeMessage(*message);
  if (bytes.size() > maxSize)
    return 0;
  memcpy(out, bytes.data(), bytes.size());
  return bytes.size();
}
