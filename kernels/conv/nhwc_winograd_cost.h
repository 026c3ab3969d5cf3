/*===- kernels/conv/nhwc_winograd_cost.h - Cost of conv.nhwc_winograd --------*- C -*-===
 *
 * A unit of work is a block of tiles (4 x 4 output pixels each) times a block of panels. In scratch: the transformed
 * tiles, the transformed filter of one panel and a block of depth, and the products. The filter is transformed for each
 * unit, in the cache: transformed for good it would take four times its bytes of memory and of traffic, which costs
 * more than the transformation where images are small and filters large.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_CONV_NHWC_WINOGRAD_COST_H
#define PLIM_KERNELS_CONV_NHWC_WINOGRAD_COST_H

#include "kernels/conv/conv.h"
#include "kernels/x86/panel_blocking.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PLIM_WINOGRAD_TILE = 4,        /* output pixels a side */
  PLIM_WINOGRAD_POINTS = 36,     /* of a transformed tile or filter */
  PLIM_WINOGRAD_DEPTH = 64,      /* input channels of a transformed filter block, at most */
  PLIM_WINOGRAD_TILES_MAX = 56,  /* of a unit */
  PLIM_WINOGRAD_TILES_MIN = 14,  /* ... where there are as many, however many the channels */
  PLIM_WINOGRAD_FLOATS = 131072, /* of transformed tiles, beyond that minimum: half of a second-level cache */
  PLIM_WINOGRAD_PAD = 16         /* floats after a row and a point: powers of two meet in one cache set */
};

typedef struct plim_winograd_blocking {
  int64_t tiles_w, tiles;                           /* of a row of an image, of an image */
  int64_t block, panels;                            /* tiles and panels of a unit, at most */
  int64_t depth;                                    /* of a block of the transformed filter */
  int64_t row;                                      /* floats from tile to tile of a transformed point */
  int64_t input_point, filter_point, product_point; /* floats from point to point */
  int64_t tile_blocks, panel_blocks, units;
  uint64_t zeros_bytes, inputs_bytes, filter_bytes, products_bytes; /* of scratch, in this order */
} plim_winograd_blocking;

/* ns of a unit: products at 200 flops/ns, and what was measured for 16 lanes of each transformation and for a tile. */
static inline double plim_winograd_unit_ns(int64_t tiles, int64_t panels, int64_t channels) {
  double products = 64.0 / 200.0 * (double)(PLIM_WINOGRAD_POINTS * tiles * panels * channels);
  double filters = 28.0 * 2.0 * (double)(panels * channels);
  double inputs = (60.0 + 60.0 * (double)plim_ceil_divide(channels, 16)) * (double)tiles;
  double outputs = 90.0 * 2.0 * (double)(tiles * panels);
  return products + filters + inputs + outputs;
}

static inline plim_winograd_blocking plim_winograd_blocking_for(const plim_shape *x, const plim_shape *y) {
  plim_winograd_blocking cut;
  int64_t channels = x->dims[3], panels = plim_ceil_divide(y->dims[3], 32);
  cut.tiles_w = plim_ceil_divide(y->dims[2], PLIM_WINOGRAD_TILE);
  cut.tiles = plim_ceil_divide(y->dims[1], PLIM_WINOGRAD_TILE) * cut.tiles_w;
  cut.row = (channels + 15) / 16 * 16 + PLIM_WINOGRAD_PAD;
  cut.depth = channels < PLIM_WINOGRAD_DEPTH ? channels : PLIM_WINOGRAD_DEPTH;
  int64_t most = PLIM_WINOGRAD_FLOATS / (PLIM_WINOGRAD_POINTS * cut.row);
  most = most > PLIM_WINOGRAD_TILES_MAX ? PLIM_WINOGRAD_TILES_MAX : most;
  most = most < PLIM_WINOGRAD_TILES_MIN ? PLIM_WINOGRAD_TILES_MIN : most;
  /* Scratch is sized by the largest block, which does not fall when a dim falls; blocks are nearly equal. */
  int64_t largest = cut.tiles < most ? cut.tiles : most;
  cut.zeros_bytes = (uint64_t)cut.row * sizeof(float);
  cut.input_point = largest * cut.row + PLIM_WINOGRAD_PAD;
  cut.filter_point = cut.depth * 32 + PLIM_WINOGRAD_PAD;
  cut.product_point = largest * 32 + PLIM_WINOGRAD_PAD;
  cut.inputs_bytes = (uint64_t)(PLIM_WINOGRAD_POINTS * cut.input_point) * sizeof(float);
  cut.filter_bytes = (uint64_t)(PLIM_WINOGRAD_POINTS * cut.filter_point) * sizeof(float);
  cut.products_bytes = (uint64_t)(PLIM_WINOGRAD_POINTS * cut.product_point) * sizeof(float);
  cut.block = cut.tiles ? plim_ceil_divide(cut.tiles, plim_ceil_divide(cut.tiles, largest)) : 0;
  cut.tile_blocks = cut.block ? plim_ceil_divide(cut.tiles, cut.block) : 0;
  cut.panels = panels;
  for (;;) {
    cut.panel_blocks = cut.panels ? plim_ceil_divide(panels, cut.panels) : 0;
    cut.units = y->dims[0] * cut.tile_blocks * cut.panel_blocks;
    if (cut.units == 0 || cut.units >= 32 || cut.panels == 1 ||
        plim_winograd_unit_ns(cut.block, cut.panels, channels) < 80000.0)
      return cut;
    cut.panels = (cut.panels + 1) / 2;
  }
}

static inline plim_cost plim_cost_conv_nhwc_winograd(const plim_shape *const *shape, uint32_t operands,
                                                     const int64_t *attrs, const plim_machine *machine) {
  (void)attrs;
  const plim_shape *x = shape[0], *y = shape[operands - 1];
  plim_winograd_blocking cut = plim_winograd_blocking_for(x, y);
  int64_t panels = plim_ceil_divide(y->dims[3], 32);
  double blocks = (double)(y->dims[0] * cut.tile_blocks);
  double flops = 2.0 * (double)(PLIM_WINOGRAD_POINTS * y->dims[0] * cut.tiles * x->dims[3] * y->dims[3]);
  plim_cost cost = plim_cost_rule(shape, operands, flops, 1.0, (double)cut.units, machine);
  double work = blocks * plim_winograd_unit_ns(cut.block, panels, x->dims[3]) * 200.0 / machine->flops_per_ns;
  cost.ns = cost.ns > work ? cost.ns : work;
  cost.tasks = plim_cost_tasks(cost.ns, (double)cut.units);
  cost.scratch_bytes = cut.zeros_bytes + cut.inputs_bytes + cut.filter_bytes + cut.products_bytes;
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
