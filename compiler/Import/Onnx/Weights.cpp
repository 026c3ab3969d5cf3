// Elements of ONNX tensors: small ones become constants, others parameters that name bytes of a file.
#include "compiler/Import/Onnx/ModelImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

Type ModelImporter::elementType(wire::DataType type) {
  using wire::DataType;
  const auto integer = [&](unsigned width, IntegerType::SignednessSemantics sign) -> Type {
    return IntegerType::get(context, width, sign);
  };
  switch (type) {
  case DataType::Float:
    return builder.getF32Type();
  case DataType::Double:
    return builder.getF64Type();
  case DataType::Float16:
    return builder.getF16Type();
  case DataType::Bfloat16:
    return builder.getBF16Type();
  case DataType::Bool:
    return builder.getI1Type();
  case DataType::Int8:
    return builder.getI8Type();
  case DataType::Int16:
    return builder.getI16Type();
  case DataType::Int32:
    return builder.getI32Type();
  case DataType::Int64:
    return builder.getI64Type();
  case DataType::Uint8:
    return integer(8, IntegerType::Unsigned);
  case DataType::Uint16:
    return integer(16, IntegerType::Unsigned);
  case DataType::Uint32:
    return integer(32, IntegerType::Unsigned);
  case DataType::Uint64:
    return integer(64, IntegerType::Unsigned);
  default:
    return {};
  }
}

static DenseElementsAttr elementsOf(RankedTensorType type, StringRef bytes) {
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, ArrayRef<char>(bytes.data(), bytes.size()));
  SmallVector<bool> flags;
  for (char byte : bytes)
    flags.push_back(byte != 0);
  return DenseElementsAttr::get(type, flags);
}

Value ModelImporter::weight(const wire::Tensor &tensor, StringRef name, Location loc, std::string &error) {
  const std::string what = "tensor '" + name.str() + "': ";
  const auto fail = [&](const Twine &message) {
    error = (what + message).str();
    return Value();
  };
  if (tensor.segmented)
    return fail("segments are not supported");
  const Type element = elementType(tensor.type);
  if (!element)
    return fail("elements of type " + wire::typeName(tensor.type) + " are not supported");
  uint64_t bytes;
  if (!wire::byteSize(tensor, bytes, error))
    return fail(error);
  const auto type = RankedTensorType::get(tensor.dims, element);
  const bool small = bytes <= uint64_t(graph::ConstantOp::kMaxBytes);
  const auto constant = [&](StringRef data) -> Value {
    return graph::ConstantOp::create(builder, loc, type, cast<ElementsAttr>(elementsOf(type, data)));
  };
  const auto build = [&](const Weight &w) -> Value {
    return graph::ParameterOp::create(builder, loc, type, w.name, w.file, static_cast<int64_t>(w.offset),
                                      static_cast<int64_t>(w.bytes));
  };
  const auto parameter = [&](StringRef file, uint64_t offset) {
    // Names of parameters are global; those of graphs inside others need not be.
    std::string unique = name.str();
    for (unsigned i = 1; !weightNames.insert(unique).second; ++i)
      unique = (name + "_" + Twine(i)).str();
    return build(weights[&tensor] = {unique, file.str(), offset, bytes});
  };
  if (const auto known = weights.find(&tensor); known != weights.end())
    return build(known->second);

  if (tensor.isExternal) {
    wire::FileRange range;
    if (!externalFolder.locate(tensor, bytes, range, error))
      return fail(error);
    if (!small)
      return parameter(range.path, range.offset);
    auto file = wire::MappedFile::open(range.path, error);
    if (!file)
      return fail(error);
    if (range.offset + bytes > file->bytes().size())
      return fail("the external data shrank while it was read");
    return constant(toRef(file->bytes().substr(range.offset, bytes)));
  }

  const std::string_view file = model.file.bytes();
  std::optional<std::string_view> inPlace;
  if (!wire::bytesInModel(tensor, file, inPlace, error))
    return fail(error);
  if (inPlace && !small)
    return parameter(path, static_cast<uint64_t>(inPlace->data() - file.data()));
  std::string data;
  if (small) {
    if (!wire::decodeElements(tensor, file, [&](std::string_view piece) { data += piece; }, error))
      return fail(error);
    return constant(data);
  }

  const std::string &decoded = options.decodedWeightsFile;
  if (decoded.empty())
    return fail("its " + Twine(bytes) +
                " bytes are stored as typed fields, not as raw data, and no file for decoded "
                "weights was named");
  if (!decodedWeights) {
    std::error_code code;
    decodedWeights = std::make_unique<llvm::raw_fd_ostream>(decoded, code);
    if (code) {
      status = ImportStatus::Environment;
      return fail("cannot write '" + decoded + "': " + code.message());
    }
  }
  constexpr uint64_t alignment = 64;
  decodedWeights->write_zeros((alignment - decodedWeights->tell() % alignment) % alignment);
  const uint64_t offset = decodedWeights->tell();
  if (!wire::decodeElements(tensor, file, [&](std::string_view piece) { *decodedWeights << toRef(piece); }, error))
    return fail(error);
  model.file.drop(tensor.message);
  return parameter(decoded, offset);
}
