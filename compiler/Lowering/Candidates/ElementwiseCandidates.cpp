//===- ElementwiseCandidates.cpp - Elementwise ops run by library kernels ----------------===//
//
// In a compiled model these ops become generated kernels (graph.fused); the library runs them in @setup and where no
// kernel is generated.
//
//===---------------------------------------------------------------------------------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "kernels/elementwise/apply.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;

namespace plim::lowering {
namespace {

struct Code {
  int64_t op = -1;
  double a = 0, b = 0;
};

Code codeOf(Operation *op) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  using C = Code;
  return TypeSwitch<Operation *, Code>(op)
      .Case([](graph::LeakyReluOp o) { return C{PLIM_EW_LEAKY_RELU, o.getAlpha()}; })
      .Case([](graph::EluOp o) { return C{PLIM_EW_ELU, o.getAlpha()}; })
      .Case([](graph::SeluOp o) { return C{PLIM_EW_SELU, o.getAlpha(), o.getGamma()}; })
      .Case([](graph::HardSigmoidOp o) { return C{PLIM_EW_HARD_SIGMOID, o.getAlpha(), o.getBeta()}; })
      .Case([](graph::GeluOp o) { return C{o.getApproximate() ? PLIM_EW_GELU_TANH : PLIM_EW_GELU_ERF}; })
      .Case([=](graph::ClipOp o) { return C{PLIM_EW_CLIP, o.getMin().value_or(-inf), o.getMax().value_or(inf)}; })
      .Case([](graph::ModOp o) { return C{o.getFmod() ? PLIM_EW_FMOD : PLIM_EW_MOD}; })
      .Case([](graph::IsInfOp o) { return C{PLIM_EW_IS_INF, double(o.getNegative()), double(o.getPositive())}; })
      .Case([](graph::HardSwishOp o) {
        // The kernel's slope and offset are fixed.
        bool fits = std::abs(o.getAlpha() - 1.0 / 6) < 1e-6 && o.getBeta() == 0.5;
        return fits ? C{PLIM_EW_HARD_SWISH} : C{};
      })
      .Default([](Operation *o) {
        return C{llvm::StringSwitch<int64_t>(o->getName().stripDialect())
                     .Case("add", PLIM_EW_ADD)
                     .Case("sub", PLIM_EW_SUB)
                     .Case("mul", PLIM_EW_MUL)
                     .Case("div", PLIM_EW_DIV)
                     .Case("pow", PLIM_EW_POW)
                     .Case("min", PLIM_EW_MIN)
                     .Case("max", PLIM_EW_MAX)
                     .Case("neg", PLIM_EW_NEG)
                     .Case("abs", PLIM_EW_ABS)
                     .Case("sign", PLIM_EW_SIGN)
                     .Case("sqrt", PLIM_EW_SQRT)
                     .Case("rsqrt", PLIM_EW_RSQRT)
                     .Case("reciprocal", PLIM_EW_RECIPROCAL)
                     .Case("floor", PLIM_EW_FLOOR)
                     .Case("ceil", PLIM_EW_CEIL)
                     .Case("round", PLIM_EW_ROUND)
                     .Case("exp", PLIM_EW_EXP)
                     .Case("log", PLIM_EW_LOG)
                     .Case("erf", PLIM_EW_ERF)
                     .Case("sin", PLIM_EW_SIN)
                     .Case("cos", PLIM_EW_COS)
                     .Case("tan", PLIM_EW_TAN)
                     .Case("asin", PLIM_EW_ASIN)
                     .Case("acos", PLIM_EW_ACOS)
                     .Case("atan", PLIM_EW_ATAN)
                     .Case("sinh", PLIM_EW_SINH)
                     .Case("cosh", PLIM_EW_COSH)
                     .Case("tanh", PLIM_EW_TANH)
                     .Case("asinh", PLIM_EW_ASINH)
                     .Case("acosh", PLIM_EW_ACOSH)
                     .Case("atanh", PLIM_EW_ATANH)
                     .Case("relu", PLIM_EW_RELU)
                     .Case("sigmoid", PLIM_EW_SIGMOID)
                     .Case("silu", PLIM_EW_SILU)
                     .Case("softplus", PLIM_EW_SOFTPLUS)
                     .Case("softsign", PLIM_EW_SOFTSIGN)
                     .Case("prelu", PLIM_EW_PRELU)
                     .Case("equal", PLIM_EW_EQUAL)
                     .Case("not_equal", PLIM_EW_NOT_EQUAL)
                     .Case("less", PLIM_EW_LESS)
                     .Case("less_equal", PLIM_EW_LESS_EQUAL)
                     .Case("greater", PLIM_EW_GREATER)
                     .Case("greater_equal", PLIM_EW_GREATER_EQUAL)
                     .Case("and", PLIM_EW_AND)
                     .Case("or", PLIM_EW_OR)
                     .Case("xor", PLIM_EW_XOR)
                     .Case("not", PLIM_EW_NOT)
                     .Case("bit_and", PLIM_EW_BIT_AND)
                     .Case("bit_or", PLIM_EW_BIT_OR)
                     .Case("bit_xor", PLIM_EW_BIT_XOR)
                     .Case("bit_not", PLIM_EW_BIT_NOT)
                     .Case("shift_left", PLIM_EW_SHIFT_LEFT)
                     .Case("shift_right", PLIM_EW_SHIFT_RIGHT)
                     .Case("is_nan", PLIM_EW_IS_NAN)
                     .Case("select", PLIM_EW_WHERE)
                     .Default(-1)};
      });
}

void elementwise(Operation *op, Candidates &candidates) {
  Value result = op->getResult(0);
  SizesRef dims = candidates.of(result);
  LaunchBuilder launch(candidates);
  for (Value operand : op->getOperands())
    launch.readBroadcast(operand, dims);
  launch.write(result);
  if (isa<graph::CastOp>(op))
    return launch.offer("elementwise.cast", {});
  Code code = codeOf(op);
  if (code.op >= 0)
    launch.offer("elementwise.apply", {code.op, word(code.a), word(code.b)});
}

template <typename OpTy>
struct ElementwiseModel : graph::CandidatesOpInterface::ExternalModel<ElementwiseModel<OpTy>, OpTy> {
  void getCandidates(Operation *op, const graph::SizeSource &sizes,
                     SmallVectorImpl<graph::KernelCandidate> &list) const {
    Candidates candidates{sizes, list};
    elementwise(op, candidates);
  }
};

template <typename... OpTys> void attach(MLIRContext *context) {
  (OpTys::template attachInterface<ElementwiseModel<OpTys>>(*context), ...);
}

} // namespace

void registerElementwiseCandidates(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, graph::GraphDialect *) {
    using namespace graph;
    attach<AddOp, SubOp, MulOp, DivOp, ModOp, PowOp, MinOp, MaxOp, NegOp, AbsOp, SignOp, SqrtOp, RsqrtOp, ReciprocalOp,
           FloorOp, CeilOp, RoundOp, ExpOp, LogOp, ErfOp, SinOp, CosOp, TanOp, AsinOp, AcosOp, AtanOp, SinhOp, CoshOp,
           TanhOp, AsinhOp, AcoshOp, AtanhOp>(context);
    attach<ReluOp, SigmoidOp, SiluOp, LeakyReluOp, EluOp, SeluOp, HardSigmoidOp, HardSwishOp, GeluOp, SoftplusOp,
           SoftsignOp, ClipOp, PreluOp, EqualOp, NotEqualOp, LessOp, LessEqualOp, GreaterOp, GreaterEqualOp, AndOp,
           OrOp, XorOp, NotOp, BitAndOp, BitOrOp, BitXorOp, BitNotOp, ShiftLeftOp, ShiftRightOp, IsNanOp, IsInfOp,
           SelectOp, CastOp>(context);
  });
}

} // namespace plim::lowering
