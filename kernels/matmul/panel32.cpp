//===- panel32.cpp - matmul.panel32: a product by a packed constant -------------------------===//

#include "plim/kernel.h"

extern "C" {
__attribute__((visibility("hidden"))) int32_t plim_matmul_panel32_v3(const plim_launch *, void *, uint32_t, uint32_t);
__attribute__((visibility("hidden"))) int32_t plim_matmul_panel32_v4(const plim_launch *, void *, uint32_t, uint32_t);

extern const plim_kernel plim_kernel_matmul_panel32;
const plim_kernel plim_kernel_matmul_panel32 = {
    "matmul.panel32", PLIM_KERNEL_ABI, 1, {nullptr, plim_matmul_panel32_v3, plim_matmul_panel32_v4}};
}
