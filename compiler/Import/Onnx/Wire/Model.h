// The messages of onnx.proto, decoded as far as a compiler reads them. Strings, weights and typed tensor data are views
// of the mapped file, which must outlive every structure here (Model owns it).
#pragma once
#include "compiler/Import/Onnx/Wire/MappedFile.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plim::onnx::wire {

/// TensorProto.DataType, by its number on the wire.
enum class DataType : int32_t {
  Undefined = 0,
  Float = 1,
  Uint8 = 2,
  Int8 = 3,
  Uint16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  Uint32 = 12,
  Uint64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  Bfloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  Uint4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  Uint2 = 25,
  Int2 = 26,
};

struct ExternalEntry {
  std::string_view key, value;
};

struct Tensor {
  std::string_view name;
  DataType type = DataType::Undefined;
  std::vector<int64_t> dims;
  bool segmented = false;
  /// Field 9. Absent is not the same as empty.
  std::optional<std::string_view> raw;
  std::vector<ExternalEntry> external;
  bool isExternal = false;
  /// The whole message: typed data (float_data, int32_data, ...) is read from here on demand, see TensorData.h.
  std::string_view message;
};

/// One dimension: a value, a name, or (neither) an unnamed open one.
struct Dimension {
  std::optional<int64_t> value;
  std::string_view name;
};

/// TypeProto. Only tensors have a kind of their own; the others are named so that a message can say what was met.
struct Type {
  enum class Kind { None, Tensor, Sequence, Map, SparseTensor, Optional } kind = Kind::None;
  DataType element = DataType::Undefined;
  /// Absent: unknown rank.
  std::optional<std::vector<Dimension>> shape;
};

struct ValueInfo {
  std::string_view name;
  Type type;
};

struct Graph;

enum class AttributeType : int32_t {
  Undefined = 0,
  Float = 1,
  Int = 2,
  String = 3,
  Tensor = 4,
  Graph = 5,
  Floats = 6,
  Ints = 7,
  Strings = 8,
  Tensors = 9,
  Graphs = 10,
  SparseTensor = 11,
  SparseTensors = 12,
  TypeProto = 13,
  TypeProtos = 14,
};

struct Attribute {
  std::string_view name;
  /// In a function body: the attribute of the call whose value this one takes.
  std::string_view refName;
  AttributeType type = AttributeType::Undefined;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::unique_ptr<Tensor> tensor;
  std::unique_ptr<Graph> graph;
};

struct Node {
  std::vector<std::string_view> inputs, outputs;
  std::string_view name, opType, domain, overload;
  std::vector<Attribute> attributes;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs, outputs, values;
  /// Names of sparse initializers, which are not supported: kept to be reported.
  unsigned sparseInitializers = 0;
};

struct OperatorSet {
  std::string_view domain;
  int64_t version = 0;
};

struct Function {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  std::vector<OperatorSet> operatorSets;
};

struct Model {
  MappedFile file;
  int64_t irVersion = 0;
  std::string_view producer, producerVersion;
  std::optional<Graph> graph;
  std::vector<OperatorSet> operatorSets;
  std::vector<Function> functions;
};

/// Decodes the model in `file`, which it keeps mapped. The pages that were read are given back before it returns.
std::optional<Model> readModel(MappedFile file, std::string &error);

/// Decodes a model that is in memory already (tests and the fuzz target); `bytes` must outlive it.
std::optional<Model> decodeModel(std::string_view bytes, std::string &error);

} // namespace plim::onnx::wire
