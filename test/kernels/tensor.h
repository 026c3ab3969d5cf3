//===- tensor.h - Tensors of any dtype and strides for kernel tests --------------------------===//
#ifndef PLIM_TEST_KERNELS_TENSOR_H
#define PLIM_TEST_KERNELS_TENSOR_H

#include "plim/kernel.h"

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace plim::test {

using Dims = std::vector<int64_t>;
using Random = std::mt19937_64;

// How a test tensor lies in memory.
enum class Form {
  Row,      // contiguous
  Permuted, // axes in random order, with gaps between elements
  Negative, // as Permuted, every second axis running backwards
};

// Owns its bytes. Bytes that belong to no element hold 0xA5, so that a stray write shows.
class Tensor {
public:
  Tensor(uint8_t dtype, const Dims &dims, Form form = Form::Row, Random *random = nullptr);
  // A [k, n] matrix in panels; elements are set and read as those of any other tensor.
  static Tensor panel32(uint8_t dtype, int64_t k, int64_t n);

  const plim_shape &shape() const { return layout; }
  void *data() { return bytes.data() + base * int64_t(plim_dtype_bytes(layout.dtype)); }
  int64_t elements() const { return plim_elements(&layout); }
  Dims dims() const { return Dims(layout.dims, layout.dims + layout.rank); }

  // By row-major number of the element.
  double get(int64_t element) const;
  int64_t getInt(int64_t element) const;
  void set(int64_t element, double value);
  void setInt(int64_t element, int64_t value);
  double at(const Dims &index) const { return get(numberOf(index)); }
  int64_t numberOf(const Dims &index) const;

  // Uniform in [lo, hi], rounded to the dtype.
  Tensor &fill(Random &random, double lo, double hi);
  Tensor &fillWith(const std::function<double(int64_t)> &value);

  // The same bytes as a tensor of other dims and strides; `first` is the element that index 0 meets.
  Tensor view(const Dims &dims, const Dims &strides, int64_t first = 0) const;
  // Dims of 1 (aligned at the end) repeat with stride 0.
  Tensor broadcastTo(const Dims &dims) const;

  void poison();
  bool gapsUntouched() const;
  const std::vector<uint8_t> &raw() const { return bytes; }

private:
  Tensor() = default;
  int64_t offsetOf(int64_t element) const;

  plim_shape layout = {};
  std::vector<uint8_t> bytes;
  int64_t base = 0; // element of `bytes` where index 0 lies
};

// Calls f for each index of dims, in row-major order.
void forEachIndex(const Dims &dims, const std::function<void(const Dims &)> &f);
int64_t product(const Dims &dims);

// Largest |a - b| / (atol + rtol |b|) over all elements against expected(number); NaN must meet NaN.
double worstError(const Tensor &actual, const std::function<double(int64_t)> &expected, double rtol, double atol);

} // namespace plim::test

#endif
