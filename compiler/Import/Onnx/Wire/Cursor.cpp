#include "compiler/Import/Onnx/Wire/Cursor.h"
#include <bit>

using namespace plim::onnx::wire;

bool Failure::set(uint64_t offset, std::string_view what) {
  if (message.empty())
    message = std::string(what) + " (byte " + std::to_string(offset) + ")";
  return false;
}

static std::string_view typeName(WireType type) {
  switch (type) {
  case WireType::Varint:
    return "varint";
  case WireType::Fixed64:
    return "64-bit";
  case WireType::Length:
    return "length-delimited";
  case WireType::Fixed32:
    return "32-bit";
  }
  return "unknown";
}

static bool wrongType(const Field &field, std::string_view name, WireType need, Failure &failure) {
  return failure.set(field.offset, "field '" + std::string(name) + "': need wire type " + std::string(typeName(need)) +
                                       ", have " + std::string(typeName(field.type)));
}

bool Field::getInt(std::string_view name, int64_t &out, Failure &failure) const {
  if (type != WireType::Varint)
    return wrongType(*this, name, WireType::Varint, failure);
  out = static_cast<int64_t>(value);
  return true;
}

bool Field::getFloat(std::string_view name, float &out, Failure &failure) const {
  if (type != WireType::Fixed32)
    return wrongType(*this, name, WireType::Fixed32, failure);
  out = std::bit_cast<float>(static_cast<uint32_t>(value));
  return true;
}

bool Field::getBytes(std::string_view name, std::string_view &out, Failure &failure) const {
  if (type != WireType::Length)
    return wrongType(*this, name, WireType::Length, failure);
  out = bytes;
  return true;
}

bool Cursor::varint(uint64_t &value) {
  const uint64_t start = offset();
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (pos == end)
      return failure.set(start, "truncated varint: need another byte, have 0");
    const auto byte = static_cast<uint8_t>(*pos++);
    // The tenth byte holds bit 63 only.
    if (shift == 63 && byte > 1)
      return failure.set(start, "varint does not fit 64 bits");
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return true;
  }
  return failure.set(start, "varint is longer than 10 bytes");
}

bool Cursor::fixed(unsigned width, uint64_t &value) {
  const auto have = static_cast<uint64_t>(end - pos);
  if (have < width)
    return failure.set(offset(),
                       "truncated number: need " + std::to_string(width) + " bytes, have " + std::to_string(have));
  value = 0;
  for (unsigned i = 0; i < width; ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(pos[i])) << (8 * i);
  pos += width;
  return true;
}

bool Cursor::next(Field &field) {
  if (failure || pos == end)
    return false;
  field = Field();
  field.offset = offset();
  uint64_t tag;
  if (!varint(tag))
    return false;
  if (tag >> 3 == 0 || tag >> 3 > 536870911)
    return failure.set(field.offset, "field number " + std::to_string(tag >> 3) + ": need 1 to 536870911");
  field.number = static_cast<uint32_t>(tag >> 3);
  switch (tag & 7) {
  case 0:
    field.type = WireType::Varint;
    return varint(field.value);
  case 1:
    field.type = WireType::Fixed64;
    return fixed(8, field.value);
  case 5:
    field.type = WireType::Fixed32;
    return fixed(4, field.value);
  case 2: {
    field.type = WireType::Length;
    uint64_t length;
    if (!varint(length))
      return false;
    const auto have = static_cast<uint64_t>(end - pos);
    if (length > have)
      return failure.set(field.offset, "field " + std::to_string(field.number) + " is truncated: need " +
                                           std::to_string(length) + " bytes, have " + std::to_string(have));
    field.bytes = std::string_view(pos, length);
    pos += length;
    return true;
  }
  default:
    return failure.set(field.offset, "field " + std::to_string(field.number) + " has wire type " +
                                         std::to_string(tag & 7) + ", which ONNX does not use");
  }
}
