//===- kernels/gather/nd.h - Slices addressed by coordinate tuples ---------------------------===//
//
// Shared by gather.nd and scatter.nd: INDICES [.., k] names slices of a tensor.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_GATHER_ND_H
#define PLIM_KERNELS_GATHER_ND_H

#include "kernels/gather/index.h"

namespace plim::kernels {

struct SlicesNd {
  const plim_shape *tensor, *indices;
  const void *indexBuf;
  int64_t batch, depth; // batch dims in common; coordinates a tuple
  Axes inner;           // of the tensor: a slice
  Axes tuples;          // of the indices: all dims but the last

  // False where the dims do not fit; `slices` are the dims of gathered slices: [tuples.., inner..].
  bool prepare(const plim_shape &t, const plim_shape &i, const void *buf, int64_t batchDims, const plim_shape &slices) {
    tensor = &t;
    indices = &i;
    indexBuf = buf;
    batch = batchDims;
    if (i.rank < 1 || !isIndexDtype(i.dtype) || !isKnownDtype(t.dtype) || slices.dtype != t.dtype)
      return false;
    depth = i.dims[i.rank - 1];
    if (batch < 0 || depth < 0 || batch >= i.rank || batch + depth > t.rank)
      return false;
    for (int64_t d = 0; d < batch; ++d)
      if (t.dims[d] != i.dims[d])
        return false;
    tuples = axesIn(i, (uint64_t(1) << (i.rank - 1)) - 1);
    inner = axesIn(t, ~((uint64_t(1) << (batch + depth)) - 1));
    if (slices.rank != tuples.rank + inner.rank)
      return false;
    for (uint32_t d = 0; d < slices.rank; ++d)
      if (slices.dims[d] != (d < tuples.rank ? tuples.dims[d] : inner.dims[d - tuples.rank]))
        return false;
    return true;
  }

  // Offset of the slice that tuple `number` names; false where a coordinate is outside.
  bool locate(int64_t number, int64_t &offset) const {
    int64_t at = tuples.offsetOf(number), rest = number;
    offset = 0;
    for (uint32_t d = tuples.rank; d-- > 0;) {
      if (d < batch)
        offset += rest % tuples.dims[d] * tensor->strides[d];
      rest /= tuples.dims[d];
    }
    for (int64_t c = 0; c < depth; ++c) {
      int64_t position = loadElement<int64_t>(indexBuf, indices->dtype, at + c * indices->strides[indices->rank - 1]);
      if (!resolveIndex(position, tensor->dims[batch + c]))
        return false;
      offset += position * tensor->strides[batch + c];
    }
    return true;
  }
};

} // namespace plim::kernels

#endif
