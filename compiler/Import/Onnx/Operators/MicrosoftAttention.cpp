// Attention of com.microsoft, as ONNX Runtime's optimiser and its model builders write it.
#include "compiler/Import/Onnx/Operators/AttentionParts.h"
#include <limits>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Refuses inputs from `first` on that `names` lists.
bool refuseInputs(NodeImporter &n, unsigned first, ArrayRef<StringRef> names) {
  for (auto [i, name] : llvm::enumerate(names))
    if (n[first + i]) {
      (void)n.error("input " + Twine(first + i) + " '" + name + "' is not supported");
      return false;
    }
  return true;
}

/// Masks of keys: [B, T] or [B, S, T] of 0 (hidden) and 1, or lengths [B]. Added to scores [B, heads, S, T].
Term keyMask(NodeImporter &n, Value value, int64_t batch, int64_t keys, Type element, double hidden) {
  Term mask(n, value);
  if (!mask)
    return mask;
  const auto shape = mask.shape();
  if (shape.size() == 1) {
    if (shape[0] != batch || ShapedType::isDynamic(keys)) {
      (void)n.error("lengths of keys need the shape [batch] and a static number of keys, have " +
                    graph::toString(graph::dimsOf(mask.type())));
      return Term(n, {});
    }
    return maskOf(firstKeep(mask, keys), element, hidden);
  }
  Term keep = mask.cast(n.b.getI1Type());
  if (shape.size() == 2)
    return maskOf(keep.unsqueeze(1).unsqueeze(1), element, hidden);
  if (shape.size() == 3)
    return maskOf(keep.unsqueeze(1), element, hidden);
  (void)n.error("a mask of " + Twine(shape.size()) + " dimensions is not supported");
  return Term(n, {});
}

/// input [B, S, W] times weights [W, q + k + v], split into heads. Past: [2, B, heads, P, D].
LogicalResult attention(NodeImporter &n) {
  const int64_t heads = n.integer("num_heads", 0);
  const bool causal = n.integer("unidirectional", 0) != 0;
  const double hidden = n.real("mask_filter_value", -10000);
  AttentionParts parts{Term(n, {}), Term(n, {}), Term(n, {}), Term(n, {})};
  parts.scale = n.real("scale", 0);
  parts.causal = causal;
  if (n.integer("do_rotary", 0) || n.integer("past_present_share_buffer", 0))
    return n.error("do_rotary and past_present_share_buffer are not supported");
  n.ignore({"rotary_embedding_dim"});
  if (heads < 1)
    return n.error("attribute 'num_heads' is " + Twine(heads) + ": need at least 1");
  if (n.type(0).getRank() != 3 || n.type(1).getRank() != 2 || n.type(1).isDynamicDim(1))
    return n.error("need an input of 3 dimensions and weights of 2");
  const int64_t columns = n.type(1).getDimSize(1);
  Ints sizes = n.integers("qkv_hidden_sizes").value_or(Ints{columns / 3, columns / 3, columns / 3});
  if (sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] < 1 || sizes[2] < 1 ||
      sizes[0] + sizes[1] + sizes[2] != columns)
    return n.error("need sizes of query, key and value that add up to " + Twine(columns) + ", the first two equal");
  Term all(n, n.make<graph::MatmulOp>(n[0], n[1], n[2], Value()));
  parts.query = splitHeads(all.slice(2, 0, sizes[0]), heads);
  parts.key = splitHeads(all.slice(2, sizes[0], sizes[1]), heads);
  parts.value = splitHeads(all.slice(2, sizes[0] + sizes[1], sizes[2]), heads);
  if (n[4]) {
    if (n.type(4).getRank() != 5)
      return n.error("need past keys and values [2, B, heads, P, D]");
    const Ints shape = openAsMinusOne(n.type(4).getShape().drop_front());
    const auto half = [&](int64_t i) { return Term(n, n[4]).slice(0, i, 1).reshape(shape); };
    parts.key = concat(n, {half(0), parts.key}, 2);
    parts.value = concat(n, {half(1), parts.value}, 2);
  }
  if (n.hasFailed())
    return failure();
  const Type element = parts.query.element();
  parts.mask = keyMask(n, n[3], n.type(0).getDimSize(0), parts.key.shape()[2], element, hidden);
  parts.mask = joinMasks(parts.mask, Term(n, n[5]));
  if (n.hasFailed() || !refuseInputs(n, 6, {"past_sequence_length"}))
    return failure();
  Value result = joinHeads(attend(n, parts));
  if (!n.wantsOutput(1))
    return n.finish(result);
  return n.finish({result, concat(n, {parts.key.unsqueeze(0), parts.value.unsqueeze(0)}, 0)});
}

/// A projection [B, S, heads * D] with its part of a bias for query, key and value.
Term withBias(NodeImporter &n, Term x, int64_t start) {
  if (!n[3] || !x)
    return x;
  return x + Term(n, n[3]).slice(0, start, x.shape().back());
}

