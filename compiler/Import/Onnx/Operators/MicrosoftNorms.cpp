// Normalisations of com.microsoft that add to or differ from those of ai.onnx.
#include "compiler/Import/Onnx/Operators/Norms.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// The residual that goes on beside the norm, with a bias that may be missing.
Term skipSum(NodeImporter &n, unsigned bias) {
  Term sum = Term(n, n[0]) + Term(n, n[1]);
  return n[bias] ? sum + Term(n, n[bias]) : sum;
}

LogicalResult skipLayerNormalization(NodeImporter &n) {
  const double epsilon = n.real("epsilon", 1e-12f);
  Term sum = skipSum(n, 4);
  if (!sum)
    return failure();
  const int64_t axis = sum.rank() - 1;
  SmallVector<Value> results{n.make<graph::LayerNormOp>(sum, n[2], n[3], axis, epsilon), {}, {}, sum};
  if (n.wantsOutput(1) || n.wantsOutput(2)) {
    const Statistics statistics = statisticsOf(sum, axis, epsilon);
    results[1] = statistics.mean;
    results[2] = statistics.inverseDeviation;
  }
  return n.finish(results);
}

LogicalResult skipSimplifiedLayerNormalization(NodeImporter &n) {
  const double epsilon = n.real("epsilon", 1e-12f);
  Term sum = skipSum(n, 3);
  if (!sum)
    return failure();
  return n.finish({n.make<graph::RmsNormOp>(sum, n[2], sum.rank() - 1, epsilon), Value(), Value(), Value(sum)});
}

/// Embeddings of words, positions and segments, added and normalised; lengths of the sequences from a mask.
LogicalResult embedLayerNormalization(NodeImporter &n) {
  const double epsilon = n.real("epsilon", 1e-12f);
  const int64_t maskType = n.integer("mask_index_type", 0);
  for (unsigned i : {2u, 3u, 5u, 6u})
    if (!n[i])
      return n.error("input " + Twine(i) + " is missing");
  if (n.type(0).getRank() != 2)
    return n.error("need ids [batch, length], have " + graph::toString(graph::dimsOf(n.type(0))));
  Term sum = Term(n, n[2]).gather(Term(n, n[0]), 0);
  if (n[8]) {
    sum = sum + Term(n, n[3]).gather(Term(n, n[8]), 0);
  } else {
    if (n.type(0).isDynamicDim(1))
      return n.error("positions need a static length, or input 8 'position_ids'");
    sum = sum + Term(n, n[3]).slice(0, 0, n.type(0).getDimSize(1));
  }
  if (bool(n[1]) != bool(n[4]))
    return n.error("need both ids and embeddings of segments, or neither");
  if (n[1])
    sum = sum + Term(n, n[4]).gather(Term(n, n[1]), 0);
  Value result = sum ? n.make<graph::LayerNormOp>(sum, n[5], n[6], int64_t(2), epsilon) : Value();
  Value lengths;
  if (n.wantsOutput(1) && maskType != 0)
    return n.error("attribute 'mask_index_type' is " + Twine(maskType) + ": need 0");
  if (n.wantsOutput(1)) {
    const Type element = n.b.getI32Type();
    if (n[7])
      lengths = Term(n, n[7]).cast(element).reduce(graph::ReduceKind::Sum, {1}, false);
    else if (n.needStatic(n[0], "the output 'mask_index'"))
      lengths = n.fill({n.type(0).getDimSize(0)}, 0, element);
  }
  return n.finish({result, lengths, Value(sum)});
}

/// Groups of channels that lie last, with an activation.
LogicalResult groupNorm(NodeImporter &n) {
  const int64_t groups = n.integer("groups", 0), activation = n.integer("activation", 0);
  const bool channelsLast = n.integer("channels_last", 1) != 0;
  const int64_t rank = n.type(0).getRank();
  if (rank != 4 || activation < 0 || activation > 1)
    return n.error("need an image of 4 dimensions and an activation of 0 or 1");
  Term x(n, n[0]);
  if (channelsLast)
    x = x.transpose({0, 3, 1, 2});
  if (!x || groups < 1 || ShapedType::isDynamic(x.shape()[1]) || x.shape()[1] % groups)
    return n.error("attribute 'groups' is " + Twine(groups) + ": need a divisor of the number of channels");
  Value scale = n.cast(n[1], x.element()), bias = n.cast(n[2], x.element());
  Term result = x.apply<graph::GroupNormOp>(scale, bias, groups, n.real("epsilon", 1e-5f));
  if (activation)
    result = result.apply<graph::SiluOp>();
  return n.finish(channelsLast ? result.transpose({0, 2, 3, 1}) : result);
}

constexpr OperatorRow rows[] = {
    {"EmbedLayerNormalization", 1, 9, embedLayerNormalization, 1, noVersion, microsoftDomain},
    {"GroupNorm", 3, 3, groupNorm, 1, noVersion, microsoftDomain},
    {"SkipLayerNormalization", 3, 5, skipLayerNormalization, 1, noVersion, microsoftDomain},
    {"SkipSimplifiedLayerNormalization", 3, 4, skipSimplifiedLayerNormalization, 1, noVersion, microsoftDomain},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::microsoftNormOperators() { return rows; }
