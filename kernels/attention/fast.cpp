//===- fast.cpp - attention.naive, .chunked, .flash and .decode ----------------------------===//

#include "plim/kernel.h"

extern "C" {
#define DECLARE(name)                                                                                                  \
  __attribute__((visibility("hidden"))) int32_t name(const plim_launch *, void *, uint32_t, uint32_t)
DECLARE(plim_attention_naive_v3);
DECLARE(plim_attention_naive_v4);
DECLARE(plim_attention_chunked_v3);
DECLARE(plim_attention_chunked_v4);
DECLARE(plim_attention_decode_v3);
DECLARE(plim_attention_decode_v4);
DECLARE(plim_attention_flash_v3);
DECLARE(plim_attention_flash_v4);
#undef DECLARE

extern const plim_kernel plim_kernel_attention_naive, plim_kernel_attention_chunked, plim_kernel_attention_flash,
    plim_kernel_attention_decode;
// Phases: pack K and V; weights; O.
const plim_kernel plim_kernel_attention_naive = {
    "attention.naive", PLIM_KERNEL_ABI, 3, {nullptr, plim_attention_naive_v3, plim_attention_naive_v4}};
// Phases: pack K and V; chunks.
const plim_kernel plim_kernel_attention_chunked = {
    "attention.chunked", PLIM_KERNEL_ABI, 2, {nullptr, plim_attention_chunked_v3, plim_attention_chunked_v4}};
const plim_kernel plim_kernel_attention_flash = {
    "attention.flash", PLIM_KERNEL_ABI, 1, {nullptr, plim_attention_flash_v3, plim_attention_flash_v4}};
// Phases: blocks of keys; query rows.
const plim_kernel plim_kernel_attention_decode = {
    "attention.decode", PLIM_KERNEL_ABI, 2, {nullptr, plim_attention_decode_v3, plim_attention_decode_v4}};
}
