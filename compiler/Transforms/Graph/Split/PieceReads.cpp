//===- PieceReads.cpp - When a stage makes and reads rows of its values ---------------------------===//
#include "compiler/Transforms/Graph/Split/PieceReads.h"
#include "llvm/ADT/STLExtras.h"

namespace plim::graph {

PieceReads::PieceReads(const solver::SplitProblem &problem, const solver::StageRows &rows)
    : values(problem.values.size()) {
  int64_t number = 0;
  for (const std::vector<solver::PieceRun> &piece : rows.pieces) {
    for (const solver::PieceRun &run : piece) {
      const solver::SplitStep &step = problem.steps[size_t(run.step)];
      for (size_t r = 0; r < run.reads.size(); ++r)
        if (run.reads[r].rows() > 0)
          values[size_t(step.reads[r])].reads.push_back({number, run.reads[r]});
      values[size_t(step.write)].made.push_back(number++);
    }
    pieceEnds.push_back(number);
  }
  for (Value &value : values) {
    value.laterRows.assign(value.reads.size() + 1, INT64_MAX);
    for (size_t k = value.reads.size(); k-- > 0;)
      value.laterRows[k] = std::min(value.laterRows[k + 1], value.reads[k].rows.begin);
  }
}

PieceReads::Span PieceReads::around(int value, int64_t run) const {
  const Value &v = values[size_t(value)];
  Span span;
  const int64_t *piece = llvm::upper_bound(pieceEnds, run);
  int64_t begin = piece == pieceEnds.begin() ? 0 : piece[-1], end = *piece;
  const int64_t *next = llvm::upper_bound(v.made, run);
  if (next != v.made.begin())
    begin = std::max(begin, next[-1]), span.since = run - next[-1];
  if (next != v.made.end())
    end = std::min(end, *next);
  span.endsHere = true;
  size_t at = size_t(llvm::lower_bound(v.reads, begin, [](const Read &r, int64_t run) { return r.run < run; }) -
                     v.reads.begin());
  for (; at < v.reads.size() && v.reads[at].run < end; ++at) {
    span.reads.push_back(v.reads[at].rows);
    span.endsHere &= v.reads[at].run <= run;
  }
  span.laterRow = v.laterRows[at];
  return span;
}

} // namespace plim::graph
