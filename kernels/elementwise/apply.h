/*===- kernels/elementwise/apply.h - Elementwise operations and casts --------*- C -*-===
 *
 * elementwise.apply  Operands: X [, Y [, Z]], OUT of equal dims (broadcast dims have stride 0); how many inputs there
 * are follows from the operation. OUT may be an input, with the same strides. elementwise.cast   Operands: X, OUT of
 * equal dims, any dtypes. No attributes. Float to integer truncates and saturates, NaN gives 0; integer to integer
 * keeps the low bits; to bool is "not zero".
 *
 * Operations compute in float where the inputs are f32, f16 or bf16, in double where one is f64 or where floats meet
 * integers of 32 bits and more, else in 64-bit integers that wrap; the result is then converted to OUT's dtype. The
 * condition of `where` does not count. Comparisons, logic and tests give 0 or 1.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_ELEMENTWISE_APPLY_H
#define PLIM_KERNELS_ELEMENTWISE_APPLY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* x, y, z are the inputs, a and b the parameters. "float" marks operations without an integer form. */
typedef enum plim_elementwise_op {
  /* One input. */
  PLIM_EW_NEG = 0,
  PLIM_EW_ABS = 1,
  PLIM_EW_SIGN = 2,
  PLIM_EW_FLOOR = 3,
  PLIM_EW_CEIL = 4,
  PLIM_EW_ROUND = 5,      /* half to even */
  PLIM_EW_SQRT = 6,       /* float */
  PLIM_EW_RSQRT = 7,      /* float: 1 / sqrt(x) */
  PLIM_EW_RECIPROCAL = 8, /* float */
  PLIM_EW_EXP = 9,        /* float, and so on to ATANH */
  PLIM_EW_LOG = 10,
  PLIM_EW_ERF = 11,
  PLIM_EW_SIN = 12,
  PLIM_EW_COS = 13,
  PLIM_EW_TAN = 14,
  PLIM_EW_ASIN = 15,
  PLIM_EW_ACOS = 16,
  PLIM_EW_ATAN = 17,
  PLIM_EW_SINH = 18,
  PLIM_EW_COSH = 19,
  PLIM_EW_TANH = 20,
  PLIM_EW_ASINH = 21,
  PLIM_EW_ACOSH = 22,
  PLIM_EW_ATANH = 23,
  PLIM_EW_SIGMOID = 24,          /* float */
  PLIM_EW_RELU = 25,             /* x < 0 ? 0 : x */
  PLIM_EW_LEAKY_RELU = 26,       /* float: x < 0 ? a x : x */
  PLIM_EW_ELU = 27,              /* float: x < 0 ? a (exp(x) - 1) : x */
  PLIM_EW_SELU = 28,             /* float: b * (x < 0 ? a (exp(x) - 1) : x) */
  PLIM_EW_CELU = 29,             /* float: x < 0 ? a (exp(x / a) - 1) : x */
  PLIM_EW_HARD_SIGMOID = 30,     /* float: clamp(a x + b, 0, 1) */
  PLIM_EW_HARD_SWISH = 31,       /* float: x clamp(x / 6 + 1 / 2, 0, 1) */
  PLIM_EW_SILU = 32,             /* float: x / (1 + exp(-x)) */
  PLIM_EW_GELU_ERF = 33,         /* float */
  PLIM_EW_GELU_TANH = 34,        /* float */
  PLIM_EW_SOFTPLUS = 35,         /* float: log(1 + exp(x)) */
  PLIM_EW_SOFTSIGN = 36,         /* float: x / (1 + |x|) */
  PLIM_EW_MISH = 37,             /* float: x tanh(softplus(x)) */
  PLIM_EW_THRESHOLDED_RELU = 38, /* float: x > a ? x : 0 */
  PLIM_EW_SHRINK = 39,           /* float: x < -a ? x + b : x > a ? x - b : 0 */
  PLIM_EW_CLIP = 40,             /* clamp(x, a, b) */
  PLIM_EW_NOT = 41,              /* logical */
  PLIM_EW_BIT_NOT = 42,          /* integer */
  PLIM_EW_IS_NAN = 43,           /* float */
  PLIM_EW_IS_INF = 44,           /* float; a, b not 0: negative, positive infinity counts */
  PLIM_EW_IDENTITY = 45,
  PLIM_EW_UNARY_END = 46,
  /* Two inputs. */
  PLIM_EW_ADD = 100,
  PLIM_EW_SUB = 101,
  PLIM_EW_MUL = 102,
  PLIM_EW_DIV = 103,  /* integers truncate; x / 0 is 0 for integers */
  PLIM_EW_MOD = 104,  /* the sign is y's; integer x mod 0 is 0 */
  PLIM_EW_FMOD = 105, /* the sign is x's; integer x mod 0 is 0 */
  PLIM_EW_POW = 106,  /* integers: by squaring; to a negative power 0, except for 1 and -1 */
  PLIM_EW_MIN = 107,  /* NaN if either is */
  PLIM_EW_MAX = 108,  /* NaN if either is */
  PLIM_EW_EQUAL = 109,
  PLIM_EW_NOT_EQUAL = 110,
  PLIM_EW_LESS = 111,
  PLIM_EW_LESS_EQUAL = 112,
  PLIM_EW_GREATER = 113,
  PLIM_EW_GREATER_EQUAL = 114,
  PLIM_EW_AND = 115, /* logical, and so OR and XOR */
  PLIM_EW_OR = 116,
  PLIM_EW_XOR = 117,
  PLIM_EW_BIT_AND = 118, /* integer, and so on to SHIFT_RIGHT */
  PLIM_EW_BIT_OR = 119,
  PLIM_EW_BIT_XOR = 120,
  PLIM_EW_SHIFT_LEFT = 121,  /* by 64 and more: 0 */
  PLIM_EW_SHIFT_RIGHT = 122, /* arithmetic for signed types; by 64 and more as by 63, or 0 for unsigned types */
  PLIM_EW_PRELU = 123,       /* x < 0 ? x y : x */
  PLIM_EW_ATAN2 = 124,       /* float */
  PLIM_EW_BINARY_END = 125,
  /* Three inputs. */
  PLIM_EW_WHERE = 200,        /* x ? y : z */
  PLIM_EW_CLAMP = 201,        /* min(max(x, y), z) */
  PLIM_EW_MULTIPLY_ADD = 202, /* x y + z, rounded twice */
  PLIM_EW_TERNARY_END = 203
} plim_elementwise_op;

enum plim_elementwise_attr {
  PLIM_ELEMENTWISE_OP = 0, /* plim_elementwise_op */
  PLIM_ELEMENTWISE_A = 1,  /* double */
  PLIM_ELEMENTWISE_B = 2,  /* double */
  PLIM_ELEMENTWISE_WORDS = 3
};

/* Inputs of an operation; 0 for a number that names none. */
static inline uint32_t plim_elementwise_inputs(int64_t op) {
  if (op >= PLIM_EW_NEG && op < PLIM_EW_UNARY_END)
    return 1;
  if (op >= PLIM_EW_ADD && op < PLIM_EW_BINARY_END)
    return 2;
  return op >= PLIM_EW_WHERE && op < PLIM_EW_TERNARY_END ? 3 : 0;
}

#ifdef __cplusplus
}
#endif
#endif
