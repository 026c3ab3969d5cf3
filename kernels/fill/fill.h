/*===- kernels/fill/fill.h - Tensors made from a rule ------------------------*- C -*-===
 *
 * fill.iota     Operands: Y. Y[i] = START + DELTA * coordinate of axis AXIS (0 where AXIS is -1). START and DELTA are
 *               doubles where Y is a float dtype, else integers.
 * fill.one_hot  Operands: INDICES (integers), Y. Y has the dims of INDICES with one more, the depth, at AXIS.
 *               Y = ON where the coordinate at AXIS is the index, else OFF. A negative index counts from the end; one
 *               outside the depth gives OFF everywhere.
 * fill.scalars  Operands: Y, of integers or bool. Scalars: one an element, its value.
 * fill.range    Operands: START, STEP (one element each), Y of rank 1, all of one dtype. Y[i] = START + i * STEP, in
 *               double and rounded once where it is a float dtype.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_FILL_FILL_H
#define PLIM_KERNELS_FILL_FILL_H

#ifdef __cplusplus
extern "C" {
#endif

enum plim_fill_iota_attr {
  PLIM_FILL_IOTA_AXIS = 0,
  PLIM_FILL_IOTA_START = 1,
  PLIM_FILL_IOTA_DELTA = 2,
  PLIM_FILL_IOTA_WORDS = 3
};

enum plim_fill_one_hot_attr {
  PLIM_FILL_ONE_HOT_AXIS = 0,
  PLIM_FILL_ONE_HOT_ON = 1,  /* double */
  PLIM_FILL_ONE_HOT_OFF = 2, /* double */
  PLIM_FILL_ONE_HOT_WORDS = 3
};

#ifdef __cplusplus
}
#endif
#endif
