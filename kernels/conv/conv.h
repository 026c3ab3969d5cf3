/*===- kernels/conv/conv.h - Convolution and transposed convolution ----------*- C -*-===
 *
 * Y = activation(conv(X, W) + bias + residual).
 *
 * Operands: X, W, bias [O] (flag), residual as Y (flag), Y.
 * X and Y are [N, C, spatial...] (PLIM_CONV_NCHW) or [N, spatial..., C] (PLIM_CONV_NHWC) with 1 to 3 spatial dims.
 * Words that hold one value a spatial dim are three in a row, outermost dim first; those beyond the number of spatial
 * dims are ignored. Padding at the end follows from Y's dims.
 *
 * Convolution: Y[o] = sum over taps k, input channels i of the group: X[o * stride + k * dilation - pad] * W.
 * Transposed: X[i] adds to Y[i * stride + k * dilation - pad].
 *
 * Filters (I, O: input and output channels; K: the product of the kernel dims; taps in row-major order):
 *   PLIM_CONV_FILTER_DIRECT     convolution [O, I/groups, k...], transposed [I, O/groups, k...], row
 *   PLIM_CONV_FILTER_TAPS       [K * I/groups, O], rows ordered (tap, input channel of the group), row or panel32
 *   PLIM_CONV_FILTER_DEPTHWISE  [k..., C], row; groups = I = O = C
 *   PLIM_CONV_FILTER_COLUMNS    [I, K * O], columns ordered (tap, output channel), row or panel32; groups = 1
 *
 * conv.reference, conv_transpose.reference  all of the above, any strides and float dtypes; accumulate in double.
 * The fast ones take f32 nhwc with two spatial dims, channel stride 1:
 *   conv.nhwc_direct      groups 1, TAPS in panel32, any kernel, stride, dilation, padding
 *   conv.nhwc_winograd    as above with a 3x3 kernel, stride and dilation 1, any padding; a numerics class of its own:
 *                         sums of transformed numbers, some 10 times the rounding error, and an input that
 *                         is not finite reaches all 16 pixels of its tiles
 *   conv.nhwc_pointwise   as conv.nhwc_direct with a 1x1 kernel, any stride, no padding
 *   conv.nhwc_depthwise   DEPTHWISE
 *   conv_transpose.nhwc   groups 1, COLUMNS in panel32, kernel = stride, dilation 1, no padding, Y = X * stride
 * In all of them but conv_transpose.nhwc the residual may be the same bytes as Y.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_CONV_H
#define PLIM_KERNELS_CONV_H

#include "kernels/epilogue/epilogue.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum plim_conv_layout { PLIM_CONV_NCHW = 0, PLIM_CONV_NHWC = 1 } plim_conv_layout;

typedef enum plim_conv_filter {
  PLIM_CONV_FILTER_DIRECT = 0,
  PLIM_CONV_FILTER_TAPS = 1,
  PLIM_CONV_FILTER_DEPTHWISE = 2,
  PLIM_CONV_FILTER_COLUMNS = 3
} plim_conv_filter;

enum plim_conv_attr {
  PLIM_CONV_LAYOUT = 0,     /* plim_conv_layout of X, residual and Y */
  PLIM_CONV_FILTER = 1,     /* plim_conv_filter of W */
  PLIM_CONV_FLAGS = 2,      /* PLIM_EPILOGUE_* bits */
  PLIM_CONV_ACTIVATION = 3, /* plim_activation */
  PLIM_CONV_ACT_A = 4,      /* double: the activation's a */
  PLIM_CONV_ACT_B = 5,      /* double: the activation's b */
  PLIM_CONV_GROUPS = 6,     /* at least 1 */
  PLIM_CONV_KERNEL = 7,     /* 3 words: taps a spatial dim */
  PLIM_CONV_STRIDE = 10,    /* 3 words */
  PLIM_CONV_DILATION = 13,  /* 3 words */
  PLIM_CONV_PAD = 16,       /* 3 words: padding before the first element */
  PLIM_CONV_WORDS = 19
};

#ifdef __cplusplus
}
#endif
#endif
