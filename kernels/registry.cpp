//===- registry.cpp - All library kernels by name ------------------------------------------===//

#include "kernels/registry.h"

#include "kernels/attention/decode_cost.h"
#include "kernels/attention/fast_cost.h"
#include "kernels/attention/reference_cost.h"
#include "kernels/conv/integer_cost.h"
#include "kernels/conv/nhwc_depthwise_cost.h"
#include "kernels/conv/nhwc_direct_cost.h"
#include "kernels/conv/nhwc_pointwise_cost.h"
#include "kernels/conv/nhwc_transpose_cost.h"
#include "kernels/conv/nhwc_winograd_cost.h"
#include "kernels/conv/reference_cost.h"
#include "kernels/copy/concat_cost.h"
#include "kernels/copy/strided_cost.h"
#include "kernels/elementwise/apply_cost.h"
#include "kernels/fill/fill_cost.h"
#include "kernels/gather/gather_cost.h"
#include "kernels/matmul/batched_cost.h"
#include "kernels/matmul/dot_cost.h"
#include "kernels/matmul/integer_cost.h"
#include "kernels/matmul/panel32_cost.h"
#include "kernels/matmul/quantized_cost.h"
#include "kernels/matmul/reference_cost.h"
#include "kernels/norm/norm_cost.h"
#include "kernels/pack/panel32_cost.h"
#include "kernels/pad/apply_cost.h"
#include "kernels/pool/nhwc_cost.h"
#include "kernels/pool/reference_cost.h"
#include "kernels/recurrent/recurrent_cost.h"
#include "kernels/reduce/nhwc_partial_mean_cost.h"
#include "kernels/reduce/nhwc_spatial_mean_cost.h"
#include "kernels/reduce/reduce_cost.h"
#include "kernels/resize/apply_cost.h"
#include "kernels/scan/cumsum_cost.h"
#include "kernels/scatter/scatter_cost.h"
#include "kernels/select/select_cost.h"
#include "kernels/softmax/rows_cost.h"
#include "kernels/sort/top_k_cost.h"

#include <string.h>

extern "C" {

#define PLIM_KERNEL(family, variant) extern const plim_kernel plim_kernel_##family##_##variant;
#include "kernels/registry.def"
#undef PLIM_KERNEL

static const plim_kernel_entry entries[] = {
#define PLIM_KERNEL(family, variant)                                                                                   \
  {&plim_kernel_##family##_##variant, "plim_kernel_" #family "_" #variant, plim_cost_##family##_##variant},
#include "kernels/registry.def"
#undef PLIM_KERNEL
};

const plim_kernel_entry *plim_kernel_at(uint32_t index) {
  return index < sizeof(entries) / sizeof(entries[0]) ? &entries[index] : nullptr;
}

const plim_kernel_entry *plim_find_kernel_entry(const char *name) {
  for (const plim_kernel_entry &entry : entries)
    if (strcmp(entry.kernel->name, name) == 0)
      return &entry;
  return nullptr;
}

const plim_kernel *plim_find_kernel(const char *name) {
  const plim_kernel_entry *entry = plim_find_kernel_entry(name);
  return entry ? entry->kernel : nullptr;
}
}
