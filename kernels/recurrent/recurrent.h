/*===- kernels/recurrent/recurrent.h - The recurrence of LSTM, GRU and RNN ---*- C -*-===
 *
 * T steps, B sequences, D directions, hidden size H; the gates of a kind in order, G of them: i o f c (LSTM), z r h
 * (GRU), h (RNN). Operands in order, those with a flag only where it is set:
 *
 *   PROJECTED [T, B, D*G*H]   input times input weights plus biases
 *   RECURRENT [D, G*H, H] row, or [H, columns] panel32: direction by direction, for each product with a hidden state
 * the columns of its gates, filled up to a multiple of 32. The GRU has two products, z r and h, unless
 *             LINEAR_BEFORE_RESET; all else has one
 *   BIAS [D, H] (flag)        of h, inside the product with r; GRU with LINEAR_BEFORE_RESET
 *   PEEPHOLES [D, 3*H] (flag) LSTM, gates i o f
 *   LENGTHS [B] (flag)        i32 or i64, steps of each sequence, at most T; SEQUENCE is 0 beyond
 *   HIDDEN [D, B, H] (flag), CELL [D, B, H] (flag, LSTM)   initial states, else 0
 *   SCALE, ZERO [D, 1] or [D, G*H] (flag)  RECURRENT is i8 or u8 and stands for SCALE (RECURRENT - ZERO), ZERO of its
 *             type; the hidden state is multiplied in u8: at each step and for each direction one scale and zero point
 *             for all sequences that still run, from the least and largest value as in ONNX's DynamicQuantizeLinear.
 *             LSTM only
 *   SEQUENCE [T, D, B, H] (flag)   written: the hidden states
 *   LAST_HIDDEN [D, B, H], LAST_CELL [D, B, H] (LSTM)   written: after the last step of each sequence; 0 where it has
 * none
 *
 * f, g, h are functions of the gates:
 *   LSTM  i = f(i' + P_i c)  f = f(f' + P_f c), or 1 - i with INPUT_FORGET  c = f c + i g(c')  o = f(o' + P_o c)  h = o
 * h(c) GRU   z = f(z')  r = f(r')  h = (1 - z) g(h') + z h, where h' has the product with r h, or, with
 *         LINEAR_BEFORE_RESET, r times (the product with h, plus BIAS)
 *   RNN   h = f(h')
 * What goes into a function of a gate is first bounded to [-CLIP, CLIP]. Attributes from FUNCTIONS on are three words
 * for each function of each direction: plim_gate_function, and its doubles alpha and beta.
 *
 * recurrent.reference  any float type (all floats of one), any strides; RECURRENT row; computes in double.
 * recurrent.packed     f32, the innermost stride of each operand 1; RECURRENT panel32.
 * recurrent.quantized  as packed, with SCALE and ZERO; RECURRENT panel32 of i8 or u8.
 * LAST_HIDDEN may be the same bytes as HIDDEN, LAST_CELL as CELL.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_RECURRENT_RECURRENT_H
#define PLIM_KERNELS_RECURRENT_RECURRENT_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum plim_recurrence_kind { PLIM_LSTM = 0, PLIM_GRU = 1, PLIM_RNN = 2 } plim_recurrence_kind;

typedef enum plim_gate_function {
  PLIM_GATE_SIGMOID = 0,
  PLIM_GATE_TANH = 1,
  PLIM_GATE_RELU = 2,
  PLIM_GATE_AFFINE = 3,           /* alpha x + beta */
  PLIM_GATE_LEAKY_RELU = 4,       /* x, below 0 alpha x */
  PLIM_GATE_THRESHOLDED_RELU = 5, /* x, below alpha 0 */
  PLIM_GATE_SCALED_TANH = 6,      /* alpha tanh(beta x) */
  PLIM_GATE_HARD_SIGMOID = 7,     /* alpha x + beta in [0, 1] */
  PLIM_GATE_ELU = 8,              /* x, below 0 alpha (e^x - 1) */
  PLIM_GATE_SOFTSIGN = 9,         /* x / (1 + |x|) */
  PLIM_GATE_SOFTPLUS = 10,        /* log(1 + e^x) */
  PLIM_GATE_FUNCTION_COUNT = 11
} plim_gate_function;

enum plim_recurrent_flag {
  PLIM_RECURRENT_BIAS = 1,
  PLIM_RECURRENT_PEEPHOLES = 2,
  PLIM_RECURRENT_LENGTHS = 4,
  PLIM_RECURRENT_HIDDEN = 8,
  PLIM_RECURRENT_CELL = 16,
  PLIM_RECURRENT_QUANTIZED = 32,
  PLIM_RECURRENT_SEQUENCE = 64,
  PLIM_RECURRENT_LINEAR_BEFORE_RESET = 128,
  PLIM_RECURRENT_INPUT_FORGET = 256,
  PLIM_RECURRENT_REVERSE = 512 /* the first direction starts at the end of each sequence; a second one always does */
};

enum plim_recurrent_attr {
  PLIM_RECURRENT_FLAGS = 0,
  PLIM_RECURRENT_KIND = 1,
  PLIM_RECURRENT_CLIP = 2, /* double; infinity for no bound */
  PLIM_RECURRENT_FUNCTIONS = 3,
  PLIM_RECURRENT_WORDS = PLIM_RECURRENT_FUNCTIONS + 3 * 6 /* those of a second direction may be absent */
};

static inline int plim_recurrent_gates(int kind) { return kind == PLIM_LSTM ? 4 : kind == PLIM_GRU ? 3 : 1; }
static inline int plim_recurrent_functions(int kind) { return kind == PLIM_LSTM ? 3 : kind == PLIM_GRU ? 2 : 1; }

#ifdef __cplusplus
}
#endif
#endif
