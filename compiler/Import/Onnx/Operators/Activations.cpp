// Activations, those of com.microsoft among them.
#include "compiler/Import/Onnx/Operators/Elementwise.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

LogicalResult leakyRelu(NodeImporter &n) { return n.finish(n.make<graph::LeakyReluOp>(n[0], n.real("alpha", 0.01f))); }

LogicalResult elu(NodeImporter &n) { return n.finish(n.make<graph::EluOp>(n[0], n.real("alpha", 1.0))); }

LogicalResult selu(NodeImporter &n) {
  return n.finish(n.make<graph::SeluOp>(n[0], n.real("alpha", 1.67326319217681884765625),
                                        n.real("gamma", 1.05070102214813232421875)));
}

/// x where x > 0, else alpha (exp(x / alpha) - 1)
LogicalResult celu(NodeImporter &n) {
  const double alpha = n.real("alpha", 1.0);
  if (alpha == 0)
    return n.error("attribute 'alpha' must not be 0");
  const Type element = n.type(0).getElementType();
  Value scaled = n.make<graph::MulOp>(n[0], n.scalar(1.0 / alpha, element));
  return n.finish(n.make<graph::MulOp>(n.make<graph::EluOp>(scaled, 1.0), n.scalar(alpha, element)));
}

LogicalResult thresholdedRelu(NodeImporter &n) {
  const Type element = n.type(0).getElementType();
  Value above = n.make<graph::GreaterOp>(n[0], n.scalar(n.real("alpha", 1.0), element));
  return n.finish(n.make<graph::SelectOp>(above, n[0], n.scalar(0.0, element)));
}

LogicalResult shrink(NodeImporter &n) {
  const Type element = n.type(0).getElementType();
  const double lambda = n.real("lambd", 0.5), bias = n.real("bias", 0.0);
  Value low = n.make<graph::AddOp>(n[0], n.scalar(bias, element));
  Value high = n.make<graph::SubOp>(n[0], n.scalar(bias, element));
  Value below = n.make<graph::LessOp>(n[0], n.scalar(-lambda, element));
  Value above = n.make<graph::GreaterOp>(n[0], n.scalar(lambda, element));
  Value middle = n.make<graph::SelectOp>(above, high, n.scalar(0.0, element));
  return n.finish(n.make<graph::SelectOp>(below, low, middle));
}

LogicalResult hardSigmoid(NodeImporter &n) {
  return n.finish(n.make<graph::HardSigmoidOp>(n[0], n.real("alpha", 0.2f), n.real("beta", 0.5)));
}

LogicalResult hardSwish(NodeImporter &n) { return n.finish(n.make<graph::HardSwishOp>(n[0], 1.0 / 6.0, 0.5)); }

/// x sigmoid(alpha x)
LogicalResult swish(NodeImporter &n) {
  const double alpha = n.real("alpha", 1.0);
  if (alpha == 1.0)
    return unary<graph::SiluOp>(n);
  Value scaled = n.make<graph::MulOp>(n[0], n.scalar(alpha, n.type(0).getElementType()));
  return n.finish(n.make<graph::MulOp>(n[0], n.make<graph::SigmoidOp>(scaled)));
}

LogicalResult mish(NodeImporter &n) {
  return n.finish(n.make<graph::MulOp>(n[0], n.make<graph::TanhOp>(n.make<graph::SoftplusOp>(n[0]))));
}

