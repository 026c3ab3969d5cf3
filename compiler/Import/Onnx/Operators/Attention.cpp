// Attention of operator sets 23 and 24, rotary embeddings, attention with functions on its scores.
#include "compiler/Import/Onnx/Operators/AttentionParts.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A mask as it is added to scores of `keys` columns: truth values become 0 and -infinity, missing columns are hidden.
Term addedMask(NodeImporter &n, Term mask, Type element, int64_t keys) {
  const bool isBool = mask.element().isInteger(1);
  if (!isBool && mask.element() != element) {
    (void)n.error("the mask must be of truth values or of the type of the query");
    return Term(n, {});
  }
  const int64_t columns = mask.rank() ? mask.shape().back() : keys;
  if (isBool)
    mask = maskOf(mask, element, -infinity);
  if (!ShapedType::isDynamic(columns) && !ShapedType::isDynamic(keys) && columns != 1 && columns < keys)
    mask = mask.pad(mask.rank() - 1, 0, keys - columns, -infinity);
  return mask;
}

LogicalResult attention(NodeImporter &n) {
  n.ignore({"softmax_precision"}); // sums are kept in f32 at least
  const bool threeDimensions = n.type(0).getRank() == 3;
  const int64_t heads = n.integer("q_num_heads", 0), keyHeads = n.integer("kv_num_heads", 0);
  const int64_t mode = n.integer("qk_matmul_output_mode", 0);
  const bool causal = n.integer("is_causal", 0) != 0;
  if (mode < 0 || mode > 3)
    return n.error("attribute 'qk_matmul_output_mode' is " + Twine(mode) + ": need 0 to 3");
  AttentionParts parts{Term(n, n[0]), Term(n, n[1]), Term(n, n[2]), Term(n, {})};
  parts.scale = n.real("scale", 0);
  parts.softcap = n.real("softcap", 0);
  if (threeDimensions) {
    if (heads < 1 || keyHeads < 1)
      return n.error("attributes 'q_num_heads' and 'kv_num_heads' must be at least 1 for 3 dimensions, have " +
                     Twine(heads) + " and " + Twine(keyHeads));
    parts.query = splitHeads(parts.query, heads);
    parts.key = splitHeads(parts.key, keyHeads);
    parts.value = splitHeads(parts.value, keyHeads);
  }
  if (n.hasFailed())
    return failure();
  if (parts.query.rank() != 4 || parts.key.rank() != 4 || parts.value.rank() != 4)
    return n.error("need query, key and value of 3 or of 4 dimensions");
  const int64_t queries = parts.query.shape()[2], newKeys = parts.key.shape()[2];
  if (!prependPast(n, parts, 4))
    return failure();
  const Type element = parts.query.element();
  const int64_t keys = parts.key.shape()[2];
  if (n[3])
    parts.mask = addedMask(n, Term(n, n[3]), element, keys);
  // The diagonal starts in the upper left, behind the past: where there are as many new keys as queries, it ends in the
  // lower right.
  if (causal && queries == newKeys)
    parts.causal = true;
  else if (causal && !ShapedType::isDynamic(queries) && !ShapedType::isDynamic(keys))
    parts.mask = joinMasks(
        parts.mask, maskOf(causalKeep(n, queries, keys, n[4] ? n.type(4).getDimSize(2) : 0), element, -infinity));
  else if (causal)
    return n.error("is_causal needs static lengths where queries and keys differ in length");
  if (n[6]) {
    if (ShapedType::isDynamic(keys))
      return n.error("input 6 'nonpad_kv_seqlen' needs a static number of keys");
    parts.mask = joinMasks(parts.mask, maskOf(firstKeep(Term(n, n[6]), keys), element, -infinity));
  }
  const auto out = [&](Term result) { return Value(threeDimensions ? joinHeads(result) : result); };
  if (!n.wantsOutput(3))
    return n.finish({out(attend(n, parts)), parts.key, parts.value});
  const AttentionSteps steps = attendInSteps(n, parts);
  const Value scores = mode == 3 ? steps.weights : mode == 2 ? steps.masked : steps.scores;
  return n.finish({out(steps.result), parts.key, parts.value, scores});
}

