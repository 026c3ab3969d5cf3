#include "test/compiler/Import/Onnx/Wire/MessageMutator.h"

#include <utility>

namespace plim::onnx::wire {
namespace {

constexpr unsigned deepest = 16;
enum WireType : uint8_t { Varint = 0, Fixed64 = 1, Delimited = 2, Fixed32 = 5 };

bool readVarint(std::string_view bytes, size_t &at, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes[at++]);
    value |= uint64_t(byte & 127) << shift;
    if (!(byte & 128))
      return true;
  }
  return false;
}

void writeVarint(std::string &out, uint64_t value) {
  for (; value >= 128; value >>= 7)
    out += char(value | 128);
  out += char(value);
}

bool readFixed(std::string_view bytes, size_t &at, unsigned size, uint64_t &value) {
  if (bytes.size() - at < size)
    return false;
  value = 0;
  for (unsigned i = 0; i < size; ++i)
    value |= uint64_t(static_cast<uint8_t>(bytes[at++])) << 8 * i;
  return true;
}

/// All messages in a tree, the outermost first, each with its depth.
template <typename Message>
void collect(Message &message, unsigned depth, std::vector<std::pair<Message *, unsigned>> &out) {
  out.emplace_back(&message, depth);
  for (auto &field : message)
    if (field.message)
      collect(*field.message, depth + 1, out);
}

/// Leaves that hold text or data.
void collectBytes(std::vector<Field> &message, std::vector<Field *> &out) {
  for (Field &field : message)
    if (field.message)
      collectBytes(*field.message, out);
    else if (field.wireType == Delimited)
      out.push_back(&field);
}

uint64_t otherValue(uint64_t value, std::minstd_rand &random) {
  static constexpr uint64_t telling[] = {0,          1,
                                         2,          7,
                                         8,          16,
                                         255,        1 << 16,
                                         INT32_MAX,  UINT32_MAX,
                                         INT64_MAX,  uint64_t(INT64_MIN),
                                         UINT64_MAX, UINT64_MAX - 1};
  switch (random() % 4) {
  case 0:
    return telling[random() % std::size(telling)];
  case 1:
    return value + random() % 5 - 2;
  case 2:
    return value ^ uint64_t(1) << random() % 64;
  default:
    return random() % 24;
  }
}

} // namespace

std::optional<std::vector<Field>> parseMessage(std::string_view bytes, unsigned depth) {
  std::vector<Field> message;
  for (size_t at = 0; at < bytes.size();) {
    Field field;
    uint64_t key;
    if (!readVarint(bytes, at, key) || key >> 3 == 0 || key >> 3 >= 1 << 29)
      return std::nullopt;
    field.number = uint32_t(key >> 3);
    field.wireType = key & 7;
    if (field.wireType == Varint) {
      if (!readVarint(bytes, at, field.value))
        return std::nullopt;
    } else if (field.wireType == Fixed64 || field.wireType == Fixed32) {
      if (!readFixed(bytes, at, field.wireType == Fixed64 ? 8 : 4, field.value))
        return std::nullopt;
    } else if (field.wireType == Delimited) {
      uint64_t length;
      if (!readVarint(bytes, at, length) || length > bytes.size() - at)
        return std::nullopt;
      const std::string_view inner = bytes.substr(at, length);
      at += length;
      if (!inner.empty() && depth < deepest)
        field.message = parseMessage(inner, depth + 1);
      if (!field.message)
        field.bytes = inner;
    } else {
      return std::nullopt;
    }
    message.push_back(std::move(field));
  }
  return message;
}

std::string writeMessage(const std::vector<Field> &message) {
  std::string out;
  for (const Field &field : message) {
    writeVarint(out, uint64_t(field.number) << 3 | field.wireType);
    if (field.wireType == Varint) {
      writeVarint(out, field.value);
    } else if (field.wireType == Delimited) {
      const std::string inner = field.message ? writeMessage(*field.message) : field.bytes;
      writeVarint(out, inner.size());
      out += inner;
    } else {
      for (unsigned i = 0; i < (field.wireType == Fixed64 ? 8 : 4); ++i)
        out += char(field.value >> 8 * i);
    }
  }
  return out;
}

void mutate(std::vector<Field> &message, std::minstd_rand &random, const MutateBytes &mutateBytes) {
  std::vector<std::pair<std::vector<Field> *, unsigned>> messages;
  collect(message, 0, messages);
  std::vector<Field> &fields = *messages[random() % messages.size()].first;
  if (fields.empty()) {
    fields.push_back({uint32_t(1 + random() % 16), Varint, random() % 24, {}, {}});
    return;
  }
  const size_t i = random() % fields.size(), j = random() % fields.size();
  switch (random() % 8) {
  case 0:
    fields.erase(fields.begin() + i);
    return;
  case 1: {
    Field copy = fields[i];
    fields.insert(fields.begin() + j, std::move(copy));
    return;
  }
  case 2:
    std::swap(fields[i], fields[j]);
    return;
  case 3:
    fields[i].number = uint32_t(1 + random() % 24);
    return;
  case 4: { // one text or tensor in the place of another: edges of the graph, names of operators
    std::vector<Field *> leaves;
    collectBytes(message, leaves);
    if (!leaves.empty())
      leaves[random() % leaves.size()]->bytes = std::string(leaves[random() % leaves.size()]->bytes);
    return;
  }
  default:
    break;
  }
  Field &field = fields[i];
  if (field.wireType != Delimited) {
    field.value = otherValue(field.value, random);
  } else if (field.message && random() % 8) {
    mutate(*field.message, random, mutateBytes);
  } else {
    std::string bytes = field.message ? writeMessage(*field.message) : field.bytes;
    mutateBytes(bytes);
    field.message.reset();
    field.bytes = std::move(bytes);
  }
}

void crossOver(std::vector<Field> &message, const std::vector<Field> &other, std::minstd_rand &random) {
  std::vector<std::pair<std::vector<Field> *, unsigned>> to;
  std::vector<std::pair<const std::vector<Field> *, unsigned>> from;
  collect(message, 0, to);
  collect(other, 0, from);
  const auto [source, depth] = from[random() % from.size()];
  std::erase_if(to, [depth = depth](const auto &place) { return place.second != depth; });
  if (source->empty() || to.empty())
    return;
  std::vector<Field> &fields = *to[random() % to.size()].first;
  const Field &part = (*source)[random() % source->size()];
  for (Field &field : fields)
    if (field.number == part.number && random() % 2) {
      field = part;
      return;
    }
  fields.insert(fields.begin() + random() % (fields.size() + 1), part);
}

} // namespace plim::onnx::wire
