/*===- kernels/attention/attention.h - Scaled dot-product attention ----------*- C -*-===
 *
 * O = softmax(scale Q K^T + mask) V, for each batch and head.
 *
 * Operands: Q [B, H, S, D], K [B, G, T, D], V [B, G, T, E], mask (flag), O [B, H, S, E]. G divides H: query head h
 * reads key head h / (H / G). The operands are views: [B, S, H, D] in memory is a matter of strides. mask is [B, H, S,
 * T], broadcast by strides of 0: a float type is added, bool hides the keys where it is 0. With CAUSAL, query s sees
 * the keys t <= s + OFFSET. A query that sees no key gets zeros.
 *
 * attention.reference  any strides, float dtypes; accumulates in double; shares nothing, scratch T doubles.
 * attention.naive      all scores of all heads in `shared`
 * attention.chunked    scores of CHUNK query rows at a time, full K and V
 * attention.flash      online softmax, no score matrix
 * The fast ones take f32 with stride 1 in the last dim of Q, K, V and O, an f32 mask, and D and E of at most 256. naive
 * and chunked give the same bits; flash sums in another order.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_ATTENTION_H
#define PLIM_KERNELS_ATTENTION_H

#ifdef __cplusplus
extern "C" {
#endif

enum { PLIM_ATTENTION_MASK = 1, PLIM_ATTENTION_CAUSAL = 2 };

enum plim_attention_attr {
  PLIM_ATTENTION_FLAGS = 0,  /* bits above */
  PLIM_ATTENTION_SCALE = 1,  /* double */
  PLIM_ATTENTION_OFFSET = 2, /* of the causal diagonal: keys that precede query 0 */
  PLIM_ATTENTION_CHUNK = 3,  /* query rows a chunk, for attention.chunked; 0 means 1,024 */
  PLIM_ATTENTION_WORDS = 4
};

#ifdef __cplusplus
}
#endif
#endif
