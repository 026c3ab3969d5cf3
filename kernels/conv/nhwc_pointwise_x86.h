//===- kernels/conv/nhwc_pointwise_x86.h - conv.nhwc_pointwise: a product over pixels -----===//
#ifndef PLIM_KERNELS_CONV_NHWC_POINTWISE_X86_H
#define PLIM_KERNELS_CONV_NHWC_POINTWISE_X86_H

#include "kernels/conv/nhwc_pointwise_cost.h"
#include "kernels/conv/nhwc_x86.h"
#include "kernels/x86/row_product.h"

namespace plim {
namespace {

inline int32_t runConvPointwise(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  const plim_shape *const *shape = launch->shape;
  const bool hasResidual = plim_attr_int(launch->attrs, PLIM_CONV_FLAGS) & PLIM_EPILOGUE_RESIDUAL;
  const uint32_t y = launch->operands - 1;
  const Geometry g(launch);
  if (!takesImages(launch, PLIM_CONV_FILTER_TAPS) || g.kernelH != 1 || g.kernelW != 1 || g.padH || g.padW ||
      (g.outH - 1) * g.strideH >= g.inH || (g.outW - 1) * g.strideW >= g.inW)
    return PLIM_KERNEL_UNSUPPORTED;

  RowProduct product = {};
  product.space = plim_conv_pointwise_rows(shape[0], hasResidual ? shape[y - 1] : nullptr, shape[y],
                                           (const int64_t *)launch->attrs);
  product.k = shape[1]->dims[0];
  product.n = shape[1]->dims[1];
  product.a = (const float *)launch->buf[0];
  product.b = (const float *)launch->buf[1];
  product.c = (float *)launch->buf[y];
  setEpilogue(product, launch, PLIM_CONV_FLAGS, PLIM_CONV_ACTIVATION, PLIM_CONV_ACT_A, PLIM_CONV_ACT_B);
  runRowProduct(product, (float *)scratch, first, last, launch->tasks);
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
