//===- batched.cpp - matmul.batched: a product by a matrix that is not packed ---===//

#include "plim/kernel.h"

extern "C" {
__attribute__((visibility("hidden"))) int32_t plim_matmul_batched_v3(const plim_launch *, void *, uint32_t, uint32_t);
__attribute__((visibility("hidden"))) int32_t plim_matmul_batched_v4(const plim_launch *, void *, uint32_t, uint32_t);

extern const plim_kernel plim_kernel_matmul_batched;
const plim_kernel plim_kernel_matmul_batched = {
    "matmul.batched", PLIM_KERNEL_ABI, 1, {nullptr, plim_matmul_batched_v3, plim_matmul_batched_v4}};
}
