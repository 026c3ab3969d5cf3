// Messages about computation: the model, its graphs, nodes, attributes and functions.
#include "compiler/Import/Onnx/Wire/Decoder.h"

namespace plim::onnx::wire {

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

bool Decoder::attributeField(const Field &field, Attribute &out) {
  int64_t number = 0;
  switch (field.number) {
  case 1:
    return string(field, "attribute.name", out.name);
  case 2:
    return field.getFloat("attribute.f", out.f, failure);
  case 3:
    return field.getInt("attribute.i", out.i, failure);
  case 4:
    return field.getBytes("attribute.s", out.s, failure);
  case 5:
    if (!out.tensor)
      out.tensor = std::make_unique<Tensor>();
    return nested(field, "attribute.t", *out.tensor, &Decoder::tensor);
  case 6:
    if (!out.graph)
      out.graph = std::make_unique<Graph>();
    return nested(field, "attribute.g", *out.graph, &Decoder::graph);
  case 7:
    return floats(field, "attribute.floats", out.floats);
  case 8:
    return ints(field, "attribute.ints", out.ints);
  case 9:
    return field.getBytes("attribute.strings", out.strings.emplace_back(), failure);
  case 20:
    if (!field.getInt("attribute.type", number, failure))
      return false;
    if (number < 0 || number > 14)
      return failure.set(field.offset, "attribute.type is " + std::to_string(number) + ": need 0 to 14");
    out.type = static_cast<AttributeType>(number);
    return true;
  case 21:
    return string(field, "attribute.ref_attr_name", out.refName);
  default:
    return true;
  }
}

bool Decoder::attribute(std::string_view message, Attribute &out) {
  AttributeType implied = AttributeType::Undefined;
  bool read = eachField(message, [&](const Field &field) {
    if (typeOfField(field.number) != AttributeType::Undefined)
      implied = typeOfField(field.number);
    return attributeField(field, out);
  });
  if (out.type == AttributeType::Undefined)
    out.type = implied;
  if (!read)
    return false;
  const bool isTensor = out.type == AttributeType::Tensor, isGraph = out.type == AttributeType::Graph;
  if (out.refName.empty() && ((isTensor && !out.tensor) || (isGraph && !out.graph)))
    return failure.set(static_cast<uint64_t>(message.data() - bytes.data()),
                       "attribute '" + std::string(out.name) + "' of type " + (isTensor ? "tensor" : "graph") +
                           " has none");
  return true;
}

bool Decoder::node(std::string_view message, Node &out) {
  return eachField(message, [&](const Field &field) {
    switch (field.number) {
    case 1:
      return strings(field, "node.input", out.inputs);
    case 2:
      return strings(field, "node.output", out.outputs);
    case 3:
      return string(field, "node.name", out.name);
    case 4:
      return string(field, "node.op_type", out.opType);
    case 5:
      return nested(field, "node.attribute", out.attributes.emplace_back(), &Decoder::attribute);
    case 7:
      return string(field, "node.domain", out.domain);
    case 8:
      return string(field, "node.overload", out.overload);
    default:
      return true;
    }
  });
}

bool Decoder::graph(std::string_view message, Graph &out) {
  return eachField(message, [&](const Field &field) {
    switch (field.number) {
    case 1:
      return nested(field, "graph.node", out.nodes.emplace_back(), &Decoder::node);
    case 2:
      return string(field, "graph.name", out.name);
    case 5:
      return nested(field, "graph.initializer", out.initializers.emplace_back(), &Decoder::tensor);
    case 11:
      return nested(field, "graph.input", out.inputs.emplace_back(), &Decoder::valueInfo);
    case 12:
      return nested(field, "graph.output", out.outputs.emplace_back(), &Decoder::valueInfo);
    case 13:
      return nested(field, "graph.value_info", out.values.emplace_back(), &Decoder::valueInfo);
    case 15:
      ++out.sparseInitializers;
      return true;
    default:
      return true;
    }
  });
}

bool Decoder::operatorSet(std::string_view message, OperatorSet &out) {
  return eachField(message, [&](const Field &field) {
    switch (field.number) {
    case 1:
      return string(field, "opset_import.domain", out.domain);
    case 2:
      return field.getInt("opset_import.version", out.version, failure);
    default:
      return true;
    }
  });
}

bool Decoder::function(std::string_view message, Function &out) {
  return eachField(message, [&](const Field &field) {
    switch (field.number) {
    case 1:
      return string(field, "function.name", out.name);
    case 4:
      return strings(field, "function.input", out.inputs);
    case 5:
      return strings(field, "function.output", out.outputs);
    case 6:
      return strings(field, "function.attribute", out.attributes);
    case 7:
      return nested(field, "function.node", out.nodes.emplace_back(), &Decoder::node);
    case 9:
      return nested(field, "function.opset_import", out.operatorSets.emplace_back(), &Decoder::operatorSet);
    case 10:
      return string(field, "function.domain", out.domain);
    case 11:
      return nested(field, "function.attribute_proto", out.defaults.emplace_back(), &Decoder::attribute);
    case 13:
      return string(field, "function.overload", out.overload);
    default:
      return true;
    }
  });
}

bool Decoder::model(std::string_view message, Model &out) {
  bool read = eachField(message, [&](const Field &field) {
    switch (field.number) {
    case 1:
      return field.getInt("model.ir_version", out.irVersion, failure);
    case 2:
      return string(field, "model.producer_name", out.producer);
    case 3:
      return string(field, "model.producer_version", out.producerVersion);
    case 7:
      if (!out.graph)
        out.graph.emplace();
      return nested(field, "model.graph", *out.graph, &Decoder::graph);
    case 8:
      return nested(field, "model.opset_import", out.operatorSets.emplace_back(), &Decoder::operatorSet);
    case 25:
      return nested(field, "model.functions", out.functions.emplace_back(), &Decoder::function);
    default:
      return true;
    }
  });
  if (read && !out.graph)
    return failure.set(message.size(), "no graph: need field 7 of the model message, have none");
  return read;
}

std::optional<Model> decodeModel(std::string_view bytes, std::string &error) {
  Model model;
  Decoder decoder(bytes, nullptr);
  if (!decoder.model(bytes, model)) {
    error = decoder.failure.message;
    return std::nullopt;
  }
  return model;
}

std::optional<Model> readModel(MappedFile file, std::string &error) {
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

} // namespace plim::onnx::wire
