//===- Npy.h - Arrays in NumPy's .npy files ----------------------------------------------===//
//
// Format versions 1 to 3, little-endian, C order. A file is mapped, so a large array costs no copy.
//
//===---------------------------------------------------------------------------------------===//
#ifndef PLIM_TOOLS_PLIM_RUN_NPY_H
#define PLIM_TOOLS_PLIM_RUN_NPY_H

#include "plim/kernel.h"
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plim {

struct NpyArray {
  uint8_t dtype = 0; // a plim_dtype
  std::vector<int64_t> dims;
  const void *data = nullptr; // `bytes` of them, not owned
  uint64_t bytes = 0;
};

/// Reads the header in `file`; `data` points into it. Returns "" or what is wrong (need, have, where).
std::string parseNpy(std::string_view file, NpyArray &out);

/// The whole file for an array: header, then the bytes. f16 as '<f2'; bf16, which NumPy has not, as '<u2'.
std::string npyHeader(uint8_t dtype, const std::vector<int64_t> &dims);

/// "f32", "i64", ... and back (0 for an unknown name).
const char *dtypeName(uint8_t dtype);
uint8_t dtypeFromName(std::string_view name);

/// A file mapped for reading. Empty files are valid and have no data.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();
  /// Returns "" or the system's reason with the path.
  std::string open(const std::string &path);
  std::string_view bytes() const { return {static_cast<const char *>(data), size}; }

private:
  void *data = nullptr;
  size_t size = 0;
};

} // namespace plim

#endif
