//===- integer_panel32.cpp - matmul.integer_panel32: exact products by packed 8-bit integers -===//

#include "plim/kernel.h"

extern "C" {
__attribute__((visibility("hidden"))) int32_t plim_matmul_integer_panel32_v3(const plim_launch *, void *, uint32_t,
                                                                             uint32_t);
__attribute__((visibility("hidden"))) int32_t plim_matmul_integer_panel32_v4(const plim_launch *, void *, uint32_t,
                                                                             uint32_t);

extern const plim_kernel plim_kernel_matmul_integer_panel32;
const plim_kernel plim_kernel_matmul_integer_panel32 = {
    "matmul.integer_panel32",
    PLIM_KERNEL_ABI,
    1,
    {nullptr, plim_matmul_integer_panel32_v3, plim_matmul_integer_panel32_v4}};
}
