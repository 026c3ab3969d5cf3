#include "compiler/Import/Onnx/Operators/AttentionParts.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

Term plim::onnx::splitHeads(Term value, int64_t heads) {
  if (!value)
    return value;
  NodeImporter &n = value.importer();
  const auto shape = value.shape();
  if (shape.size() != 3 || ShapedType::isDynamic(shape[2]) || heads < 1 || shape[2] % heads) {
    (void)n.error("need [batch, length, size] with a size that is a multiple of " + Twine(heads) + " heads, have " +
                  graph::toString(graph::dimsOf(value.type())));
    return Term(n, {});
  }
  return value.reshape({openAsMinusOne(shape[0]), openAsMinusOne(shape[1]), heads, shape[2] / heads})
      .transpose({0, 2, 1, 3});
}

Term plim::onnx::joinHeads(Term value) {
  if (!value)
    return value;
  Term moved = value.transpose({0, 2, 1, 3});
  if (!moved)
    return moved;
  const auto shape = moved.shape();
  return moved.reshape({openAsMinusOne(shape[0]), openAsMinusOne(shape[1]), shape[2] * shape[3]});
}

Term plim::onnx::maskOf(Term keep, Type element, double hidden) {
  NodeImporter &n = keep.importer();
  return select(keep, Term(n, n.scalar(0, element)), Term(n, n.scalar(hidden, element)));
}

Term plim::onnx::joinMasks(Term a, Term b) { return !a ? b : !b ? a : a + b; }

Term plim::onnx::causalKeep(NodeImporter &n, int64_t queries, int64_t keys, int64_t offset, int64_t window) {
  Term row = positions(n, queries, 0, 2, n.b.getI64Type()) + double(offset);
  Term column = positions(n, keys, 1, 2, n.b.getI64Type());
  Term keep = column <= row;
  return window > 0 ? both(keep, row - double(window) < column) : keep;
}

Term plim::onnx::firstKeep(Term lengths, int64_t keys) {
  NodeImporter &n = lengths.importer();
  const Type index = n.b.getI64Type();
  Term column = lengths.cast(index).reshape({-1, 1, 1, 1});
  return positions(n, keys, 3, 4, index) < column;
}

bool plim::onnx::prependPast(NodeImporter &n, AttentionParts &parts, unsigned past) {
  if (bool(n[past]) != bool(n[past + 1])) {
    (void)n.error("need both past keys and past values, or neither");
    return false;
  }
  if (n[past]) {
    parts.key = concat(n, {Term(n, n[past]), parts.key}, 2);
    parts.value = concat(n, {Term(n, n[past + 1]), parts.value}, 2);
  }
  return !n.hasFailed();
}

Term plim::onnx::attend(NodeImporter &n, const AttentionParts &p) {
  if (p.softcap != 0 || p.changeScores || p.changeWeights)
    return attendInSteps(n, p).result;
  if (!p.query || !p.key || !p.value)
    return Term(n, {});
  return Term(n, n.make<graph::AttentionOp>(p.query, p.key, p.value, p.mask, p.scale, p.causal));
}

