// Losses of classifiers, as evaluation graphs have them.
#include "compiler/Import/Onnx/Operators/Term.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// The loss of log-probabilities [N, C, ...] for classes [N, ...], each class with its weight.
LogicalResult negativeLogLikelihood(NodeImporter &n, Term input, Term target, Term weights, Term *loss) {
  const StringRef reduction = n.string("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    return n.error("attribute 'reduction' must be none, mean or sum, have '" + reduction + "'");
  if (!input || !target)
    return failure();
  if (input.rank() < 2 || target.rank() != input.rank() - 1)
    return n.error("need scores [N, C, ...] and classes [N, ...], have " +
                   graph::toString(graph::dimsOf(input.type())) + " and " +
                   graph::toString(graph::dimsOf(target.type())));
  const Type element = input.element();
  std::optional<int64_t> ignored;
  if (n.has("ignore_index"))
    ignored = n.integer("ignore_index", 0);
  // A class that is ignored has no score: that of class 0 is taken, with weight 0.
  Term counts(n, {});
  if (ignored) {
    Term isIgnored = target == target.number(double(*ignored));
    counts = isIgnored.apply<graph::NotOp>().cast(element);
    target = select(isIgnored, target.number(0), target);
  }
  if (weights) {
    Term own = weights.gather(target, 0);
    counts = counts ? own * counts : own;
  }
  if (n.hasFailed())
    return failure();
  Term picked(n, n.make<graph::GatherElementsOp>(input, target.unsqueeze(1), int64_t(1)));
  const auto axes = llvm::to_vector(llvm::seq<int64_t>(0, target.rank()));
  Term losses = -picked.reshape(openAsMinusOne(target.shape()));
  if (counts)
    losses = losses * counts;
  if (reduction == "none")
    *loss = losses;
  else if (reduction == "sum" || !counts)
    *loss = losses.reduce(reduction == "sum" ? graph::ReduceKind::Sum : graph::ReduceKind::Mean, axes, false);
  else
    *loss = losses.reduce(graph::ReduceKind::Sum, axes, false) / counts.reduce(graph::ReduceKind::Sum, axes, false);
  return failure(n.hasFailed());
}

LogicalResult negativeLogLikelihoodLoss(NodeImporter &n) {
  Term loss(n, {});
  if (failed(negativeLogLikelihood(n, Term(n, n[0]), Term(n, n[1]), Term(n, n[2]), &loss)))
    return failure();
  return n.finish(loss);
}

LogicalResult softmaxCrossEntropyLoss(NodeImporter &n) {
  if (n.type(0).getRank() < 2)
    return n.error("need scores [N, C, ...], have " + Twine(n.type(0).getRank()) + " dimensions");
  Term logs = Term(n, n[0]).apply<graph::SoftmaxOp>(int64_t(1), true), loss(n, {});
  if (failed(negativeLogLikelihood(n, logs, Term(n, n[1]), Term(n, n[2]), &loss)))
    return failure();
  return n.finish({loss, logs});
}

constexpr OperatorRow rows[] = {
    {"NegativeLogLikelihoodLoss", 2, 3, negativeLogLikelihoodLoss, 12},
    {"SoftmaxCrossEntropyLoss", 2, 3, softmaxCrossEntropyLoss, 12},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::lossOperators() { return rows; }
