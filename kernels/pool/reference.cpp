//===- reference.cpp - pool.reference --------------------------------------------------------===//

#include "kernels/conv/image.h"
#include "kernels/convert.h"
#include "kernels/pool/pool.h"
#include "kernels/status.h"
#include "kernels/strided.h"

#include <cmath>

using namespace plim::kernels;

namespace {

constexpr int64_t blockChannels = 32; // of one pixel, computed together

struct Window {
  int64_t kernel[3], stride[3], dilation[3], pad[3], padEnd[3];
};

template <class C> C lowestValue() {
  if constexpr (isFloating<C>)
    return -C(INFINITY);
  else
    return lowest<C>;
}

template <class C> void runUnits(const plim_launch *launch, const Window &w, Range units) {
  const plim_shape &xShape = *launch->shape[0], &yShape = *launch->shape[1];
  int64_t layout = plim_attr_int(launch->attrs, PLIM_POOL_LAYOUT);
  bool average = plim_attr_int(launch->attrs, PLIM_POOL_KIND) == PLIM_POOL_AVERAGE;
  bool countPad = plim_attr_int(launch->attrs, PLIM_POOL_COUNT_INCLUDE_PAD) != 0;
  Image x(xShape, layout), y(yShape, layout);
  int64_t blocks = (y.channels + blockChannels - 1) / blockChannels, pixels = y.pixels();
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    int64_t channel = unit % blocks * blockChannels, batch = unit / blocks / pixels, pixel[3];
    int64_t n = y.channels - channel < blockChannels ? y.channels - channel : blockChannels;
    unflatten(unit / blocks % pixels, y.size, pixel);
    C acc[blockChannels], in[blockChannels];
    for (int64_t j = 0; j < n; ++j)
      acc[j] = average ? C(0) : lowestValue<C>();
    int64_t divisor = 0;
    for (int64_t number = 0; number < w.kernel[0] * w.kernel[1] * w.kernel[2]; ++number) {
      int64_t tap[3], at[3];
      unflatten(number, w.kernel, tap);
      bool inside = true, padded = true;
      for (int d = 0; d < 3; ++d) {
        at[d] = pixel[d] * w.stride[d] + tap[d] * w.dilation[d] - w.pad[d];
        inside &= at[d] >= 0 && at[d] < x.size[d];
        padded &= at[d] < x.size[d] + w.padEnd[d];
      }
      divisor += countPad ? padded : inside;
      if (!inside)
        continue;
      loadRun(launch->buf[0], xShape.dtype, x.offsetOf(batch, at) + channel * x.channelStride, x.channelStride, n, in);
      for (int64_t j = 0; j < n; ++j)
        if (average)
          acc[j] += in[j];
        else if (in[j] > acc[j] || in[j] != in[j])
          acc[j] = in[j];
    }
    if (average && divisor > 0)
      for (int64_t j = 0; j < n; ++j)
        acc[j] /= C(divisor);
    storeRun(launch->buf[1], yShape.dtype, y.offsetOf(batch, pixel) + channel * y.channelStride, y.channelStride, n,
             acc);
  }
}

int32_t poolReference(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &xShape = *launch->shape[0], &yShape = *launch->shape[1];
  int64_t layout = plim_attr_int(launch->attrs, PLIM_POOL_LAYOUT), kind = plim_attr_int(launch->attrs, PLIM_POOL_KIND);
  if (!isImage(xShape) || yShape.rank != xShape.rank || (layout != PLIM_CONV_NCHW && layout != PLIM_CONV_NHWC) ||
      (kind != PLIM_POOL_MAX && kind != PLIM_POOL_AVERAGE) || !isKnownDtype(xShape.dtype) ||
      !isKnownDtype(yShape.dtype))
    return PLIM_KERNEL_UNSUPPORTED;
  uint32_t spatial = xShape.rank - 2;
  Window w;
  readSpatial(launch->attrs, PLIM_POOL_KERNEL, spatial, 1, w.kernel);
  readSpatial(launch->attrs, PLIM_POOL_STRIDE, spatial, 1, w.stride);
  readSpatial(launch->attrs, PLIM_POOL_DILATION, spatial, 1, w.dilation);
  readSpatial(launch->attrs, PLIM_POOL_PAD, spatial, 0, w.pad);
  readSpatial(launch->attrs, PLIM_POOL_PAD_END, spatial, 0, w.padEnd);
  Image x(xShape, layout), y(yShape, layout);
  if (x.batch != y.batch || x.channels != y.channels)
    return PLIM_KERNEL_UNSUPPORTED;
  int64_t blocks = (y.channels + blockChannels - 1) / blockChannels;
  Range units = taskRange(y.batch * y.pixels() * blocks, launch, first, last);
  if (isFloatDtype(xShape.dtype))
    runUnits<double>(launch, w, units);
  else if (isUnsignedDtype(xShape.dtype) || xShape.dtype == PLIM_BOOL)
    runUnits<uint64_t>(launch, w, units);
  else
    runUnits<int64_t>(launch, w, units);
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_pool_reference = {
    "pool.reference", PLIM_KERNEL_ABI, 1, {poolReference, nullptr, nullptr}};
