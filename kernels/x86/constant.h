//===- kernels/x86/constant.h - Numbers of rows as template arguments ---------------------===//
#ifndef PLIM_KERNELS_X86_CONSTANT_H
#define PLIM_KERNELS_X86_CONSTANT_H

#include "kernels/x86/vector.h"

#include <type_traits>

namespace plim {
namespace {

/// Calls function(n) once, where n.value is `count` as a constant; count is in [1, Most].
template <int Most, int First = 1, typename Function> PLIM_INLINE void withConstant(int64_t count, Function function) {
  if constexpr (First < Most) {
    if (count != First)
      return withConstant<Most, First + 1>(count, function);
  }
  function(std::integral_constant<int, First>());
}

} // namespace
} // namespace plim

#endif
