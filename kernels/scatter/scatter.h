/*===- kernels/scatter/scatter.h - Writing by index --------------------------*- C -*-===
 *
 * Operands of both: X, INDICES (integers), UPDATES, Y; X, UPDATES and Y have one dtype, Y has X's dims. Y starts as a
 * copy of X (phase 0; nothing where Y is X, with the same strides), then takes the updates (phase 1, in their row-major
 * order, by task 0, so that indices may repeat). Negative and bad indices as in kernels/gather/gather.h.
 *
 * scatter.elements  UPDATES has the dims of INDICES, rank that of X. Y[i with coordinate AXIS replaced by INDICES[i]].
 * scatter.nd        The last dim of INDICES holds coordinates of the first axes of Y; UPDATES has the dims of INDICES
 *                   without the last, then Y's other axes.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_SCATTER_SCATTER_H
#define PLIM_KERNELS_SCATTER_SCATTER_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum plim_scatter_reduction {
  PLIM_SCATTER_REPLACE = 0,
  PLIM_SCATTER_ADD = 1,
  PLIM_SCATTER_MUL = 2,
  PLIM_SCATTER_MAX = 3,
  PLIM_SCATTER_MIN = 4,
  PLIM_SCATTER_REDUCTION_COUNT = 5
} plim_scatter_reduction;

enum plim_scatter_attr {
  PLIM_SCATTER_AXIS = 0,      /* scatter.elements; 0 for scatter.nd */
  PLIM_SCATTER_REDUCTION = 1, /* plim_scatter_reduction */
  PLIM_SCATTER_WORDS = 2
};

#ifdef __cplusplus
}
#endif
#endif
