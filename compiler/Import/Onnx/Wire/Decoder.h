// onnx.proto, message by message: one function a message. A singular message that occurs twice is merged and a repeated
// number may be packed or not, as protobuf has it; fields that the compiler does not read are checked for length and
// skipped.
#pragma once
#include "compiler/Import/Onnx/Wire/Cursor.h"
#include "compiler/Import/Onnx/Wire/Model.h"

namespace plim::onnx::wire {

class Decoder {
public:
  Decoder(std::string_view bytes, const MappedFile *file) : bytes(bytes), file(file) {}

  Failure failure;

  bool model(std::string_view message, Model &out);

private:
  /// Nesting allowed (a graph in an attribute of a node in a graph, ...); protobuf's own limit.
  static constexpr unsigned maxDepth = 100;
  /// Payloads from this size on lose their pages as soon as they are passed.
  static constexpr size_t dropFrom = size_t(1) << 16;

  struct Nest {
    explicit Nest(unsigned &depth) : depth(depth) { ++depth; }
    ~Nest() { --depth; }
    unsigned &depth;
  };

  bool enter(std::string_view message) {
    if (depth < maxDepth)
      return true;
    return failure.set(static_cast<uint64_t>(message.data() - bytes.data()),
                       "messages are nested deeper than " + std::to_string(maxDepth));
  }

  bool graph(std::string_view message, Graph &out);
  bool node(std::string_view message, Node &out);
  bool attribute(std::string_view message, Attribute &out);
  bool attributeField(const Field &field, Attribute &out);
  bool tensor(std::string_view message, Tensor &out);
  bool tensorField(const Field &field, Tensor &out);
  bool type(std::string_view message, Type &out);
  bool tensorType(std::string_view message, Type &out);
  bool shape(std::string_view message, std::vector<Dimension> &out);
  bool dimension(std::string_view message, Dimension &out);
  bool valueInfo(std::string_view message, ValueInfo &out);
  bool operatorSet(std::string_view message, OperatorSet &out);
  bool function(std::string_view message, Function &out);
  bool externalEntry(std::string_view message, ExternalEntry &out);

  /// Calls read(field) for the fields of a message; false from the first that fails.
  template <typename F> bool eachField(std::string_view message, F &&read) {
    Cursor cursor(message, bytes, failure);
    Field field;
    while (cursor.next(field))
      if (!read(field))
        return false;
    return !failure;
  }

  bool ints(const Field &field, std::string_view name, std::vector<int64_t> &out);
  bool floats(const Field &field, std::string_view name, std::vector<float> &out);

  /// A name. What a compile makes of names ends at a zero byte, so that two of them could become one.
  bool string(const Field &field, std::string_view name, std::string_view &out) {
    if (!field.getBytes(name, out, failure))
      return false;
    if (const size_t zero = out.find('\0'); zero != std::string_view::npos)
      return failure.set(field.offset,
                         std::string(name) + " has a zero byte at place " + std::to_string(zero) + ": need text");
    return true;
  }
  bool strings(const Field &field, std::string_view name, std::vector<std::string_view> &out) {
    return string(field, name, out.emplace_back());
  }
  /// Decodes the nested message of `field` into `out` by `decode`.
  template <typename T>
  bool nested(const Field &field, std::string_view name, T &out, bool (Decoder::*decode)(std::string_view, T &)) {
    std::string_view message;
    if (!field.getBytes(name, message, failure) || !enter(message))
      return false;
    Nest nest(depth);
    return (this->*decode)(message, out);
  }

  std::string_view bytes;
  const MappedFile *file;
  unsigned depth = 0;
};

} // namespace plim::onnx::wire
