/*===- kernels/copy/concat.h - Concatenation along an axis -------------------*- C -*-===
 *
 * Operands: X1, ..., Xn, Y of one dtype and rank; all dims but that of the axis are equal, there the Xs' add up to Y's.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_COPY_CONCAT_H
#define PLIM_KERNELS_COPY_CONCAT_H

enum plim_concat_attr {
  PLIM_CONCAT_AXIS = 0, /* counted from 0 */
  PLIM_CONCAT_WORDS = 1
};

#endif
