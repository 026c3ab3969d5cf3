//===- Bf16.cpp - Conversions of bf16 by integer arithmetic ---------------===//
#include "compiler/Lowering/Generated/Bf16.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
namespace plim::gen {

Type withElement(Type shape, Type element) {
  auto v = dyn_cast<VectorType>(shape);
  return v ? Type(v.clone(element)) : element;
}

Value splatConstant(ImplicitLocOpBuilder &b, Type shape, TypedAttr value) {
  if (auto v = dyn_cast<VectorType>(shape))
    value = DenseElementsAttr::get(v.clone(value.getType()), cast<Attribute>(value));
  return arith::ConstantOp::create(b, value);
}

Value roundToBf16(ImplicitLocOpBuilder &b, Value v) {
  Type t = v.getType();
  auto word = [&](int32_t k) { return splatConstant(b, t, b.getI32IntegerAttr(k)); };
  Value bits = arith::BitcastOp::create(b, withElement(t, b.getI32Type()), v);
  Value odd = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, word(16)), word(1));
  Value rounded = arith::AddIOp::create(b, arith::AddIOp::create(b, bits, word(0x7fff)), odd);
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, v, v);
  rounded = arith::SelectOp::create(b, isNan, arith::OrIOp::create(b, bits, word(0x400000)), rounded);
  rounded = arith::ShRUIOp::create(b, rounded, word(16));
  return arith::TruncIOp::create(b, withElement(t, b.getI16Type()), rounded);
}

Value widenBf16(ImplicitLocOpBuilder &b, Value bits) {
  Type t = bits.getType();
  Value word = arith::ExtUIOp::create(b, withElement(t, b.getI32Type()), bits);
  word = arith::ShLIOp::create(b, word, splatConstant(b, t, b.getI32IntegerAttr(16)));
  return arith::BitcastOp::create(b, withElement(t, b.getF32Type()), word);
}

} // namespace plim::gen
