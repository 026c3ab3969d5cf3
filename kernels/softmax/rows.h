/*===- kernels/softmax/rows.h - Softmax along one axis -----------------------*- C -*-===
 *
 * Operands: X, Y of equal dims, float dtypes. y = exp(x - max) / sum(exp(x - max)), or its logarithm. Accumulates in
 * double. Y may be X, with the same strides.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_SOFTMAX_ROWS_H
#define PLIM_KERNELS_SOFTMAX_ROWS_H

#ifdef __cplusplus
extern "C" {
#endif

enum plim_softmax_rows_attr {
  PLIM_SOFTMAX_ROWS_AXIS = 0,
  PLIM_SOFTMAX_ROWS_LOG = 1, /* 1: log-softmax */
  PLIM_SOFTMAX_ROWS_WORDS = 2
};

#ifdef __cplusplus
}
#endif
#endif
