//===- MixKernels.h - Kernels in which every byte that is read counts ------------------------===//
//
// Each element that one of these writes depends on all bytes that it may read, so a byte that is stale, freed too early
// or in the wrong place changes all that follows. Elements are 32 bits wide, shapes of rank 1 or 2 with any strides.
// The words of the attributes:
//
//   mix.two    reads..., writes...   [reads, salt, scratch words]   what is read is digested into `shared` first, then
//                                                                   all is written: may run in place
//   mix.one    as mix.two            in one phase, each task digests all for itself: as mix.two bit by bit
//   mix.other  as mix.two            with other bits: a numerics class of its own
//   rows       x -> y                [salt, top, first]   row r of y is row first + r of an image, made of the rows
//                                    above, at and below it, as far as x has them; row 0 of y is at row `top` of x
//   join       reads... -> y         [axis]
//   cut        x -> y                [axis, begin]
//   reshape    x -> y                element by element
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_TEST_COMPILER_CONTRACT_MIXKERNELS_H
#define PLIM_TEST_COMPILER_CONTRACT_MIXKERNELS_H

#include "plim/kernel.h"
#include <string_view>

namespace plim::test {

// The kernel of that name, or the library's; null where there is none.
const plim_kernel *findContractKernel(std::string_view name);

// Well mixed bits.
inline uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7fb5d329728ea185;
  x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44d;
  return x ^ (x >> 33);
}

} // namespace plim::test

#endif // PLIM_TEST_COMPILER_CONTRACT_MIXKERNELS_H
