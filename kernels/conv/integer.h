/*===- kernels/conv/integer.h - Convolution of 8-bit integers ----------------*- C -*-===
 *
 * Y = conv(X - x_zero, W - w_zero), exact but for the wrap of i32; padding counts as x_zero.
 *
 * Operands: X and W, each i8 or u8, x_zero [] of X's type (flag), w_zero of W's type (flag), [] or one an output
 * channel, Y i32. Words, layouts and filters are those of kernels/conv/conv.h, except that the flags are those below
 * and the words of an activation mean nothing.
 *
 * conv.integer_reference  DIRECT, TAPS and DEPTHWISE filters, any strides.
 * The fast ones take nhwc with channel stride 1 in X (depthwise) and Y:
 *   conv.integer_nhwc            groups 1, TAPS in panel32
 *   conv.integer_nhwc_depthwise  DEPTHWISE, without gaps
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_CONV_INTEGER_H
#define PLIM_KERNELS_CONV_INTEGER_H

#include "kernels/conv/conv.h"
#include "plim/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of PLIM_CONV_FLAGS. */
enum { PLIM_INTEGER_X_ZERO = 1, PLIM_INTEGER_W_ZERO = 2 };

/* Positions of the operands by the flags; -1 where one is left out. */
typedef struct plim_integer_conv_operands {
  int x_zero, w_zero, y;
} plim_integer_conv_operands;

static inline plim_integer_conv_operands plim_integer_conv_operands_of(int64_t flags) {
  plim_integer_conv_operands o;
  int next = 2;
  o.x_zero = flags & PLIM_INTEGER_X_ZERO ? next++ : -1;
  o.w_zero = flags & PLIM_INTEGER_W_ZERO ? next++ : -1;
  o.y = next;
  return o;
}

#ifdef __cplusplus
}
#endif
#endif
