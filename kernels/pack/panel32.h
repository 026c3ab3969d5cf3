/*===- kernels/pack/panel32.h - Pack a matrix in panels of 32 columns --------*- C -*-===
 *
 * Operands: X (row layout, any strides), Y [K, N] in layout panel32, of equal dtype.
 * X has K * N elements, taken in row-major order of its dims: a convolution filter is packed straight from a view
 * [kh, kw, i, o] of its [o, i, kh, kw] bytes. No attributes.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_PACK_PANEL32_H
#define PLIM_KERNELS_PACK_PANEL32_H

#include "plim/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLIM_PACK_PANEL32_WORDS = 0 };

/* Elements of the buffer that holds a [k, n] matrix, padding included. */
static inline int64_t plim_panel32_elements(int64_t k, int64_t n) { return (n + 31) / 32 * 32 * k; }

/* Offset of element (k, n) in elements; `rows` is the number of rows K. */
static inline int64_t plim_panel32_offset(int64_t rows, int64_t k, int64_t n) {
  return n / 32 * rows * 32 + k * 32 + n % 32;
}

#ifdef __cplusplus
}
#endif
#endif
