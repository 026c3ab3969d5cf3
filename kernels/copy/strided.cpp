//===- strided.cpp - copy.strided ------------------------------------------------------------===//

#include "kernels/copy/strided.h"

#include "kernels/convert.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

// A transposition reads columns. In tiles each cache line that it touches is used whole before it leaves the cache.
static constexpr int64_t tileRows = 16, tileColumns = 64;

// Copies rows [rows.begin, rows.end) of an [outer, a, b] -> contiguous transposition: src strides (so, 1, sb).
template <class T>
static void transposeRows(T *dst, const T *src, int64_t a, int64_t b, int64_t outerStride, int64_t bStride,
                          Range rows) {
  for (int64_t row = rows.begin; row < rows.end;) {
    int64_t outer = row / a, first = row % a, last = a;
    if (rows.end - row < last - first)
      last = first + (rows.end - row);
    const T *from = src + outer * outerStride;
    T *to = dst + outer * a * b;
    for (int64_t i0 = first; i0 < last; i0 += tileRows)
      for (int64_t j0 = 0; j0 < b; j0 += tileColumns)
        for (int64_t i = i0; i < last && i < i0 + tileRows; ++i)
          for (int64_t j = j0; j < b && j < j0 + tileColumns; ++j)
            to[i * b + j] = from[j * bStride + i];
    row += last - first;
  }
}

// Whether the cursor's dims are a (possibly batched) matrix read by columns, and Y is contiguous.
static bool asTransposition(const plim_shape &x, const plim_shape &y, int64_t dims[3], int64_t strides[3]) {
  int64_t contiguous = 1;
  for (uint32_t i = y.rank; i-- > 0;) {
    if (y.dims[i] != 1 && y.strides[i] != contiguous)
      return false;
    contiguous *= y.dims[i];
  }
  uint32_t rank = 0;
  int64_t d[PLIM_MAX_RANK], s[PLIM_MAX_RANK];
  for (uint32_t i = 0; i < x.rank; ++i) {
    if (x.dims[i] == 1)
      continue;
    if (rank && s[rank - 1] == x.strides[i] * x.dims[i]) {
      d[rank - 1] *= x.dims[i];
      s[rank - 1] = x.strides[i];
    } else {
      d[rank] = x.dims[i];
      s[rank++] = x.strides[i];
    }
  }
  if (rank < 2 || rank > 3 || s[rank - 2] != 1)
    return false;
  dims[0] = rank == 3 ? d[0] : 1;
  strides[0] = rank == 3 ? s[0] : 0;
  for (int i = 1; i < 3; ++i) {
    dims[i] = d[rank - 3 + i];
    strides[i] = s[rank - 3 + i];
  }
  return true;
}

static int32_t copyStrided(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[1];
  int64_t n = plim_elements(&y);
  if (x.dtype != y.dtype || !isKnownDtype(x.dtype) || plim_elements(&x) != n)
    return PLIM_KERNEL_UNSUPPORTED;
  if (n == 0)
    return PLIM_KERNEL_OK;
  uint32_t bytes = plim_dtype_bytes(x.dtype);
  int64_t dims[3], strides[3];
  if (asTransposition(x, y, dims, strides)) {
    Range rows = taskRange(dims[0] * dims[1], launch, first, last);
    auto run = [&](auto *dst, const auto *src) {
      transposeRows(dst, src, dims[1], dims[2], strides[0], strides[2], rows);
    };
    switch (bytes) {
    case 1:
      run(static_cast<uint8_t *>(launch->buf[1]), static_cast<const uint8_t *>(launch->buf[0]));
      break;
    case 2:
      run(static_cast<uint16_t *>(launch->buf[1]), static_cast<const uint16_t *>(launch->buf[0]));
      break;
    case 4:
      run(static_cast<uint32_t *>(launch->buf[1]), static_cast<const uint32_t *>(launch->buf[0]));
      break;
    default:
      run(static_cast<uint64_t *>(launch->buf[1]), static_cast<const uint64_t *>(launch->buf[0]));
    }
    return PLIM_KERNEL_OK;
  }
  Range range = taskRange(n, launch, first, last);
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;
  Cursor from(x), to(y);
  from.seek(range.begin);
  to.seek(range.begin);
  copyBlock(launch->buf[1], to, launch->buf[0], from, range.end - range.begin, bytes);
  return PLIM_KERNEL_OK;
}

extern "C" const plim_kernel plim_kernel_copy_strided = {
    "copy.strided", PLIM_KERNEL_ABI, 1, {copyStrided, nullptr, nullptr}};
