/*===- kernels/matmul/integer.h - Matrix product of 8-bit integers -----------*- C -*-===
 *
 * C = (A - a_zero) (B - b_zero), exact but for the wrap of i32.
 *
 * Operands: A [..., M, K], B [..., K, N], each i8 or u8, a_zero [..., M, 1] of A's type (flag), b_zero [..., 1, N] of
 * B's type (flag), C [..., M, N] i32. All have the batch dims of C, except that B and its zero may be those of one
 * matrix [K, N] of all batches; what repeats has stride 0. A zero that is left out is 0.
 *
 * matmul.integer_reference  any strides, B also packed.
 * matmul.integer_panel32    B is one panel32 matrix; stride 1 in the last dim of C.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_MATMUL_INTEGER_H
#define PLIM_KERNELS_MATMUL_INTEGER_H

#include "plim/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum plim_integer_matmul_attr {
  PLIM_INTEGER_MATMUL_FLAGS = 0, /* PLIM_INTEGER_* bits */
  PLIM_INTEGER_MATMUL_WORDS = 1
};

enum { PLIM_INTEGER_A_ZERO = 1, PLIM_INTEGER_B_ZERO = 2 };

static inline int plim_is_byte(uint8_t dtype) { return dtype == PLIM_I8 || dtype == PLIM_U8; }

/* Positions of the operands by the flags; -1 where one is left out. */
typedef struct plim_integer_operands {
  int a_zero, b_zero, c;
} plim_integer_operands;

static inline plim_integer_operands plim_integer_operands_of(int64_t flags) {
  plim_integer_operands o;
  int next = 2;
  o.a_zero = flags & PLIM_INTEGER_A_ZERO ? next++ : -1;
  o.b_zero = flags & PLIM_INTEGER_B_ZERO ? next++ : -1;
  o.c = next;
  return o;
}

/* Whether types, ranks and sizes fit each other. */
static inline int plim_integer_matmul_fits(const plim_shape *const *shape, uint32_t operands, plim_integer_operands o) {
  if (operands != (uint32_t)o.c + 1)
    return 0;
  const plim_shape *a = shape[0], *b = shape[1], *c = shape[o.c];
  uint32_t rank = c->rank;
  if (rank < 2 || a->rank != rank || (b->rank != 2 && b->rank != rank) || !plim_is_byte(a->dtype) ||
      !plim_is_byte(b->dtype) || c->dtype != PLIM_I32 || (b->layout == PLIM_PANEL32 && b->rank != 2))
    return 0;
  int64_t k = a->dims[rank - 1];
  if (a->dims[rank - 2] != c->dims[rank - 2] || b->dims[b->rank - 2] != k || b->dims[b->rank - 1] != c->dims[rank - 1])
    return 0;
  for (uint32_t i = 0; i + 2 < rank; ++i)
    if (a->dims[i] != c->dims[i] || (b->rank == rank && b->dims[i] != c->dims[i]))
      return 0;
  for (int which = 0; which < 2; ++which) {
    int at = which ? o.b_zero : o.a_zero;
    const plim_shape *of = which ? b : a, *zero = at >= 0 ? shape[at] : of;
    if (at < 0)
      continue;
    if (zero->dtype != of->dtype || zero->rank != of->rank)
      return 0;
    for (uint32_t i = 0; i < of->rank; ++i)
      if (zero->dims[i] != (i == of->rank - (which ? 2u : 1u) ? 1 : of->dims[i]))
        return 0;
  }
  return 1;
}

#ifdef __cplusplus
}
#endif
#endif
