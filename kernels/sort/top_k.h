/*===- kernels/sort/top_k.h - The k largest or smallest along one axis -------*- C -*-===
 *
 * Operands: X, VALUES (X's dtype), INDICES (i64 or i32). VALUES and INDICES have X's dims with k, at most X's, at AXIS.
 * They come in order; of equal elements the one of lower index first. NaN counts as larger than all numbers.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_SORT_TOP_K_H
#define PLIM_KERNELS_SORT_TOP_K_H

#ifdef __cplusplus
extern "C" {
#endif

enum plim_sort_top_k_attr {
  PLIM_SORT_TOP_K_AXIS = 0,
  PLIM_SORT_TOP_K_LARGEST = 1, /* 1 the largest, 0 the smallest */
  PLIM_SORT_TOP_K_WORDS = 2
};

#ifdef __cplusplus
}
#endif
#endif
