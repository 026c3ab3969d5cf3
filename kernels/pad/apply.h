/*===- kernels/pad/apply.h - Padding -----------------------------------------*- C -*-===
 *
 * Operands: X, Y of one dtype and rank. Y[i] = X[i - BEGIN] where that is inside X, else as MODE says. What is added or
 * cut (a negative BEGIN) at the end follows from Y's dims. Modes other than CONSTANT need an X that is not empty.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_PAD_APPLY_H
#define PLIM_KERNELS_PAD_APPLY_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum plim_pad_mode {
  PLIM_PAD_CONSTANT = 0,
  PLIM_PAD_EDGE = 1,    /* the nearest element */
  PLIM_PAD_REFLECT = 2, /* mirrored at the edge element, which does not repeat */
  PLIM_PAD_WRAP = 3,    /* from the other end */
  PLIM_PAD_MODE_COUNT = 4
} plim_pad_mode;

enum plim_pad_attr {
  PLIM_PAD_MODE = 0,  /* plim_pad_mode */
  PLIM_PAD_VALUE = 1, /* double, converted to the dtype; for CONSTANT */
  PLIM_PAD_BEGIN = 2, /* 8 words, one an axis */
  PLIM_PAD_WORDS = 10
};

#ifdef __cplusplus
}
#endif
#endif
