// A whole file mapped read-only. Pages that were read can be given back, so that a model of many gigabytes is scanned
// in a few resident megabytes.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace plim::onnx::wire {

class MappedFile {
public:
  /// Opens and maps `path`; on failure nothing, and `error` says why.
  static std::optional<MappedFile> open(const std::string &path, std::string &error);

  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return {data, size}; }
  /// Gives back the resident pages that lie wholly inside `part`. Its content stays readable.
  void drop(std::string_view part) const;

private:
  const char *data = nullptr;
  size_t size = 0;
};

} // namespace plim::onnx::wire
