//===- Dependencies.cpp - Which step must come before which ----------------------------------===//
#include "compiler/Solver/Dependencies.h"
#include <algorithm>

namespace plim::solver {

Uses usesOf(const Problem &problem) {
  Uses uses;
  uses.writer.assign(problem.buffers.size(), -1);
  uses.readers.resize(problem.buffers.size());
  for (int s = 0; s < int(problem.steps.size()); ++s) {
    for (int b : problem.steps[s].writes)
      uses.writer[b] = s;
    for (int b : problem.steps[s].reads)
      uses.readers[b].push_back(s);
  }
  return uses;
}

Dependencies dependenciesOf(const Problem &problem) {
  const int count = int(problem.steps.size());
  Dependencies deps;
  deps.before.resize(count), deps.after.resize(count);
  auto edge = [&](int from, int to) {
    if (from != to)
      deps.before[to].push_back(from);
  };
  const Uses uses = usesOf(problem);
  for (size_t b = 0; b < problem.buffers.size(); ++b)
    if (problem.buffers[b].kind != BufferKind::State && uses.writer[b] >= 0)
      for (int reader : uses.readers[b])
        edge(uses.writer[b], reader);

  std::vector<int> lastWrite(problem.buffers.size(), -1);
  std::vector<std::vector<int>> readsSince(problem.buffers.size());
  int lastImpure = -1;
  for (int s = 0; s < count; ++s) {
    const Step &step = problem.steps[s];
    for (int b : step.reads)
      if (problem.buffers[b].kind == BufferKind::State) {
        if (lastWrite[b] >= 0)
          edge(lastWrite[b], s);
        readsSince[b].push_back(s);
      }
    for (int b : step.writes)
      if (problem.buffers[b].kind == BufferKind::State) {
        if (lastWrite[b] >= 0)
          edge(lastWrite[b], s);
        for (int reader : readsSince[b])
          edge(reader, s);
        readsSince[b].clear();
        lastWrite[b] = s;
      }
    for (int other : step.after)
      edge(other, s);
    if (!step.pure) {
      if (lastImpure >= 0)
        edge(lastImpure, s);
      lastImpure = s;
    }
  }
  for (int s = 0; s < count; ++s) {
    auto &before = deps.before[s];
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (int from : before)
      deps.after[from].push_back(s);
  }
  return deps;
}

} // namespace plim::solver
