/*===- kernels/gather/gather.h - Reading by index ----------------------------*- C -*-===
 *
 * Operands of all: X, INDICES (integers), Y of X's dtype. A negative index counts from the end; one outside its
 * dimension ends the launch with PLIM_KERNEL_BAD_INDEX. r is X's rank, q that of INDICES.
 *
 * gather.axis      Y dims: X's before AXIS, those of INDICES, X's after AXIS. Y[.., i.., ..] = X[.., INDICES[i..], ..].
 * gather.elements  Y and INDICES have the same dims, rank r. Y[i] = X[i with coordinate AXIS replaced by INDICES[i]].
 * gather.nd        The last dim of INDICES, k, holds coordinates of X's axes [BATCH, BATCH + k); its first BATCH dims
 * are X's. Y dims: those of INDICES without the last, X's from BATCH + k on.
 *
 * gather.partial: operands PIECE, INDICES, [SO_FAR,] Y. PIECE is rows [FIRST, FIRST + its first dim) of a table of ROWS
 * rows, into which the indices count. Y is gather.axis of the table with AXIS 0 where the index is a row of PIECE;
 * elsewhere SO_FAR, of Y's dims, which may be Y's own buffer under Y's strides, or 0 without it.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_GATHER_GATHER_H
#define PLIM_KERNELS_GATHER_GATHER_H

#ifdef __cplusplus
extern "C" {
#endif

enum plim_gather_attr {
  PLIM_GATHER_AXIS = 0, /* gather.axis, gather.elements: the axis; gather.nd: the number of batch dims */
  PLIM_GATHER_WORDS = 1
};

enum plim_partial_gather_attr {
  PLIM_PARTIAL_GATHER_FIRST = 0,
  PLIM_PARTIAL_GATHER_ROWS = 1,
  PLIM_PARTIAL_GATHER_WORDS = 2
};

#ifdef __cplusplus
}
#endif
#endif
