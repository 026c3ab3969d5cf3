/*===- kernels/x86/panel_blocking.h - How a panel product is cut in blocks ---*- C -*-===
 *
 * A product of row space (outer x runs x rows) and N columns in panels of 32 is cut in units: blocks of rows times
 * blocks of panels. The cut depends on the shapes only. Cost functions and kernels share it, so no intrinsics here.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_X86_PANEL_BLOCKING_H
#define PLIM_KERNELS_X86_PANEL_BLOCKING_H

#include "kernels/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /* Terms of a sum up to which it is not cut: 128 KiB of a panel, well within a second-level cache. */
  PLIM_PANEL_DEPTH_WHOLE = 1024,
  /* Otherwise terms between two rests, at most. */
  PLIM_PANEL_DEPTH_BLOCK = 768,
  /* Panels of a block whose sums are cut, and floats of A of a block: they bound `partial` and fit in the cache. */
  PLIM_PANEL_CUT_PANELS = 4,
  PLIM_PANEL_A_FLOATS = 98304,
  PLIM_PANEL_ROWS_MAX = 448,
  /* Rows of a block are multiples of this: the tiles of x86-64-v4 have 14 rows. */
  PLIM_PANEL_ROW_STEP = 14
};

typedef struct plim_panel_blocking {
  int64_t depth;      /* terms between two rests */
  int64_t runs, rows; /* of a block, at most; one of them is 1 where rows does not cover a run */
  int64_t panels;     /* of a block, at most */
  int64_t run_blocks, row_blocks, panel_blocks, units; /* units = outer * run_blocks * row_blocks * panel_blocks */
} plim_panel_blocking;

static inline int64_t plim_ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

static inline int64_t plim_panel_depth_block(int64_t k) {
  return k <= PLIM_PANEL_DEPTH_WHOLE ? PLIM_PANEL_DEPTH_WHOLE : PLIM_PANEL_DEPTH_BLOCK;
}

/* Rows of a block at most, whatever the number of rows there is: scratch is sized by it. */
static inline int64_t plim_panel_rows_max(int64_t k) {
  int64_t depth = k <= PLIM_PANEL_DEPTH_WHOLE ? k : PLIM_PANEL_DEPTH_BLOCK;
  int64_t rows = PLIM_PANEL_A_FLOATS / (depth ? depth : 1) / PLIM_PANEL_ROW_STEP * PLIM_PANEL_ROW_STEP;
  return rows > PLIM_PANEL_ROWS_MAX ? PLIM_PANEL_ROWS_MAX : rows;
}

static inline plim_panel_blocking plim_panel_blocking_for(int64_t outer, int64_t runs, int64_t rows, int64_t n,
                                                          int64_t k) {
  plim_panel_blocking cut;
  int64_t panels = plim_ceil_divide(n, 32), rows_max = plim_panel_rows_max(k);
  cut.depth = plim_panel_depth_block(k);
  cut.panels = panels;
  if (k > PLIM_PANEL_DEPTH_WHOLE && panels > PLIM_PANEL_CUT_PANELS)
    cut.panels = PLIM_PANEL_CUT_PANELS;
  cut.rows = rows < rows_max ? rows : rows_max;
  cut.runs = rows && rows_max / rows > 1 ? rows_max / rows : 1;
  if (cut.runs > runs)
    cut.runs = runs;
  for (;;) {
    if (cut.rows < rows) {
      /* Blocks of nearly equal height. */
      int64_t blocks = plim_ceil_divide(rows, cut.rows), even = plim_ceil_divide(rows, blocks);
      even = plim_ceil_divide(even, PLIM_PANEL_ROW_STEP) * PLIM_PANEL_ROW_STEP;
      cut.rows = even < cut.rows ? even : cut.rows;
    }
    cut.run_blocks = cut.runs ? plim_ceil_divide(runs, cut.runs) : 0;
    cut.row_blocks = cut.rows ? plim_ceil_divide(rows, cut.rows) : 0;
    cut.panel_blocks = cut.panels ? plim_ceil_divide(panels, cut.panels) : 0;
    cut.units = outer * cut.run_blocks * cut.row_blocks * cut.panel_blocks;
    /* Enough units for many workers, but none below about 20 us; with few rows, reading B is what takes the time. */
    double panel_rows = (double)(cut.panels * k), height = (double)(cut.runs * cut.rows);
    double ns = panel_rows * (height < 20.0 ? 20.0 : height) * 64.0 / 200.0;
    if (cut.units == 0 || cut.units >= 64 || ns < 40000.0)
      return cut;
    if (cut.panels > 1 && cut.panels * 32 >= cut.runs * cut.rows)
      cut.panels = (cut.panels + 1) / 2;
    else if (cut.runs > 1)
      cut.runs = (cut.runs + 1) / 2;
    else if (cut.rows > 4 * PLIM_PANEL_ROW_STEP)
      cut.rows = plim_ceil_divide((cut.rows + 1) / 2, PLIM_PANEL_ROW_STEP) * PLIM_PANEL_ROW_STEP;
    else if (cut.panels > 1)
      cut.panels = (cut.panels + 1) / 2;
    else
      return cut;
  }
}

/* Bytes of the sums that rest between depth blocks. */
static inline uint64_t plim_panel_partial_bytes(int64_t k) {
  if (k <= PLIM_PANEL_DEPTH_WHOLE)
    return 0;
  return plim_round_up_64((uint64_t)(plim_panel_rows_max(k) * PLIM_PANEL_CUT_PANELS * 32) * sizeof(float));
}

#ifdef __cplusplus
}
#endif
#endif