AttentionSteps plim::onnx::attendInSteps(NodeImporter &n, const AttentionParts &p) {
  const Term none(n, {});
  AttentionSteps steps{none, none, none, none};
  if (!p.query || !p.key || !p.value)
    return steps;
  if (p.query.rank() != 4 || p.key.rank() != 4 || p.value.rank() != 4) {
    (void)n.error("need query, key and value of 4 dimensions");
    return steps;
  }
  const auto q = p.query.shape(), k = p.key.shape();
  const double scale = p.scale ? p.scale : 1 / std::sqrt(double(q[3]));
  if (q[1] < 1 || k[1] < 1 || q[1] % k[1]) {
    (void)n.error("need a multiple of " + Twine(k[1]) + " query heads, have " + Twine(q[1]));
    return steps;
  }
  // Heads that share a key become a dimension of their own, along which the keys repeat.
  const int64_t group = q[1] / k[1];
  const auto grouped = [&](Term x, int64_t heads, int64_t shared) {
    const auto s = x.shape();
    return group == 1 ? x
                      : x.reshape({openAsMinusOne(s[0]), heads, shared, openAsMinusOne(s[2]), openAsMinusOne(s[3])});
  };
  const auto flat = [&](Term x) {
    if (group == 1 || !x)
      return x;
    const auto s = x.shape();
    return x.reshape({openAsMinusOne(s[0]), q[1], openAsMinusOne(s[3]), openAsMinusOne(s[4])});
  };
  Term query = grouped(p.query * scale, k[1], group), key = grouped(p.key, k[1], 1), value = grouped(p.value, k[1], 1);
  steps.scores = flat(matmul(query, key, false, true));
  if (p.softcap != 0)
    steps.scores = (steps.scores / p.softcap).apply<graph::TanhOp>() * p.softcap;
  if (p.changeScores && steps.scores)
    steps.scores = p.changeScores(steps.scores);
  Term mask = p.mask;
  if (p.causal) {
    if (ShapedType::isDynamic(q[2]) || ShapedType::isDynamic(k[2])) {
      (void)n.error("a causal mask with softcap or scores as an output needs static lengths");
      return steps;
    }
    mask = joinMasks(mask, maskOf(causalKeep(n, q[2], k[2], k[2] - q[2]), p.query.element(),
                                  -std::numeric_limits<double>::infinity()));
  }
  steps.masked = mask ? steps.scores + mask : steps.scores;
  if (!steps.masked)
    return steps;
  steps.weights = steps.masked.apply<graph::SoftmaxOp>(int64_t(3), false);
  if (p.changeWeights && steps.weights)
    steps.weights = p.changeWeights(steps.weights);
  if (steps.weights)
    steps.result = flat(matmul(grouped(steps.weights, k[1], group), value));
  return steps;
}

Term plim::onnx::rotate(Term value, Term cos, Term sin, int64_t rotated, bool interleaved) {
  NodeImporter &n = value.importer();
  if (!value || !cos || !sin)
    return Term(n, {});
  const int64_t last = value.rank() - 1, size = value.shape()[last], half = rotated / 2;
  if (ShapedType::isDynamic(size) || rotated < 2 || rotated % 2 || rotated > size) {
    (void)n.error("cannot rotate " + Twine(rotated) + " of " + Twine(size) + " elements: need an even number of them");
    return Term(n, {});
  }
  if (cos.shape().back() != half || sin.shape().back() != half) {
    (void)n.error("the caches of cosines and sines need " + Twine(half) + " columns, have " +
                  Twine(cos.shape().back()) + " and " + Twine(sin.shape().back()));
    return Term(n, {});
  }
  Term first(n, {}), second(n, {});
  if (interleaved) {
    Ints starts(last + 1, 0), sizes = openAsMinusOne(value.shape()), steps(last + 1, 1);
    sizes[last] = half;
    steps[last] = half > 1 ? 2 : 1;
    first = value.apply<graph::SliceOp>(starts, sizes, steps);
    starts[last] = 1;
    second = value.apply<graph::SliceOp>(starts, sizes, steps);
  } else {
    first = value.slice(last, 0, half);
    second = value.slice(last, half, half);
  }
  Term real = cos * first - sin * second, imaginary = sin * first + cos * second;
  SmallVector<Term> parts{real, imaginary};
  if (interleaved) {
    Term pairs = concat(n, {real.unsqueeze(last + 1), imaginary.unsqueeze(last + 1)}, last + 1);
    Ints shape = openAsMinusOne(value.shape());
    shape[last] = rotated;
    parts = {pairs.reshape(shape)};
  }
  if (rotated < size)
    parts.push_back(value.slice(last, rotated, size - rotated));
  return concat(n, parts, last);
}
