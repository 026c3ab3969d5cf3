//===- dot.cpp - matmul.dot: a few rows times contiguous columns --------------------===//

#include "plim/kernel.h"

extern "C" {
__attribute__((visibility("hidden"))) int32_t plim_matmul_dot_v3(const plim_launch *, void *, uint32_t, uint32_t);
__attribute__((visibility("hidden"))) int32_t plim_matmul_dot_v4(const plim_launch *, void *, uint32_t, uint32_t);

extern const plim_kernel plim_kernel_matmul_dot;
const plim_kernel plim_kernel_matmul_dot = {
    "matmul.dot", PLIM_KERNEL_ABI, 1, {nullptr, plim_matmul_dot_v3, plim_matmul_dot_v4}};
}
