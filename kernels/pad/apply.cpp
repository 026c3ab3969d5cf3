//===- apply.cpp - pad.apply -----------------------------------------------------------------===//

#include "kernels/pad/apply.h"

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

namespace {

struct Problem {
  const plim_launch *launch;
  int64_t mode;
  uint32_t bytes;
  int64_t begin[PLIM_MAX_RANK];
  // The window of X that is left of each axis where the padding cuts: [low, low + size).
  int64_t low[PLIM_MAX_RANK], size[PLIM_MAX_RANK];
  alignas(8) char value[8]; // the constant as an element

  const plim_shape &x() const { return *launch->shape[0]; }
  const plim_shape &y() const { return *launch->shape[1]; }

  void findWindow(uint32_t axis) {
    int64_t n = x().dims[axis], cut = begin[axis] + n - y().dims[axis];
    low[axis] = begin[axis] < 0 ? -begin[axis] : 0;
    size[axis] = n - low[axis] - (cut > 0 ? cut : 0);
  }

  // The coordinate of X that coordinate i of Y reads; false where it is the constant.
  bool source(uint32_t axis, int64_t i, int64_t &at) const {
    at = i - begin[axis];
    if (at >= 0 && at < x().dims[axis])
      return true;
    int64_t n = size[axis], inWindow = at - low[axis];
    switch (mode) {
    case PLIM_PAD_EDGE:
      at = low[axis] + (inWindow < 0 ? 0 : n - 1);
      return true;
    case PLIM_PAD_REFLECT: {
      int64_t period = n > 1 ? 2 * (n - 1) : 1;
      inWindow %= period;
      inWindow += inWindow < 0 ? period : 0;
      at = low[axis] + (inWindow < n ? inWindow : period - inWindow);
      return true;
    }
    case PLIM_PAD_WRAP:
      inWindow %= n;
      at = low[axis] + inWindow + (inWindow < 0 ? n : 0);
      return true;
    default:
      return false;
    }
  }

  void fill(int64_t at, int64_t stride, int64_t n) const { copyRun(launch->buf[1], at, stride, value, 0, 0, n, bytes); }

  // Elements [first, last) of a row of Y at `out`; `in` is the offset of the row of X.
  void row(int64_t in, int64_t out, int64_t first, int64_t last) const {
    uint32_t axis = x().rank - 1;
    int64_t xStep = x().strides[axis], yStep = y().strides[axis];
    int64_t inside = begin[axis], end = begin[axis] + x().dims[axis];
    for (int64_t i = first; i < last;) {
      if (i >= inside && i < end) {
        int64_t n = (end < last ? end : last) - i;
        copyRun(launch->buf[1], out + i * yStep, yStep, launch->buf[0], in + (i - inside) * xStep, xStep, n, bytes);
        i += n;
        continue;
      }
      int64_t at;
      if (source(axis, i, at))
        copyRun(launch->buf[1], out + i * yStep, 0, launch->buf[0], in + at * xStep, 0, 1, bytes);
      else
        fill(out + i * yStep, 0, 1);
      ++i;
    }
  }
};

int32_t pad(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[1];
  Problem p;
  p.launch = launch;
  p.mode = plim_attr_int(launch->attrs, PLIM_PAD_MODE);
  p.bytes = plim_dtype_bytes(x.dtype);
  if (p.mode < 0 || p.mode >= PLIM_PAD_MODE_COUNT || x.rank != y.rank || x.rank == 0 || x.dtype != y.dtype ||
      !isKnownDtype(x.dtype))
    return PLIM_KERNEL_UNSUPPORTED;
  int64_t n = plim_elements(&y);
  for (uint32_t i = 0; i < x.rank; ++i) {
    p.begin[i] = plim_attr_int(launch->attrs, PLIM_PAD_BEGIN + int(i));
    p.findWindow(i);
    if (n != 0 && p.mode != PLIM_PAD_CONSTANT && p.size[i] < 1)
      return PLIM_KERNEL_UNSUPPORTED;
  }
  storeElement(p.value, x.dtype, 0, plim_attr_double(launch->attrs, PLIM_PAD_VALUE));
  int64_t rowSize = y.dims[y.rank - 1];
  Range range = taskRange(n, launch, first, last);
  for (int64_t at = range.begin; at < range.end;) {
    int64_t start = at % rowSize, rest = at / rowSize, count = rowSize - start;
    count = count < range.end - at ? count : range.end - at;
    int64_t in = 0, out = 0;
    bool inside = true;
    for (uint32_t axis = y.rank - 1; axis-- > 0;) {
      int64_t i = rest % y.dims[axis], source;
      rest /= y.dims[axis];
      out += i * y.strides[axis];
      if (p.source(axis, i, source))
        in += source * x.strides[axis];
      else
        inside = false;
    }
    int64_t step = y.strides[y.rank - 1];
    if (inside)
      p.row(in, out, start, start + count);
    else
      p.fill(out + start * step, step, count);
    at += count;
  }
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_pad_apply = {"pad.apply", PLIM_KERNEL_ABI, 1, {pad, nullptr, nullptr}};
