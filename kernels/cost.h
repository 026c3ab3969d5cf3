/*===- kernels/cost.h - What a launch costs ----------------------------------*- C -*-===
 *
 * Each kernel has a function that says, from shapes and attributes alone, what a launch of it costs. The compiler sizes
 * workspaces and picks the number of tasks by it, the solver weighs candidates by it. Pure arithmetic, no intrinsics.
 *
 *   plim_cost cost = plim_cost_matmul_reference(shapes, operands, attrs, &plim_default_machine);
 *
 * The rule of every function: time is the larger of arithmetic and traffic, each at a stated share of the machine's
 * peak.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_COST_H
#define PLIM_KERNELS_COST_H

#include "plim/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One core of the machine that the plan is for. */
typedef struct plim_machine {
  double flops_per_ns; /* f32 multiply-adds count 2 */
  double bytes_per_ns; /* of memory traffic */
  double launch_ns;    /* to start a launch on all workers and wait for them */
} plim_machine;

static const plim_machine plim_default_machine = {200.0, 30.0, 2000.0};

typedef struct plim_cost {
  double flops;           /* arithmetic operations */
  double bytes;           /* read and written, each operand once */
  double ns;              /* on one worker, without launch_ns */
  uint32_t tasks;         /* pieces to cut the launch into, at least 1; does not depend on the number of workers */
  uint64_t shared_bytes;  /* workspace of the launch, a multiple of 64 */
  uint64_t scratch_bytes; /* workspace of each worker, a multiple of 64 */
} plim_cost;

/* operands: as the kernel's header documents. attrs: 8-byte words. */
typedef plim_cost (*plim_cost_fn)(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                  const plim_machine *machine);

/* Bytes that an operand touches: broadcast dims (stride 0) count once. */
static inline double plim_shape_traffic(const plim_shape *s) {
  double n = plim_dtype_bytes(s->dtype);
  for (uint32_t i = 0; i < s->rank; ++i)
    n *= s->layout == PLIM_ROW && s->strides[i] == 0 && s->dims[i] != 0 ? 1.0 : (double)s->dims[i];
  return n;
}

static inline uint64_t plim_round_up_64(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

/* Pieces of about 20 us, at most `units` (the most that the kernel can be cut into) and at most 256: enough to balance
 * 64 workers, few enough that taking one costs nothing. */
static inline uint32_t plim_cost_tasks(double ns, double units) {
  double tasks = ns / 20000.0;
  tasks = tasks > 256.0 ? 256.0 : tasks;
  tasks = tasks > units ? units : tasks;
  return tasks < 1.0 ? 1u : (uint32_t)tasks;
}

/* The common rule. efficiency: the share of peak arithmetic that the kernel reaches, 0 < efficiency <= 1. */
static inline plim_cost plim_cost_rule(const plim_shape *const *shape, uint32_t operands, double flops,
                                       double efficiency, double units, const plim_machine *machine) {
  plim_cost cost = {flops, 0.0, 0.0, 1, 0, 0};
  for (uint32_t i = 0; i < operands; ++i)
    cost.bytes += plim_shape_traffic(shape[i]);
  double compute = flops / (machine->flops_per_ns * efficiency), memory = cost.bytes / machine->bytes_per_ns;
  cost.ns = compute > memory ? compute : memory;
  cost.tasks = plim_cost_tasks(cost.ns, units);
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
