// Where the elements of a tensor lie, and what they are. ONNX has three ways to store them: as raw little-endian bytes
// in the message, as typed fields (packed varints or numbers), or in another file of the model's folder.
#pragma once
#include "compiler/Import/Onnx/Wire/Model.h"
#include <functional>
#include <map>

namespace plim::onnx::wire {

/// "float", "int64", ...; the number in words if ONNX knows no such type.
std::string typeName(DataType type);
/// Bits an element takes in raw data; 0 for strings and for what ONNX does not know.
unsigned bitsOf(DataType type);

/// The product of `dims`, with negative dimensions and overflow refused.
bool countElements(const std::vector<int64_t> &dims, uint64_t &count, std::string &error);
/// Bytes of raw data that the type and the dimensions of `tensor` ask for (sub-byte types round up to whole bytes).
bool byteSize(const Tensor &tensor, uint64_t &bytes, std::string &error);

/// A range of bytes of a file.
struct FileRange {
  std::string path;
  uint64_t offset = 0, bytes = 0;
};

/// The folder that external data may come from: that of the model. A location that leads out of it, by an absolute
/// path, by "..", or by a symbolic link, is refused.
class ExternalFolder {
public:
  explicit ExternalFolder(const std::string &modelPath);
  /// Finds the bytes of `tensor`, of which there must be `need`, and checks that the file holds them.
  bool locate(const Tensor &tensor, uint64_t need, FileRange &out, std::string &error);

private:
  struct File {
    std::string path;
    uint64_t size = 0;
    std::string error;
  };
  const File &file(std::string_view location);

  std::string folder;
  std::map<std::string, File, std::less<>> files;
};

/// The bytes of a tensor as they lie in the model's own file, if they lie there in raw form: raw data, or one packed
/// run of floats or doubles, which is the same thing. Nothing if they must be decoded or lie elsewhere.
bool bytesInModel(const Tensor &tensor, std::string_view file, std::optional<std::string_view> &out,
                  std::string &error);

/// Hands the elements of a tensor that lies in the model's file to `sink`, as raw data in pieces of at most 64 KiB.
bool decodeElements(const Tensor &tensor, std::string_view file, const std::function<void(std::string_view)> &sink,
                    std::string &error);

} // namespace plim::onnx::wire
