/*===- kernels/reduce/reduce.h - Reductions over axes ------------------------*- C -*-===
 *
 * Operands of both: X, Y. Y has X's dims with 1 at the reduced axes, or without those axes.
 *
 * reduce.apply       floats accumulate in double, integers in 64 bits that wrap; the result is rounded once. An empty
 *                    reduction gives the neutral element; a mean, minimum or maximum of nothing gives NaN for floats,
 *                    for integers 0, the highest and the lowest value.
 * reduce.arg         the position (i64 or i32) of the largest or smallest element along one axis of more than 0
 *                    elements; of equal ones the first or the last. NaN counts as the largest and the smallest.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_REDUCE_REDUCE_H
#define PLIM_KERNELS_REDUCE_REDUCE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum plim_reduce_op {
  PLIM_REDUCE_SUM = 0,
  PLIM_REDUCE_MEAN = 1, /* of integers truncates */
  PLIM_REDUCE_MAX = 2,
  PLIM_REDUCE_MIN = 3,
  PLIM_REDUCE_PROD = 4,
  PLIM_REDUCE_L1 = 5,         /* sum of |x| */
  PLIM_REDUCE_L2 = 6,         /* sqrt of the sum of x^2 */
  PLIM_REDUCE_SUM_SQUARE = 7, /* sum of x^2 */
  PLIM_REDUCE_LOG_SUM = 8,
  PLIM_REDUCE_LOG_SUM_EXP = 9,
  PLIM_REDUCE_OP_COUNT = 10
} plim_reduce_op;

enum plim_reduce_attr {
  PLIM_REDUCE_OP = 0,   /* plim_reduce_op */
  PLIM_REDUCE_AXES = 1, /* bit i: axis i of X is reduced; 0 reduces each element alone */
  PLIM_REDUCE_WORDS = 2
};

enum plim_reduce_arg_attr {
  PLIM_REDUCE_ARG_AXIS = 0,
  PLIM_REDUCE_ARG_LARGEST = 1, /* 1 the largest, 0 the smallest */
  PLIM_REDUCE_ARG_LAST = 2,    /* of equal elements: 1 the last, 0 the first */
  PLIM_REDUCE_ARG_WORDS = 3
};

#ifdef __cplusplus
}
#endif
#endif
