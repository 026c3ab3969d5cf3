//===- ElementwiseOps.td - Elementwise ops: one line each, with the scalar body ------------------===//
#ifndef PLIM_GRAPH_ELEMENTWISE_OPS
#define PLIM_GRAPH_ELEMENTWISE_OPS

include "dialects/Graph/GraphBase.td"

// Operands broadcast as in numpy: shapes are aligned at the last dimension, a missing or static 1 dimension repeats.
// `body` builds the value from `args` (see ScalarBodyOpInterface) with the builders of namespace scalar; `element` is
// the C++ expression of the result's element type from `adaptor`.
class Graph_Elementwise<string mnemonic, code body, string element, list<Trait> traits = []>
    : Graph_PureOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<Graph_ScalarBody>,
        DeclareOpInterfaceMethods<Graph_Alias>, DeclareOpInterfaceMethods<Graph_Layout>], traits)> {
  let definitions = [{
    ::mlir::Value $cppClass::buildScalar(::mlir::OpBuilder &b, ::mlir::Location loc, ::mlir::ValueRange args) {
      }] # body # [{
    }
    ::llvm::SmallVector<::plim::graph::Alias> $cppClass::getAliases() { return elementwiseAliases(*this); }
    ::plim::graph::LayoutBehaviour $cppClass::getLayoutBehaviour() { return LayoutBehaviour::Transparent; }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context, std::optional<::mlir::Location> loc,
                                                      Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return inferElementwise(loc, "graph.}] # mnemonic # [{", adaptor.getOperands(), }] # element # [{, types);
    }
  }];
}
defvar Graph_FirstElement = "elementTypeOf(adaptor.getOperands().front())";
defvar Graph_BoolElement = "::mlir::IntegerType::get(context, 1)";

