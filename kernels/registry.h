/*===- kernels/registry.h - All library kernels by name ----------------------*- C -*-===
 *
 * A compiled model names the kernels it uses as symbols and so links only those. The compiler, plimc (for @setup) and
 * the tests find kernels here.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_REGISTRY_H
#define PLIM_KERNELS_REGISTRY_H

#include "kernels/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plim_kernel_entry {
  const plim_kernel *kernel;
  const char *symbol; /* of the kernel, e.g. "plim_kernel_matmul_panel32" */
  plim_cost_fn cost;
} plim_kernel_entry;

/* The entry at `index`, or NULL past the last one. */
const plim_kernel_entry *plim_kernel_at(uint32_t index);

/* By plim_kernel.name; NULL where there is none. */
const plim_kernel_entry *plim_find_kernel_entry(const char *name);
const plim_kernel *plim_find_kernel(const char *name);

#ifdef __cplusplus
}
#endif
#endif
