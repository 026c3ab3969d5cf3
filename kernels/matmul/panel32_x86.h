//===- kernels/matmul/panel32_x86.h - matmul.panel32 at the level a file is compiled for --===//
#ifndef PLIM_KERNELS_MATMUL_PANEL32_X86_H
#define PLIM_KERNELS_MATMUL_PANEL32_X86_H

#include "kernels/matmul/panel32_cost.h"
#include "kernels/status.h"
#include "kernels/x86/operands.h"
#include "kernels/x86/row_product.h"

namespace plim {
namespace {

inline int32_t runMatmulPanel32(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  const plim_shape *const *shape = launch->shape;
  const bool hasResidual = plim_attr_int(launch->attrs, PLIM_MATMUL_FLAGS) & PLIM_EPILOGUE_RESIDUAL;
  const uint32_t c = launch->operands - 1;
  if (!areDenseFloats(launch, 1) || shape[1]->layout != PLIM_PANEL32)
    return PLIM_KERNEL_UNSUPPORTED;

  RowProduct product = {};
  product.space = plim_matmul_panel32_rows(shape[0], hasResidual ? shape[c - 1] : nullptr, shape[c]);
  product.k = shape[1]->dims[0];
  product.n = shape[1]->dims[1];
  product.a = (const float *)launch->buf[0];
  product.b = (const float *)launch->buf[1];
  product.c = (float *)launch->buf[c];
  setEpilogue(product, launch, PLIM_MATMUL_FLAGS, PLIM_MATMUL_ACTIVATION, PLIM_MATMUL_ACT_A, PLIM_MATMUL_ACT_B);
  runRowProduct(product, (float *)scratch, first, last, launch->tasks);
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
