//===- CheckSplit.cpp - Are the rows of a stage sound? -----------------------------------------===//
//
// Replays a stage row by row: what each single row of a result needs by the reach of its step must have been made, and
// must lie in what the run reads.
//
//===------------------------------------------------------------------------------------------===//
#include "absl/strings/str_cat.h"
#include "compiler/Solver/Split/Split.h"

namespace plim::solver {
namespace {

class Replay {
public:
  Replay(const SplitProblem &problem, const StageRows &rows) : p(problem), rows(rows), made(p.values.size()) {
    for (size_t s = 0; s < p.steps.size(); ++s) {
      if (rows.ways[s] < 0)
        continue;
      const SplitWay &way = p.steps[s].ways[size_t(rows.ways[s])];
      const int counted = way.carried ? p.steps[s].reads[0] : p.steps[s].write;
      const int axis = way.carried ? way.operands[0].axis : way.axis;
      // Rows of a sum are those that it has added.
      made[size_t(p.steps[s].write)].assign(size_t(p.values[size_t(counted)].dims[size_t(axis)]), 0);
    }
  }

  std::vector<std::string> run(const SplitStage &stage) {
    for (size_t piece = 0; piece < rows.pieces.size(); ++piece)
      for (const PieceRun &r : rows.pieces[piece])
        check(r, int64_t(piece));
    for (const SplitKeep &k : stage.keeps)
      for (size_t row = 0; row < made[size_t(k.value)].size(); ++row)
        if (!made[size_t(k.value)][row]) {
          fault(absl::StrCat("row ", row, " of '", nameOf(k.value), "', which the stage keeps, is never made"));
          break;
        }
    return std::move(faults);
  }

private:
  const SplitProblem &p;
  const StageRows &rows;
  std::vector<std::vector<char>> made; // by value and row; empty: not of this stage
  std::vector<std::string> faults;

  void fault(std::string text) { faults.push_back(std::move(text)); }
  const std::string &nameOf(int value) const { return p.values[size_t(value)].name; }

  void check(const PieceRun &r, int64_t piece) {
    const SplitStep &step = p.steps[size_t(r.step)];
    const std::string where = absl::StrCat("piece ", piece, ", step '", step.name, "': ");
    if (rows.ways[size_t(r.step)] < 0)
      return fault(where + "need a way to cut it, have none");
    const SplitWay &way = step.ways[size_t(rows.ways[size_t(r.step)])];
    std::vector<char> &mine = made[size_t(step.write)];
    const int64_t extent = int64_t(mine.size());
    if (r.rows.begin < 0 || r.rows.begin >= r.rows.end || r.rows.end > extent)
      return fault(
          absl::StrCat(where, "need rows within [0, ", extent, "), have [", r.rows.begin, ", ", r.rows.end, ")"));
    if (r.rows.begin % way.align != 0 || (r.rows.end % way.align != 0 && r.rows.end != extent))
      fault(absl::StrCat(where, "need rows in tiles of ", way.align, ", have [", r.rows.begin, ", ", r.rows.end, ")"));
    if (r.reads.size() != step.reads.size())
      return fault(absl::StrCat(where, "need ", step.reads.size(), " operands, have ", r.reads.size()));
    for (size_t operand = 0; operand < step.reads.size(); ++operand)
      for (int64_t row = r.rows.begin; row < r.rows.end; ++row)
        if (!hasRows(step.reads[operand], way.operands[operand], row, r.reads[operand], where))
          break;
    for (int64_t row = r.rows.begin; row < r.rows.end; ++row) {
      if (mine[size_t(row)]++)
        fault(absl::StrCat(where, "row ", row, " is made twice"));
      if (way.carried && row > 0 && !mine[size_t(row - 1)])
        fault(absl::StrCat(where, "row ", row, " is added before the one before it"));
    }
  }

  // One row of the result, one operand.
  bool hasRows(int value, const SplitOperand &o, int64_t row, RowRange read, const std::string &where) {
    const std::vector<char> &have = made[size_t(value)];
    if (o.axis < 0) {
      if (have.empty())
        return true;
      fault(absl::StrCat(where, "need all of '", nameOf(value), "', which the stage makes in pieces"));
      return false;
    }
    const int64_t extent = p.values[size_t(value)].dims[size_t(o.axis)];
    int64_t low = row * o.stride / o.divisor - o.before;
    int64_t high = ((row + 1) * o.stride - 1) / o.divisor + o.after; // the last row
    low = low < 0 ? 0 : low;
    high = high >= extent ? extent - 1 : high;
    for (int64_t need = low; need <= high; ++need) {
      const bool there = have.empty() || have[size_t(need)];
      if (there && need >= read.begin && need < read.end)
        continue;
      fault(absl::StrCat(where, "row ", row, " needs row ", need, " of '", nameOf(value), "', ",
                         there ? absl::StrCat("reads [", read.begin, ", ", read.end, ")") : "which is not made yet"));
      return false;
    }
    return true;
  }
};

} // namespace

std::vector<std::string> checkSplit(const SplitProblem &problem, const SplitStage &stage, const StageRows &rows) {
  return Replay(problem, rows).run(stage);
}

} // namespace plim::solver
