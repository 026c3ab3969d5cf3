//===- kernels/conv/nhwc_winograd_x86.h - conv.nhwc_winograd: 3x3 with 4 times fewer products -===//
//
// For each of 36 points the tiles of a unit are rows of a matrix product by the transformed filter of that point. The
// sum of an element is one chain over the input channels, whatever the blocks.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_CONV_NHWC_WINOGRAD_X86_H
#define PLIM_KERNELS_CONV_NHWC_WINOGRAD_X86_H

#include "kernels/conv/nhwc_winograd_cost.h"
#include "kernels/conv/nhwc_winograd_transforms.h"
#include "kernels/conv/nhwc_x86.h"
#include "kernels/x86/activation.h"
#include "kernels/x86/panel_block.h"

#include <string.h>

namespace plim {
namespace {

constexpr int kWinogradSide = PLIM_WINOGRAD_TILE + 2; // input pixels of a tile
constexpr int kWinogradPoints = PLIM_WINOGRAD_POINTS;

struct Winograd {
  const plim_launch *launch;
  Geometry g;
  plim_winograd_blocking cut;
  const plim_shape *x, *y, *r; // r: the residual, or y
  const float *bias;
  const float *residual;
  Activation act;
  float *zeros, *inputs, *filter, *products;

  Winograd(const plim_launch *launch, void *scratch) : launch(launch), g(launch) {
    const int64_t flags = plim_attr_int(launch->attrs, PLIM_CONV_FLAGS);
    const uint32_t at = flags & PLIM_EPILOGUE_BIAS ? 3 : 2;
    x = launch->shape[0];
    y = launch->shape[launch->operands - 1];
    r = flags & PLIM_EPILOGUE_RESIDUAL ? launch->shape[at] : y;
    bias = flags & PLIM_EPILOGUE_BIAS ? (const float *)launch->buf[2] : nullptr;
    residual = flags & PLIM_EPILOGUE_RESIDUAL ? (const float *)launch->buf[at] : nullptr;
    act = {(plim_activation)plim_attr_int(launch->attrs, PLIM_CONV_ACTIVATION),
           (float)plim_attr_double(launch->attrs, PLIM_CONV_ACT_A),
           (float)plim_attr_double(launch->attrs, PLIM_CONV_ACT_B)};
    cut = plim_winograd_blocking_for(x, y);
    char *bytes = (char *)scratch;
    zeros = (float *)bytes;
    inputs = (float *)(bytes += cut.zeros_bytes);
    filter = (float *)(bytes += cut.inputs_bytes);
    products = (float *)(bytes += cut.filter_bytes);
  }
};

/// Tiles [tile, tile + count) of an image: inputs[point][tile][channel].
inline void transformInputs(const Winograd &w, int64_t image, int64_t tile, int64_t count) {
  const float *base = (const float *)w.launch->buf[0] + image * w.x->strides[0];
  const int64_t ahead = PLIM_WINOGRAD_TILE * w.x->strides[2];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t top = (tile + i) / w.cut.tiles_w * PLIM_WINOGRAD_TILE - w.g.padH;
    const int64_t left = (tile + i) % w.cut.tiles_w * PLIM_WINOGRAD_TILE - w.g.padW;
    const float *pixels[kWinogradPoints];
    for (int row = 0; row < kWinogradSide; ++row)
      for (int column = 0; column < kWinogradSide; ++column) {
        const int64_t py = top + row, px = left + column;
        const bool inside = py >= 0 && py < w.g.inH && px >= 0 && px < w.g.inW;
        pixels[row * kWinogradSide + column] = inside ? base + py * w.x->strides[1] + px * w.x->strides[2] : w.zeros;
      }
    float *to = w.inputs + i * w.cut.row;
    for (int64_t channel = 0; channel < w.g.inC; channel += kLanes) {
      const LaneMask lanes = firstLanes(w.g.inC - channel);
      Vector d[kWinogradPoints];
#pragma clang loop unroll(full)
      for (int row = 0; row < kWinogradSide; ++row) {
#pragma clang loop unroll(full)
        for (int column = 0; column < kWinogradSide; ++column) {
          d[row * kWinogradSide + column] = load(pixels[row * kWinogradSide + column] + channel, lanes);
          if (column >= 2) // the next tile's
            _mm_prefetch((const char *)(pixels[row * kWinogradSide + column] + channel + ahead), _MM_HINT_T0);
        }
        transformInput(d + row * kWinogradSide, 1);
      }
#pragma clang loop unroll(full)
      for (int column = 0; column < kWinogradSide; ++column) {
        transformInput(d + column, kWinogradSide);
#pragma clang loop unroll(full)
        for (int row = 0; row < kWinogradSide; ++row) {
          const int point = row * kWinogradSide + column;
          store(to + point * w.cut.input_point + channel, d[point]);
        }
      }
    }
  }
}

/// Input channels [channel, channel + depth) of a panel: filter[point][channel][32].
inline void transformFilters(const Winograd &w, int64_t panel, int64_t channel, int64_t depth) {
  const int64_t tapFloats = w.g.inC * kPanel;
  const float *base = (const float *)w.launch->buf[1] + panel * 9 * tapFloats + channel * kPanel;
  for (int64_t at = 0; at < depth * kPanel; at += kLanes) {
    Vector g[9], h[3 * kWinogradSide];
#pragma clang loop unroll(full)
    for (int tap = 0; tap < 9; ++tap)
      g[tap] = load(base + tap * tapFloats + at);
#pragma clang loop unroll(full)
    for (int kx = 0; kx < 3; ++kx)
      transformFilter(g + kx, 3, h + kx, 3);
#pragma clang loop unroll(full)
    for (int row = 0; row < kWinogradSide; ++row) {
      Vector u[kWinogradSide];
      transformFilter(h + row * 3, 1, u, 1);
#pragma clang loop unroll(full)
      for (int point = 0; point < kWinogradSide; ++point)
        store(w.filter + (row * kWinogradSide + point) * w.cut.filter_point + at, u[point]);
    }
  }
}

/// Fetches the part of a filter block that one of 36 points answers for, while that point is multiplied.
inline void prefetchFilters(const Winograd &w, int64_t panel, int64_t channel, int64_t depth, int64_t point) {
  const int64_t tap = point / 4, part = point % 4;
  const float *from = (const float *)w.launch->buf[1] + (panel * 9 + tap) * w.g.inC * kPanel + channel * kPanel;
  for (int64_t at = depth * part / 4 * kPanel; at < depth * (part + 1) / 4 * kPanel; at += 16)
    _mm_prefetch((const char *)(from + at), _MM_HINT_T1);
}

/// products[point][tile][32] of the panel whose filter block lies in scratch; channels before it are in already.
inline void multiplyPoints(const Winograd &w, int64_t count, int64_t panel, int64_t channel, int64_t depth) {
  const Tap tap = {0, 0};
  PanelBlock block = {};
  block.aRow = w.cut.row;
  block.runs = 1;
  block.rows = count;
  block.taps = &tap;
  block.tapCount = 1;
  block.depth = block.depthBlock = depth;
  block.bPanel = depth * kPanel;
  block.panelCount = 1;
  block.columns = kPanel;
  block.resume = channel != 0;
  block.keep = true;
  // The filter block that comes next, of this panel or another; past the last one nothing is fetched.
  const bool wraps = channel + depth >= w.g.inC;
  const int64_t nextPanel = panel + wraps, next = wraps ? 0 : channel + depth;
  const int64_t nextDepth = nextPanel * kPanel >= w.g.outC ? 0
                            : w.g.inC - next < w.cut.depth ? w.g.inC - next
                                                           : w.cut.depth;
  for (int64_t point = 0; point < kWinogradPoints; ++point) {
    prefetchFilters(w, nextPanel, next, nextDepth, point);
    block.a = w.inputs + point * w.cut.input_point + channel;
    block.b = w.filter + point * w.cut.filter_point;
    block.partial = w.products + point * w.cut.product_point;
    PLIM_PANEL_BLOCK(&block);
  }
}

/// Output pixels of the tiles, for the channels of one panel.
inline void transformOutputs(const Winograd &w, int64_t image, int64_t tile, int64_t count, int64_t panel) {
  float *base = (float *)w.launch->buf[w.launch->operands - 1] + image * w.y->strides[0];
  const float *residual = w.residual ? w.residual + image * w.r->strides[0] : nullptr;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t top = (tile + i) / w.cut.tiles_w * PLIM_WINOGRAD_TILE;
    const int64_t left = (tile + i) % w.cut.tiles_w * PLIM_WINOGRAD_TILE;
    const int64_t rows = w.g.outH - top, columns = w.g.outW - left;
    for (int64_t column = 0; column < kPanel && panel * kPanel + column < w.g.outC; column += kLanes) {
      const int64_t channel = panel * kPanel + column;
      const LaneMask lanes = firstLanes(w.g.outC - channel);
      const float *from = w.products + i * kPanel + column;
      Vector half[PLIM_WINOGRAD_TILE * kWinogradSide], pixels[PLIM_WINOGRAD_TILE * PLIM_WINOGRAD_TILE];
#pragma clang loop unroll(full)
      for (int px = 0; px < kWinogradSide; ++px) {
        Vector m[kWinogradSide];
#pragma clang loop unroll(full)
        for (int py = 0; py < kWinogradSide; ++py)
          m[py] = load(from + (py * kWinogradSide + px) * w.cut.product_point);
        transformOutput(m, 1, half + px, kWinogradSide);
      }
      const Vector bias = w.bias ? load(w.bias + channel, lanes) : zero();
#pragma clang loop unroll(full)
      for (int py = 0; py < PLIM_WINOGRAD_TILE; ++py)
        transformOutput(half + py * kWinogradSide, 1, pixels + py * PLIM_WINOGRAD_TILE, 1);
      for (int py = 0; py < PLIM_WINOGRAD_TILE && py < rows; ++py)
        for (int px = 0; px < PLIM_WINOGRAD_TILE && px < columns; ++px) {
          Vector v = pixels[py * PLIM_WINOGRAD_TILE + px] + bias;
          if (residual)
            v = v + load(residual + (top + py) * w.r->strides[1] + (left + px) * w.r->strides[2] + channel, lanes);
          store(base + (top + py) * w.y->strides[1] + (left + px) * w.y->strides[2] + channel, activate(v, w.act),
                lanes);
        }
    }
  }
}

