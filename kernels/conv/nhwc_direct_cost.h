/*===- kernels/conv/nhwc_direct_cost.h - Cost of conv.nhwc_direct ------------*- C -*-===
 *
 * A unit of work is a tile of output pixels times a block of panels. The input pixels that the tile needs, its band,
 * are copied to scratch with their padding, so that no tap has to ask where it lies and rows of A have one stride.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_CONV_NHWC_DIRECT_COST_H
#define PLIM_KERNELS_CONV_NHWC_DIRECT_COST_H

#include "kernels/conv/conv.h"
#include "kernels/x86/panel_blocking.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /* A band and its panels share the second-level cache. */
  PLIM_DIRECT_BAND_FLOATS = 49152,
  PLIM_DIRECT_PIXELS_MAX = 448,  /* of a tile */
  PLIM_DIRECT_PIXELS_CUT = 126,  /* of a tile whose sums rest between depth blocks */
  PLIM_DIRECT_CONFLICT_PAD = 16, /* floats after each pixel whose distance would meet in one cache set */
  PLIM_DIRECT_CONFLICT_STRIDE = 1024
};

typedef struct plim_direct_blocking {
  int64_t tile_h, tile_w, panels; /* of a unit, at most */
  int64_t pixel;                  /* floats from pixel to pixel of the copy */
  int64_t taps, tap_floats;       /* contiguous pieces of a sum, and the length of each */
  int64_t depth;                  /* terms of a sum between two rests */
  int64_t h_blocks, w_blocks, panel_blocks, units;
  uint64_t taps_bytes, band_bytes, partial_bytes; /* of scratch, in this order */
} plim_direct_blocking;

static inline int64_t plim_direct_span(int64_t outputs, int64_t kernel, int64_t stride, int64_t dilation) {
  return (outputs - 1) * stride + (kernel - 1) * dilation + 1;
}

