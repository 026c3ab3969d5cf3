//===- kernels/conv/nhwc_direct_x86.h - conv.nhwc_direct: a product over shifted pixels ---===//
//
// An output pixel is a row of A whose sum lies in KH pieces of KW * C contiguous floats (KH * KW pieces of C, where
// dilation or a cache conflict parts the pixels). Nothing is unrolled into columns: pieces of neighbouring pixels
// overlap in memory.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_CONV_NHWC_DIRECT_X86_H
#define PLIM_KERNELS_CONV_NHWC_DIRECT_X86_H

#include "kernels/conv/nhwc_direct_cost.h"
#include "kernels/conv/nhwc_x86.h"
#include "kernels/x86/panel_block.h"
#include "kernels/x86/vector.h"

#include <string.h>

namespace plim {
namespace {

/// A window of an image: first pixel (may lie outside), and pixels.
struct Window {
  int64_t y, x, height, width;
};

/// Pixels of the window, `pixel` floats apart, row by row; zeros outside the image.
inline void copyWindow(float *band, int64_t pixel, const float *image, const plim_shape *shape, const Window &window) {
  const int64_t height = shape->dims[1], width = shape->dims[2], channels = shape->dims[3];
  const size_t bytes = (size_t)channels * sizeof(float);
  const int64_t left = window.x < 0 ? -window.x : 0;
  int64_t end = width - window.x < window.width ? width - window.x : window.width;
  if (end < left)
    end = left;
  for (int64_t r = 0; r < window.height; ++r) {
    float *row = band + r * window.width * pixel;
    const int64_t y = window.y + r;
    if (y < 0 || y >= height || left >= window.width) {
      memset(row, 0, (size_t)(window.width * pixel) * sizeof(float));
      continue;
    }
    const float *source = image + y * shape->strides[1] + window.x * shape->strides[2];
    memset(row, 0, (size_t)(left * pixel) * sizeof(float));
    if (pixel == channels && shape->strides[2] == channels)
      memcpy(row + left * pixel, source + left * channels, (size_t)(end - left) * bytes);
    else
      for (int64_t x = left; x < end; ++x)
        memcpy(row + x * pixel, source + x * shape->strides[2], bytes);
    memset(row + end * pixel, 0, (size_t)((window.width - end) * pixel) * sizeof(float));
  }
}

/// Taps in the order of the filter's rows, for pixels and rows these floats apart.
inline void setTaps(Tap *taps, const plim_direct_blocking &cut, const Geometry &g, int64_t rowFloats,
                    int64_t pixelFloats) {
  const int64_t perRow = cut.taps / g.kernelH;
  for (int64_t y = 0; y < g.kernelH; ++y)
    for (int64_t x = 0; x < perRow; ++x)
      taps[y * perRow + x] = {y * g.dilationH * rowFloats + x * g.dilationW * pixelFloats,
                              (y * perRow + x) * cut.tap_floats * kPanel};
}

inline int32_t runConvDirect(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  const plim_shape *const *shape = launch->shape;
  const int64_t flags = plim_attr_int(launch->attrs, PLIM_CONV_FLAGS);
  const bool hasBias = flags & PLIM_EPILOGUE_BIAS, hasResidual = flags & PLIM_EPILOGUE_RESIDUAL;
  const uint32_t residual = 2 + hasBias, y = launch->operands - 1;
  if (!takesImages(launch, PLIM_CONV_FILTER_TAPS))
    return PLIM_KERNEL_UNSUPPORTED;
  const Geometry g(launch);
  const plim_shape *xs = shape[0], *ys = shape[y], *rs = hasResidual ? shape[residual] : ys;
  const plim_direct_blocking cut = plim_direct_blocking_for(xs, shape[1], ys, (const int64_t *)launch->attrs);
  Tap *taps = (Tap *)scratch;
  float *band = (float *)((char *)scratch + cut.taps_bytes);
  const bool pixelsAdjoin = xs->strides[2] == cut.pixel;

  PanelBlock block = {};
  block.taps = taps;
  block.tapCount = cut.taps;
  block.depth = cut.tap_floats;
  block.depthBlock = cut.depth;
  block.bPanel = shape[1]->dims[0] * kPanel;
  block.cRow = ys->strides[2];
  block.cRun = ys->strides[1];
  block.residualRow = rs->strides[2];
  block.residualRun = rs->strides[1];
  block.activation = (plim_activation)plim_attr_int(launch->attrs, PLIM_CONV_ACTIVATION);
  block.activationA = (float)plim_attr_double(launch->attrs, PLIM_CONV_ACT_A);
  block.activationB = (float)plim_attr_double(launch->attrs, PLIM_CONV_ACT_B);
  block.partial = cut.partial_bytes ? (float *)((char *)band + cut.band_bytes) : nullptr;

  const int64_t end = cut.units * last / launch->tasks;
  int64_t bandTile = -1; // the tile whose input lies in the band
  for (int64_t unit = cut.units * first / launch->tasks; unit < end; ++unit) {
    int64_t index = unit;
    const int64_t panel = index % cut.panel_blocks * cut.panels;
    index /= cut.panel_blocks;
    const int64_t tile = index;
    const int64_t ox = index % cut.w_blocks * cut.tile_w;
    index /= cut.w_blocks;
    const int64_t oy = index % cut.h_blocks * cut.tile_h, image = index / cut.h_blocks;
    block.runs = smaller(g.outH - oy, cut.tile_h);
    block.rows = smaller(g.outW - ox, cut.tile_w);

    if (tile != bandTile) {
      bandTile = tile;
      const Window window = {oy * g.strideH - g.padH, ox * g.strideW - g.padW,
                             plim_direct_span(block.runs, g.kernelH, g.strideH, g.dilationH),
                             plim_direct_span(block.rows, g.kernelW, g.strideW, g.dilationW)};
      const float *x = (const float *)launch->buf[0] + image * xs->strides[0];
      const bool inside =
          window.y >= 0 && window.x >= 0 && window.y + window.height <= g.inH && window.x + window.width <= g.inW;
      int64_t rowFloats = window.width * cut.pixel;
      if (inside && pixelsAdjoin) {
        rowFloats = xs->strides[1];
        block.a = x + window.y * rowFloats + window.x * cut.pixel;
      } else {
        copyWindow(band, cut.pixel, x, xs, window);
        block.a = band;
      }
      setTaps(taps, cut, g, rowFloats, cut.pixel);
      block.aRow = g.strideW * cut.pixel;
      block.aRun = g.strideH * rowFloats;
    }

    const int64_t column = panel * kPanel;
    block.panelCount = smaller(plim_ceil_divide(g.outC, kPanel) - panel, cut.panels);
    block.columns = smaller(g.outC - column, block.panelCount * kPanel);
    block.b = (const float *)launch->buf[1] + panel * block.bPanel;
    block.c = (float *)launch->buf[y] + image * ys->strides[0] + oy * block.cRun + ox * block.cRow + column;
    block.bias = hasBias ? (const float *)launch->buf[2] + column : nullptr;
    block.residual = hasResidual ? (const float *)launch->buf[residual] + image * rs->strides[0] +
                                       oy * block.residualRun + ox * block.residualRow + column
                                 : nullptr;
    PLIM_PANEL_BLOCK(&block);
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
