//===- kernels/conv/nhwc_x86.h - Geometry of fast two-dimensional convolutions and pools --===//
#ifndef PLIM_KERNELS_CONV_NHWC_X86_H
#define PLIM_KERNELS_CONV_NHWC_X86_H

#include "kernels/attrs.h"
#include "kernels/conv/conv.h"
#include "kernels/status.h"
#include "kernels/x86/operands.h"

namespace plim {
namespace {

struct Geometry {
  int64_t images, inH, inW, inC, outH, outW, outC;
  int64_t kernelH, kernelW, strideH, strideW, dilationH, dilationW, padH, padW;

  Geometry(const plim_launch *launch, int kernelWord, int strideWord, int dilationWord, int padWord) {
    const plim_shape *x = launch->shape[0], *y = launch->shape[launch->operands - 1];
    images = y->dims[0];
    inH = x->dims[1], inW = x->dims[2], inC = x->dims[3];
    outH = y->dims[1], outW = y->dims[2], outC = y->dims[3];
    const auto word = [&](int w) { return plim_attr_int(launch->attrs, w); };
    kernelH = word(kernelWord), kernelW = word(kernelWord + 1);
    strideH = word(strideWord), strideW = word(strideWord + 1);
    dilationH = word(dilationWord), dilationW = word(dilationWord + 1);
    padH = word(padWord), padW = word(padWord + 1);
  }
  explicit Geometry(const plim_launch *launch)
      : Geometry(launch, PLIM_CONV_KERNEL, PLIM_CONV_STRIDE, PLIM_CONV_DILATION, PLIM_CONV_PAD) {}
};

/// Taps [first, last) of a window that starts at `start` lie inside [0, size).
struct TapRange {
  int64_t first, last;
};
inline TapRange tapsInside(int64_t start, int64_t kernel, int64_t dilation, int64_t size) {
  TapRange range = {0, kernel};
  if (start < 0)
    range.first = (-start + dilation - 1) / dilation;
  if (start + (kernel - 1) * dilation >= size)
    range.last = start >= size ? 0 : (size - 1 - start) / dilation + 1;
  if (range.first > range.last)
    range.first = range.last;
  return range;
}

/// f32 nhwc with two spatial dims, and the filter that the kernel reads.
inline bool takesImages(const plim_launch *launch, plim_conv_filter filter) {
  const bool packed = filter != PLIM_CONV_FILTER_DEPTHWISE;
  return launch->shape[0]->rank == 4 && plim_attr_int(launch->attrs, PLIM_CONV_LAYOUT) == PLIM_CONV_NHWC &&
         plim_attr_int(launch->attrs, PLIM_CONV_FILTER) == filter &&
         (!packed ||
          (launch->shape[1]->layout == PLIM_PANEL32 && plim_attr_int(launch->attrs, PLIM_CONV_GROUPS) == 1)) &&
         areDenseFloats(launch, packed ? 1 : UINT32_MAX);
}

} // namespace
} // namespace plim

#endif
