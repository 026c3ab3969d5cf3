//===- x86_v3_nhwc.cpp - pool.nhwc_max and pool.nhwc_average for x86-64-v3 -----------------===//

#include "kernels/pool/nhwc_x86.h"

extern "C" {
int32_t plim_pool_nhwc_max_v3(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  return plim::runPool<false>(launch, first, last);
}
int32_t plim_pool_nhwc_average_v3(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  return plim::runPool<true>(launch, first, last);
}
}
