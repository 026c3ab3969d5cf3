/*===- kernels/matmul/matmul.h - Matrix product ------------------------------*- C -*-===
 *
 * C = activation(A B + bias + residual).
 *
 * Operands: A [..., M, K], B [..., K, N] (row or panel32), bias [N] (flag), residual as C (flag), C [..., M, N].
 * A, residual and C have equal leading (batch) dims; B has them too, or is the one [K, N] matrix of all batches. A
 * panel32 B is always one [K, N] matrix. Broadcast batches have stride 0. A transposed A or B is a matter of strides.
 *
 * matmul.reference  any strides and dtypes, also mixed; floats accumulate in double, integers in int64 (wrapping).
 * matmul.panel32    f32; B is panel32; A, residual and C have column stride 1 (any row and batch strides), bias
 * stride 1.
 * matmul.batched    f32; A and B row layout with any strides (so also transposed), C, residual and bias as for panel32.
 * matmul.dot        as matmul.batched for at most 4 rows in all, with one B for all batches whose columns are
 * contiguous, and A of column stride 1; sums in lanes, a numerics class of its own. K may be 0 in all: C =
 * activation(bias + residual). In the fast ones the residual may be the same bytes as C.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_MATMUL_H
#define PLIM_KERNELS_MATMUL_H

#include "kernels/epilogue/epilogue.h"

#ifdef __cplusplus
extern "C" {
#endif

enum plim_matmul_attr {
  PLIM_MATMUL_FLAGS = 0,      /* PLIM_EPILOGUE_* bits */
  PLIM_MATMUL_ACTIVATION = 1, /* plim_activation */
  PLIM_MATMUL_ACT_A = 2,      /* double: the activation's a */
  PLIM_MATMUL_ACT_B = 3,      /* double: the activation's b */
  PLIM_MATMUL_WORDS = 4
};

#ifdef __cplusplus
}
#endif
#endif
