// LSTM, GRU and RNN: a product of the inputs of all steps by the input weights, then the recurrence.
#include "compiler/Import/Onnx/Operators/Quantized.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

using graph::Direction;
using graph::GateFunction;
using graph::RecurrenceKind;

/// How a function takes the lists activation_alpha and activation_beta: whether it has one, and its value where the
/// list has ended; none where it must be given.
struct FunctionRow {
  const char *name;
  GateFunction function;
  bool hasAlpha = false, hasBeta = false;
  std::optional<double> alpha, beta;
};

const FunctionRow functionRows[] = {
    {"Sigmoid", GateFunction::Sigmoid, false, false, {}, {}},
    {"Tanh", GateFunction::Tanh, false, false, {}, {}},
    {"Relu", GateFunction::Relu, false, false, {}, {}},
    {"Affine", GateFunction::Affine, true, true, {}, {}},
    {"LeakyRelu", GateFunction::LeakyRelu, true, false, 0.01, {}},
    {"ThresholdedRelu", GateFunction::ThresholdedRelu, true, false, 1.0, {}},
    {"ScaledTanh", GateFunction::ScaledTanh, true, true, {}, {}},
    {"HardSigmoid", GateFunction::HardSigmoid, true, true, 0.2, 0.5},
    {"Elu", GateFunction::Elu, true, false, 1.0, {}},
    {"Softsign", GateFunction::Softsign, false, false, {}, {}},
    {"Softplus", GateFunction::Softplus, false, false, {}, {}},
};

/// One node, read step by step; each step fails with an error of the node.
class RecurrentNode {
public:
  RecurrentNode(NodeImporter &n, RecurrenceKind kind)
      : n(n), kind(kind), gates(kind == RecurrenceKind::LSTM  ? 4
                                : kind == RecurrenceKind::GRU ? 3
                                                              : 1) {}

  /// Weights W [D, G*H, I] and R [D, G*H, H].
  LogicalResult importFloats();
  /// Weights W [D, I, G*H] and R [D, H, G*H] of 8-bit integers.
  LogicalResult importQuantized();

private:
  LogicalResult readAttributes();
  LogicalResult readFunctions();
  LogicalResult readSizes(unsigned sizeAxis);
  /// Checks the shape of an input that may be left out.
  LogicalResult need(unsigned input, StringRef name, ArrayRef<int64_t> shape);
  Value slice(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes) {
    return n.make<graph::SliceOp>(value, starts, sizes);
  }
  /// What both kinds of weights share: `projected` is [T, B, D*G*H] in the order of X's dimensions.
  LogicalResult finish(Value projected, Value recurrent, unsigned peepholes, Value scale, Value zero);
  /// The sum of the biases that can be added to the projection [D*G*H], or null.
  Value projectedBias();
  Value recurrentBias();
  /// Scale or zero point `input` of weights as [D, 1] or [D, G*H], or null after an error.
  Value parameter(unsigned input, StringRef name, Type element);
  /// One of [D, 1] or [D, G*H] as it multiplies [..., D*G*H].
  Value alongColumns(Value parameter);
  Value states(unsigned input);

  NodeImporter &n;
  const RecurrenceKind kind;
  const int64_t gates;
  Direction direction = Direction::Forward;
  int64_t directions = 1, size = 0;
  bool batchFirst = false, linearBeforeReset = false, inputForget = false;
  double clip = 0;
  SmallVector<Attribute> functions;
  SmallVector<double> alphas, betas;
};

LogicalResult RecurrentNode::readAttributes() {
  const StringRef name = n.string("direction", "forward");
  const std::optional<Direction> found = graph::symbolizeDirection(name);
  if (!found)
    return n.error("attribute 'direction' is '" + name + "': need forward, reverse or bidirectional");
  direction = *found;
  directions = direction == Direction::Bidirectional ? 2 : 1;
  batchFirst = n.integer("layout", 0) != 0;
  clip = n.real("clip", 0);
  if (clip < 0)
    return n.error("attribute 'clip' is " + Twine(std::to_string(clip)) + ": need at least 0");
  if (kind == RecurrenceKind::LSTM)
    inputForget = n.integer("input_forget", 0) != 0;
  if (kind == RecurrenceKind::GRU)
    linearBeforeReset = n.integer("linear_before_reset", 0) != 0;
  return readFunctions();
}

