/*===- kernels/scan/cumsum_cost.h - Cost of scan.cumsum ----------------------*- C -*-===*/
#ifndef PLIM_KERNELS_SCAN_CUMSUM_COST_H
#define PLIM_KERNELS_SCAN_CUMSUM_COST_H

#include "kernels/cost.h"
#include "kernels/scan/cumsum.h"

#ifdef __cplusplus
extern "C" {
#endif

/* About 5 ns an element. A task computes whole rows. */
static inline plim_cost plim_cost_scan_cumsum(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                              const plim_machine *machine) {
  double elements = (double)plim_elements(shape[0]);
  int64_t row = shape[0]->dims[attrs[PLIM_SCAN_CUMSUM_AXIS]];
  return plim_cost_rule(shape, operands, elements, 0.001, row ? elements / (double)row : 0.0, machine);
}

#ifdef __cplusplus
}
#endif
#endif
