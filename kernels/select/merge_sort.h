//===- kernels/select/merge_sort.h - A stable sort without memory of its own ----------------===//
#ifndef PLIM_KERNELS_SELECT_MERGE_SORT_H
#define PLIM_KERNELS_SELECT_MERGE_SORT_H

#include <stdint.h>

namespace plim::kernels {

// Sorts the n numbers at `order`, with `spare` as room for as many; `before(a, b)` is a strict weak order. Returns
// where the result is: `order` or `spare`. Runs of 1, 2, 4, ... are merged from one to the other: n log2 n comparisons.
template <class Before> int64_t *mergeSort(int64_t *order, int64_t *spare, int64_t n, Before before) {
  for (int64_t run = 1; run < n; run *= 2) {
    for (int64_t begin = 0; begin < n; begin += 2 * run) {
      int64_t middle = begin + run < n ? begin + run : n, end = begin + 2 * run < n ? begin + 2 * run : n;
      int64_t a = begin, b = middle;
      for (int64_t to = begin; to < end; ++to)
        spare[to] = a < middle && (b == end || !before(order[b], order[a])) ? order[a++] : order[b++];
    }
    int64_t *sorted = spare;
    spare = order;
    order = sorted;
  }
  return order;
}

} // namespace plim::kernels

#endif
