//===- kernels/reduce/axes.h - Splitting a tensor into kept and reduced axes -----------------===//
#ifndef PLIM_KERNELS_REDUCE_AXES_H
#define PLIM_KERNELS_REDUCE_AXES_H

#include "kernels/strided.h"

namespace plim::kernels {

struct ReducedAxes {
  Axes kept, reduced; // of X
  Axes result;        // of Y, axis by axis those of `kept`

  // False where Y has neither X's rank with 1 at the axes of `mask`, nor X's rank less those axes.
  bool split(const plim_shape &x, const plim_shape &y, uint64_t mask) {
    kept = axesIn(x, ~mask);
    reduced = axesIn(x, mask);
    bool sameRank = y.rank == x.rank;
    if (!sameRank && y.rank != kept.rank)
      return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < x.rank; ++i) {
      bool isReduced = mask >> i & 1;
      if (isReduced && !sameRank)
        continue;
      if (y.dims[at] != (isReduced ? 1 : x.dims[i]))
        return false;
      if (!isReduced)
        result.push(y.dims[at], y.strides[at]);
      ++at;
    }
    return true;
  }
};

} // namespace plim::kernels

#endif
