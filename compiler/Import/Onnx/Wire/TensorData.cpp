#include "compiler/Import/Onnx/Wire/TensorData.h"
#include "compiler/Import/Onnx/Wire/Cursor.h"

using namespace plim::onnx::wire;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "raw tensor data is little-endian and is used in place");

namespace {

struct TypeRow {
  const char *name;
  unsigned bits;
  /// The field of TensorProto that holds typed data, 0 if there is none.
  uint32_t field;
};

enum : uint32_t { FloatData = 4, Int32Data = 5, Int64Data = 7, DoubleData = 10, Uint64Data = 11 };

constexpr TypeRow typeRows[] = {
    {"undefined", 0, 0},
    {"float", 32, FloatData},
    {"uint8", 8, Int32Data},
    {"int8", 8, Int32Data},
    {"uint16", 16, Int32Data},
    {"int16", 16, Int32Data},
    {"int32", 32, Int32Data},
    {"int64", 64, Int64Data},
    {"string", 0, 0},
    {"bool", 8, Int32Data},
    {"float16", 16, Int32Data},
    {"double", 64, DoubleData},
    {"uint32", 32, Uint64Data},
    {"uint64", 64, Uint64Data},
    {"complex64", 64, FloatData},
    {"complex128", 128, DoubleData},
    {"bfloat16", 16, Int32Data},
    {"float8e4m3fn", 8, Int32Data},
    {"float8e4m3fnuz", 8, Int32Data},
    {"float8e5m2", 8, Int32Data},
    {"float8e5m2fnuz", 8, Int32Data},
    {"uint4", 4, Int32Data},
    {"int4", 4, Int32Data},
    {"float4e2m1", 4, Int32Data},
    {"float8e8m0", 8, Int32Data},
    {"uint2", 2, Int32Data},
    {"int2", 2, Int32Data},
};

const TypeRow *rowOf(DataType type) {
  const auto number = static_cast<int32_t>(type);
  if (number < 0 || number >= static_cast<int32_t>(std::size(typeRows)))
    return nullptr;
  return &typeRows[number];
}

/// Bytes that one number of the typed field stands for in raw form: half a complex number, one int8, two int4.
unsigned bytesPerNumber(DataType type) {
  const TypeRow *row = rowOf(type);
  if (row->field == FloatData)
    return 4;
  if (row->field == DoubleData)
    return 8;
  return row->bits < 8 ? 1 : row->bits / 8;
}

/// Calls `visit(number)` for each element of typed field `wanted`, packed or not.
template <typename Visit>
bool forEachNumber(const Tensor &tensor, std::string_view file, uint32_t wanted, Failure &failure, Visit visit) {
  const unsigned width = wanted == FloatData ? 4 : wanted == DoubleData ? 8 : 0;
  Cursor cursor(tensor.message, file, failure);
  Field field;
  while (cursor.next(field)) {
    if (field.number != wanted)
      continue;
    if (field.type == WireType::Length) {
      Cursor packed(field.bytes, file, failure);
      while (!packed.atEnd()) {
        uint64_t number;
        if (!(width ? packed.fixed(width, number) : packed.varint(number)) || !visit(number))
          return false;
      }
      continue;
    }
    const WireType need = width == 4 ? WireType::Fixed32 : width == 8 ? WireType::Fixed64 : WireType::Varint;
    if (field.type != need)
      return failure.set(field.offset, "field " + std::to_string(wanted) + " of the tensor has the wrong wire type");
    if (!visit(field.value))
      return false;
  }
  return !failure;
}

} // namespace

std::string plim::onnx::wire::typeName(DataType type) {
  const TypeRow *row = rowOf(type);
  return row ? row->name : "data type " + std::to_string(static_cast<int32_t>(type));
}

unsigned plim::onnx::wire::bitsOf(DataType type) {
  const TypeRow *row = rowOf(type);
  return row ? row->bits : 0;
}

