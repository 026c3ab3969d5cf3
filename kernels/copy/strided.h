/*===- kernels/copy/strided.h - Copy between strided tensors -----------------*- C -*-===
 *
 * Operands: X, Y of equal dtype and number of elements; elements go over in row-major order, so the dims may differ.
 * Transpose, slice, expand, a piece of a concat and a reshape of a view are all this copy. No attributes.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_COPY_STRIDED_H
#define PLIM_KERNELS_COPY_STRIDED_H

enum { PLIM_COPY_STRIDED_WORDS = 0 };

#endif
