//===- tensor.cpp - Tensors of any dtype and strides for kernel tests ------------------------===//

#include "test/kernels/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace plim::test {

static constexpr uint8_t poisonByte = 0xA5;

// Independent of the kernels' own conversions: the compiler's for f16, arithmetic for bf16.
template <class T> static T load(const void *p) {
  T v;
  memcpy(&v, p, sizeof v);
  return v;
}
template <class T> static void store(void *p, T v) { memcpy(p, &v, sizeof v); }

static double bfloatToDouble(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  return load<float>(&wide);
}

static uint16_t doubleToBfloat(double v) {
  if (std::isnan(v))
    return 0x7fc0;
  if (std::isinf(v) || v == 0)
    return uint16_t((std::signbit(v) ? 0x8000 : 0) | (v == 0 ? 0 : 0x7f80));
  int exponent;
  std::frexp(v, &exponent);
  double unit = std::ldexp(1.0, std::max(exponent - 8, -133)); // 8 significant bits, least exponent -126
  float rounded = float(std::nearbyint(v / unit) * unit);
  return uint16_t(load<uint32_t>(&rounded) >> 16);
}

Tensor::Tensor(uint8_t dtype, const Dims &dims, Form form, Random *random) {
  layout.dtype = dtype;
  layout.rank = uint8_t(dims.size());
  std::copy(dims.begin(), dims.end(), layout.dims);
  std::vector<uint32_t> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  if (form != Form::Row && random)
    std::shuffle(order.begin(), order.end(), *random);
  int64_t span = form == Form::Row ? 1 : 2;
  for (size_t i = order.size(); i-- > 0;) {
    layout.strides[order[i]] = span;
    span *= std::max<int64_t>(dims[order[i]], 1);
    if (form != Form::Row)
      span += 1;
  }
  if (form == Form::Negative)
    for (size_t i = 0; i < dims.size(); i += 2) {
      base += layout.strides[i] * std::max<int64_t>(dims[i] - 1, 0);
      layout.strides[i] = -layout.strides[i];
    }
  bytes.assign(size_t(span + 8) * plim_dtype_bytes(dtype), poisonByte);
}

Tensor Tensor::panel32(uint8_t dtype, int64_t k, int64_t n) {
  Tensor t;
  t.layout.dtype = dtype;
  t.layout.layout = PLIM_PANEL32;
  t.layout.rank = 2;
  t.layout.dims[0] = k;
  t.layout.dims[1] = n;
  t.bytes.assign(size_t((n + 31) / 32 * 32 * k) * plim_dtype_bytes(dtype), 0);
  return t;
}

int64_t Tensor::offsetOf(int64_t element) const {
  if (layout.layout == PLIM_PANEL32) {
    int64_t k = element / layout.dims[1], n = element % layout.dims[1];
    return (n / 32) * layout.dims[0] * 32 + k * 32 + n % 32;
  }
  int64_t offset = base;
  for (int i = layout.rank; i-- > 0;) {
    offset += element % layout.dims[i] * layout.strides[i];
    element /= layout.dims[i];
  }
  return offset;
}

double Tensor::get(int64_t element) const {
  const uint8_t *p = bytes.data() + offsetOf(element) * int64_t(plim_dtype_bytes(layout.dtype));
  switch (layout.dtype) {
  case PLIM_F32:
    return load<float>(p);
  case PLIM_F16:
    return double(load<_Float16>(p));
  case PLIM_BF16:
    return bfloatToDouble(load<uint16_t>(p));
  case PLIM_F64:
    return load<double>(p);
  default:
    return double(getInt(element));
  }
}

int64_t Tensor::getInt(int64_t element) const {
  const uint8_t *p = bytes.data() + offsetOf(element) * int64_t(plim_dtype_bytes(layout.dtype));
  switch (layout.dtype) {
  case PLIM_I8:
    return load<int8_t>(p);
  case PLIM_I16:
    return load<int16_t>(p);
  case PLIM_I32:
    return load<int32_t>(p);
  case PLIM_U8:
  case PLIM_BOOL:
    return *p;
  case PLIM_U16:
    return load<uint16_t>(p);
  case PLIM_U32:
    return load<uint32_t>(p);
  case PLIM_I64:
  case PLIM_U64:
    return load<int64_t>(p);
  default:
    return int64_t(get(element));
  }
}

