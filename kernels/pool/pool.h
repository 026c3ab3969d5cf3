/*===- kernels/pool/pool.h - Pooling over windows ----------------------------*- C -*-===
 *
 * Operands: X, Y. Layouts, spatial dims and three-word attributes are those of kernels/conv/conv.h.
 *
 * Output o covers X[o * stride + k * dilation - pad] for all taps k; taps outside X are skipped. The maximum of a
 * window wholly outside is the lowest value of the type. The average divides by the number of taps inside X or, with
 * COUNT_INCLUDE_PAD, inside X and its padding (pad before, pad_end after), so a window that sticks out in ceil mode
 * counts only as ONNX says.
 *
 * pool.reference  any strides, all float and integer dtypes; averages accumulate in double.
 * pool.nhwc_max, pool.nhwc_average  f32 nhwc, two spatial dims, channel stride 1. A global pool is a reduction.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_POOL_H
#define PLIM_KERNELS_POOL_H

#include "kernels/conv/conv.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum plim_pool_kind { PLIM_POOL_MAX = 0, PLIM_POOL_AVERAGE = 1 } plim_pool_kind;

enum plim_pool_attr {
  PLIM_POOL_LAYOUT = 0,            /* plim_conv_layout */
  PLIM_POOL_KIND = 1,              /* plim_pool_kind; it must fit the kernel's name */
  PLIM_POOL_COUNT_INCLUDE_PAD = 2, /* 0 or 1 */
  PLIM_POOL_KERNEL = 3,            /* 3 words */
  PLIM_POOL_STRIDE = 6,            /* 3 words */
  PLIM_POOL_DILATION = 9,          /* 3 words */
  PLIM_POOL_PAD = 12,              /* 3 words: before the first element */
  PLIM_POOL_PAD_END = 15,          /* 3 words: after the last, as the model states it */
  PLIM_POOL_WORDS = 18
};

#ifdef __cplusplus
}
#endif
#endif
