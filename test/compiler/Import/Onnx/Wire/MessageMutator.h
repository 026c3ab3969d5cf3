// Changes protocol buffers without breaking them: fields are removed, repeated, exchanged and changed, and all lengths
// around them are made right, so that a fuzzer reaches what lies behind the decoder. No schema is needed: bytes that
// read as a message are one.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace plim::onnx::wire {

struct Field {
  uint32_t number = 0;
  uint8_t wireType = 0;
  uint64_t value = 0;                        ///< of a varint or fixed field
  std::string bytes;                         ///< of a length-delimited field that is no message
  std::optional<std::vector<Field>> message; ///< of one that is
};

/// The fields of a message, or nothing where the bytes are none. Nested messages are read to a depth of 16.
std::optional<std::vector<Field>> parseMessage(std::string_view bytes, unsigned depth = 0);

/// The bytes of a message; parseMessage reads them as the same fields.
std::string writeMessage(const std::vector<Field> &message);

/// Changes bytes in place; what libFuzzer's LLVMFuzzerMutate does.
using MutateBytes = std::function<void(std::string &bytes)>;

/// Changes one thing at random.
void mutate(std::vector<Field> &message, std::minstd_rand &random, const MutateBytes &mutateBytes);

/// Puts a part of `other` at a place in `message` that holds parts of the same depth.
void crossOver(std::vector<Field> &message, const std::vector<Field> &other, std::minstd_rand &random);

} // namespace plim::onnx::wire
