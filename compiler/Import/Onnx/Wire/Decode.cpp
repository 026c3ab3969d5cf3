// onnx.proto, message by message. A singular message that occurs twice is merged and a repeated number may be packed or
// not, as protobuf has it; fields that the compiler does not read are checked for length and skipped.
#include "compiler/Import/Onnx/Wire/Cursor.h"
#include "compiler/Import/Onnx/Wire/Model.h"

using namespace plim::onnx::wire;

namespace {

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
  bool tensor(std::string_view message, Tensor &out);
  bool type(std::string_view message, Type &out);
  bool tensorType(std::string_view message, Type &out);
  bool shape(std::string_view message, std::vector<Dimension> &out);
  bool dimension(std::string_view message, Dimension &out);
  bool valueInfo(std::string_view message, ValueInfo &out);
  bool operatorSet(std::string_view message, OperatorSet &out);
  bool function(std::string_view message, Function &out);
  bool externalEntry(std::string_view message, ExternalEntry &out);

  bool ints(const Field &field, std::string_view name, std::vector<int64_t> &out);
  bool floats(const Field &field, std::string_view name, std::vector<float> &out);

  bool string(const Field &field, std::string_view name, std::string_view &out) {
    return field.getBytes(name, out, failure);
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

bool Decoder::ints(const Field &field, std::string_view name, std::vector<int64_t> &out) {
  if (field.type == WireType::Length) {
    Cursor packed(field.bytes, bytes, failure);
    while (!packed.atEnd()) {
      uint64_t value;
      if (!packed.varint(value))
        return false;
      out.push_back(static_cast<int64_t>(value));
    }
    return true;
  }
  return field.getInt(name, out.emplace_back(), failure);
}

bool Decoder::floats(const Field &field, std::string_view name, std::vector<float> &out) {
  if (field.type == WireType::Length) {
    Cursor packed(field.bytes, bytes, failure);
    Field element;
    element.type = WireType::Fixed32;
    while (!packed.atEnd())
      if (!packed.fixed(4, element.value) || !element.getFloat(name, out.emplace_back(), failure))
        return false;
    return true;
  }
  return field.getFloat(name, out.emplace_back(), failure);
}

bool Decoder::externalEntry(std::string_view message, ExternalEntry &out) {
  Cursor cursor(message, bytes, failure);
  Field field;
  while (cursor.next(field)) {
    if (field.number == 1 && !string(field, "external_data.key", out.key))
      return false;
    if (field.number == 2 && !string(field, "external_data.value", out.value))
      return false;
  }
  return !failure;
}

bool Decoder::tensor(std::string_view message, Tensor &out) {
  out.message = message;
  Cursor cursor(message, bytes, failure);
  Field field;
  while (cursor.next(field)) {
    bool ok = true;
    int64_t number = 0;
    switch (field.number) {
    case 1:
      ok = ints(field, "tensor.dims", out.dims);
      break;
    case 2:
      ok = field.getInt("tensor.data_type", number, failure);
      if (ok && (number < INT32_MIN || number > INT32_MAX))
        ok = failure.set(field.offset, "tensor.data_type is " + std::to_string(number) + ": not a data type");
      out.type = static_cast<DataType>(number);
      break;
    case 3:
      out.segmented = true;
      break;
    case 8:
      ok = string(field, "tensor.name", out.name);
      break;
    case 9:
      ok = string(field, "tensor.raw_data", out.raw.emplace());
      break;
    case 13:
      ok = nested(field, "tensor.external_data", out.external.emplace_back(), &Decoder::externalEntry);
      break;
    case 14:
      ok = field.getInt("tensor.data_location", number, failure);
      if (ok && number != 0 && number != 1)
        ok = failure.set(field.offset, "tensor.data_location is " + std::to_string(number) + ": need 0 or 1");
      out.isExternal = number == 1;
      break;
    }
    if (!ok)
      return false;
    if (file && field.bytes.size() >= dropFrom)
      file->drop(field.bytes);
  }
  return !failure;
}

bool Decoder::dimension(std::string_view message, Dimension &out) {
  Cursor cursor(message, bytes, failure);
  Field field;
  while (cursor.next(field)) {
    if (field.number == 1 && !field.getInt("dim.dim_value", out.value.emplace(), failure))
      return false;
    if (field.number == 2 && !string(field, "dim.dim_param", out.name))
      return false;
  }
  return !failure;
}

bool Decoder::shape(std::string_view message, std::vector<Dimension> &out) {
  Cursor cursor(message, bytes, failure);
  Field field;
  while (cursor.next(field))
    if (field.number == 1 && !nested(field, "shape.dim", out.emplace_back(), &Decoder::dimension))
      return false;
  return !failure;
}

bool Decoder::tensorType(std::string_view message, Type &out) {
  Cursor cursor(message, bytes, failure);
  Field field;
  while (cursor.next(field)) {
    int64_t number = 0;
    if (field.number == 1) {
      if (!field.getInt("tensor_type.elem_type", number, failure))
        return false;
      out.element = static_cast<DataType>(number);
    }
    if (field.number == 2) {
      if (!out.shape)
        out.shape.emplace();
      if (!nested(field, "tensor_type.shape", *out.shape, &Decoder::shape))
        return false;
    }
  }
  return !failure;
}

bool Decoder::type(std::string_view message, Type &out) {
  Cursor cursor(message, bytes, failure);
  Field field;
  while (cursor.next(field)) {
    switch (field.number) {
    case 1:
      out.kind = Type::Kind::Tensor;
      if (!nested(field, "type.tensor_type", out, &Decoder::tensorType))
        return false;
      break;
    case 4:
      out.kind = Type::Kind::Sequence;
      break;
    case 5:
      out.kind = Type::Kind::Map;
      break;
    case 8:
      out.kind = Type::Kind::SparseTensor;
      break;
    case 9:
      out.kind = Type::Kind::Optional;
      break;
    }
  }
  return !failure;
}

bool Decoder::valueInfo(std::string_view message, ValueInfo &out) {
  Cursor cursor(message, bytes, failure);
  Field field;
  while (cursor.next(field)) {
    if (field.number == 1 && !string(field, "value_info.name", out.name))
      return false;
    if (field.number == 2 && !nested(field, "value_info.type", out.type, &Decoder::type))
      return false;
  }
  return !failure;
}

/// The type of an attribute that does not say: models of IR version 1 leave it out.
static AttributeType typeOfField(uint32_t number) {
  switch (number) {
  case 2:
    return AttributeType::Float;
  case 3:
    return AttributeType::Int;
  case 4:
    return AttributeType::String;
  case 5:
    return AttributeType::Tensor;
  case 6:
    return AttributeType::Graph;
  case 7:
    return AttributeType::Floats;
  case 8:
    return AttributeType::Ints;
  case 9:
    return AttributeType::Strings;
  default:
    return AttributeType::Undefined;
  }
}

bool Decoder::attribute(std::string_view message, Attribute &out) {
  Cursor cursor(message, bytes, failure);
  Field field;
  AttributeType implied = AttributeType::Undefined;
  while (cursor.next(field)) {
    bool ok = true;
    int64_t number = 0;
    if (typeOfField(field.number) != AttributeType::Undefined)
      implied = typeOfField(field.number);
    switch (field.number) {
    case 1:
      ok = string(field, "attribute.name", out.name);
      break;
    case 2:
      ok = field.getFloat("attribute.f", out.f, failure);
      break;
    case 3:
      ok = field.getInt("attribute.i", out.i, failure);
      break;
    case 4:
      ok = string(field, "attribute.s", out.s);
      break;
    case 5:
      if (!out.tensor)
        out.tensor = std::make_unique<Tensor>();
      ok = nested(field, "attribute.t", *out.tensor, &Decoder::tensor);
      break;
    case 6:
      if (!out.graph)
        out.graph = std::make_unique<Graph>();
      ok = nested(field, "attribute.g", *out.graph, &Decoder::graph);
      break;
    case 7:
      ok = floats(field, "attribute.floats", out.floats);
      break;
    case 8:
      ok = ints(field, "attribute.ints", out.ints);
      break;
    case 9:
      ok = strings(field, "attribute.strings", out.strings);
      break;
    case 20:
      ok = field.getInt("attribute.type", number, failure);
      if (ok && (number < 0 || number > 14))
        ok = failure.set(field.offset, "attribute.type is " + std::to_string(number) + ": need 0 to 14");
      out.type = static_cast<AttributeType>(number);
      break;
    case 21:
      ok = string(field, "attribute.ref_attr_name", out.refName);
      break;
    }
    if (!ok)
      return false;
  }
  if (out.type == AttributeType::Undefined)
    out.type = implied;
  return !failure;
}

bool Decoder::node(std::string_view message, Node &out) {
  Cursor cursor(message, bytes, failure);
  Field field;
  while (cursor.next(field)) {
    bool ok = true;
    switch (field.number) {
    case 1:
      ok = strings(field, "node.input", out.inputs);
      break;
    case 2:
      ok = strings(field, "node.output", out.outputs);
      break;
    case 3:
      ok = string(field, "node.name", out.name);
      break;
    case 4:
      ok = string(field, "node.op_type", out.opType);
      break;
    case 5:
      ok = nested(field, "node.attribute", out.attributes.emplace_back(), &Decoder::attribute);
      break;
    case 7:
      ok = string(field, "node.domain", out.domain);
      break;
    case 8:
      ok = string(field, "node.overload", out.overload);
      break;
    }
    if (!ok)
      return false;
  }
  return !failure;
}

bool Decoder::graph(std::string_view message, Graph &out) {
  Cursor cursor(message, bytes, failure);
  Field field;
  while (cursor.next(field)) {
    bool ok = true;
    switch (field.number) {
    case 1:
      ok = nested(field, "graph.node", out.nodes.emplace_back(), &Decoder::node);
      break;
    case 2:
      ok = string(field, "graph.name", out.name);
      break;
    case 5:
      ok = nested(field, "graph.initializer", out.initializers.emplace_back(), &Decoder::tensor);
      break;
    case 11:
      ok = nested(field, "graph.input", out.inputs.emplace_back(), &Decoder::valueInfo);
      break;
    case 12:
      ok = nested(field, "graph.output", out.outputs.emplace_back(), &Decoder::valueInfo);
      break;
    case 13:
      ok = nested(field, "graph.value_info", out.values.emplace_back(), &Decoder::valueInfo);
      break;
    case 15:
      ++out.sparseInitializers;
      break;
    }
    if (!ok)
      return false;
  }
  return !failure;
}

bool Decoder::operatorSet(std::string_view message, OperatorSet &out) {
  Cursor cursor(message, bytes, failure);
  Field field;
  while (cursor.next(field)) {
    if (field.number == 1 && !string(field, "opset_import.domain", out.domain))
      return false;
    if (field.number == 2 && !field.getInt("opset_import.version", out.version, failure))
      return false;
  }
  return !failure;
}

bool Decoder::function(std::string_view message, Function &out) {
  Cursor cursor(message, bytes, failure);
  Field field;
  while (cursor.next(field)) {
    bool ok = true;
    switch (field.number) {
    case 1:
      ok = string(field, "function.name", out.name);
      break;
    case 4:
      ok = strings(field, "function.input", out.inputs);
      break;
    case 5:
      ok = strings(field, "function.output", out.outputs);
      break;
    case 6:
      ok = strings(field, "function.attribute", out.attributes);
      break;
    case 7:
      ok = nested(field, "function.node", out.nodes.emplace_back(), &Decoder::node);
      break;
    case 9:
      ok = nested(field, "function.opset_import", out.operatorSets.emplace_back(), &Decoder::operatorSet);
      break;
    case 10:
      ok = string(field, "function.domain", out.domain);
      break;
    case 11:
      ok = nested(field, "function.attribute_proto", out.defaults.emplace_back(), &Decoder::attribute);
      break;
    case 13:
      ok = string(field, "function.overload", out.overload);
      break;
    }
    if (!ok)
      return false;
  }
  return !failure;
}

bool Decoder::model(std::string_view message, Model &out) {
  Cursor cursor(message, bytes, failure);
  Field field;
  while (cursor.next(field)) {
    bool ok = true;
    switch (field.number) {
    case 1:
      ok = field.getInt("model.ir_version", out.irVersion, failure);
      break;
    case 2:
      ok = string(field, "model.producer_name", out.producer);
      break;
    case 3:
      ok = string(field, "model.producer_version", out.producerVersion);
      break;
    case 7:
      if (!out.graph)
        out.graph.emplace();
      ok = nested(field, "model.graph", *out.graph, &Decoder::graph);
      break;
    case 8:
      ok = nested(field, "model.opset_import", out.operatorSets.emplace_back(), &Decoder::operatorSet);
      break;
    case 25:
      ok = nested(field, "model.functions", out.functions.emplace_back(), &Decoder::function);
      break;
    }
    if (!ok)
      return false;
  }
  if (failure)
    return false;
  if (!out.graph)
    return failure.set(message.size(), "no graph: need field 7 of the model message, have none");
  return true;
}

} // namespace

std::optional<Model> plim::onnx::wire::decodeModel(std::string_view bytes, std::string &error) {
  Model model;
  Decoder decoder(bytes, nullptr);
  if (!decoder.model(bytes, model)) {
    error = decoder.failure.message;
    return std::nullopt;
  }
  return model;
}

std::optional<Model> plim::onnx::wire::readModel(MappedFile file, std::string &error) {
  Model model;
  const std::string_view bytes = file.bytes();
  Decoder decoder(bytes, &file);
  if (!decoder.model(bytes, model)) {
    error = decoder.failure.message;
    return std::nullopt;
  }
  file.drop(bytes);
  model.file = std::move(file);
  return model;
}
