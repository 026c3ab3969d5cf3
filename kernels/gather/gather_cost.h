/*===- kernels/gather/gather_cost.h - Cost of gathers ------------------------*- C -*-===*/
#ifndef PLIM_KERNELS_GATHER_GATHER_COST_H
#define PLIM_KERNELS_GATHER_GATHER_COST_H

#include "kernels/cost.h"
#include "kernels/gather/gather.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads what it writes, not all of X; about 10 ns a slice, besides. */
static inline plim_cost plim_gather_cost(const plim_shape *const *shape, double slices, const plim_machine *machine) {
  plim_cost cost = {0.0, 0.0, 0.0, 1, 0, 0};
  cost.bytes = 2.0 * plim_shape_traffic(shape[2]) + plim_shape_traffic(shape[1]);
  cost.ns = cost.bytes / machine->bytes_per_ns + 10.0 * slices;
  cost.tasks = plim_cost_tasks(cost.ns, (double)plim_elements(shape[2]));
  return cost;
}

static inline plim_cost plim_cost_gather_axis(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                              const plim_machine *machine) {
  double slices = (double)plim_elements(shape[1]);
  (void)operands;
  for (int64_t i = 0; i < attrs[PLIM_GATHER_AXIS]; ++i)
    slices *= (double)shape[0]->dims[i];
  return plim_gather_cost(shape, slices, machine);
}

static inline plim_cost plim_cost_gather_elements(const plim_shape *const *shape, uint32_t operands,
                                                  const int64_t *attrs, const plim_machine *machine) {
  (void)operands;
  (void)attrs;
  return plim_gather_cost(shape, (double)plim_elements(shape[1]), machine);
}

/* Over all pieces each row is copied once; each piece looks at all indices. The first one writes zeros besides. */
static inline plim_cost plim_cost_gather_partial(const plim_shape *const *shape, uint32_t operands,
                                                 const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *result = shape[operands - 1];
  double part = (double)shape[0]->dims[0] / (double)attrs[PLIM_PARTIAL_GATHER_ROWS];
  plim_cost cost = {0.0, 0.0, 0.0, 1, 0, 0};
  cost.bytes = (2.0 * part + (operands == 3 ? 1.0 : 0.0)) * plim_shape_traffic(result) + plim_shape_traffic(shape[1]);
  cost.ns = cost.bytes / machine->bytes_per_ns + 10.0 * (double)plim_elements(shape[1]);
  cost.tasks = plim_cost_tasks(cost.ns, (double)plim_elements(result));
  return cost;
}

static inline plim_cost plim_cost_gather_nd(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                            const plim_machine *machine) {
  const plim_shape *indices = shape[1];
  int64_t k = indices->dims[indices->rank - 1];
  (void)operands;
  (void)attrs;
  return plim_gather_cost(shape, k ? (double)plim_elements(indices) / (double)k : 0.0, machine);
}

#ifdef __cplusplus
}
#endif
#endif
