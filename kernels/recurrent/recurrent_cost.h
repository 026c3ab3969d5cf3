/*===- kernels/recurrent/recurrent_cost.h - Cost of recurrences --------------*- C -*-===*/
#ifndef PLIM_KERNELS_RECURRENT_COST_H
#define PLIM_KERNELS_RECURRENT_COST_H

#include "kernels/attrs.h"
#include "kernels/cost.h"
#include "kernels/recurrent/recurrent.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /* Sequences that go through the steps together, so that each weight read serves them all. */
  PLIM_RECURRENT_ROWS = 12,
  /* Sequences of a task, at least. */
  PLIM_RECURRENT_TASK_ROWS = 4
};

/* What the kernels need besides the operands, in elements of one row (a sequence in one direction). */
typedef struct plim_recurrent_row {
  int64_t state;   /* a hidden or cell state, filled up to whole vectors */
  int64_t columns; /* the gates: those of each product filled up to a multiple of 32 */
} plim_recurrent_row;

static inline plim_recurrent_row plim_recurrent_row_of(int kind, int64_t flags, int64_t size) {
  plim_recurrent_row row;
  int split = kind == PLIM_GRU && !(flags & PLIM_RECURRENT_LINEAR_BEFORE_RESET);
  int64_t first = split ? 2 : plim_recurrent_gates(kind);
  row.state = (size + 15) / 16 * 16;
  row.columns = (first * size + 31) / 32 * 32 + (split ? (size + 31) / 32 * 32 : 0);
  return row;
}

/* LAST_HIDDEN. */
static inline const plim_shape *plim_recurrent_last(const plim_shape *const *shape, uint32_t operands,
                                                    const int64_t *attrs) {
  return shape[operands - (attrs[PLIM_RECURRENT_KIND] == PLIM_LSTM ? 2 : 1)];
}

/* The gates cost about as much as 8 more hidden elements. */
static inline plim_cost plim_recurrent_cost(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                            double efficiency, double units, const plim_machine *machine) {
  double size = (double)plim_recurrent_last(shape, operands, attrs)->dims[2];
  double flops = 2.0 * (double)plim_elements(shape[0]) * (size + 8.0);
  return plim_cost_rule(shape, operands, flops, efficiency, units, machine);
}

/* Scratch: hidden, reset and cell states and the gates of one row, or of all rows where they are quantised together, in
 * double. */
static inline plim_cost plim_cost_recurrent_reference(const plim_shape *const *shape, uint32_t operands,
                                                      const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *last = plim_recurrent_last(shape, operands, attrs);
  int64_t sequences = last->dims[1], size = last->dims[2];
  int quantized = (attrs[PLIM_RECURRENT_FLAGS] & PLIM_RECURRENT_QUANTIZED) != 0;
  double units = (double)(last->dims[0] * (quantized ? 1 : sequences));
  plim_cost cost = plim_recurrent_cost(shape, operands, attrs, 0.005, units, machine);
  int64_t rows = quantized ? sequences : 1;
  cost.scratch_bytes = plim_round_up_64(
      (uint64_t)(rows * (3 + plim_recurrent_gates((int)attrs[PLIM_RECURRENT_KIND])) * size) * sizeof(double));
  return cost;
}

/* Scratch: hidden, reset and cell states and the gates of PLIM_RECURRENT_ROWS rows. */
static inline plim_cost plim_cost_recurrent_packed(const plim_shape *const *shape, uint32_t operands,
                                                   const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *last = plim_recurrent_last(shape, operands, attrs);
  int64_t sequences = last->dims[1], rows = sequences < PLIM_RECURRENT_ROWS ? sequences : PLIM_RECURRENT_ROWS;
  double units = (double)(last->dims[0] * ((sequences + PLIM_RECURRENT_TASK_ROWS - 1) / PLIM_RECURRENT_TASK_ROWS));
  plim_cost cost = plim_recurrent_cost(shape, operands, attrs, rows < 4 ? 0.2 : 0.5, units, machine);
  plim_recurrent_row row =
      plim_recurrent_row_of((int)attrs[PLIM_RECURRENT_KIND], attrs[PLIM_RECURRENT_FLAGS], last->dims[2]);
  cost.scratch_bytes = plim_round_up_64((uint64_t)(rows * (3 * row.state + row.columns)) * sizeof(float));
  return cost;
}

/* Scratch: hidden and cell states, the hidden ones in 8 bits as pairs of 16, and the gates, of all sequences. */
static inline plim_cost plim_cost_recurrent_quantized(const plim_shape *const *shape, uint32_t operands,
                                                      const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *last = plim_recurrent_last(shape, operands, attrs);
  plim_cost cost =
      plim_recurrent_cost(shape, operands, attrs, last->dims[1] < 4 ? 0.4 : 0.8, (double)last->dims[0], machine);
  plim_recurrent_row row = plim_recurrent_row_of(PLIM_LSTM, 0, last->dims[2]);
  cost.scratch_bytes = plim_round_up_64((uint64_t)(last->dims[1] * (3 * row.state + row.columns)) * sizeof(float));
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
