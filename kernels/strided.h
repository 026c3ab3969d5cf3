//===- kernels/strided.h - Walking strided tensors ------------------------------------------===//
//
// A cursor walks the elements of one tensor in row-major order of its dims, in runs of one stride. Operands of a kernel
// each have their own cursor and advance by equal counts, so no two need the same dims: a transposed source meets a
// contiguous destination of another shape.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_STRIDED_H
#define PLIM_KERNELS_STRIDED_H

#include "plim/kernel.h"

namespace plim::kernels {

// Half-open.
struct Range {
  int64_t begin, end;
};

// The part of n outer elements that tasks [first, last) of the launch own.
inline Range taskRange(int64_t n, const plim_launch *launch, uint32_t first, uint32_t last) {
  int64_t piece = (n + launch->tasks - 1) / launch->tasks;
  int64_t begin = piece * first, end = piece * last;
  return {begin < n ? begin : n, end < n ? end : n};
}

// Elements [0, count) at offset + i * stride.
struct Run {
  int64_t offset, stride, count;
};

class Cursor {
public:
  Cursor(uint32_t rank, const int64_t *dims, const int64_t *strides);
  explicit Cursor(const plim_shape &shape) : Cursor(shape.rank, shape.dims, shape.strides) {}

  // To the element with this row-major number; the tensor must not be empty.
  void seek(int64_t element);
  // What is left of the innermost row.
  Run run() const { return {offset, strides[rank - 1], dims[rank - 1] - index[rank - 1]}; }
  // By at most run().count. Stepping past the last element wraps to the first.
  void advance(int64_t count) {
    index[rank - 1] += count;
    offset += count * strides[rank - 1];
    if (index[rank - 1] == dims[rank - 1])
      carry();
  }

private:
  void carry();

  uint32_t rank; // after merging dims that are contiguous with each other
  int64_t offset = 0;
  int64_t dims[PLIM_MAX_RANK], strides[PLIM_MAX_RANK], index[PLIM_MAX_RANK];
};

// A subset of a tensor's axes, e.g. those that a reduction keeps.
struct Axes {
  uint32_t rank = 0;
  int64_t dims[PLIM_MAX_RANK], strides[PLIM_MAX_RANK];

  void push(int64_t dim, int64_t stride) {
    dims[rank] = dim;
    strides[rank++] = stride;
  }
  int64_t elements() const {
    int64_t n = 1;
    for (uint32_t i = 0; i < rank; ++i)
      n *= dims[i];
    return n;
  }
  Cursor cursor() const { return Cursor(rank, dims, strides); }
  // Offset of the element with this row-major number.
  int64_t offsetOf(int64_t element) const {
    int64_t offset = 0;
    for (uint32_t i = rank; i-- > 0;) {
      offset += element % dims[i] * strides[i];
      element /= dims[i];
    }
    return offset;
  }
};

// The axes of `shape` whose bit in `mask` is set.
inline Axes axesIn(const plim_shape &shape, uint64_t mask) {
  Axes axes;
  for (uint32_t i = 0; i < shape.rank; ++i)
    if (mask >> i & 1)
      axes.push(shape.dims[i], shape.strides[i]);
  return axes;
}

inline bool sameDims(const plim_shape &a, const plim_shape &b) {
  if (a.rank != b.rank)
    return false;
  for (uint32_t i = 0; i < a.rank; ++i)
    if (a.dims[i] != b.dims[i])
      return false;
  return true;
}

// Converts between memory and a dense block of a compute type C: float, double, int64_t or uint64_t.
template <class C> void loadRun(const void *base, uint8_t dtype, int64_t offset, int64_t stride, int64_t n, C *block);
template <class C> void storeRun(void *base, uint8_t dtype, int64_t offset, int64_t stride, int64_t n, const C *block);
// The next n elements at the cursor, which they advance.
template <class C> void loadBlock(const void *base, uint8_t dtype, Cursor &cursor, int64_t n, C *block);
template <class C> void storeBlock(void *base, uint8_t dtype, Cursor &cursor, int64_t n, const C *block);

template <class C> C loadElement(const void *base, uint8_t dtype, int64_t offset) {
  C value;
  loadRun(base, dtype, offset, 0, 1, &value);
  return value;
}
template <class C> void storeElement(void *base, uint8_t dtype, int64_t offset, C value) {
  storeRun(base, dtype, offset, 0, 1, &value);
}

// Moves n elements of `bytes` each (1, 2, 4 or 8) between strided runs.
void copyRun(void *dst, int64_t dstOffset, int64_t dstStride, const void *src, int64_t srcOffset, int64_t srcStride,
             int64_t n, uint32_t bytes);
// The same for the next n elements at two cursors, which they advance.
void copyBlock(void *dst, Cursor &to, const void *src, Cursor &from, int64_t n, uint32_t bytes);

} // namespace plim::kernels

#endif
