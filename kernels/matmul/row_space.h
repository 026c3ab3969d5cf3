/*===- kernels/matmul/row_space.h - Batches and rows of a matrix product -----*- C -*-===
 *
 * Batch dims and rows of A, C and the residual, with those dims merged that are contiguous with each other in all
 * three: a product of batches by one B is then a product by one tall A.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_MATMUL_ROW_SPACE_H
#define PLIM_KERNELS_MATMUL_ROW_SPACE_H

#include "plim/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLIM_ROW_SPACE_A = 0, PLIM_ROW_SPACE_RESIDUAL = 1, PLIM_ROW_SPACE_C = 2, PLIM_ROW_SPACE_OPERANDS = 3 };

typedef struct plim_row_space {
  uint32_t rank; /* at least 2; the last two dims are runs and rows, those before are outer */
  int64_t dims[PLIM_MAX_RANK];
  int64_t strides[PLIM_ROW_SPACE_OPERANDS][PLIM_MAX_RANK];
  int64_t outer; /* product of the outer dims */
} plim_row_space;

/* residual may be NULL. All have equal leading dims [..., M]; the last dim of each is left out. */
static inline plim_row_space plim_row_space_of(const plim_shape *a, const plim_shape *residual, const plim_shape *c) {
  const plim_shape *shapes[PLIM_ROW_SPACE_OPERANDS] = {a, residual ? residual : c, c};
  int64_t dims[PLIM_MAX_RANK], strides[PLIM_ROW_SPACE_OPERANDS][PLIM_MAX_RANK];
  uint32_t rank = 0;
  for (uint32_t i = 0; i + 1 < c->rank; ++i) {
    if (c->dims[i] == 1)
      continue;
    int merges = rank != 0;
    for (int o = 0; o < PLIM_ROW_SPACE_OPERANDS && merges; ++o)
      merges = strides[o][rank - 1] == shapes[o]->strides[i] * c->dims[i];
    rank += !merges;
    dims[rank - 1] = merges ? dims[rank - 1] * c->dims[i] : c->dims[i];
    for (int o = 0; o < PLIM_ROW_SPACE_OPERANDS; ++o)
      strides[o][rank - 1] = shapes[o]->strides[i];
  }
  plim_row_space space;
  uint32_t missing = rank < 2 ? 2 - rank : 0;
  space.rank = rank + missing;
  space.outer = 1;
  for (uint32_t i = 0; i < space.rank; ++i) {
    space.dims[i] = i < missing ? 1 : dims[i - missing];
    for (int o = 0; o < PLIM_ROW_SPACE_OPERANDS; ++o)
      space.strides[o][i] = i < missing ? 0 : strides[o][i - missing];
    if (i + 2 < space.rank)
      space.outer *= space.dims[i];
  }
  return space;
}

/* Offset in elements of the first row of outer index `outer`. */
static inline int64_t plim_row_space_offset(const plim_row_space *space, int operand, int64_t outer) {
  int64_t offset = 0;
  for (uint32_t i = space->rank - 2; i-- > 0;) {
    offset += outer % space->dims[i] * space->strides[operand][i];
    outer /= space->dims[i];
  }
  return offset;
}

#ifdef __cplusplus
}
#endif
#endif
