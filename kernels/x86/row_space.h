/*===- kernels/x86/row_space.h - The rows of a product, over several dims ----*- C -*-===
 *
 * Rows of A, residual and C that several dims number (batches and rows; images and pixels), with those dims merged that
 * are contiguous with each other in all three: a product of batches by one B is then one by a tall A.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_X86_ROW_SPACE_H
#define PLIM_KERNELS_X86_ROW_SPACE_H

#include "plim/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLIM_ROWS_A = 0, PLIM_ROWS_RESIDUAL = 1, PLIM_ROWS_C = 2, PLIM_ROWS_OPERANDS = 3 };

typedef struct plim_row_space {
  uint32_t rank; /* the last two dims are runs and rows, those before are outer; row-major order is kept */
  int64_t dims[PLIM_MAX_RANK];
  int64_t strides[PLIM_ROWS_OPERANDS][PLIM_MAX_RANK];
  int64_t outer, runs, rows; /* outer: product of the outer dims */
} plim_row_space;

static inline plim_row_space plim_row_space_merge(uint32_t rank, const int64_t *dims, const int64_t *a,
                                                  const int64_t *residual, const int64_t *c) {
  const int64_t *given[PLIM_ROWS_OPERANDS] = {a, residual, c};
  int64_t merged[PLIM_MAX_RANK], strides[PLIM_ROWS_OPERANDS][PLIM_MAX_RANK];
  uint32_t count = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] == 1)
      continue;
    int merges = count != 0;
    for (int o = 0; o < PLIM_ROWS_OPERANDS && merges; ++o)
      merges = strides[o][count - 1] == given[o][i] * dims[i];
    count += !merges;
    merged[count - 1] = merges ? merged[count - 1] * dims[i] : dims[i];
    for (int o = 0; o < PLIM_ROWS_OPERANDS; ++o)
      strides[o][count - 1] = given[o][i];
  }
  plim_row_space space;
  uint32_t missing = count < 2 ? 2 - count : 0;
  space.rank = count + missing;
  space.outer = 1;
  for (uint32_t i = 0; i < space.rank; ++i) {
    space.dims[i] = i < missing ? 1 : merged[i - missing];
    for (int o = 0; o < PLIM_ROWS_OPERANDS; ++o)
      space.strides[o][i] = i < missing ? 0 : strides[o][i - missing];
    if (i + 2 < space.rank)
      space.outer *= space.dims[i];
  }
  space.runs = space.dims[space.rank - 2];
  space.rows = space.dims[space.rank - 1];
  return space;
}

/* Offset in elements of a row. */
static inline int64_t plim_row_space_offset(const plim_row_space *space, int operand, int64_t outer, int64_t run,
                                            int64_t row) {
  const int64_t *strides = space->strides[operand];
  int64_t offset = run * strides[space->rank - 2] + row * strides[space->rank - 1];
  for (uint32_t i = space->rank - 2; i-- > 0;) {
    offset += outer % space->dims[i] * strides[i];
    outer /= space->dims[i];
  }
  return offset;
}

#ifdef __cplusplus
}
#endif
#endif
