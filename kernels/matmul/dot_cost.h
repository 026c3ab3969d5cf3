/*===- kernels/matmul/dot_cost.h - Cost of matmul.dot ------------------------*- C -*-===
 *
 * A unit of work is a block of columns of C for all rows. Reading B once is what takes the time.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_MATMUL_DOT_COST_H
#define PLIM_KERNELS_MATMUL_DOT_COST_H

#include "kernels/cost.h"
#include "kernels/matmul/matmul.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PLIM_DOT_ROWS_MAX = 4, /* of C, over all batches */
  PLIM_DOT_COLUMNS = 64  /* of a unit */
};

static inline plim_cost plim_cost_matmul_dot(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                             const plim_machine *machine) {
  (void)attrs;
  const plim_shape *a = shape[0], *c = shape[operands - 1];
  double flops = 2.0 * (double)plim_elements(c) * (double)a->dims[a->rank - 1];
  double units = (double)((c->dims[c->rank - 1] + PLIM_DOT_COLUMNS - 1) / PLIM_DOT_COLUMNS);
  return plim_cost_rule(shape, operands, flops, 0.3, units, machine);
}

#ifdef __cplusplus
}
#endif
#endif
