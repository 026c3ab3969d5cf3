//===- kernels/conv/image.h - Tensors with spatial dims --------------------------------------===//
#ifndef PLIM_KERNELS_CONV_IMAGE_H
#define PLIM_KERNELS_CONV_IMAGE_H

#include "kernels/attrs.h"
#include "kernels/conv/conv.h"
#include "plim/kernel.h"

namespace plim::kernels {

// Either layout as batch, channels and three spatial dims; those that the tensor lacks follow as dims of 1.
struct Image {
  int64_t batch, channels, size[3] = {1, 1, 1};
  int64_t batchStride, channelStride, step[3] = {0, 0, 0};

  Image(const plim_shape &s, int64_t layout) {
    uint32_t spatial = s.rank - 2, firstSpatial = layout == PLIM_CONV_NHWC ? 1 : 2;
    uint32_t channelAxis = layout == PLIM_CONV_NHWC ? s.rank - 1 : 1;
    batch = s.dims[0];
    batchStride = s.strides[0];
    channels = s.dims[channelAxis];
    channelStride = s.strides[channelAxis];
    for (uint32_t i = 0; i < spatial; ++i) {
      size[i] = s.dims[firstSpatial + i];
      step[i] = s.strides[firstSpatial + i];
    }
  }

  int64_t pixels() const { return size[0] * size[1] * size[2]; }
  int64_t offsetOf(int64_t n, const int64_t at[3]) const {
    return n * batchStride + at[0] * step[0] + at[1] * step[1] + at[2] * step[2];
  }
};

inline bool isImage(const plim_shape &s) { return s.rank >= 3 && s.rank <= 5; }

// Three words from `word` on; `rest` stands for spatial dims that the tensors lack.
inline void readSpatial(const void *attrs, int word, uint32_t spatial, int64_t rest, int64_t out[3]) {
  for (uint32_t i = 0; i < 3; ++i)
    out[i] = i < spatial ? plim_attr_int(attrs, word + int(i)) : rest;
}

// Coordinates of the element with this row-major number.
inline void unflatten(int64_t element, const int64_t size[3], int64_t at[3]) {
  at[2] = element % size[2];
  at[1] = element / size[2] % size[1];
  at[0] = element / size[2] / size[1];
}

} // namespace plim::kernels

#endif