LogicalResult multiHeadAttention(NodeImporter &n) {
  const int64_t heads = n.integer("num_heads", 0);
  const double hidden = n.real("mask_filter_value", -10000);
  AttentionParts parts{Term(n, {}), Term(n, {}), Term(n, {}), Term(n, {})};
  parts.scale = n.real("scale", 0);
  parts.causal = n.integer("unidirectional", 0) != 0;
  if (heads < 1)
    return n.error("attribute 'num_heads' is " + Twine(heads) + ": need at least 1");
  const auto rankOf = [&](unsigned i) { return n[i] ? n.type(i).getRank() : 0; };
  // Dimension 3 of a packed tensor [B, S, heads, 3 or 2, D] tells query, key and value apart.
  const auto unpack = [&](Value packed, int64_t i) {
    Term x(n, packed);
    const auto s = x.shape();
    return x.slice(3, i, 1).reshape({openAsMinusOne(s[0]), openAsMinusOne(s[1]), s[2], s[4]}).transpose({0, 2, 1, 3});
  };
  if (rankOf(0) == 5 && !n[1] && !n[2]) {
    if (n.type(0).getDimSize(3) != 3 || n.type(0).getDimSize(2) != heads || n[3])
      return n.error("need packed queries, keys and values [B, S, " + Twine(heads) + ", 3, D] without a bias");
    parts.query = unpack(n[0], 0), parts.key = unpack(n[0], 1), parts.value = unpack(n[0], 2);
  } else if (rankOf(0) == 3 && rankOf(1) == 5 && !n[2]) {
    if (n.type(1).getDimSize(3) != 2 || n.type(1).getDimSize(2) != heads || n[3])
      return n.error("need packed keys and values [B, T, " + Twine(heads) + ", 2, D] without a bias");
    parts.query = splitHeads(Term(n, n[0]), heads);
    parts.key = unpack(n[1], 0), parts.value = unpack(n[1], 1);
  } else if (rankOf(0) == 3 && rankOf(1) == 3 && rankOf(2) == 3) {
    const int64_t width = n.type(0).getDimSize(2);
    parts.query = splitHeads(withBias(n, Term(n, n[0]), 0), heads);
    parts.key = splitHeads(withBias(n, Term(n, n[1]), width), heads);
    parts.value = splitHeads(withBias(n, Term(n, n[2]), 2 * width), heads);
  } else if (rankOf(0) == 3 && rankOf(1) == 4 && rankOf(2) == 4) {
    // Keys and values of another sequence, as heads already: a bias is of the query.
    parts.query = splitHeads(withBias(n, Term(n, n[0]), 0), heads);
    parts.key = Term(n, n[1]), parts.value = Term(n, n[2]);
  } else {
    return n.error("need query, key and value of 3 dimensions, packed ones of 5, or keys and values of 4");
  }
  if (!prependPast(n, parts, 6) || !refuseInputs(n, 8, {"past_sequence_length", "cache_indirection"}))
    return failure();
  const Type element = parts.query.element();
  parts.mask = keyMask(n, n[4], parts.query.shape()[0], parts.key.shape()[2], element, hidden);
  parts.mask = joinMasks(parts.mask, Term(n, n[5]));
  if (n.hasFailed())
    return failure();
  if (!n.wantsOutput(3))
    return n.finish({Value(joinHeads(attend(n, parts))), parts.key, parts.value});
  const AttentionSteps steps = attendInSteps(n, parts);
  return n.finish({Value(joinHeads(steps.result)), parts.key, parts.value, steps.scores});
}

/// Rows of a cache [positions, D / 2] as [B, 1, S, D / 2].
Term cacheRows(Term cache, Term at) { return cache.gather(at, 0).unsqueeze(1); }

