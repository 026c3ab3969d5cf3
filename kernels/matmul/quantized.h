/*===- kernels/matmul/quantized.h - Product by weights stored in few bits ----*- C -*-===
 *
 * C = activation(A W + bias + residual) in f32, where W[k, n] = (B[k, n] - zero[g, n]) * scale[g, n], g = k * G / K.
 *
 * Operands: A [..., M, K] f32, B [K, N] of i8, u8, f16 or bf16, scale [G, N] f32 (flag), zero [G, N] of B's type (flag;
 * integers only), bias [N] f32 (flag), residual as C (flag), C [..., M, N] f32. G divides K; scale and zero have the
 * same G. Left out they are 1 and 0.
 *
 * B - zero is exact in f32. With one group the scale multiplies the finished sum, with several the weights before they
 * are multiplied: that is the rounding of weights that were dequantised in memory.
 *
 * matmul.quantized_reference  any strides, B also packed; accumulates in double.
 * matmul.quantized_panel32    B is panel32; stride 1 in the last dim of all others, scale and zero without gaps.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_MATMUL_QUANTIZED_H
#define PLIM_KERNELS_MATMUL_QUANTIZED_H

#include "kernels/epilogue/epilogue.h"
#include "plim/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum plim_quantized_attr {
  PLIM_QUANTIZED_FLAGS = 0,      /* PLIM_EPILOGUE_* and the bits below */
  PLIM_QUANTIZED_ACTIVATION = 1, /* plim_activation */
  PLIM_QUANTIZED_ACT_A = 2,      /* double: the activation's a */
  PLIM_QUANTIZED_ACT_B = 3,      /* double: the activation's b */
  PLIM_QUANTIZED_WORDS = 4
};

enum { PLIM_QUANTIZED_SCALE = 4, PLIM_QUANTIZED_ZERO = 8 };

/* Positions of the operands by the flags; -1 where one is left out. */
typedef struct plim_quantized_operands {
  int scale, zero, bias, residual, c;
} plim_quantized_operands;

static inline plim_quantized_operands plim_quantized_operands_of(int64_t flags) {
  plim_quantized_operands o;
  int next = 2;
  o.scale = flags & PLIM_QUANTIZED_SCALE ? next++ : -1;
  o.zero = flags & PLIM_QUANTIZED_ZERO ? next++ : -1;
  o.bias = flags & PLIM_EPILOGUE_BIAS ? next++ : -1;
  o.residual = flags & PLIM_EPILOGUE_RESIDUAL ? next++ : -1;
  o.c = next;
  return o;
}

/* Groups of rows of B with one scale each. */
static inline int64_t plim_quantized_groups(const plim_shape *const *shape, plim_quantized_operands o) {
  return o.scale >= 0 ? shape[o.scale]->dims[0] : o.zero >= 0 ? shape[o.zero]->dims[0] : 1;
}

/* Whether the shapes of scale and zero fit those of B. */
static inline int plim_quantized_fits(const plim_shape *const *shape, plim_quantized_operands o) {
  const plim_shape *b = shape[1];
  int64_t groups = plim_quantized_groups(shape, o);
  int floats = b->dtype == PLIM_F16 || b->dtype == PLIM_BF16;
  if (b->rank != 2 || groups < 1 || b->dims[0] % groups != 0 || (!floats && b->dtype != PLIM_I8 && b->dtype != PLIM_U8))
    return 0;
  if (o.zero >= 0 && (floats || shape[o.zero]->dtype != b->dtype))
    return 0;
  for (int i = 2; i < (o.bias >= 0 ? o.bias : o.residual >= 0 ? o.residual : o.c); ++i)
    if (shape[i]->rank != 2 || shape[i]->dims[0] != groups || shape[i]->dims[1] != b->dims[1])
      return 0;
  return o.scale < 0 || shape[o.scale]->dtype == PLIM_F32;
}

#ifdef __cplusplus
}
#endif
#endif
