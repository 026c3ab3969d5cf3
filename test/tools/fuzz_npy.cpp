// libFuzzer target: any bytes are read as an array or refused with a reason. What is read lies in the file, and its
// header written again reads as the same array.
#include "tools/plim-run/Npy.h"

#include <cstdlib>
#include <cstring>

using namespace plim;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view file(reinterpret_cast<const char *>(data), size);
  NpyArray array;
  if (!parseNpy(file, array).empty())
    return 0;
  const char *first = static_cast<const char *>(array.data);
  if (first < file.data() || array.bytes > size_t(file.data() + size - first))
    abort();
  std::string again = npyHeader(array.dtype, array.dims);
  again.append(first, array.bytes);
  NpyArray second;
  if (!parseNpy(again, second).empty() || second.dtype != array.dtype || second.dims != array.dims ||
      second.bytes != array.bytes || (array.bytes && memcmp(second.data, array.data, array.bytes)))
    abort();
  return 0;
}
