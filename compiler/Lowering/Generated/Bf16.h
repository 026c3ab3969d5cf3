//===- Bf16.h - Conversions of bf16 by integer arithmetic -------*- C++ -*-===//
//
// One sequence on every machine: what x86-64-v4 lacks would be a library call, and the instruction of later CPUs
// flushes denormals.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace plim::gen {

/// The bits (i16) of the bf16 nearest to each f32 of `v`, ties to even; a NaN becomes a quiet one of the same sign.
mlir::Value roundToBf16(mlir::ImplicitLocOpBuilder &b, mlir::Value v);

/// The f32 of each bf16 whose bits (i16) are given.
mlir::Value widenBf16(mlir::ImplicitLocOpBuilder &b, mlir::Value bits);

/// The type that has `element` where `shape` has its own, and is a vector where that is one.
mlir::Type withElement(mlir::Type shape, mlir::Type element);

/// A scalar constant, or a vector of it where `shape` is one.
mlir::Value splatConstant(mlir::ImplicitLocOpBuilder &b, mlir::Type shape, mlir::TypedAttr value);

} // namespace plim::gen
