//===- RecurrentOps.cpp - The recurrence of LSTM, GRU and RNN ------------------------------------------------===//

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/RecurrentOps.cpp.inc"

static int64_t directionsOf(Direction direction) { return direction == Direction::Bidirectional ? 2 : 1; }

static int64_t gatesOf(RecurrenceKind kind) {
  return kind == RecurrenceKind::LSTM ? 4 : kind == RecurrenceKind::GRU ? 3 : 1;
}

static int64_t functionsOf(RecurrenceKind kind) {
  return kind == RecurrenceKind::LSTM ? 3 : kind == RecurrenceKind::GRU ? 2 : 1;
}

LogicalResult RecurrenceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RecurrenceKind kind = adaptor.getKind();
  int64_t directions = directionsOf(adaptor.getDirection()), gates = gatesOf(kind);
  Dims dims = dimsOf(adaptor.getProjected().getType());
  if (dims.size() != 3 || !dims[2].isStatic() || dims[2].lo % (directions * gates) != 0)
    return shapeError(loc, "graph.recurrence",
                      "needs projected inputs [steps, sequences, " + Twine(directions * gates) +
                          " * hidden size], the last static, has " + toString(dims));
  Type element = elementTypeOf(adaptor.getProjected());
  Dim hidden = dims[2].lo / (directions * gates);
  types.push_back(tensorOf(Dims{dims[0], directions, dims[1], hidden}, element));
  types.append(kind == RecurrenceKind::LSTM ? 2 : 1, tensorOf(Dims{directions, dims[1], hidden}, element));
  return success();
}

int64_t RecurrenceOp::getDirections() { return directionsOf(getDirection()); }
int64_t RecurrenceOp::getGates() { return gatesOf(getKind()); }
int64_t RecurrenceOp::getFunctions() { return functionsOf(getKind()); }
int64_t RecurrenceOp::getHiddenSize() { return dimsOf(getLastHidden().getType())[2].lo; }

SmallVector<int64_t, 2> RecurrenceOp::getProducts() {
  if (getKind() == RecurrenceKind::GRU && !getLinearBeforeReset())
    return {2, 1};
  return {getGates()};
}

int64_t RecurrenceOp::getPackedColumns() {
  int64_t columns = 0;
  for (int64_t gates : getProducts())
    columns += (gates * getHiddenSize() + 31) / 32 * 32;
  return getDirections() * columns;
}

LogicalResult RecurrenceOp::verify() {
  bool isLstm = getKind() == RecurrenceKind::LSTM, isGru = getKind() == RecurrenceKind::GRU;
  int64_t directions = getDirections(), gates = getGates(), size = getHiddenSize();
  Dim sequences = dimsOf(getProjected().getType())[1];
  Type element = elementTypeOf(getProjected());

  bool failed = false;
  auto need = [&](bool holds, const Twine &what, const Twine &have) {
    if (!holds)
      emitOpError("needs ") << what << ", has " << have;
    failed |= !holds;
  };
  auto check = [&](Value value, StringRef name, const Dims &dims, bool allowed, StringRef where) {
    if (!value)
      return;
    need(allowed, name + " for " + where + " only", stringifyRecurrenceKind(getKind()));
    Dims have = dimsOf(value.getType());
    bool fits = have.size() == dims.size() &&
                llvm::all_of(llvm::zip(have, dims), [](auto pair) { return std::apply(canBeEqual, pair); });
    need(fits, name + " of shape " + toString(dims), toString(have));
  };
  auto checkFloats = [&](Value value, StringRef name, const Dims &dims, bool allowed, StringRef where) {
    check(value, name, dims, allowed, where);
    if (value && elementTypeOf(value) != element)
      need(false, name + " of the projected inputs' element type", toString(dimsOf(value.getType())) + " of another");
  };

  Dims packed{size, getPackedColumns()}, natural{directions, gates * size, size};
  bool isPacked = layoutOf(getRecurrent().getType()).has_value();
  check(getRecurrent(), "recurrent weights", isPacked ? packed : natural, true, "");
  checkFloats(getBias(), "a bias", {directions, size}, isGru && getLinearBeforeReset(),
              "a gru with linear_before_reset");
  checkFloats(getPeepholes(), "peepholes", {directions, 3 * size}, isLstm, "an lstm");
  check(getLengths(), "lengths", {sequences}, true, "");
  checkFloats(getHidden(), "a hidden state", {directions, sequences, size}, true, "");
  checkFloats(getCell(), "a cell state", {directions, sequences, size}, isLstm, "an lstm");

  Type weight = elementTypeOf(getRecurrent());
  need(isQuantized() ? weight.isInteger(8) : weight == element,
       isQuantized() ? "quantised recurrent weights of 8-bit integers"
                     : "recurrent weights of the projected inputs' type",
       weight.isInteger(8) ? "8-bit integers without a scale" : "another type");
  if (isQuantized()) {
    need(getZeroPoint() && elementTypeOf(getZeroPoint()) == weight, "a zero point of the recurrent weights' type",
         getZeroPoint() ? "one of another" : "none");
    bool perColumn = dimsOf(getScale().getType()) != Dims{directions, 1};
    checkFloats(getScale(), "a scale", {directions, perColumn ? gates * size : 1}, isLstm, "an lstm");
    check(getZeroPoint(), "a zero point", {directions, perColumn ? gates * size : 1}, isLstm, "an lstm");
  }
  size_t functions = size_t(directions * getFunctions());
  need(getActivations().size() == functions && getAlphas().size() == functions && getBetas().size() == functions,
       Twine(functions) + " activations with an alpha and a beta each",
       Twine(getActivations().size()) + ", " + Twine(getAlphas().size()) + " and " + Twine(getBetas().size()));
  need(getClip() >= 0, "a clip of at least 0", std::to_string(getClip()));
  need(isLstm || !getInputForget(), "input_forget for an lstm only", stringifyRecurrenceKind(getKind()));
  need(isGru || !getLinearBeforeReset(), "linear_before_reset for a gru only", stringifyRecurrenceKind(getKind()));
  return failure(failed);
}

/// A sequence's initial states are read before its last ones are written.
SmallVector<plim::graph::Alias> RecurrenceOp::getAliases() {
  SmallVector<plim::graph::Alias> aliases;
  if (getHidden())
    aliases.push_back({1, getODSOperandIndexAndLength(5).first, AliasKind::InPlace});
  if (getCell())
    aliases.push_back({2, getODSOperandIndexAndLength(6).first, AliasKind::InPlace});
  return aliases;
}