LogicalResult RecurrentNode::readFunctions() {
  SmallVector<StringRef> names;
  if (std::optional<SmallVector<StringRef>> given = n.strings("activations"))
    names = *given;
  else
    for (int64_t d = 0; d < directions; ++d) {
      if (kind != RecurrenceKind::RNN)
        names.push_back("Sigmoid");
      names.push_back("Tanh");
      if (kind == RecurrenceKind::LSTM)
        names.push_back("Tanh");
    }
  const size_t needed = size_t(directions * (kind == RecurrenceKind::LSTM ? 3 : kind == RecurrenceKind::GRU ? 2 : 1));
  // A net of one direction may name those of two: the operator's default for RNN does.
  if (names.size() < needed)
    return n.error("attribute 'activations': need " + Twine(needed) + " functions, have " + Twine(names.size()));
  names.truncate(needed);

  const auto alphaList = n.reals("activation_alpha"), betaList = n.reals("activation_beta");
  ArrayRef<double> alphaLeft, betaLeft;
  if (alphaList)
    alphaLeft = *alphaList;
  if (betaList)
    betaLeft = *betaList;
  auto take = [&](bool has, ArrayRef<double> &left, std::optional<double> otherwise, SmallVector<double> &to) {
    const bool given = has && !left.empty();
    to.push_back(given ? left.front() : otherwise.value_or(0));
    if (given)
      left = left.drop_front();
    return !has || given || otherwise;
  };
  for (StringRef name : names) {
    const auto *row =
        llvm::find_if(functionRows, [&](const FunctionRow &r) { return name.equals_insensitive(r.name); });
    if (row == std::end(functionRows))
      return n.error("attribute 'activations': function '" + name + "' is not known");
    functions.push_back(graph::GateFunctionAttr::get(n.b.getContext(), row->function));
    if (!take(row->hasAlpha, alphaLeft, row->alpha, alphas) || !take(row->hasBeta, betaLeft, row->beta, betas))
      return n.error("function '" + name + "' needs activation_alpha and activation_beta");
  }
  return success();
}

LogicalResult RecurrentNode::need(unsigned input, StringRef name, ArrayRef<int64_t> shape) {
  if (!n[input])
    return success();
  const graph::Dims have = graph::dimsOf(n.type(input));
  bool fits = have.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = shape[i] == ShapedType::kDynamic || graph::canBeEqual(have[i], shape[i]);
  if (fits)
    return success();
  std::string want;
  for (int64_t dim : shape)
    want += (want.empty() ? "" : ", ") + (dim == ShapedType::kDynamic ? std::string("?") : std::to_string(dim));
  return n.error("input " + Twine(input) + " '" + name + "': need shape [" + want + "], have " + graph::toString(have));
}

LogicalResult RecurrentNode::readSizes(unsigned sizeAxis) {
  const int64_t given = n.integer("hidden_size", 0), any = ShapedType::kDynamic;
  if (n.type(0).getRank() != 3 || n.type(1).getRank() != 3 || n.type(2).getRank() != 3)
    return n.error("need inputs X, W and R of 3 dimensions, have " + Twine(n.type(0).getRank()) + ", " +
                   Twine(n.type(1).getRank()) + " and " + Twine(n.type(2).getRank()));
  if (!n.needStatic(n[1], "weights") || !n.needStatic(n[2], "weights"))
    return failure();
  size = n.type(2).getShape()[sizeAxis];
  if (given && given != size)
    return n.error("attribute 'hidden_size' is " + Twine(given) + ", input 2 'R' has " + Twine(size));
  const int64_t columns = gates * size, depth = n.type(1).getShape()[sizeAxis];
  SmallVector<int64_t> w{directions, columns, depth}, r{directions, columns, size};
  if (sizeAxis == 1) {
    std::swap(w[1], w[2]);
    std::swap(r[1], r[2]);
  }
  return failure(failed(need(0, "X", {any, any, depth})) || failed(need(1, "W", w)) || failed(need(2, "R", r)) ||
                 failed(need(3, "B", {directions, 2 * columns})));
}

