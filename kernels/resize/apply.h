/*===- kernels/resize/apply.h - Resizing by interpolation --------------------*- C -*-===
 *
 * Operands: X, Y of one rank, any axes. Along each axis with SCALE other than 1 or another dim, coordinate i of Y reads
 * X around a coordinate that COORDINATE gives; these are computed in f32, as ONNX Runtime does, so that ties fall
 * alike. NEAREST copies one element and takes any dtype; LINEAR and CUBIC weigh 2 and 4 elements along each of at most
 * 3 axes, repeat the edge outside X, compute in double and take float and integer dtypes.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_RESIZE_APPLY_H
#define PLIM_KERNELS_RESIZE_APPLY_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum plim_resize_mode {
  PLIM_RESIZE_NEAREST = 0,
  PLIM_RESIZE_LINEAR = 1,
  PLIM_RESIZE_CUBIC = 2,
  PLIM_RESIZE_MODE_COUNT = 3
} plim_resize_mode;

/* i: coordinate in Y, s: the scale, n and m: the dims of X and Y. */
typedef enum plim_resize_coordinate {
  PLIM_RESIZE_HALF_PIXEL = 0,           /* (i + 0.5) / s - 0.5 */
  PLIM_RESIZE_PYTORCH_HALF_PIXEL = 1,   /* the same; 0 where m is 1 */
  PLIM_RESIZE_ALIGN_CORNERS = 2,        /* i (n - 1) / (m - 1); 0 where m is 1 */
  PLIM_RESIZE_ASYMMETRIC = 3,           /* i / s */
  PLIM_RESIZE_HALF_PIXEL_SYMMETRIC = 4, /* half pixel, moved so that the centres of X and Y meet where m is not n s */
  PLIM_RESIZE_COORDINATE_COUNT = 5
} plim_resize_coordinate;

typedef enum plim_resize_rounding {
  PLIM_RESIZE_ROUND_PREFER_FLOOR = 0,
  PLIM_RESIZE_ROUND_PREFER_CEIL = 1,
  PLIM_RESIZE_FLOOR = 2,
  PLIM_RESIZE_CEIL = 3,
  PLIM_RESIZE_ROUNDING_COUNT = 4
} plim_resize_rounding;

enum plim_resize_attr {
  PLIM_RESIZE_MODE = 0,            /* plim_resize_mode */
  PLIM_RESIZE_COORDINATE = 1,      /* plim_resize_coordinate */
  PLIM_RESIZE_ROUNDING = 2,        /* plim_resize_rounding; for NEAREST */
  PLIM_RESIZE_CUBIC_A = 3,         /* double; for CUBIC, usually -0.75 */
  PLIM_RESIZE_EXCLUDE_OUTSIDE = 4, /* for CUBIC, 1: elements outside X weigh 0 and the rest is scaled up */
  PLIM_RESIZE_SCALE = 5,           /* 8 words, doubles, one an axis: the model's scale, or m / n where it gives sizes */
  PLIM_RESIZE_WORDS = 13
};

/* Scratch that a worker needs for each element of Y's last axis. */
enum { PLIM_RESIZE_SCRATCH_PER_ELEMENT = 72 };

#ifdef __cplusplus
}
#endif
#endif