void Tensor::set(int64_t element, double value) {
  uint8_t *p = bytes.data() + offsetOf(element) * int64_t(plim_dtype_bytes(layout.dtype));
  switch (layout.dtype) {
  case PLIM_F32:
    return store(p, float(value));
  case PLIM_F16:
    return store(p, _Float16(value));
  case PLIM_BF16:
    return store(p, doubleToBfloat(value));
  case PLIM_F64:
    return store(p, value);
  default:
    return setInt(element, int64_t(std::nearbyint(value)));
  }
}

void Tensor::setInt(int64_t element, int64_t value) {
  uint8_t *p = bytes.data() + offsetOf(element) * int64_t(plim_dtype_bytes(layout.dtype));
  switch (plim_dtype_bytes(layout.dtype)) {
  case 1:
    return store(p, uint8_t(layout.dtype == PLIM_BOOL ? value != 0 : value));
  case 2:
    return store(p, uint16_t(value));
  case 4:
    return store(p, uint32_t(value));
  default:
    return store(p, value);
  }
}

int64_t Tensor::numberOf(const Dims &index) const {
  int64_t number = 0;
  for (size_t i = 0; i < index.size(); ++i)
    number = number * layout.dims[i] + index[i];
  return number;
}

Tensor &Tensor::fill(Random &random, double lo, double hi) {
  std::uniform_real_distribution<double> values(lo, hi);
  for (int64_t i = 0, n = elements(); i < n; ++i)
    set(i, values(random));
  return *this;
}

Tensor &Tensor::fillWith(const std::function<double(int64_t)> &value) {
  for (int64_t i = 0, n = elements(); i < n; ++i)
    set(i, value(i));
  return *this;
}

Tensor Tensor::view(const Dims &dims, const Dims &strides, int64_t first) const {
  Tensor t = *this;
  t.base = base + first;
  t.layout.rank = uint8_t(dims.size());
  std::fill(t.layout.dims, t.layout.dims + PLIM_MAX_RANK, 0);
  std::fill(t.layout.strides, t.layout.strides + PLIM_MAX_RANK, 0);
  std::copy(dims.begin(), dims.end(), t.layout.dims);
  std::copy(strides.begin(), strides.end(), t.layout.strides);
  return t;
}

Tensor Tensor::broadcastTo(const Dims &dims) const {
  Dims strides(dims.size(), 0);
  for (size_t i = 0; i < layout.rank; ++i) {
    size_t axis = dims.size() - layout.rank + i;
    strides[axis] = layout.dims[i] == 1 && dims[axis] != 1 ? 0 : layout.strides[i];
  }
  return view(dims, strides);
}

void Tensor::poison() { std::fill(bytes.begin(), bytes.end(), poisonByte); }

bool Tensor::gapsUntouched() const {
  if (layout.layout != PLIM_ROW)
    return true; // no gaps
  size_t size = plim_dtype_bytes(layout.dtype);
  std::vector<bool> owned(bytes.size(), false);
  for (int64_t i = 0, n = elements(); i < n; ++i)
    for (size_t b = 0; b < size; ++b)
      owned[size_t(offsetOf(i)) * size + b] = true;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (!owned[i] && bytes[i] != poisonByte)
      return false;
  return true;
}

void forEachIndex(const Dims &dims, const std::function<void(const Dims &)> &f) {
  if (product(dims) == 0)
    return;
  Dims index(dims.size(), 0);
  for (;;) {
    f(index);
    size_t i = dims.size();
    while (i > 0 && ++index[i - 1] == dims[i - 1])
      index[--i] = 0;
    if (i == 0)
      return;
  }
}

int64_t product(const Dims &dims) { return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<>()); }

double worstError(const Tensor &actual, const std::function<double(int64_t)> &expected, double rtol, double atol) {
  double worst = 0;
  for (int64_t i = 0, n = actual.elements(); i < n; ++i) {
    double a = actual.get(i), e = expected(i);
    if (std::isnan(a) != std::isnan(e) || (std::isinf(e) && a != e))
      return INFINITY;
    if (!std::isnan(e) && a != e)
      worst = std::max(worst, std::fabs(a - e) / (atol + rtol * std::fabs(e)));
  }
  return worst;
}

} // namespace plim::test
