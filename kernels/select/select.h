/*===- kernels/select/select.h - What is picked out of tensors ---------------*- C -*-===
 *
 * One task does the work of these kernels: where a result goes depends on what came before it.
 *
 * select.nonzero  Operands: X, COORDINATES (i64 [n, rank of X]). The coordinates of the elements of X that are not 0,
 * in row-major order. PLIM_KERNEL_BAD_INDEX where there are not n of them. select.unique   Operands: X, FIRST, INVERSE,
 * COUNTS (i64 [slices]), COUNT (i64, one element). The distinct slices of X along AXIS, or its distinct elements where
 * AXIS is -1: slice i is number INVERSE[i] of COUNT[0] ones, number j is first at FIRST[j] and there COUNTS[j] times.
 * They ascend (NaN last, all NaN are one), or come in their order of appearance where SORTED is 0. FIRST and COUNTS are
 * 0 from COUNT[0] on. select.non_max_suppression Operands: BOXES (f32 [batches, n, 4]), SCORES (f32 [batches, classes,
 * n]), MOST (i64), IOU, SCORE (f32, one element each), SELECTED (i64 [rows, 3]), COUNT (i64, one element). For each
 * batch and class the boxes that score above SCORE, best first, without those that overlap one taken before by more
 * than IOU, at most MOST: as (batch, class, box). Boxes are (y1, x1, y2, x2) with corners in any order, or (x, y,
 * width, height) about a centre where CENTER is not 0. SELECTED is 0 from row COUNT[0] on. PLIM_KERNEL_BAD_INDEX where
 * there are more than `rows`.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_SELECT_SELECT_H
#define PLIM_KERNELS_SELECT_SELECT_H

#ifdef __cplusplus
extern "C" {
#endif

enum plim_select_unique_attr {
  PLIM_SELECT_UNIQUE_AXIS = 0,
  PLIM_SELECT_UNIQUE_SORTED = 1,
  PLIM_SELECT_UNIQUE_WORDS = 2
};

enum plim_select_non_max_suppression_attr { PLIM_SELECT_NMS_CENTER = 0, PLIM_SELECT_NMS_WORDS = 1 };

#ifdef __cplusplus
}
#endif
#endif
