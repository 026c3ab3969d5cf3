//===- kernels/conv/integer_x86.h - conv.integer_nhwc* at the level a file is compiled for --===//
#ifndef PLIM_KERNELS_CONV_INTEGER_X86_H
#define PLIM_KERNELS_CONV_INTEGER_X86_H

#include "kernels/conv/integer_cost.h"
#include "kernels/conv/integer_problem.h"
#include "kernels/status.h"
#include "kernels/x86/integer_tile.h"

namespace plim {
namespace {

/// Terms [depth, depth + count) of a pixel's sums as 16-bit integers: input channels of one tap after the other.
template <typename X>
inline void gatherTerms(const IntegerConvolution &p, const X *x, int16_t zero, int64_t pixel, int64_t depth,
                        int64_t count, int16_t *to) {
  const PixelAt at(p.y, pixel);
  while (count > 0) {
    const int64_t tap = depth / p.x.channels, channel = depth % p.x.channels, left = p.x.channels - channel;
    const int64_t n = left < count ? left : count;
    int64_t offset;
    if (p.inputOf(at, tap, offset))
      widenRow(x + offset + channel * p.x.channelStep, p.x.channelStep, n, zero, to);
    else
      for (int64_t i = 0; i < n; ++i)
        to[i] = 0;
    depth += n;
    count -= n;
    to += n;
  }
}

template <typename W> inline int16_t zeroOfChannel(const IntegerConvolution &p, int64_t channel) {
  if (p.o.w_zero < 0)
    return 0;
  const plim_shape &zero = *p.launch->shape[p.o.w_zero];
  return ((const W *)p.launch->buf[p.o.w_zero])[zero.rank ? channel * zero.strides[0] : 0];
}

template <typename X, typename W>
inline void runIntegerConv(const IntegerConvolution &p, void *scratch, uint32_t first, uint32_t last) {
  const plim_integer_blocking cut = plim_integer_conv_blocking(p.launch->shape[1], p.launch->shape[p.o.y]);
  const int64_t k = p.launch->shape[1]->dims[0], n = p.y.channels, pixels = p.y.count();
  const X *x = (const X *)p.launch->buf[0];
  const W *w = (const W *)p.launch->buf[1];
  int32_t *y = (int32_t *)p.launch->buf[p.o.y];
  const int16_t xZero = p.o.x_zero >= 0 ? *(const X *)p.launch->buf[p.o.x_zero] : 0;
  int16_t *terms = (int16_t *)scratch;
  int32_t *pairsOfW = (int32_t *)((char *)scratch + cut.a_bytes);

  const int64_t end = cut.units * last / p.launch->tasks;
  for (int64_t unit = cut.units * first / p.launch->tasks; unit < end; ++unit) {
    const int64_t row = unit / cut.panel_blocks * cut.rows, rows = smaller(pixels - row, cut.rows);
    const int64_t panel = unit % cut.panel_blocks * cut.panels;
    const int64_t panelEnd = panel + smaller(plim_ceil_divide(n, kPanel) - panel, cut.panels);
    for (int64_t depth = 0; depth < k; depth += cut.depth) {
      const int64_t count = smaller(k - depth, cut.depth), pairs = (count + 1) / 2;
      for (int64_t i = 0; i < rows; ++i) {
        gatherTerms(p, x, xZero, row + i, depth, count, terms + i * 2 * pairs);
        if (count % 2)
          terms[i * 2 * pairs + count] = 0;
      }
      for (int64_t q = panel; q < panelEnd; ++q) {
        int16_t zeros[kPanel];
        for (int64_t j = 0; j < kPanel; ++j)
          zeros[j] = q * kPanel + j < n ? zeroOfChannel<W>(p, q * kPanel + j) : 0;
        pairPanel(w + q * k * kPanel, depth, count, zeros, pairsOfW);
        // Pixels of one row of the image follow each other evenly.
        for (int64_t i = 0; i < rows;) {
          const int64_t run = smaller(p.y.size[2] - (row + i) % p.y.size[2], rows - i);
          multiplyIntegers((const int32_t *)terms + i * pairs, pairs, run, pairsOfW, pairs,
                           y + PixelAt(p.y, row + i).offset(p.y) + q * kPanel, p.y.step[2],
                           smaller(n - q * kPanel, kPanel), depth > 0);
          i += run;
        }
      }
    }
  }
}

template <typename X, typename W>
inline void runIntegerDepthwise(const IntegerConvolution &p, uint32_t first, uint32_t last) {
  constexpr int64_t block = PLIM_INTEGER_DEPTHWISE_CHANNELS;
  const int64_t pixels = p.y.count(), channels = p.y.channels;
  const X *x = (const X *)p.launch->buf[0];
  const W *w = (const W *)p.launch->buf[1];
  int32_t *y = (int32_t *)p.launch->buf[p.o.y];
  const int32_t xZero = p.o.x_zero >= 0 ? *(const X *)p.launch->buf[p.o.x_zero] : 0;
  const int64_t end = pixels * last / p.launch->tasks;
  for (int64_t channel = 0; channel < channels; channel += block) {
    const int64_t n = channels - channel < block ? channels - channel : block;
    int32_t zeros[block];
    for (int64_t j = 0; j < n; ++j)
      zeros[j] = zeroOfChannel<W>(p, channel + j);
    for (int64_t pixel = pixels * first / p.launch->tasks; pixel < end; ++pixel) {
      const PixelAt at(p.y, pixel);
      int32_t sum[block] = {};
      for (int64_t tap = 0; tap < p.taps(); ++tap) {
        int64_t offset;
        if (!p.inputOf(at, tap, offset))
          continue;
        const X *from = x + offset + channel;
        const W *weights = w + tap * channels + channel;
        for (int64_t j = 0; j < n; ++j)
          sum[j] = (int32_t)((uint32_t)sum[j] + (uint32_t)((from[j] - xZero) * (weights[j] - zeros[j])));
      }
      int32_t *to = y + at.offset(p.y) + channel;
      for (int64_t j = 0; j < n; ++j)
        to[j] = sum[j];
    }
  }
}

inline bool takesNhwc(const IntegerConvolution &p) {
  return p.fits() && p.nhwc && (p.y.channelStep == 1 || p.y.channels <= 1);
}

inline int32_t runConvIntegerNhwc(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  if (!IntegerConvolution::isReadable(launch))
    return PLIM_KERNEL_UNSUPPORTED;
  const IntegerConvolution p(launch);
  if (!takesNhwc(p) || p.groups != 1 || p.filter != PLIM_CONV_FILTER_TAPS || launch->shape[1]->layout != PLIM_PANEL32)
    return PLIM_KERNEL_UNSUPPORTED;
  withByteTypes(launch, [&](auto x, auto w) { runIntegerConv<decltype(x), decltype(w)>(p, scratch, first, last); });
  return PLIM_KERNEL_OK;
}

inline int32_t runConvIntegerNhwcDepthwise(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  if (!IntegerConvolution::isReadable(launch))
    return PLIM_KERNEL_UNSUPPORTED;
  const IntegerConvolution p(launch);
  if (!takesNhwc(p) || p.filter != PLIM_CONV_FILTER_DEPTHWISE || (p.x.channelStep != 1 && p.x.channels > 1))
    return PLIM_KERNEL_UNSUPPORTED;
  const plim_shape &w = *launch->shape[1];
  int64_t dense = 1;
  for (uint32_t i = w.rank; i-- > 0; dense *= w.dims[i])
    if (w.dims[i] > 1 && w.strides[i] != dense)
      return PLIM_KERNEL_UNSUPPORTED;
  withByteTypes(launch, [&](auto x, auto w) { runIntegerDepthwise<decltype(x), decltype(w)>(p, first, last); });
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
