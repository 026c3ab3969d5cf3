//===- kernels/conv/nhwc_winograd_transforms.h - The three transformations of F(4x4, 3x3) --===//
//
// Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016: Y = A^T [(G g G^T) . (B^T d B)] A with the
// points 0, 1, -1, 2, -2 and infinity. Channels are lanes, so every lane is rounded alike at each vector width.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_CONV_NHWC_WINOGRAD_TRANSFORMS_H
#define PLIM_KERNELS_CONV_NHWC_WINOGRAD_TRANSFORMS_H

#include "kernels/x86/vector.h"

namespace plim {
namespace {

/// Six in, six out, `step` vectors apart: B^T d.
PLIM_INLINE void transformInput(Vector *d, int step) {
  const Vector a = d[0], b = d[step], c = d[2 * step], e = d[3 * step], f = d[4 * step], g = d[5 * step];
  const Vector two = broadcast(2.0f), four = broadcast(4.0f), minusFour = broadcast(-4.0f),
               minusFive = broadcast(-5.0f);
  d[0] = fma(four, a, fma(minusFive, c, f));
  const Vector even = fma(minusFour, c, f), odd = fma(minusFour, b, e);
  d[step] = even + odd;
  d[2 * step] = even - odd;
  const Vector far = f - c, farOdd = two * (e - b);
  d[3 * step] = far + farOdd;
  d[4 * step] = far - farOdd;
  d[5 * step] = fma(four, b, fma(minusFive, e, g));
}

/// Three in, `in` vectors apart; six out, `out` vectors apart: G g.
PLIM_INLINE void transformFilter(const Vector *g, int in, Vector *u, int out) {
  const Vector a = g[0], b = g[in], c = g[2 * in];
  u[0] = a * broadcast(1.0f / 4);
  const Vector near = (a + c) * broadcast(-1.0f / 6);
  u[out] = fma(b, broadcast(-1.0f / 6), near);
  u[2 * out] = fma(b, broadcast(1.0f / 6), near);
  const Vector far = fma(a, broadcast(1.0f / 24), c * broadcast(1.0f / 6));
  u[3 * out] = fma(b, broadcast(1.0f / 12), far);
  u[4 * out] = fma(b, broadcast(-1.0f / 12), far);
  u[5 * out] = c;
}

/// Six in, `in` vectors apart; four out, `out` vectors apart: A^T m.
PLIM_INLINE void transformOutput(const Vector *m, int in, Vector *y, int out) {
  const Vector near = m[in] + m[2 * in], nearOdd = m[in] - m[2 * in];
  const Vector far = m[3 * in] + m[4 * in], farOdd = m[3 * in] - m[4 * in];
  y[0] = m[0] + (near + far);
  y[out] = fma(broadcast(2.0f), farOdd, nearOdd);
  y[2 * out] = fma(broadcast(4.0f), far, near);
  y[3 * out] = m[5 * in] + fma(broadcast(8.0f), farOdd, nearOdd);
}

} // namespace
} // namespace plim

#endif