/// [B, S, heads * D] or [B, heads, S, D]; caches [positions, D / 2] that position_ids [B, S] choose from, or [B, S, D /
/// 2].
LogicalResult rotaryEmbedding(NodeImporter &n) {
  const int64_t heads = n.integer("num_heads", 0), partial = n.integer("rotary_embedding_dim", 0);
  const bool interleaved = n.integer("interleaved", 0) != 0;
  const bool threeDimensions = n.type(0).getRank() == 3;
  if (threeDimensions && heads < 1)
    return n.error("attribute 'num_heads' must be at least 1 for 3 dimensions, have " + Twine(heads));
  if (!threeDimensions && n.type(0).getRank() != 4)
    return n.error("need 3 or 4 dimensions, have " + Twine(n.type(0).getRank()));
  Term x = threeDimensions ? splitHeads(Term(n, n[0]), heads) : Term(n, n[0]);
  Term cos(n, n[1]), sin(n, n[2]);
  if (n[3]) {
    cos = cos.gather(Term(n, n[3]), 0);
    sin = sin.gather(Term(n, n[3]), 0);
  }
  if (n.hasFailed())
    return failure();
  if (cos.rank() != 3 || sin.rank() != 3)
    return n.error("need caches of cosines and sines of [batch, length, size / 2], have " +
                   graph::toString(graph::dimsOf(cos.type())));
  Term result = rotate(x, cos.unsqueeze(1), sin.unsqueeze(1), partial ? partial : x.shape()[3], interleaved);
  return n.finish(threeDimensions ? joinHeads(result) : result);
}

/// The last positions of the state and the input are the next state; a depthwise convolution without padding is the
/// output.
LogicalResult causalConvWithState(NodeImporter &n) {
  const StringRef activation = n.string("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return n.error("attribute 'activation' must be none, silu or swish, have '" + activation + "'");
  if (n.type(0).getRank() != 3 || n.type(1).getRank() != 3 || !n.needStatic(n[1], "the weight"))
    return n.error("need [batch, channels, length] and weights [channels, 1, size]");
  const int64_t channels = n.type(1).getDimSize(0), past = n.type(1).getDimSize(2) - 1;
  if (n.type(0).getDimSize(1) != channels || past < 0)
    return n.error("need an input of " + Twine(channels) + " channels, as many as the weight has");
  Term input(n, n[0]);
  if (n[3])
    input = past ? concat(n, {Term(n, n[3]), input}, 2) : input;
  else
    input = input.pad(2, past, 0, 0);
  Value result = n.make<graph::ConvOp>(input, n[1], n[2], Value(), Ints{1}, Ints{0, 0}, Ints{1}, channels);
  if (activation != "none")
    result = n.make<graph::SiluOp>(result);
  if (!n.wantsOutput(1) || n.hasFailed())
    return n.finish(result);
  const int64_t length = input.shape()[2];
  if (ShapedType::isDynamic(length))
    return n.error("the state as an output needs a static length");
  return n.finish({result, Value(input.slice(2, length - past, past))});
}

/// Attention whose scores and weights go through graphs of the node's own.
LogicalResult flexAttention(NodeImporter &n) {
  n.ignore({"softmax_precision"}); // sums are kept in f32 at least
  AttentionParts parts{Term(n, n[0]), Term(n, n[1]), Term(n, n[2]), Term(n, {})};
  parts.scale = n.real("scale", 0);
  if (parts.query.rank() != 4 || parts.key.rank() != 4 || parts.value.rank() != 4)
    return n.error("need query, key and value of 4 dimensions");
  const Type element = parts.query.element();
  const auto through = [&](StringRef name) -> std::function<Term(Term)> {
    const wire::Graph *graph = n.graph(name);
    if (!graph)
      return {};
    return [&n, graph, name](Term x) {
      SmallVector<Value> results;
      if (failed(n.importRegion(*graph, n.b.getInsertionBlock(), {x}, results)))
        return Term(n, {});
      if (results.size() != 1 || NodeImporter::typeOf(results.front()).getRank() != 4) {
        (void)n.error("attribute '" + name + "' must be a graph of one result of 4 dimensions");
        return Term(n, {});
      }
      return Term(n, results.front()).cast(x.element());
    };
  };
  parts.changeScores = through("score_mod");
  parts.changeWeights = through("prob_mod");
  if (n.hasFailed())
    return failure();
  // The graphs see scores of f32 at least.
  if ((parts.changeScores || parts.changeWeights) && element.getIntOrFloatBitWidth() < 32)
    for (Term *part : {&parts.query, &parts.key, &parts.value})
      *part = part->cast(n.b.getF32Type());
  return n.finish(attend(n, parts).cast(element));
}

constexpr const char *previewDomain = "ai.onnx.preview";

constexpr OperatorRow rows[] = {
    {"Attention", 3, 7, attention, 23, noVersion, "",
     "static lengths for a causal mask off the diagonal, softcap, scores as an output"},
    {"CausalConvWithState", 2, 4, causalConvWithState, 27, noVersion, "", "a static length where the state is used"},
    {"RotaryEmbedding", 3, 4, rotaryEmbedding, 23},
    {"FlexAttention", 3, 3, flexAttention, 1, noVersion, previewDomain},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::attentionOperators() { return rows; }