Value RecurrentNode::projectedBias() {
  if (!n[3])
    return {};
  const int64_t columns = gates * size;
  Value input = slice(n[3], {0, 0}, {directions, columns}),
        recurrent = slice(n[3], {0, columns}, {directions, columns});
  if (linearBeforeReset)
    recurrent = n.make<graph::PadOp>(slice(recurrent, {0, 0}, {directions, 2 * size}), ArrayRef<int64_t>{0, 0},
                                     ArrayRef<int64_t>{0, size});
  if (n.hasFailed())
    return {};
  return n.reshape(n.make<graph::AddOp>(input, recurrent), {directions * columns});
}

Value RecurrentNode::recurrentBias() {
  if (!n[3] || !linearBeforeReset)
    return {};
  return slice(n[3], {0, 5 * size}, {directions, size});
}

/// A state [D, B, H], or null.
Value RecurrentNode::states(unsigned input) {
  return n[input] && batchFirst ? n.transpose(n[input], {1, 0, 2}) : n[input];
}

LogicalResult RecurrentNode::finish(Value projected, Value recurrent, unsigned peepholes, Value scale, Value zero) {
  const bool isLstm = kind == RecurrenceKind::LSTM;
  const int64_t any = ShapedType::kDynamic;
  const SmallVector<int64_t> state =
      batchFirst ? SmallVector<int64_t>{any, directions, size} : SmallVector<int64_t>{directions, any, size};
  if (failed(need(4, "sequence_lens", {any})) || failed(need(5, "initial_h", state)) ||
      (isLstm && (failed(need(6, "initial_c", state)) || failed(need(peepholes, "P", {directions, 3 * size})))))
    return failure();
  if (n.hasFailed())
    return failure();
  if (batchFirst)
    projected = n.transpose(projected, {1, 0, 2});
  Value hidden = states(5), cell = isLstm ? states(6) : Value(), bias = recurrentBias();
  if (n.hasFailed())
    return failure();
  SmallVector<Value> results = n.makeMany<graph::RecurrenceOp>(
      isLstm ? 3 : 2, kind, direction, projected, recurrent, bias, isLstm ? n[peepholes] : Value(), n[4], hidden, cell,
      scale, zero, n.b.getArrayAttr(functions), ArrayRef<double>(alphas), ArrayRef<double>(betas), clip,
      linearBeforeReset, inputForget);
  if (n.hasFailed())
    return failure();
  if (batchFirst) {
    results[0] = n.transpose(results[0], {2, 0, 1, 3});
    for (Value &last : MutableArrayRef<Value>(results).drop_front())
      last = n.transpose(last, {1, 0, 2});
  }
  return n.finish(results);
}

LogicalResult RecurrentNode::importFloats() {
  if (failed(readAttributes()) || failed(readSizes(2)))
    return failure();
  Value weights = n.reshape(n[1], {directions * gates * size, n.type(1).getShape()[2]}), bias = projectedBias();
  if (n.hasFailed())
    return failure();
  return finish(n.make<graph::MatmulOp>(n[0], weights, bias, Value(), false, true), n[2], 7, Value(), Value());
}

