/*===- kernels/epilogue/epilogue.h - What a matmul or convolution does last --*- C -*-===
 *
 * matmul and convolution kernels end with  y = activation(acc + bias + residual),  where bias and residual are present
 * or not as flags say. The flags, the activations and their two double parameters are the same for all of them.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_EPILOGUE_H
#define PLIM_KERNELS_EPILOGUE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of a flags word. An operand that is absent is left out of the operand list; the others keep their order. */
enum { PLIM_EPILOGUE_BIAS = 1, PLIM_EPILOGUE_RESIDUAL = 2 };

/* a and b are the parameters; "-" ignores both. clamp(x, lo, hi) = min(max(x, lo), hi). */
typedef enum plim_activation {
  PLIM_ACT_NONE = 0,         /* x                                                     - */
  PLIM_ACT_RELU = 1,         /* max(x, 0)                                             - */
  PLIM_ACT_CLIP = 2,         /* clamp(x, a, b)                                          */
  PLIM_ACT_LEAKY_RELU = 3,   /* x < 0 ? a * x : x                                       */
  PLIM_ACT_SIGMOID = 4,      /* 1 / (1 + exp(-x))                                     - */
  PLIM_ACT_HARD_SIGMOID = 5, /* clamp(a * x + b, 0, 1)                                  */
  PLIM_ACT_HARD_SWISH = 6,   /* x * clamp(x / 6 + 1 / 2, 0, 1)                        - */
  PLIM_ACT_SILU = 7,         /* x / (1 + exp(-x))                                     - */
  PLIM_ACT_GELU_ERF = 8,     /* x / 2 * (1 + erf(x / sqrt(2)))                        - */
  PLIM_ACT_GELU_TANH = 9,    /* x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) - */
  PLIM_ACT_TANH = 10,        /* tanh(x)                                               - */
  PLIM_ACT_COUNT = 11
} plim_activation;

#ifdef __cplusplus
}
#endif
#endif
