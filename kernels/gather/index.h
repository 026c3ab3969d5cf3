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

} // namespace plim::kernels

#endif
