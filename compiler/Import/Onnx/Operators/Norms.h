// What normalisations of ai.onnx and com.microsoft share.
#pragma once
#include "compiler/Import/Onnx/Operators/Term.h"

namespace plim::onnx {

/// Over dimensions `axis` to the last, which stay as 1.
struct Statistics {
  Term mean, inverseDeviation;
};

inline Statistics statisticsOf(Term x, int64_t axis, double epsilon) {
  Ints axes;
  for (int64_t i = axis; i < x.rank(); ++i)
    axes.push_back(i);
  Term mean = x.reduce(graph::ReduceKind::Mean, axes), centred = x - mean;
  Term variance = (centred * centred).reduce(graph::ReduceKind::Mean, axes) + epsilon;
  return {mean, variance.apply<graph::SqrtOp>().apply<graph::ReciprocalOp>()};
}

} // namespace plim::onnx
