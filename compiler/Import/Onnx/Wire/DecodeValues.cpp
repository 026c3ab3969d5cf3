// Messages about values: tensors, and the types and shapes of what flows between nodes.
#include "compiler/Import/Onnx/Wire/Decoder.h"

namespace plim::onnx::wire {

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
  return eachField(message, [&](const Field &field) {
    switch (field.number) {
    case 1:
      return string(field, "external_data.key", out.key);
    case 2:
      return string(field, "external_data.value", out.value);
    default:
      return true;
    }
  });
}

bool Decoder::tensorField(const Field &field, Tensor &out) {
  int64_t number = 0;
  switch (field.number) {
  case 1:
    return ints(field, "tensor.dims", out.dims);
  case 2:
    if (!field.getInt("tensor.data_type", number, failure))
      return false;
    if (number < INT32_MIN || number > INT32_MAX)
      return failure.set(field.offset, "tensor.data_type is " + std::to_string(number) + ": not a data type");
    out.type = static_cast<DataType>(number);
    return true;
  case 3:
    out.segmented = true;
    return true;
  case 8:
    return string(field, "tensor.name", out.name);
  case 9:
    return field.getBytes("tensor.raw_data", out.raw.emplace(), failure);
  case 13:
    return nested(field, "tensor.external_data", out.external.emplace_back(), &Decoder::externalEntry);
  case 14:
    if (!field.getInt("tensor.data_location", number, failure))
      return false;
    if (number != 0 && number != 1)
      return failure.set(field.offset, "tensor.data_location is " + std::to_string(number) + ": need 0 or 1");
    out.isExternal = number == 1;
    return true;
  default:
    return true;
  }
}

bool Decoder::tensor(std::string_view message, Tensor &out) {
  out.message = message;
  return eachField(message, [&](const Field &field) {
    if (!tensorField(field, out))
      return false;
    if (file && field.bytes.size() >= dropFrom)
      file->drop(field.bytes);
    return true;
  });
}

bool Decoder::dimension(std::string_view message, Dimension &out) {
  return eachField(message, [&](const Field &field) {
    switch (field.number) {
    case 1:
      return field.getInt("dim.dim_value", out.value.emplace(), failure);
    case 2:
      return string(field, "dim.dim_param", out.name);
    default:
      return true;
    }
  });
}

bool Decoder::shape(std::string_view message, std::vector<Dimension> &out) {
  return eachField(message, [&](const Field &field) {
    return field.number != 1 || nested(field, "shape.dim", out.emplace_back(), &Decoder::dimension);
  });
}

bool Decoder::tensorType(std::string_view message, Type &out) {
  return eachField(message, [&](const Field &field) {
    int64_t number = 0;
    switch (field.number) {
    case 1:
      if (!field.getInt("tensor_type.elem_type", number, failure))
        return false;
      out.element = static_cast<DataType>(number);
      return true;
    case 2:
      if (!out.shape)
        out.shape.emplace();
      return nested(field, "tensor_type.shape", *out.shape, &Decoder::shape);
    default:
      return true;
    }
  });
}

bool Decoder::type(std::string_view message, Type &out) {
  return eachField(message, [&](const Field &field) {
    switch (field.number) {
    case 1:
      out.kind = Type::Kind::Tensor;
      return nested(field, "type.tensor_type", out, &Decoder::tensorType);
    case 4:
      out.kind = Type::Kind::Sequence;
      return true;
    case 5:
      out.kind = Type::Kind::Map;
      return true;
    case 8:
      out.kind = Type::Kind::SparseTensor;
      return true;
    case 9:
      out.kind = Type::Kind::Optional;
      return true;
    default:
      return true;
    }
  });
}

bool Decoder::valueInfo(std::string_view message, ValueInfo &out) {
  return eachField(message, [&](const Field &field) {
    switch (field.number) {
    case 1:
      return string(field, "value_info.name", out.name);
    case 2:
      return nested(field, "value_info.type", out.type, &Decoder::type);
    default:
      return true;
    }
  });
}

} // namespace plim::onnx::wire