/// Heads that share keys; the cache is as long as the past, and grows by the input.
LogicalResult groupQueryAttention(NodeImporter &n) {
  const int64_t heads = n.integer("num_heads", 0), keyHeads = n.integer("kv_num_heads", 0);
  const int64_t window = n.integer("local_window_size", -1);
  const bool rotary = n.integer("do_rotary", 0) != 0, interleaved = n.integer("rotary_interleaved", 0) != 0;
  AttentionParts parts{Term(n, {}), Term(n, {}), Term(n, {}), Term(n, {})};
  parts.scale = n.real("scale", 0);
  parts.softcap = n.real("softcap", 0);
  parts.causal = true;
  if (n.integer("smooth_softmax", 0))
    return n.error("smooth_softmax is not supported");
  n.ignore({"qk_output", "k_quant_type", "v_quant_type", "kv_cache_bit_width"});
  if (heads < 1 || keyHeads < 1 || heads % keyHeads)
    return n.error("need a number of heads that is a multiple of that of keys, have " + Twine(heads) + " and " +
                   Twine(keyHeads));
  if (n.type(0).getRank() != 3 || n.type(0).isDynamicDim(2))
    return n.error("need a query [B, S, size]");
  if (!n[5] || !n[6])
    return n.error("inputs 5 'seqlens_k' and 6 'total_sequence_length' are needed");
  Term query(n, n[0]), key(n, n[1]), value(n, n[2]);
  if (!key) {
    const int64_t size = n.type(0).getDimSize(2) / (heads + 2 * keyHeads);
    key = query.slice(2, heads * size, keyHeads * size);
    value = query.slice(2, (heads + keyHeads) * size, keyHeads * size);
    query = query.slice(2, 0, heads * size);
  } else if (!value) {
    return n.error("input 2 'value' is missing");
  }
  parts.query = splitHeads(query, heads);
  parts.key = splitHeads(key, keyHeads);
  parts.value = splitHeads(value, keyHeads);
  if (n.hasFailed())
    return failure();
  const int64_t length = parts.query.shape()[2];
  if (rotary) {
    if (!n[7] || !n[8])
      return n.error("do_rotary needs caches of cosines and sines");
    // The first new position of each sequence follows from its length with the new ones.
    Term at(n, n[9]);
    if (!at) {
      if (ShapedType::isDynamic(length))
        return n.error("do_rotary without position_ids needs a static length");
      const Type index = n.b.getI64Type();
      at = Term(n, n[5]).cast(index).reshape({-1, 1}) + 1.0 - double(length) + positions(n, length, 1, 2, index);
    }
    Term cos = cacheRows(Term(n, n[7]), at), sin = cacheRows(Term(n, n[8]), at);
    if (n.hasFailed())
      return failure();
    const int64_t rotated = 2 * cos.shape().back();
    parts.query = rotate(parts.query, cos, sin, rotated, interleaved);
    parts.key = rotate(parts.key, cos, sin, rotated, interleaved);
  }
  if (n[3] && n[4])
    prependPast(n, parts, 3);
  if (n.hasFailed() || !refuseInputs(n, 11, {"head_sink", "k_scale", "v_scale"}))
    return failure();
  const int64_t keys = parts.key.shape()[2];
  if (window > 0) {
    if (ShapedType::isDynamic(length) || ShapedType::isDynamic(keys))
      return n.error("local_window_size needs static lengths");
    parts.causal = false;
    parts.mask = maskOf(causalKeep(n, length, keys, keys - length, window), parts.query.element(), -infinity);
  }
  parts.mask = joinMasks(parts.mask, Term(n, n[10]));
  return n.finish({Value(joinHeads(attend(n, parts))), parts.key, parts.value});
}

/// position_ids are [B, S], or one number from which on positions count.
LogicalResult rotaryEmbedding(NodeImporter &n) {
  const int64_t heads = n.integer("num_heads", 0), partial = n.integer("rotary_embedding_dim", 0);
  const bool interleaved = n.integer("interleaved", 0) != 0;
  if (n.integer("is_packed_batching", 0) || n.real("scale", 1) != 1)
    return n.error("is_packed_batching and a scale are not supported");
  const bool threeDimensions = n.type(0).getRank() == 3;
  if (!threeDimensions && n.type(0).getRank() != 4)
    return n.error("need 3 or 4 dimensions, have " + Twine(n.type(0).getRank()));
  const auto cache = n.type(2).getShape();
  if (cache.size() != 2 || ShapedType::isDynamic(cache[1]))
    return n.error("need caches [positions, size / 2], have " + graph::toString(graph::dimsOf(n.type(2))));
  Term x(n, n[0]);
  if (threeDimensions) {
    // Without a number of heads, the size of a head is that which the caches turn.
    const int64_t width = n.type(0).getDimSize(2);
    x = splitHeads(x, heads > 0 ? heads : std::max<int64_t>(width / (2 * cache[1]), 1));
  }
  if (n.hasFailed())
    return failure();
  Term at(n, n[1]);
  if (at.rank() == 1) {
    const int64_t length = x.shape()[2];
    if (ShapedType::isDynamic(length))
      return n.error("one position for all needs a static length");
    at = positions(n, length, 1, 2, at.element()) + at.reshape({1, 1});
  }
  const int64_t rotated = partial > 0 ? partial : 2 * cache[1];
  Term result = rotate(x, cacheRows(Term(n, n[2]), at), cacheRows(Term(n, n[3]), at), rotated, interleaved);
  return n.finish(threeDimensions ? joinHeads(result) : result);
}

constexpr OperatorRow rows[] = {
    {"Attention", 2, 7, attention, 1, noVersion, microsoftDomain, "no shared buffers, no rotation"},
    {"GroupQueryAttention", 1, 14, groupQueryAttention, 1, noVersion, microsoftDomain,
     "caches grow: no shared buffers; sequences of one batch have one length"},
    {"MultiHeadAttention", 1, 10, multiHeadAttention, 1, noVersion, microsoftDomain, "no beams, no shared buffers"},
    {"RotaryEmbedding", 4, 4, rotaryEmbedding, 1, noVersion, microsoftDomain, "no packed batches"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::microsoftAttentionOperators() { return rows; }
