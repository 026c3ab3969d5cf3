//===- kernels/x86/operands.h - What fast kernels require of all operands -----------------===//
#ifndef PLIM_KERNELS_X86_OPERANDS_H
#define PLIM_KERNELS_X86_OPERANDS_H

#include "plim/kernel.h"

namespace plim {
namespace {

/// f32, and stride 1 in the last dim. Operand `packed` (or none: UINT32_MAX) may lie as it likes.
inline bool areDenseFloats(const plim_launch *launch, uint32_t packed) {
  for (uint32_t i = 0; i < launch->operands; ++i) {
    const plim_shape *s = launch->shape[i];
    if (s->dtype != PLIM_F32)
      return false;
    if (i != packed && s->rank && s->dims[s->rank - 1] > 1 && s->strides[s->rank - 1] != 1)
      return false;
  }
  return true;
}

} // namespace
} // namespace plim

#endif
