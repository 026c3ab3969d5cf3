/*===- kernels/norm/norm.h - Normalizations ----------------------------------*- C -*-===
 *
 * All take float dtypes and any strides, and accumulate in double. Y has X's dims and may be X, with the same strides.
 * A parameter whose flag is not set is left out of the operand list.
 *
 * norm.layer  X, scale (flag), bias (flag), Y. Over axes [AXIS, rank): y = (x - mean) / sqrt(variance + epsilon) *
 * scale
 *             + bias. scale and bias have the dims of those axes, with strides of 0 where they repeat.
 * norm.rms    X, scale (flag), Y. The same axes: y = x / sqrt(mean of x^2 + epsilon) * scale.
 * norm.group  X, scale (flag), bias (flag), Y. Channels (axis AXIS) in GROUPS equal groups; each batch element (axis 0)
 *             and group is normalized as in norm.layer; scale and bias are [channels]. As many groups as channels:
 * instance normalization. norm.batch  X, scale, bias, mean, variance, Y. y = (x - mean) / sqrt(variance + epsilon) *
 * scale + bias, with parameters [channels] along axis AXIS.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_NORM_NORM_H
#define PLIM_KERNELS_NORM_NORM_H

#ifdef __cplusplus
extern "C" {
#endif

enum { PLIM_NORM_SCALE = 1, PLIM_NORM_BIAS = 2 };

enum plim_norm_attr {
  PLIM_NORM_FLAGS = 0,   /* bits above; not for norm.batch */
  PLIM_NORM_AXIS = 1,    /* see above */
  PLIM_NORM_EPSILON = 2, /* double */
  PLIM_NORM_GROUPS = 3,  /* norm.group; 1 for the others */
  PLIM_NORM_WORDS = 4
};

#ifdef __cplusplus
}
#endif
#endif
