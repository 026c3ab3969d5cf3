// Products and convolutions of com.microsoft with what ONNX Runtime's optimiser fuses into them.
#include "compiler/Import/Onnx/Operators/Term.h"
#include "compiler/Import/Onnx/Operators/Window.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// An activation by its name in the attributes `activation` and `activation_params`.
Term activated(NodeImporter &n, Term x) {
  const StringRef name = n.string("activation", "");
  // A list in FusedConv, an attribute each in FusedGemm.
  const auto parameters = n.reals("activation_params").value_or(SmallVector<double>{});
  const auto parameter = [&](size_t i, double otherwise) {
    return i < parameters.size() ? parameters[i] : n.real(i == 0 ? "activation_alpha" : "activation_beta", otherwise);
  };
  if (name.empty() || !x)
    return x;
  if (name == "Relu")
    return x.apply<graph::ReluOp>();
  if (name == "Sigmoid")
    return x.apply<graph::SigmoidOp>();
  if (name == "Tanh")
    return x.apply<graph::TanhOp>();
  if (name == "LeakyRelu")
    return x.apply<graph::LeakyReluOp>(parameter(0, 0.01f));
  if (name == "HardSigmoid")
    return x.apply<graph::HardSigmoidOp>(parameter(0, 0.2f), parameter(1, 0.5));
  if (name == "Clip") {
    const FloatAttr low = n.b.getF64FloatAttr(parameter(0, -3.4028234663852886e38)),
                    high = n.b.getF64FloatAttr(parameter(1, 3.4028234663852886e38));
    return x.apply<graph::ClipOp>(low, high);
  }
  (void)n.error("attribute 'activation' is '" + name + "': need Relu, Sigmoid, Tanh, LeakyRelu, HardSigmoid or Clip");
  return Term(n, {});
}

/// activation(alpha A B + beta C)
LogicalResult fusedGemm(NodeImporter &n) {
  n.ignore({"activation_alpha", "activation_beta", "activation_gamma"}); // where the activation has none
  const bool transposeA = n.integer("transA", 0) != 0, transposeB = n.integer("transB", 0) != 0;
  if (n.type(0).getRank() != 2 || n.type(1).getRank() != 2)
    return n.error("need two matrices, have " + Twine(n.type(0).getRank()) + " and " + Twine(n.type(1).getRank()) +
                   " dimensions");
  Term product = matmul(Term(n, n[0]), Term(n, n[1]), transposeA, transposeB) * n.real("alpha", 1);
  const double beta = n.real("beta", 1);
  if (n[2] && beta != 0)
    product = product + Term(n, n[2]) * beta;
  return n.finish(activated(n, product));
}

/// activation(conv(X, W) + B + Z)
LogicalResult fusedConv(NodeImporter &n) {
  auto window = readConvolution(n, 1);
  if (!window || !resolveAutoPad(n, *window))
    return failure();
  Term result(n, n.make<graph::ConvOp>(n[0], n[1], n[2], n[3], window->strides, window->pads, window->dilations,
                                       window->groups));
  return n.finish(activated(n, result));
}

/// alpha A B, the matrices perhaps transposed, or their batch dimensions between rows and columns.
LogicalResult fusedMatMul(NodeImporter &n) {
  const bool transposeA = n.integer("transA", 0) != 0, transposeB = n.integer("transB", 0) != 0;
  const auto operand = [&](unsigned i, StringRef name) {
    Term x(n, n[i]);
    const int64_t rank = x.rank();
    if (!n.integer(name, 0) || rank < 3)
      return x;
    Ints order;
    for (int64_t axis = 1; axis < rank - 1; ++axis)
      order.push_back(axis);
    order.append({0, rank - 1});
    return x.transpose(order);
  };
  Term a = operand(0, "transBatchA"), b = operand(1, "transBatchB");
  return n.finish(matmul(a, b, transposeA, transposeB) * n.real("alpha", 1.0));
}

constexpr OperatorRow rows[] = {
    {"FusedConv", 2, 4, fusedConv, 1, noVersion, microsoftDomain},
    {"FusedGemm", 2, 3, fusedGemm, 1, noVersion, microsoftDomain},
    {"FusedMatMul", 2, 2, fusedMatMul, 1, noVersion, microsoftDomain},
    {"TransposeMatMul", 2, 2, fusedMatMul, 1, noVersion, microsoftDomain},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::microsoftFusedOperators() { return rows; }
