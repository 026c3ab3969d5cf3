//===- ScalarBody.h - Builders of scalar bodies ----------------------------------------------------------===//
//
// Values are scalars or vectors of floats or signless integers; where it matters, Sign says what they stand for. Each
// function emits arith and math ops; a double operand becomes a constant of the other operand's type.
//
//===----------------------------------------------------------------------------------------------------===//
#ifndef PLIM_DIALECTS_GRAPH_SCALARBODY_H
#define PLIM_DIALECTS_GRAPH_SCALARBODY_H

#include "mlir/IR/Builders.h"

namespace plim::graph::scalar {

/// How the bits of an integer are read.
enum class Sign { Signed, Unsigned };

enum class Order { Equal, NotEqual, Less, LessEqual, Unordered };

mlir::Value constant(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);
mlir::Value add(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
mlir::Value add(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, double y);
mlir::Value sub(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
mlir::Value mul(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
mlir::Value mul(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, double y);
/// Integers: 0 in the place of a quotient by 0, and what wraps around for the least integer by -1; neither traps.
mlir::Value div(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y, Sign sign = Sign::Signed);
mlir::Value mod(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y, bool fmod,
                Sign sign = Sign::Signed);
mlir::Value pow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
/// NaN in either operand gives NaN.
mlir::Value min(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y, Sign sign = Sign::Signed);
mlir::Value max(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y, Sign sign = Sign::Signed);
/// NaN in x gives NaN; one compare and one select, which is one instruction on x86-64.
mlir::Value min(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, double y, Sign sign = Sign::Signed);
mlir::Value max(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, double y, Sign sign = Sign::Signed);
mlir::Value neg(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value abs(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, Sign sign = Sign::Signed);
mlir::Value sign(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, Sign sign = Sign::Signed);
mlir::Value sigmoid(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value leakyRelu(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, double alpha);
mlir::Value prelu(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value slope);
mlir::Value elu(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, double alpha, double gamma);
mlir::Value hardSigmoid(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, double alpha, double beta);
mlir::Value gelu(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, bool approximate);
mlir::Value softplus(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value compare(mlir::OpBuilder &b, mlir::Location loc, Order order, mlir::Value x, mlir::Value y,
                    Sign sign = Sign::Signed);
mlir::Value isInf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, bool negative, bool positive);
mlir::Value invert(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value shiftLeft(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
mlir::Value shiftRight(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
/// `from` and `to` are the element types of the tensors: they say whether integers are unsigned.
mlir::Value cast(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Type from, mlir::Type to);

/// Of a tensor's elements.
Sign signOf(mlir::Value tensor);

} // namespace plim::graph::scalar

#endif