static inline plim_direct_blocking plim_direct_blocking_for(const plim_shape *x, const plim_shape *w,
                                                            const plim_shape *y, const int64_t *attrs) {
  plim_direct_blocking cut;
  int64_t kh = attrs[PLIM_CONV_KERNEL], kw = attrs[PLIM_CONV_KERNEL + 1];
  int64_t sh = attrs[PLIM_CONV_STRIDE], sw = attrs[PLIM_CONV_STRIDE + 1];
  int64_t dh = attrs[PLIM_CONV_DILATION], dw = attrs[PLIM_CONV_DILATION + 1];
  int64_t out_h = y->dims[1], out_w = y->dims[2], c = x->dims[3], k = w->dims[0];
  int64_t panels = plim_ceil_divide(w->dims[1], 32);
  int rests = k > PLIM_PANEL_DEPTH_WHOLE;
  int64_t pixels_max = rests ? PLIM_DIRECT_PIXELS_CUT : PLIM_DIRECT_PIXELS_MAX;

  cut.pixel = c;
  if (c && sw * c % PLIM_DIRECT_CONFLICT_STRIDE == 0)
    cut.pixel = c + PLIM_DIRECT_CONFLICT_PAD;
  cut.taps = cut.pixel == c && dw == 1 ? kh : kh * kw;
  cut.tap_floats = cut.taps == kh ? kw * c : c;
  cut.depth = plim_panel_depth_block(k);
  cut.panels = rests && panels > PLIM_PANEL_CUT_PANELS ? PLIM_PANEL_CUT_PANELS : panels;

  /* Whole rows where one fits, in equal columns otherwise; then as many rows as fit. */
  int64_t row_floats = plim_direct_span(1, kh, sh, dh) * cut.pixel, w_blocks = 1;
  cut.tile_w = out_w;
  while (cut.tile_w > PLIM_PANEL_ROW_STEP &&
         (cut.tile_w > pixels_max || row_floats * plim_direct_span(cut.tile_w, kw, sw, dw) > PLIM_DIRECT_BAND_FLOATS)) {
    ++w_blocks;
    cut.tile_w = plim_ceil_divide(plim_ceil_divide(out_w, w_blocks), PLIM_PANEL_ROW_STEP) * PLIM_PANEL_ROW_STEP;
  }
  cut.tile_h = 1;
  while (cut.tile_h < out_h && (cut.tile_h + 1) * cut.tile_w <= pixels_max &&
         plim_direct_span(cut.tile_h + 1, kh, sh, dh) * plim_direct_span(cut.tile_w, kw, sw, dw) * cut.pixel <=
             PLIM_DIRECT_BAND_FLOATS)
    ++cut.tile_h;
  /* What scratch is sized by: bounds that do not fall when a dim falls. */
  int64_t image = plim_direct_span(out_h, kh, sh, dh) * plim_direct_span(out_w, kw, sw, dw) * cut.pixel;
  int64_t smallest = plim_direct_span(1, kh, sh, dh) * plim_direct_span(PLIM_PANEL_ROW_STEP, kw, sw, dw) * cut.pixel;
  int64_t band = smallest > PLIM_DIRECT_BAND_FLOATS ? smallest : PLIM_DIRECT_BAND_FLOATS;
  int64_t pixels = out_h * out_w < PLIM_DIRECT_PIXELS_CUT ? out_h * out_w : PLIM_DIRECT_PIXELS_CUT;
  cut.taps_bytes = plim_round_up_64((uint64_t)cut.taps * 16);
  cut.band_bytes = image <= 0 ? 0 : plim_round_up_64((uint64_t)(image < band ? image : band) * sizeof(float));
  cut.partial_bytes = rests ? (uint64_t)(pixels * cut.panels) * 128 : 0;

  for (;;) {
    if (out_h)
      cut.tile_h = plim_ceil_divide(out_h, plim_ceil_divide(out_h, cut.tile_h)); /* nearly equal */
    cut.h_blocks = plim_ceil_divide(out_h, cut.tile_h);
    cut.w_blocks = cut.tile_w ? plim_ceil_divide(out_w, cut.tile_w) : 0;
    cut.panel_blocks = cut.panels ? plim_ceil_divide(panels, cut.panels) : 0;
    cut.units = y->dims[0] * cut.h_blocks * cut.w_blocks * cut.panel_blocks;
    double unit_ns = (double)(cut.tile_h * cut.tile_w * cut.panels) * (double)k * 64.0 / 200.0;
    if (cut.units == 0 || cut.units >= 64 || unit_ns < 40000.0)
      return cut;
    if (cut.panels > 1 && cut.panels * 32 >= cut.tile_h * cut.tile_w)
      cut.panels = (cut.panels + 1) / 2;
    else if (cut.tile_h > 1)
      cut.tile_h = (cut.tile_h + 1) / 2;
    else if (cut.panels > 1)
      cut.panels = (cut.panels + 1) / 2;
    else if (cut.tile_w > 2 * PLIM_PANEL_ROW_STEP)
      cut.tile_w = plim_ceil_divide((cut.tile_w + 1) / 2, PLIM_PANEL_ROW_STEP) * PLIM_PANEL_ROW_STEP;
    else
      return cut;
  }
}

/* Scratch: offsets of the taps, the band, and sums that rest between depth blocks. */
static inline plim_cost plim_cost_conv_nhwc_direct(const plim_shape *const *shape, uint32_t operands,
                                                   const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *y = shape[operands - 1];
  plim_direct_blocking cut = plim_direct_blocking_for(shape[0], shape[1], y, attrs);
  double flops = 2.0 * (double)plim_elements(y) * (double)shape[1]->dims[0];
  plim_cost cost =
      plim_cost_rule(shape, operands, flops, shape[0]->dims[3] < 16 ? 0.65 : 0.85, (double)cut.units, machine);
  cost.scratch_bytes = cut.taps_bytes + cut.band_bytes + cut.partial_bytes;
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
