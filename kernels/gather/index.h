//===- kernels/gather/index.h - Index operands -----------------------------------------------===//
#ifndef PLIM_KERNELS_GATHER_INDEX_H
#define PLIM_KERNELS_GATHER_INDEX_H

#include "kernels/convert.h"
#include "kernels/strided.h"

namespace plim::kernels {

inline bool isIndexDtype(uint8_t dtype) { return isKnownDtype(dtype) && !isFloatDtype(dtype) && dtype != PLIM_BOOL; }

// Counts a negative index from the end; false where it is outside [-size, size).
inline bool resolveIndex(int64_t &index, int64_t size) {
  if (index < 0)
    index += size;
  return index >= 0 && index < size;
}

// Whether Y's dims are X's before the axis, those of the indices, X's after the axis.
inline bool gatherFits(const plim_shape &x, const plim_shape &indices, const plim_shape &y, int64_t axis) {
  if (axis < 0 || axis >= x.rank || y.rank != x.rank + indices.rank - 1 || y.dtype != x.dtype ||
      !isKnownDtype(x.dtype) || !isIndexDtype(indices.dtype))
    return false;
  for (uint32_t i = 0; i < y.rank; ++i) {
    int64_t expected = i < axis                  ? x.dims[i]
                       : i < axis + indices.rank ? indices.dims[i - axis]
                                                 : x.dims[i - indices.rank + 1];
    if (y.dims[i] != expected)
      return false;
  }
  return true;
}

} // namespace plim::kernels

#endif
