// Writes protobuf messages, so that tests make models byte by byte: right ones, and wrong ones no library would write.
#pragma once
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

namespace plim::onnx::wire::test {

class Message {
public:
  Message &varint(uint32_t field, uint64_t value) { return tag(field, 0).raw(value); }
  Message &fixed32(uint32_t field, float value) {
    tag(field, 5);
    return append(&value, 4);
  }
  Message &bytes(uint32_t field, std::string_view value) {
    tag(field, 2).raw(value.size());
    text.append(value);
    return *this;
  }
  Message &message(uint32_t field, const Message &value) { return bytes(field, value.text); }
  Message &packed(uint32_t field, std::initializer_list<int64_t> values) {
    Message inner;
    for (int64_t value : values)
      inner.raw(static_cast<uint64_t>(value));
    return message(field, inner);
  }
  /// A length-delimited field that claims `length` bytes and holds none.
  Message &claim(uint32_t field, uint64_t length) { return tag(field, 2).raw(length); }

  Message &tag(uint32_t field, unsigned type) { return raw(uint64_t(field) << 3 | type); }
  Message &raw(uint64_t value) {
    for (; value > 0x7f; value >>= 7)
      text.push_back(static_cast<char>(value | 0x80));
    text.push_back(static_cast<char>(value));
    return *this;
  }
  Message &append(const void *data, size_t size) {
    text.append(static_cast<const char *>(data), size);
    return *this;
  }

  const std::string &str() const { return text; }

private:
  std::string text;
};

inline Message tensor(std::string_view name, int32_t type, std::initializer_list<int64_t> dims) {
  Message out;
  for (int64_t dim : dims)
    out.varint(1, static_cast<uint64_t>(dim));
  return out.varint(2, static_cast<uint64_t>(type)).bytes(8, name);
}

inline Message attributeInts(std::string_view name, std::initializer_list<int64_t> values) {
  Message out;
  out.bytes(1, name);
  for (int64_t value : values)
    out.varint(8, static_cast<uint64_t>(value));
  return out.varint(20, 7);
}

inline Message valueInfo(std::string_view name, int32_t type, std::initializer_list<int64_t> dims) {
  Message shape;
  for (int64_t dim : dims)
    shape.message(1, dim < 0 ? Message().bytes(2, "N") : Message().varint(1, static_cast<uint64_t>(dim)));
  Message tensorType = Message().varint(1, static_cast<uint64_t>(type)).message(2, shape);
  return Message().bytes(1, name).message(2, Message().message(1, tensorType));
}

inline Message node(std::string_view op, std::initializer_list<std::string_view> inputs,
                    std::initializer_list<std::string_view> outputs, std::initializer_list<Message> attributes = {}) {
  Message out;
  for (std::string_view input : inputs)
    out.bytes(1, input);
  for (std::string_view output : outputs)
    out.bytes(2, output);
  out.bytes(3, std::string(op) + "_node").bytes(4, op);
  for (const Message &attribute : attributes)
    out.message(5, attribute);
  return out;
}

/// A convolution, an If with two branches, a function call and every way to store a weight.
inline Message smallModel() {
  const float weights[4] = {1, 2, 3, 4};
  Message raw = tensor("w", 1, {2, 1, 1, 2}).bytes(9, {reinterpret_cast<const char *>(weights), 16});
  Message packedFloats = tensor("p", 1, {4}).bytes(4, {reinterpret_cast<const char *>(weights), 16});
  Message looseFloats = tensor("l", 1, {2}).fixed32(4, 1.5f).fixed32(4, 2.5f);
  Message ints = tensor("i", 7, {3}).packed(7, {1, -1, int64_t(1) << 40});
  Message bytes = tensor("b", 3, {3}).packed(5, {1, -128, 127});
  Message outside = tensor("e", 1, {4})
                        .message(13, Message().bytes(1, "location").bytes(2, "weights.bin"))
                        .message(13, Message().bytes(1, "offset").bytes(2, "16"))
                        .message(13, Message().bytes(1, "length").bytes(2, "16"))
                        .varint(14, 1);
  Message branch =
      Message().bytes(2, "branch").message(1, node("Relu", {"y"}, {"r"})).message(12, valueInfo("r", 1, {1, 2, 4, 3}));
  Message ifNode = node("If", {"c"}, {"z"},
                        {Message().bytes(1, "then_branch").message(6, branch).varint(20, 5),
                         Message().bytes(1, "else_branch").message(6, branch).varint(20, 5)});
  Message graph;
  graph.bytes(2, "small")
      .message(1, node("Conv", {"x", "w"}, {"y"}, {attributeInts("kernel_shape", {1, 2})}))
      .message(1, ifNode)
      .message(1, node("Twice", {"z"}, {"out"}).bytes(7, "local"))
      .message(11, valueInfo("x", 1, {1, 1, 4, 4}))
      .message(11, valueInfo("n", 1, {-1, 4}))
      .message(12, valueInfo("out", 1, {1, 2, 4, 3}));
  for (const Message &weight : {raw, packedFloats, looseFloats, ints, bytes, outside})
    graph.message(5, weight);
  Message function = Message()
                         .bytes(1, "Twice")
                         .bytes(4, "a")
                         .bytes(5, "b")
                         .message(7, node("Add", {"a", "a"}, {"b"}))
                         .message(9, Message().varint(2, 17))
                         .bytes(10, "local");
  return Message()
      .varint(1, 8)
      .bytes(2, "test")
      .message(8, Message().bytes(1, "").varint(2, 17))
      .message(8, Message().bytes(1, "local").varint(2, 1))
      .message(7, graph)
      .message(25, function);
}

} // namespace plim::onnx::wire::test
