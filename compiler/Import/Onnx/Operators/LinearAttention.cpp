// LinearAttention of operator set 27: a state of keys times values, decayed, corrected and read step by step.
#include "compiler/Import/Onnx/Operators/AttentionParts.h"
#include <cmath>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

struct Shape {
  int64_t batch, length, heads, keyHeads, keySize, valueSize;
};

/// Inputs with time in front, so that a step is one row of them; null where the rule has none.
struct Steps {
  Term query; ///< [T, B, key heads, group, key size]
  Term key;   ///< [T, B, heads, 1, key size]
  Term value; ///< [T, B, heads, 1, value size]
  Term decay; ///< [T, B, heads, key size or 1, 1]: factors of the state
  Term beta;  ///< [T, B, heads or 1, 1, 1]
};

/// [B, T, heads * size] as [T, B, heads, rows, size / rows].
Term inSteps(Term x, int64_t heads, int64_t rows) {
  if (!x)
    return x;
  const auto shape = x.shape();
  return x.reshape({shape[0], shape[1], heads, rows, shape[2] / heads / rows}).transpose({1, 0, 2, 3, 4});
}

/// The state after a step and what is read from it, [B, key heads, group, value size].
std::pair<Term, Term> step(Term state, const Steps &all, Term at) {
  const auto now = [&](Term x) { return x ? x.gather(at, 0) : x; };
  Term key = now(all.key), value = now(all.value);
  if (all.decay)
    state = state * now(all.decay);
  if (all.beta)
    value = now(all.beta) * (value - matmul(key, state));
  state = state + key.transpose({0, 1, 3, 2}) * value;
  return {state, matmul(now(all.query), state)};
}

/// A loop over the steps that carries the state and stacks what is read, [T, B, key heads, group, value size].
std::pair<Value, Value> runSteps(NodeImporter &n, Term state, const Steps &all, const Shape &shape) {
  const Type index = n.b.getI64Type(), truth = n.b.getI1Type();
  Value trips = n.scalar(shape.length), condition = n.scalar(1, truth);
  if (n.hasFailed() || !state)
    return {};
  Region body;
  Block *block = &body.emplaceBlock();
  block->addArguments({RankedTensorType::get({}, index), RankedTensorType::get({}, truth), state.type()},
                      {n.loc, n.loc, n.loc});
  {
    OpBuilder::InsertionGuard guard(n.b);
    n.b.setInsertionPointToEnd(block);
    auto [next, read] = step(Term(n, block->getArgument(2)), all, Term(n, block->getArgument(0)));
    if (n.hasFailed())
      return {};
    graph::YieldOp::create(n.b, n.loc, ValueRange{block->getArgument(1), next, read});
  }
  const auto stacked = RankedTensorType::get(
      {shape.length, shape.batch, shape.keyHeads, shape.heads / shape.keyHeads, shape.valueSize}, state.element());
  auto loop = graph::LoopOp::create(n.b, n.loc, TypeRange{state.type(), stacked}, trips, condition, ValueRange{state},
                                    shape.length);
  loop.getBody().takeBody(body);
  return {loop.getResult(0), loop.getResult(1)};
}

LogicalResult linearAttention(NodeImporter &n) {
  n.ignore({"chunk_size"}); // a hint
  const StringRef rule = n.string("update_rule", "gated_delta");
  const bool decays = rule == "gated" || rule == "gated_delta", corrects = rule == "delta" || rule == "gated_delta";
  const int64_t heads = n.integer("q_num_heads", 0), keyHeads = n.integer("kv_num_heads", 0);
  if (!decays && !corrects && rule != "linear")
    return n.error("attribute 'update_rule' must be linear, gated, delta or gated_delta, have '" + rule + "'");
  if (bool(n[4]) != decays || bool(n[5]) != corrects)
    return n.error("update rule '" + rule + "' takes " + (decays ? "a" : "no") + " decay and " +
                   (corrects ? "a" : "no") + " beta");
  for (unsigned i = 0; i < n.numInputs(); ++i)
    if (n[i] && (!n.needStatic(n[i], "LinearAttention") || (i != 3 && n.type(i).getRank() != 3)))
      return n.error("need query, key, value, decay and beta of 3 dimensions");
  const auto query = n.type(0).getShape(), key = n.type(1).getShape(), value = n.type(2).getShape();
  if (heads < 1 || keyHeads < 1 || heads % keyHeads || query[2] % heads || key[2] % keyHeads || value[2] % keyHeads ||
      key[2] / keyHeads != query[2] / heads)
    return n.error("need sizes that are multiples of " + Twine(heads) + " query heads and " + Twine(keyHeads) +
                   " key heads, have " + Twine(query[2]) + ", " + Twine(key[2]) + " and " + Twine(value[2]));
  const Shape shape{query[0], query[1], heads, keyHeads, query[2] / heads, value[2] / keyHeads};
  const auto fits = [&](ArrayRef<int64_t> own) { return own[0] == shape.batch && own[1] == shape.length; };
  if (shape.length < 1 || !fits(key) || !fits(value))
    return n.error("need queries, keys and values of one batch and length");
  const Type element = n.type(0).getElementType(), wide = element.isF64() ? element : Type(n.b.getF32Type());
  const double given = n.real("scale", 0), scale = given != 0 ? given : 1 / std::sqrt(double(shape.keySize));
  const auto input = [&](unsigned i) { return n[i] ? Term(n, n[i]).cast(wide) : Term(n, {}); };
  Steps all{inSteps(input(0) * scale, keyHeads, heads / keyHeads), inSteps(input(1), keyHeads, 1),
            inSteps(input(2), keyHeads, 1), Term(n, {}), Term(n, {})};
  if (decays) {
    const auto own = n.type(4).getShape();
    if (!fits(own) || (own[2] != keyHeads && own[2] != keyHeads * shape.keySize))
      return n.error("need a decay a head or an element of the key");
    all.decay = inSteps(input(4).apply<graph::ExpOp>(), keyHeads, own[2] / keyHeads);
  }
  if (corrects) {
    const auto own = n.type(5).getShape();
    if (!fits(own) || (own[2] != keyHeads && own[2] != 1))
      return n.error("need a beta a head, or one for all");
    all.beta = inSteps(input(5), own[2], 1);
  }
  const Ints stateShape{shape.batch, keyHeads, shape.keySize, shape.valueSize};
  if (n[3] && n.type(3).getShape() != ArrayRef(stateShape))
    return n.error("need a past state of " + Twine(shape.batch) + " x " + Twine(keyHeads) + " x " +
                   Twine(shape.keySize) + " x " + Twine(shape.valueSize));
  Term state = n[3] ? input(3) : Term(n, n.fill(stateShape, 0, wide));
  if (n.hasFailed())
    return failure();
  const auto [last, reads] = runSteps(n, state, all, shape);
  Term output = Term(n, reads).transpose({1, 0, 2, 3, 4});
  output = output.reshape({shape.batch, shape.length, heads * shape.valueSize}).cast(element);
  return n.finish({output, Term(n, last).cast(n[3] ? n.type(3).getElementType() : element)});
}

constexpr OperatorRow rows[] = {
    {"LinearAttention", 3, 6, linearAttention, 27, noVersion, "", "static shapes"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::linearAttentionOperators() { return rows; }