class Graph_Unary<string mnemonic, code body, Type operand = Graph_FloatTensor, string element = Graph_FirstElement>
    : Graph_Elementwise<mnemonic, body, element> {
  let arguments = (ins operand:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}
// Both operands have one element type.
class Graph_Binary<string mnemonic, code body, Type operand = Graph_NumberTensor, string element = Graph_FirstElement>
    : Graph_Elementwise<mnemonic, body, element, [SameOperandsElementType]> {
  let arguments = (ins operand:$lhs, operand:$rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}
class Graph_Compare<string mnemonic, code body> : Graph_Binary<mnemonic, body, Graph_Tensor, Graph_BoolElement>;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

def Graph_AddOp : Graph_Binary<"add", [{ return scalar::add(b, loc, args[0], args[1]); }]>;
def Graph_SubOp : Graph_Binary<"sub", [{ return scalar::sub(b, loc, args[0], args[1]); }]>;
def Graph_MulOp : Graph_Binary<"mul", [{ return scalar::mul(b, loc, args[0], args[1]); }]>;
// Integers round towards zero; a divisor of 0 gives any value.
def Graph_DivOp : Graph_Binary<"div", [{
  return scalar::div(b, loc, args[0], args[1], scalar::signOf(getLhs())); }]>;
// The result has the sign of the divisor, with `fmod` that of the dividend.
def Graph_ModOp : Graph_Binary<"mod", [{
  return scalar::mod(b, loc, args[0], args[1], getFmod(), scalar::signOf(getLhs())); }]> {
  let arguments = (ins Graph_NumberTensor:$lhs, Graph_NumberTensor:$rhs, DefaultValuedAttr<BoolAttr, "false">:$fmod);
}
def Graph_PowOp : Graph_Binary<"pow", [{ return scalar::pow(b, loc, args[0], args[1]); }], Graph_NumberTensor> {
  let hasCanonicalizer = 1;
}
// NaN in either operand gives NaN.
def Graph_MinOp : Graph_Binary<"min", [{
  return scalar::min(b, loc, args[0], args[1], scalar::signOf(getLhs())); }]>;
def Graph_MaxOp : Graph_Binary<"max", [{
  return scalar::max(b, loc, args[0], args[1], scalar::signOf(getLhs())); }]>;

def Graph_NegOp : Graph_Unary<"neg", [{ return scalar::neg(b, loc, args[0]); }], Graph_NumberTensor> {
  let hasFolder = 1;
}
def Graph_AbsOp : Graph_Unary<"abs", [{
  return scalar::abs(b, loc, args[0], scalar::signOf(getInput())); }], Graph_NumberTensor>;
def Graph_SignOp : Graph_Unary<"sign", [{
  return scalar::sign(b, loc, args[0], scalar::signOf(getInput())); }], Graph_NumberTensor>;
def Graph_SqrtOp : Graph_Unary<"sqrt", [{ return ::mlir::math::SqrtOp::create(b, loc, args[0]); }]> {
  let hasFolder = 1;
}
def Graph_RsqrtOp : Graph_Unary<"rsqrt", [{
  return scalar::div(b, loc, scalar::constant(b, loc, args[0].getType(), 1.0),
                     ::mlir::math::SqrtOp::create(b, loc, args[0])); }]>;
def Graph_ReciprocalOp : Graph_Unary<"reciprocal", [{
  return scalar::div(b, loc, scalar::constant(b, loc, args[0].getType(), 1.0), args[0]); }]>;
def Graph_FloorOp : Graph_Unary<"floor", [{ return ::mlir::math::FloorOp::create(b, loc, args[0]); }]>;
def Graph_CeilOp : Graph_Unary<"ceil", [{ return ::mlir::math::CeilOp::create(b, loc, args[0]); }]>;
// Halves go to the even neighbour.
def Graph_RoundOp : Graph_Unary<"round", [{ return ::mlir::math::RoundEvenOp::create(b, loc, args[0]); }]>;

//===----------------------------------------------------------------------===//
// Exponentials and trigonometry
//===----------------------------------------------------------------------===//

def Graph_ExpOp : Graph_Unary<"exp", [{ return ::mlir::math::ExpOp::create(b, loc, args[0]); }]>;
def Graph_LogOp : Graph_Unary<"log", [{ return ::mlir::math::LogOp::create(b, loc, args[0]); }]>;
def Graph_ErfOp : Graph_Unary<"erf", [{ return ::mlir::math::ErfOp::create(b, loc, args[0]); }]>;
def Graph_SinOp : Graph_Unary<"sin", [{ return ::mlir::math::SinOp::create(b, loc, args[0]); }]>;
def Graph_CosOp : Graph_Unary<"cos", [{ return ::mlir::math::CosOp::create(b, loc, args[0]); }]>;
def Graph_TanOp : Graph_Unary<"tan", [{ return ::mlir::math::TanOp::create(b, loc, args[0]); }]>;
def Graph_AsinOp : Graph_Unary<"asin", [{ return ::mlir::math::AsinOp::create(b, loc, args[0]); }]>;
def Graph_AcosOp : Graph_Unary<"acos", [{ return ::mlir::math::AcosOp::create(b, loc, args[0]); }]>;
def Graph_AtanOp : Graph_Unary<"atan", [{ return ::mlir::math::AtanOp::create(b, loc, args[0]); }]>;
def Graph_SinhOp : Graph_Unary<"sinh", [{ return ::mlir::math::SinhOp::create(b, loc, args[0]); }]>;
def Graph_CoshOp : Graph_Unary<"cosh", [{ return ::mlir::math::CoshOp::create(b, loc, args[0]); }]>;
def Graph_TanhOp : Graph_Unary<"tanh", [{ return ::mlir::math::TanhOp::create(b, loc, args[0]); }]>;
def Graph_AsinhOp : Graph_Unary<"asinh", [{ return ::mlir::math::AsinhOp::create(b, loc, args[0]); }]>;
def Graph_AcoshOp : Graph_Unary<"acosh", [{ return ::mlir::math::AcoshOp::create(b, loc, args[0]); }]>;
def Graph_AtanhOp : Graph_Unary<"atanh", [{ return ::mlir::math::AtanhOp::create(b, loc, args[0]); }]>;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

class Graph_ActivationOp<string mnemonic, code body, dag attributes = (ins), Type operand = Graph_FloatTensor>
    : Graph_Unary<mnemonic, body, operand> {
  let arguments = !con((ins operand:$input), attributes);
}
class Graph_F64<string value> : DefaultValuedAttr<Graph_Double, value>;

def Graph_ReluOp : Graph_ActivationOp<"relu", [{ return scalar::max(b, loc, args[0], 0.0); }], (ins),
  Graph_NumberTensor>;
def Graph_SigmoidOp : Graph_ActivationOp<"sigmoid", [{ return scalar::sigmoid(b, loc, args[0]); }]>;
def Graph_SiluOp : Graph_ActivationOp<"silu", [{
  return scalar::mul(b, loc, args[0], scalar::sigmoid(b, loc, args[0])); }]>;
def Graph_LeakyReluOp : Graph_ActivationOp<"leaky_relu", [{
  return scalar::leakyRelu(b, loc, args[0], getAlpha()); }], (ins Graph_F64<"0.01">:$alpha)>;
def Graph_EluOp : Graph_ActivationOp<"elu", [{
  return scalar::elu(b, loc, args[0], getAlpha(), 1.0); }], (ins Graph_F64<"1.0">:$alpha)>;
def Graph_SeluOp : Graph_ActivationOp<"selu", [{
  return scalar::elu(b, loc, args[0], getAlpha(), getGamma()); }],
  (ins Graph_F64<"1.67326319217681884765625">:$alpha, Graph_F64<"1.05070102214813232421875">:$gamma)>;
// max(0, min(1, alpha * x + beta))
def Graph_HardSigmoidOp : Graph_ActivationOp<"hard_sigmoid", [{
  return scalar::hardSigmoid(b, loc, args[0], getAlpha(), getBeta()); }],
  (ins Graph_F64<"0.2">:$alpha, Graph_F64<"0.5">:$beta)>;
// x * max(0, min(1, alpha * x + beta))
def Graph_HardSwishOp : Graph_ActivationOp<"hard_swish", [{
  return scalar::mul(b, loc, args[0], scalar::hardSigmoid(b, loc, args[0], getAlpha(),
                                                          getBeta())); }],
  (ins Graph_F64<"0.16666666666666666">:$alpha, Graph_F64<"0.5">:$beta)>;
// 0.5 x (1 + erf(x / sqrt 2)); `approximate`: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
def Graph_GeluOp : Graph_ActivationOp<"gelu", [{ return scalar::gelu(b, loc, args[0], getApproximate()); }],
  (ins DefaultValuedAttr<BoolAttr, "false">:$approximate)>;
def Graph_SoftplusOp : Graph_ActivationOp<"softplus", [{ return scalar::softplus(b, loc, args[0]); }]>;
def Graph_SoftsignOp : Graph_ActivationOp<"softsign", [{
  return scalar::div(b, loc, args[0], scalar::add(b, loc, scalar::abs(b, loc, args[0]), 1.0)); }]>;
// Without a bound, that side is open. NaN passes through.
def Graph_ClipOp : Graph_ActivationOp<"clip", [{
    ::mlir::Value x = args[0];
    if (getMin())
      x = scalar::max(b, loc, x, *getMin(), scalar::signOf(getInput()));
    if (getMax())
      x = scalar::min(b, loc, x, *getMax(), scalar::signOf(getInput()));
    return x;
  }], (ins OptionalAttr<Graph_Double>:$min, OptionalAttr<Graph_Double>:$max), Graph_NumberTensor> {
  let hasFolder = 1;
}
def Graph_PreluOp : Graph_Binary<"prelu", [{ return scalar::prelu(b, loc, args[0], args[1]); }], Graph_FloatTensor>;

//===----------------------------------------------------------------------===//
// Comparison, logic, bits
//===----------------------------------------------------------------------===//

def Graph_EqualOp : Graph_Compare<"equal", [{ return scalar::compare(b, loc, scalar::Order::Equal, args[0], args[1]); }]>;
def Graph_NotEqualOp : Graph_Compare<"not_equal", [{
  return scalar::compare(b, loc, scalar::Order::NotEqual, args[0], args[1]); }]>;
def Graph_LessOp : Graph_Compare<"less", [{
  return scalar::compare(b, loc, scalar::Order::Less, args[0], args[1], scalar::signOf(getLhs())); }]>;
def Graph_LessEqualOp : Graph_Compare<"less_equal", [{
  return scalar::compare(b, loc, scalar::Order::LessEqual, args[0], args[1], scalar::signOf(getLhs())); }]>;
def Graph_GreaterOp : Graph_Compare<"greater", [{
  return scalar::compare(b, loc, scalar::Order::Less, args[1], args[0], scalar::signOf(getLhs())); }]>;
def Graph_GreaterEqualOp : Graph_Compare<"greater_equal", [{
  return scalar::compare(b, loc, scalar::Order::LessEqual, args[1], args[0], scalar::signOf(getLhs())); }]>;

def Graph_AndOp : Graph_Binary<"and", [{ return ::mlir::arith::AndIOp::create(b, loc, args[0], args[1]); }],
  Graph_BoolTensor>;
def Graph_OrOp : Graph_Binary<"or", [{ return ::mlir::arith::OrIOp::create(b, loc, args[0], args[1]); }],
  Graph_BoolTensor>;
def Graph_XorOp : Graph_Binary<"xor", [{ return ::mlir::arith::XOrIOp::create(b, loc, args[0], args[1]); }],
  Graph_BoolTensor>;
def Graph_NotOp : Graph_Unary<"not", [{ return scalar::invert(b, loc, args[0]); }], Graph_BoolTensor> {
  let hasFolder = 1;
}
def Graph_BitAndOp : Graph_Binary<"bit_and", [{ return ::mlir::arith::AndIOp::create(b, loc, args[0], args[1]); }],
  Graph_IntegerTensor>;
def Graph_BitOrOp : Graph_Binary<"bit_or", [{ return ::mlir::arith::OrIOp::create(b, loc, args[0], args[1]); }],
  Graph_IntegerTensor>;
def Graph_BitXorOp : Graph_Binary<"bit_xor", [{ return ::mlir::arith::XOrIOp::create(b, loc, args[0], args[1]); }],
  Graph_IntegerTensor>;
def Graph_BitNotOp : Graph_Unary<"bit_not", [{ return scalar::invert(b, loc, args[0]); }], Graph_IntegerTensor>;
// Right shifts are logical: bits that enter are 0. A shift by the width or more gives 0.
def Graph_ShiftLeftOp : Graph_Binary<"shift_left", [{ return scalar::shiftLeft(b, loc, args[0], args[1]); }],
  Graph_IntegerTensor>;
def Graph_ShiftRightOp : Graph_Binary<"shift_right", [{ return scalar::shiftRight(b, loc, args[0], args[1]); }],
  Graph_IntegerTensor>;
def Graph_IsNanOp : Graph_Unary<"is_nan", [{
  return scalar::compare(b, loc, scalar::Order::Unordered, args[0], args[0]); }], Graph_FloatTensor, Graph_BoolElement>;
def Graph_IsInfOp : Graph_Unary<"is_inf", [{
    return scalar::isInf(b, loc, args[0], getNegative(), getPositive()); }], Graph_FloatTensor, Graph_BoolElement> {
  let arguments = (ins Graph_FloatTensor:$input, DefaultValuedAttr<BoolAttr, "true">:$negative,
    DefaultValuedAttr<BoolAttr, "true">:$positive);
}

//===----------------------------------------------------------------------===//
// Select and cast
//===----------------------------------------------------------------------===//

def Graph_SelectOp : Graph_Elementwise<"select", [{
    return ::mlir::arith::SelectOp::create(b, loc, args[0], args[1], args[2]); }],
    "elementTypeOf(adaptor.getOnTrue())"> {
  let arguments = (ins Graph_BoolTensor:$condition, Graph_Tensor:$on_true, Graph_Tensor:$on_false);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
// Floats to integers round towards zero; anything to i1 is `x != 0`.
def Graph_CastOp : Graph_Unary<"cast", [{
    return scalar::cast(b, loc, args[0], elementTypeOf(getInput()), getTo()); }], Graph_Tensor, "adaptor.getTo()"> {
  let arguments = (ins Graph_Tensor:$input, TypeAttr:$to);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif
