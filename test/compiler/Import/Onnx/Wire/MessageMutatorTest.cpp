// Claims about the mutator of protocol buffers: what it writes is what it read, and what it changes is still a message.
#include "test/compiler/Import/Onnx/Wire/MessageMutator.h"
#include "gtest/gtest.h"

namespace {
using namespace plim::onnx::wire;

Field varint(uint32_t number, uint64_t value) { return {number, 0, value, {}, {}}; }
Field text(uint32_t number, std::string bytes) { return {number, 2, 0, std::move(bytes), {}}; }
Field nested(uint32_t number, std::vector<Field> fields) { return {number, 2, 0, {}, std::move(fields)}; }

std::vector<Field> model() {
  return {varint(1, 8),
          nested(7, {nested(1, {text(1, "x"), text(2, "y"), text(4, "Relu")}), text(2, "graph")}),
          {3, 1, 0x0123456789abcdef, {}, {}},
          {4, 5, 0x89abcdef, {}, {}},
          varint(5, UINT64_MAX)};
}

TEST(MessageMutator, WhatIsWrittenReadsBack) {
  const std::string bytes = writeMessage(model());
  const auto again = parseMessage(bytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->size(), 5u);
  EXPECT_EQ(writeMessage(*again), bytes);
  ASSERT_TRUE((*again)[1].message);
  ASSERT_TRUE((*again)[1].message->front().message);
  EXPECT_EQ((*again)[1].message->front().message->back().bytes, "Relu");
}

TEST(MessageMutator, BytesThatAreNoMessageAreRefused) {
  for (const char *bytes : {"\x08", "\x07\x01",
                            "\x12\x05"
                            "ab",
                            "\x09"
                            "1234567",
                            "\x0d"
                            "123"})
    EXPECT_FALSE(parseMessage(bytes)) << bytes;
}

TEST(MessageMutator, EveryChangeIsStillAMessageAndMostDiffer) {
  const std::string before = writeMessage(model());
  unsigned changed = 0;
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    std::minstd_rand random(seed);
    std::vector<Field> message = model();
    mutate(message, random, [&](std::string &bytes) { bytes += char(random()); });
    const std::string after = writeMessage(message);
    ASSERT_TRUE(parseMessage(after)) << seed;
    changed += after != before;
  }
  EXPECT_GT(changed, 1500u);
}

TEST(MessageMutator, PartsCrossAtTheirDepth) {
  bool crossed = false;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::minstd_rand random(seed);
    std::vector<Field> message = model();
    crossOver(message, {nested(7, {nested(1, {text(4, "Gelu")})})}, random);
    const std::string after = writeMessage(message);
    ASSERT_TRUE(parseMessage(after)) << seed;
    const auto &graph = message[1].message;
    crossed |= graph && graph->front().message && writeMessage(message).find("Gelu") != std::string::npos;
  }
  EXPECT_TRUE(crossed);
}

} // namespace
