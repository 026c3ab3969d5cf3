//===- Axes.cpp - Along which axes values are cut together ---------------------------------------===//
#include "compiler/Solver/Split/Axes.h"

namespace plim::solver {

Axes::Axes(const SplitProblem &problem, int value, int axis) : p(problem), axes(p.values.size(), -1) {
  const std::vector<int> writers = writersOf(p);
  std::vector<std::vector<int>> readers(p.values.size());
  for (size_t s = 0; s < p.steps.size(); ++s)
    for (int read : p.steps[s].reads)
      readers[size_t(read)].push_back(int(s));
  assign(value, axis);
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    if (writers[size_t(v)] >= 0)
      for (const SplitWay &way : p.steps[size_t(writers[size_t(v)])].ways)
        if (!way.carried && way.axis == axes[size_t(v)])
          spread(p.steps[size_t(writers[size_t(v)])], way);
    for (int reader : readers[size_t(v)])
      for (const SplitWay &way : p.steps[size_t(reader)].ways)
        for (size_t r = 0; r < way.operands.size(); ++r)
          if (p.steps[size_t(reader)].reads[r] == v && way.operands[r].axis == axes[size_t(v)] && !way.carried) {
            assign(p.steps[size_t(reader)].write, way.axis);
            break;
          }
  }
}

int64_t Axes::bytes() const {
  int64_t sum = 0;
  for (size_t v = 0; v < p.values.size(); ++v)
    if (axes[v] >= 0 && p.values[v].kind == SplitValue::Kind::Made)
      sum += p.values[v].bytes;
  return sum;
}

void Axes::assign(int value, int axis) {
  const SplitValue &v = p.values[size_t(value)];
  if (axes[size_t(value)] >= 0 || v.kind == SplitValue::Kind::Constant || v.dims[size_t(axis)] <= 1)
    return;
  axes[size_t(value)] = axis;
  open.push_back(value);
}

void Axes::spread(const SplitStep &step, const SplitWay &way) {
  for (size_t r = 0; r < step.reads.size(); ++r)
    if (way.operands[r].axis >= 0)
      assign(step.reads[r], way.operands[r].axis);
}

} // namespace plim::solver
