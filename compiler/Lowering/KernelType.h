//===- KernelType.h - Element types as kernels know them ----------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_KERNELTYPE_H
#define PLIM_COMPILER_LOWERING_KERNELTYPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "plim/kernel.h"

namespace plim {

/// The plim_dtype of a tensor's element type; 0 where kernels have none.
inline uint8_t kernelType(mlir::Type element) {
  if (element.isF32())
    return PLIM_F32;
  if (element.isF16())
    return PLIM_F16;
  if (element.isBF16())
    return PLIM_BF16;
  if (element.isF64())
    return PLIM_F64;
  auto integer = llvm::dyn_cast<mlir::IntegerType>(element);
  if (!integer)
    return 0;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return PLIM_BOOL;
  case 8:
    return isUnsigned ? PLIM_U8 : PLIM_I8;
  case 16:
    return isUnsigned ? PLIM_U16 : PLIM_I16;
  case 32:
    return isUnsigned ? PLIM_U32 : PLIM_I32;
  case 64:
    return isUnsigned ? PLIM_U64 : PLIM_I64;
  default:
    return 0;
  }
}

} // namespace plim

#endif
