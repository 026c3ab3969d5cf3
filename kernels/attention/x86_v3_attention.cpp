//===- x86_v3_attention.cpp - attention.naive, .chunked, .flash and .decode for x86-64-v3 -----------===//

#include "kernels/attention/decode_x86.h"
#include "kernels/attention/flash_x86.h"
#include "kernels/attention/materialised_x86.h"

extern "C" {
int32_t plim_attention_naive_v3(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runNaive(launch, scratch, first, last);
}
int32_t plim_attention_chunked_v3(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runChunked(launch, scratch, first, last);
}
int32_t plim_attention_decode_v3(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runDecode(launch, scratch, first, last);
}
int32_t plim_attention_flash_v3(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runFlash(launch, scratch, first, last);
}
}