LogicalResult gelu(NodeImporter &n) {
  const StringRef approximate = n.string("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return n.error("attribute 'approximate' must be none or tanh, have '" + approximate + "'");
  return n.finish(n.make<graph::GeluOp>(n[0], approximate == "tanh"));
}

LogicalResult microsoftGelu(NodeImporter &n) { return n.finish(n.make<graph::GeluOp>(n[0], false)); }

LogicalResult biasGelu(NodeImporter &n) {
  return n.finish(n.make<graph::GeluOp>(n.make<graph::AddOp>(n[0], n[1]), false));
}

LogicalResult fastGelu(NodeImporter &n) {
  return n.finish(n.make<graph::GeluOp>(n[1] ? n.make<graph::AddOp>(n[0], n[1]) : n[0], true));
}

LogicalResult quickGelu(NodeImporter &n) {
  Value scaled = n.make<graph::MulOp>(n[0], n.scalar(n.real("alpha", 1.702f), n.type(0).getElementType()));
  return n.finish(n.make<graph::MulOp>(n[0], n.make<graph::SigmoidOp>(scaled)));
}

/// Attributes before operator set 11, inputs from then on.
LogicalResult clip(NodeImporter &n) {
  if (n.version < 11) {
    FloatAttr low, high;
    if (n.has("min"))
      low = n.b.getF64FloatAttr(n.real("min", 0));
    if (n.has("max"))
      high = n.b.getF64FloatAttr(n.real("max", 0));
    if (n.numInputs() > 1)
      return n.error("bounds are attributes before operator set 11, have " + Twine(n.numInputs()) + " inputs");
    return n.finish(low || high ? n.make<graph::ClipOp>(n[0], low, high) : n[0]);
  }
  for (unsigned i : {1u, 2u})
    if (n[i] && n.type(i).getRank() != 0 && n.type(i).getNumElements() != 1)
      return n.error("input " + Twine(i) + " must be a scalar");
  // An attribute is a double: an integer beyond its 53 bits stays an operand.
  const auto bound = [&](unsigned i) -> FloatAttr {
    const auto values = NodeImporter::constantReals(n[i]);
    if (!values || values->size() != 1 || std::abs(values->front()) > double(int64_t(1) << 53))
      return {};
    return n.b.getF64FloatAttr(values->front());
  };
  const FloatAttr low = bound(1), high = bound(2);
  if ((low || !n[1]) && (high || !n[2]))
    return n.finish(low || high ? n.make<graph::ClipOp>(n[0], low, high) : n[0]);
  Value result = n[0];
  if (n[1])
    result = n.make<graph::MaxOp>(result, n.reshape(n[1], {}));
  if (n[2])
    result = n.make<graph::MinOp>(result, n.reshape(n[2], {}));
  return n.finish(result);
}

/// The slope broadcasts to the input, not the other way round.
LogicalResult prelu(NodeImporter &n) {
  if (n.type(1).getRank() > n.type(0).getRank())
    return n.error("the slope has " + Twine(n.type(1).getRank()) + " dimensions, the input " +
                   Twine(n.type(0).getRank()));
  return n.finish(n.make<graph::PreluOp>(n[0], n[1]));
}

constexpr OperatorRow rows[] = {
    {"Celu", 1, 1, celu, 12},
    {"Clip", 1, 3, clip},
    {"Elu", 1, 1, elu},
    {"Gelu", 1, 1, gelu, 20},
    {"HardSigmoid", 1, 1, hardSigmoid},
    {"HardSwish", 1, 1, hardSwish, 14},
    {"LeakyRelu", 1, 1, leakyRelu},
    {"Mish", 1, 1, mish, 18},
    {"PRelu", 2, 2, prelu},
    {"Relu", 1, 1, unary<graph::ReluOp>},
    {"Selu", 1, 1, selu},
    {"Shrink", 1, 1, shrink, 9},
    {"Sigmoid", 1, 1, unary<graph::SigmoidOp>},
    {"Softplus", 1, 1, unary<graph::SoftplusOp>},
    {"Softsign", 1, 1, unary<graph::SoftsignOp>},
    {"Swish", 1, 1, swish, 24},
    {"Tanh", 1, 1, unary<graph::TanhOp>},
    {"ThresholdedRelu", 1, 1, thresholdedRelu, 10},
    {"BiasGelu", 2, 2, biasGelu, 1, noVersion, microsoftDomain},
    {"FastGelu", 1, 2, fastGelu, 1, noVersion, microsoftDomain},
    {"Gelu", 1, 1, microsoftGelu, 1, noVersion, microsoftDomain},
    {"QuickGelu", 1, 1, quickGelu, 1, noVersion, microsoftDomain},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::activationOperators() { return rows; }