Value RecurrentNode::parameter(unsigned input, StringRef name, Type element) {
  const int64_t columns = gates * size;
  if (n.hasFailed())
    return {};
  if (!n[input]) {
    (void)n.error("input " + Twine(input) + " '" + name + "' is missing");
    return {};
  }
  const auto type = n.type(input);
  const ArrayRef<int64_t> shape = type.getShape();
  const bool fits = type.hasStaticShape() &&
                    (shape == ArrayRef<int64_t>{directions} || shape == ArrayRef<int64_t>{directions, columns});
  if (!fits || type.getElementType() != element) {
    std::string text;
    llvm::raw_string_ostream(text) << "input " << input << " '" << name << "': need " << element << " of shape ["
                                   << directions << "] or [" << directions << ", " << columns << "], have " << type;
    (void)n.error(text);
    return {};
  }
  if (const auto numbers = isa<FloatType>(element) ? NodeImporter::constantReals(n[input]) : std::nullopt)
    for (double number : *numbers)
      if (!(number > 0)) {
        (void)n.error("input " + Twine(input) + " '" + name + "': need scales above 0, have " + std::to_string(number));
        return {};
      }
  return shape.size() == 2 ? n[input] : n.reshape(n[input], {directions, 1});
}

Value RecurrentNode::alongColumns(Value parameter) {
  if (n.hasFailed())
    return {};
  const int64_t columns = gates * size;
  if (NodeImporter::typeOf(parameter).getNumElements() == 1)
    return n.reshape(parameter, {});
  if (NodeImporter::typeOf(parameter).getDimSize(1) == 1)
    parameter = n.make<graph::BroadcastOp>(parameter, ArrayRef<int64_t>{directions, columns});
  return n.reshape(parameter, {directions * columns});
}

/// As ONNX Runtime computes it: the input is quantised by its range over all steps, its product with W is exact; the
/// recurrence does the same with the states of each step.
LogicalResult RecurrentNode::importQuantized() {
  if (!needBytes(n, 1, "W") || !needBytes(n, 2, "R") || failed(readAttributes()) || failed(readSizes(1)))
    return failure();
  if (!n.type(0).getElementType().isF32())
    return n.error("input 0 'X' must be f32");
  const Type f32 = n.b.getF32Type();
  Value inputScale = parameter(8, "W_scale", f32), scale = parameter(10, "R_scale", f32);
  Value inputZero = parameter(9, "W_zero_point", n.type(1).getElementType());
  Value zero = parameter(11, "R_zero_point", n.type(2).getElementType());
  if (n.hasFailed())
    return failure();
  const int64_t depth = n.type(1).getShape()[1];
  Value weights = n.reshape(directions == 1 ? n[1] : n.transpose(n[1], {1, 0, 2}), {depth, directions * gates * size});
  DynamicQuantization x = quantizedDynamically(n, n[0]);
  if (n.hasFailed())
    return failure();
  Value sums = n.make<graph::IntegerMatmulOp>(x.bytes, weights, x.zero,
                                              isKnownZero(inputZero) ? Value() : alongColumns(inputZero));
  Value factor = n.make<graph::MulOp>(x.scale, alongColumns(inputScale));
  if (n.hasFailed())
    return failure();
  Value projected = n.make<graph::MulOp>(n.cast(sums, f32), factor);
  if (Value bias = projectedBias(); bias)
    projected = n.make<graph::AddOp>(projected, bias);
  return finish(projected, n.transpose(n[2], {0, 2, 1}), 7, scale, zero);
}

LogicalResult lstm(NodeImporter &n) { return RecurrentNode(n, RecurrenceKind::LSTM).importFloats(); }
LogicalResult quantizedLstm(NodeImporter &n) { return RecurrentNode(n, RecurrenceKind::LSTM).importQuantized(); }
LogicalResult gru(NodeImporter &n) { return RecurrentNode(n, RecurrenceKind::GRU).importFloats(); }
LogicalResult rnn(NodeImporter &n) { return RecurrentNode(n, RecurrenceKind::RNN).importFloats(); }

constexpr OperatorRow rows[] = {
    {"GRU", 3, 6, gru},
    {"LSTM", 3, 8, lstm},
    {"RNN", 3, 6, rnn},
    {"DynamicQuantizeLSTM", 3, 12, quantizedLstm, 1, noVersion, microsoftDomain},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::recurrentOperators() { return rows; }