bool plim::onnx::wire::countElements(const std::vector<int64_t> &dims, uint64_t &count, std::string &error) {
  count = 1;
  // A zero dimension makes the tensor empty, whatever the others multiply to.
  bool empty = false;
  bool overflow = false;
  for (int64_t dim : dims) {
    if (dim < 0) {
      error = "dimension " + std::to_string(dim) + " is negative";
      return false;
    }
    empty |= dim == 0;
    if (dim != 0)
      overflow |= __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count) || count > INT64_MAX;
  }
  if (empty)
    count = 0;
  else if (overflow) {
    error = "the dimensions multiply to more than 2^63 elements";
    return false;
  }
  return true;
}

bool plim::onnx::wire::byteSize(const Tensor &tensor, uint64_t &bytes, std::string &error) {
  const unsigned bits = bitsOf(tensor.type);
  if (!bits) {
    error = "elements of type " + typeName(tensor.type) + " have no raw form";
    return false;
  }
  uint64_t count;
  if (!countElements(tensor.dims, count, error))
    return false;
  uint64_t total;
  if (__builtin_mul_overflow(count, bits, &total) || total > INT64_MAX) {
    error = "the tensor has more than 2^60 bytes";
    return false;
  }
  bytes = (total + 7) / 8;
  return true;
}

bool plim::onnx::wire::bytesInModel(const Tensor &tensor, std::string_view file, std::optional<std::string_view> &out,
                                    std::string &error) {
  out.reset();
  uint64_t need;
  if (!byteSize(tensor, need, error))
    return false;
  std::string_view bytes;
  if (tensor.raw) {
    bytes = *tensor.raw;
  } else {
    const uint32_t wanted = rowOf(tensor.type)->field;
    if (wanted != FloatData && wanted != DoubleData)
      return true;
    Failure failure;
    Cursor cursor(tensor.message, file, failure);
    Field field;
    unsigned runs = 0;
    while (cursor.next(field))
      if (field.number == wanted) {
        ++runs;
        if (field.type != WireType::Length)
          return true;
        bytes = field.bytes;
      }
    if (runs > 1)
      return true;
  }
  if (bytes.size() != need) {
    error = "need " + std::to_string(need) + " bytes of data, have " + std::to_string(bytes.size());
    if (!bytes.empty())
      error += " (byte " + std::to_string(bytes.data() - file.data()) + ")";
    return false;
  }
  out = bytes;
  return true;
}

bool plim::onnx::wire::decodeElements(const Tensor &tensor, std::string_view file,
                                      const std::function<void(std::string_view)> &sink, std::string &error) {
  constexpr size_t pieceBytes = size_t(1) << 16;
  std::optional<std::string_view> inPlace;
  if (!bytesInModel(tensor, file, inPlace, error))
    return false;
  if (inPlace) {
    for (size_t at = 0; at < inPlace->size(); at += pieceBytes)
      sink(inPlace->substr(at, pieceBytes));
    return true;
  }
  uint64_t need;
  if (!byteSize(tensor, need, error))
    return false;

  const TypeRow *row = rowOf(tensor.type);
  const unsigned width = bytesPerNumber(tensor.type);
  // A number may be written with its sign or without (bit patterns of float16 lie in int32_data), but must fit.
  const int64_t least = width >= 8 ? INT64_MIN : -(int64_t(1) << (8 * width - 1));
  const int64_t most = width >= 8 ? INT64_MAX : (int64_t(1) << (8 * width)) - 1;
  const bool integers = row->field != FloatData && row->field != DoubleData;
  Failure failure;
  uint64_t have = 0;
  std::string piece;
  bool ok = forEachNumber(tensor, file, row->field, failure, [&](uint64_t number) {
    const auto value = static_cast<int64_t>(number);
    if (integers && width < 8 && (value < least || value > most)) {
      error = "element " + std::to_string(have / width) + " is " + std::to_string(value) + ", which is no " + row->name;
      return false;
    }
    have += width;
    if (have > need)
      return true; // counted, to be reported below
    piece.append(reinterpret_cast<const char *>(&number), width);
    if (piece.size() >= pieceBytes) {
      sink(piece);
      piece.clear();
    }
    return true;
  });
  if (!ok) {
    if (failure)
      error = failure.message;
    return false;
  }
  if (have != need) {
    error = "need " + std::to_string(need) + " bytes of data, have " + std::to_string(have);
    return false;
  }
  if (!piece.empty())
    sink(piece);
  return true;
}
