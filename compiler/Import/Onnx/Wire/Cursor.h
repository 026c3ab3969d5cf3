// Reads one protobuf message field by field, checking every tag, varint and length against the bytes that are there.
//
//   Failure failure;
//   Cursor cursor(message, file, failure);
//   Field field;
//   while (cursor.next(field))
//     if (field.number == 2 && !field.getBytes("name", name, failure)) break;
//   if (failure) report(failure.message);
//
// Nothing is copied: strings and nested messages are views of the file.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace plim::onnx::wire {

/// The first thing that was wrong. Later reports are dropped, since they are mostly consequences of it.
struct Failure {
  std::string message;

  explicit operator bool() const { return !message.empty(); }
  /// Records `what` with the byte offset in the file where it was met. Always false, to be returned by the caller.
  bool set(uint64_t offset, std::string_view what);
};

enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };

/// One decoded field. `value` holds varints and fixed-width numbers, `bytes` holds length-delimited payloads.
struct Field {
  uint32_t number = 0;
  WireType type = WireType::Varint;
  uint64_t offset = 0; ///< of the tag, from the start of the file
  uint64_t value = 0;
  std::string_view bytes;

  bool getInt(std::string_view name, int64_t &out, Failure &failure) const;
  bool getFloat(std::string_view name, float &out, Failure &failure) const;
  /// A string or a nested message.
  bool getBytes(std::string_view name, std::string_view &out, Failure &failure) const;
};

/// Walks the fields of `message`, which is a part of `file`.
class Cursor {
public:
  Cursor(std::string_view message, std::string_view file, Failure &failure)
      : file(file), failure(failure), pos(message.data()), end(message.data() + message.size()) {}

  /// Decodes the next field. False at the end of the message and on failure.
  bool next(Field &field);
  /// Decodes a varint with no tag before it, as packed fields hold them. False on failure; call only where !atEnd().
  bool varint(uint64_t &value);
  bool fixed(unsigned width, uint64_t &value);
  bool atEnd() const { return pos == end; }
  uint64_t offset() const { return static_cast<uint64_t>(pos - file.data()); }

private:
  std::string_view file;
  Failure &failure;
  const char *pos;
  const char *end;
};

} // namespace plim::onnx::wire
