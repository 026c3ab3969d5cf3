/*===- kernels/attention/attention.h - Scaled dot-product attention ----------*- C -*-===
 *
 * O = softmax(scale Q K^T + mask) V, for each batch and head.
 *
 * Operands: Q [B, H, S, D], K [B, G, T, D], V [B, G, T, E], mask (flag), O [B, H, S, E]. G divides H: query head h
 * reads key head h / (H / G). The operands are views: [B, S, H, D] in memory is a matter of strides. mask is [B, H, S,
 * T], broadcast by strides of 0: a float type is added, bool hides the keys where it is 0. With CAUSAL, query s sees
 * the keys t <= s + OFFSET, or t <= s + T - S + OFFSET with FROM_END. A query that sees no key gets zeros.
 *
 * attention.reference  any strides, float dtypes; accumulates in double; shares nothing, scratch T doubles.
 * attention.naive      all scores of all heads in `shared`
 * attention.chunked    scores of CHUNK query rows at a time, full K and V
 * attention.flash      online softmax, no score matrix
 * attention.decode     for few queries: K and V are read once, where they lie; parts of blocks of keys in `shared`
 * The fast ones take f32 with stride 1 in the last dim of Q, K, V and O, a mask of f32 or bool, and D and E of at most
 * 256. naive and chunked give the same bits; flash and decode sum in other orders.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_ATTENTION_H
#define PLIM_KERNELS_ATTENTION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PLIM_ATTENTION_MASK = 1, PLIM_ATTENTION_CAUSAL = 2, PLIM_ATTENTION_FROM_END = 4 };

enum plim_attention_attr {
  PLIM_ATTENTION_FLAGS = 0,  /* bits above */
  PLIM_ATTENTION_SCALE = 1,  /* double */
  PLIM_ATTENTION_OFFSET = 2, /* of the causal diagonal: keys that precede query 0 */
  PLIM_ATTENTION_CHUNK = 3,  /* query rows a chunk, for attention.chunked; 0 means 1,024 */
  PLIM_ATTENTION_WORDS = 4
};

/* How far the keys that a query sees reach beyond its own number. */
static inline int64_t plim_attention_offset(int64_t flags, int64_t offset, int64_t queries, int64_t keys) {
  return flags & PLIM_ATTENTION_FROM_END ? keys - queries + offset : offset;
}

#ifdef __cplusplus
}
#endif
#endif