inline int32_t runConvWinograd(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  if (!takesImages(launch, PLIM_CONV_FILTER_TAPS))
    return PLIM_KERNEL_UNSUPPORTED;
  const Winograd w(launch, scratch);
  const Geometry &g = w.g;
  if (g.kernelH != 3 || g.kernelW != 3 || g.strideH != 1 || g.strideW != 1 || g.dilationH != 1 || g.dilationW != 1)
    return PLIM_KERNEL_UNSUPPORTED;
  const plim_winograd_blocking &cut = w.cut;
  memset(w.zeros, 0, cut.zeros_bytes);
  const int64_t end = cut.units * last / launch->tasks, panels = plim_ceil_divide(g.outC, kPanel);
  int64_t transformed = -1; // the block of tiles that lies in scratch
  for (int64_t unit = cut.units * first / launch->tasks; unit < end; ++unit) {
    const int64_t block = unit / cut.panel_blocks, firstPanel = unit % cut.panel_blocks * cut.panels;
    const int64_t image = block / cut.tile_blocks, tile = block % cut.tile_blocks * cut.block;
    const int64_t count = smaller(cut.tiles - tile, cut.block);
    if (block != transformed)
      transformInputs(w, image, tile, count);
    transformed = block;
    for (int64_t panel = firstPanel; panel < smaller(panels, firstPanel + cut.panels); ++panel) {
      if (g.inC == 0)
        memset(w.products, 0, cut.products_bytes);
      for (int64_t channel = 0; channel < g.inC; channel += cut.depth) {
        const int64_t depth = smaller(g.inC - channel, cut.depth);
        transformFilters(w, panel, channel, depth);
        multiplyPoints(w, count, panel, channel, depth);
      }
      transformOutputs(w, image, tile, count, panel);
    }
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
