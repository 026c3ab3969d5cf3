//===- Rows.cpp - Which rows each piece of a stage makes and reads -----------------------------===//
//
// Backwards from what the stage keeps: the first pass finds the steps, the way that each is cut, and the first row that
// each value needs at all. Then, for each piece: forwards, how many rows of what it keeps can be made by now;
// backwards, the last row of each value that those need. A step runs for the rows between the last row of the piece
// before and this one, so no row is made twice; in one run, or in several, depth first.
//
//===------------------------------------------------------------------------------------------===//
#include "absl/strings/str_cat.h"
#include "compiler/Solver/Split/Split.h"
#include <algorithm>
#include <utility>

namespace plim::solver {

std::vector<int> writersOf(const SplitProblem &problem) {
  std::vector<int> writers(problem.values.size(), -1);
  for (size_t s = 0; s < problem.steps.size(); ++s)
    if (problem.steps[s].write >= 0)
      writers[size_t(problem.steps[s].write)] = int(s);
  return writers;
}

RowRange rowsRead(const SplitOperand &o, RowRange rows, int64_t extent) {
  const int64_t begin = rows.begin * o.stride / o.divisor - o.before;
  const int64_t end = (rows.end * o.stride + o.divisor - 1) / o.divisor + o.after;
  RowRange read{std::clamp<int64_t>(begin, 0, extent), std::clamp<int64_t>(end, 0, extent)};
  // A window that lies in the padding altogether still has an operand.
  if (read.begin >= read.end)
    read = {std::min(read.begin, extent - 1), std::min(read.begin, extent - 1) + 1};
  return read;
}

SplitAxis::Operand leastOperand(const SplitOperand &o, int64_t piece, int64_t extent, int64_t rows) {
  if (o.axis < 0)
    return {.stride = 0};
  const int64_t span =
      (extent * o.stride + o.divisor - 1) / o.divisor + std::max<int64_t>(0, o.before) + std::max<int64_t>(0, o.after);
  bool holds = span >= rows && o.stride > 0;
  for (int64_t size : {piece, int64_t(1)}) {
    const int64_t least = size * o.stride / o.divisor + std::min<int64_t>(0, o.before) + std::min<int64_t>(0, o.after);
    for (int64_t i = 0; i + size <= extent && holds; i += size)
      holds = rowsRead(o, {i, i + size}, rows).rows() >= least;
  }
  return holds ? SplitAxis::Operand{o.stride, o.before, o.after, o.divisor} : SplitAxis::Operand{.divisor = 0};
}

bool followsStage(const SplitProblem &problem, size_t step, const std::vector<char> &whole) {
  bool readsMade = false;
  for (int read : problem.steps[step].reads) {
    if (!whole[size_t(read)])
      return false;
    readsMade |= problem.values[size_t(read)].kind == SplitValue::Kind::Made;
  }
  return readsMade && !whole[size_t(problem.steps[step].write)];
}

namespace {

class StageBuilder {
public:
  StageBuilder(const SplitProblem &problem, const SplitPlan &plan, size_t index, std::string &why)
      : p(problem), stage(plan.stages[index]), why(why), writers(writersOf(problem)), source(p.values.size()),
        kept(p.values.size()), wanted(p.values.size()) {
    for (size_t v = 0; v < p.values.size(); ++v)
      source[v] = p.values[v].kind != SplitValue::Kind::Made;
    for (size_t s = 0; s < index; ++s)
      for (const SplitKeep &k : plan.stages[s].keeps)
        source[size_t(k.value)] = 1;
    rows.ways.assign(p.steps.size(), -1);
    rows.axes.assign(p.values.size(), -1);
  }

  std::optional<StageRows> build() {
    if (!findSteps() || !findWhole())
      return std::nullopt;
    findFirstRows();
    if (stage.parts > 1)
      findGrains();
    runPieces();
    return std::move(rows);
  }

private:
  const SplitProblem &p;
  const SplitStage &stage;
  std::string &why;
  const std::vector<int> writers;
  std::vector<char> source;         // whole before the stage
  std::vector<char> kept;           // by the stage
  std::vector<char> wanted;         // whole, for a step of the stage
  std::vector<int64_t> first, last; // rows [first, last) are made by now; by value
  std::vector<int64_t> grains;      // by value: rows that a run makes, at most
  StageRows rows;

  bool fail(std::string text) {
    why = std::move(text);
    return false;
  }
  const std::string &nameOf(int value) const { return p.values[size_t(value)].name; }
  const SplitWay *wayOf(size_t step) const {
    return rows.ways[step] < 0 ? nullptr : &p.steps[step].ways[size_t(rows.ways[step])];
  }

  // The step that makes the value is cut so that rows of it come along the axis.
  bool cutWriter(int value, int axis) {
    const int step = writers[size_t(value)];
    if (step < 0)
      return fail(absl::StrCat("'", nameOf(value), "' is not made by a step that can be cut"));
    // Of a sum without the axes that it sums over, another axis may have the number of one of them.
    const std::vector<SplitWay> &ways = p.steps[size_t(step)].ways;
    for (bool carried : {true, false})
      for (size_t w = 0; w < ways.size(); ++w)
        if (ways[w].carried == carried &&
            (carried ? kept[size_t(value)] && ways[w].operands[0].axis == axis : ways[w].axis == axis)) {
          rows.ways[size_t(step)] = int(w);
          return true;
        }
    return fail(absl::StrCat("step '", p.steps[size_t(step)].name, "' cannot be cut along axis ", axis));
  }

  bool needRows(int value, int axis, std::vector<int> &open) {
    int &have = rows.axes[size_t(value)];
    if (have >= 0 && have != axis)
      return fail(absl::StrCat("'", nameOf(value), "' is cut along axes ", have, " and ", axis));
    if (have < 0) {
      have = axis;
      if (!source[size_t(value)])
        open.push_back(value);
    }
    return true;
  }

  bool findSteps() {
    std::vector<int> open;
    for (const SplitKeep &k : stage.keeps) {
      if (source[size_t(k.value)])
        return fail(absl::StrCat("'", nameOf(k.value), "' is there before the stage that keeps it"));
      kept[size_t(k.value)] = 1;
    }
    for (const SplitKeep &k : stage.keeps)
      if (!needRows(k.value, k.axis, open))
        return false;
    while (!open.empty()) {
      const int value = open.back();
      open.pop_back();
      if (!cutWriter(value, rows.axes[size_t(value)]))
        return false;
      const size_t step = size_t(writers[size_t(value)]);
      const SplitWay &way = *wayOf(step);
      for (size_t r = 0; r < p.steps[step].reads.size(); ++r) {
        const int read = p.steps[step].reads[r];
        if (way.operands[r].axis < 0)
          wanted[size_t(read)] = 1;
        else if (!needRows(read, way.operands[r].axis, open))
          return false;
      }
    }
    // Nothing but a later stage can read a carried sum.
    for (size_t s = 0; s < p.steps.size(); ++s)
      for (int read : wayOf(s) ? p.steps[s].reads : std::vector<int>())
        if (const int w = writers[size_t(read)]; w >= 0 && wayOf(size_t(w)) && wayOf(size_t(w))->carried)
          return fail(
              absl::StrCat("step '", p.steps[s].name, "' needs the sum '", nameOf(read), "', which its stage carries"));
    return true;
  }

  // What the stage reads whole is made before it, by steps that need nothing of the stage.
  bool findWhole() {
    std::vector<int> open;
    std::vector<char> seen(p.values.size());
    for (size_t v = 0; v < p.values.size(); ++v)
      if (wanted[v] && !source[v])
        open.push_back(int(v)), rows.whole.push_back(int(v));
    while (!open.empty()) {
      const int value = open.back();
      open.pop_back();
      if (kept[size_t(value)])
        return fail(absl::StrCat("the stage needs all of '", nameOf(value), "', which it makes itself"));
      const int step = writers[size_t(value)];
      if (seen[size_t(value)]++ || step < 0)
        continue;
      for (int read : p.steps[size_t(step)].reads)
        if (!source[size_t(read)])
          open.push_back(read);
    }
    return true;
  }

  void findFirstRows() {
    first.assign(p.values.size(), INT64_MAX);
    for (const SplitKeep &k : stage.keeps)
      first[size_t(k.value)] = 0;
    for (size_t s = p.steps.size(); s-- > 0;) {
      const SplitWay *way = wayOf(s);
      if (!way)
        continue;
      int64_t &mine = first[size_t(p.steps[s].write)];
      mine = mine / way->align * way->align;
      for (size_t r = 0; r < p.steps[s].reads.size(); ++r) {
        const SplitOperand &o = way->operands[r];
        const int read = p.steps[s].reads[r];
        if (o.axis >= 0)
          first[size_t(read)] =
              std::min(first[size_t(read)], rowsRead(o, {mine, mine + 1}, extentOf(p, read, o.axis)).begin);
      }
    }
    last = first;
  }

  // The rows that can be made when the stage has read its even part of the rows before it. Were the kept rows the even
  // ones, the first piece would read far ahead, as many rows as the windows of all steps reach.
  std::vector<int64_t> frontAt(int64_t piece) const {
    std::vector<int64_t> front(p.values.size());
    auto even = [&](int64_t extent) { return extent * (piece + 1) / stage.pieces; };
    for (size_t v = 0; v < p.values.size(); ++v)
      if (source[v] && rows.axes[v] >= 0)
        front[v] = even(extentOf(p, int(v), rows.axes[v]));
    for (size_t s = 0; s < p.steps.size(); ++s) {
      const SplitWay *way = wayOf(s);
      if (!way || way->carried)
        continue;
      const int made = p.steps[s].write;
      const int64_t extent = extentOf(p, made, way->axis);
      int64_t end = extent;
      bool isCut = false;
      for (size_t r = 0; r < p.steps[s].reads.size(); ++r) {
        const SplitOperand &o = way->operands[r];
        const int read = p.steps[s].reads[r];
        isCut |= o.axis >= 0;
        if (o.axis < 0 || front[size_t(read)] >= extentOf(p, read, o.axis) || o.stride == 0)
          continue;
        const int64_t inner = std::max<int64_t>(0, (front[size_t(read)] - o.after) * o.divisor / o.stride);
        end = std::min(end, inner / way->align * way->align);
      }
      front[size_t(made)] = isCut ? end : even(extent);
    }
    return front;
  }

  void runPieces() {
    for (int64_t piece = 0; piece < stage.pieces; ++piece) {
      const std::vector<int64_t> front = frontAt(piece);
      std::vector<int64_t> until = last; // rows of each value that this piece must come to
      auto raise = [&](int value, int64_t end) { until[size_t(value)] = std::max(until[size_t(value)], end); };
      for (const SplitKeep &k : stage.keeps) {
        const size_t writer = size_t(writers[size_t(k.value)]);
        const int counted = wayOf(writer)->carried ? p.steps[writer].reads[0] : k.value;
        raise(counted, front[size_t(counted)]);
      }
      for (size_t s = p.steps.size(); s-- > 0;) {
        const SplitWay *way = wayOf(s);
        if (!way || way->carried)
          continue;
        const int made = p.steps[s].write;
        int64_t &end = until[size_t(made)];
        const int64_t extent = extentOf(p, made, way->axis);
        if (end > last[size_t(made)])
          end = std::min(extent, (end + way->align - 1) / way->align * way->align);
        for (size_t r = 0; end > last[size_t(made)] && r < p.steps[s].reads.size(); ++r)
          if (const SplitOperand &o = way->operands[r]; o.axis >= 0) {
            const int read = p.steps[s].reads[r];
            raise(read, rowsRead(o, {last[size_t(made)], end}, extentOf(p, read, o.axis)).end);
          }
      }
      if (stage.parts > 1)
        runParts(until);
      else
        runPiece(until);
      last = until;
    }
  }

  void runPiece(const std::vector<int64_t> &until) {
    std::vector<PieceRun> &runs = rows.pieces.emplace_back();
    for (size_t s = 0; s < p.steps.size(); ++s) {
      const SplitWay *way = wayOf(s);
      if (!way)
        continue;
      const int counted = way->carried ? p.steps[s].reads[0] : p.steps[s].write;
      PieceRun run{int(s), {last[size_t(counted)], until[size_t(counted)]}, {}};
      if (run.rows.begin < run.rows.end)
        runs.push_back(withReads(std::move(run), *way));
    }
  }

  PieceRun withReads(PieceRun run, const SplitWay &way) const {
    const std::vector<int> &reads = p.steps[size_t(run.step)].reads;
    for (size_t r = 0; r < reads.size(); ++r) {
      const SplitOperand &o = way.operands[r];
      run.reads.push_back(o.axis < 0 ? RowRange() : rowsRead(o, run.rows, extentOf(p, reads[r], o.axis)));
    }
    return run;
  }

  // A part of the rows of a piece, or as many as follow from a run of what the step reads. Of a kernel with tiles, full
  // ones.
  void findGrains() {
    const int64_t parts = stage.pieces * stage.parts;
    grains.assign(p.values.size(), 1);
    for (size_t s = 0; s < p.steps.size(); ++s) {
      const SplitWay *way = wayOf(s);
      if (!way || way->carried)
        continue;
      const int made = p.steps[s].write;
      int64_t rows = (extentOf(p, made, way->axis) + parts - 1) / parts, following = INT64_MAX;
      for (size_t r = 0; r < p.steps[s].reads.size(); ++r)
        if (const SplitOperand &o = way->operands[r];
            o.axis >= 0 && o.stride > 0 && !source[size_t(p.steps[s].reads[r])])
          following = std::min(following, grains[size_t(p.steps[s].reads[r])] * o.divisor / o.stride);
      if (way->tile == 1 && following < INT64_MAX)
        rows = std::max(rows, following);
      const int64_t unit = std::max(way->tile, way->align);
      grains[size_t(made)] = (rows + unit - 1) / unit * unit;
      // The last piece makes more: what the windows of all steps reach.
      if (way->align == 1)
        grains[size_t(made)] =
            std::min(grains[size_t(made)], (extentOf(p, made, way->axis) + stage.pieces - 1) / stage.pieces);
    }
  }

  // Depth first: what a run reads is made just before it, so that little of it waits.
  void runParts(const std::vector<int64_t> &until) {
    rows.pieces.emplace_back();
    std::vector<int64_t> made = last;
    std::vector<std::pair<int, int64_t>> sums; // kept value, rows added
    for (int64_t part = 1; part <= stage.parts; ++part)
      for (const SplitKeep &k : stage.keeps) {
        const int writer = writers[size_t(k.value)];
        const SplitWay &way = *wayOf(size_t(writer));
        const int counted = way.carried ? p.steps[size_t(writer)].reads[0] : k.value;
        const int64_t begin = last[size_t(counted)];
        const int64_t end = begin + (until[size_t(counted)] - begin) * part / stage.parts;
        makeRows(counted, end, until, made);
        if (!way.carried)
          continue;
        auto sum = std::find_if(sums.begin(), sums.end(), [&](const auto &one) { return one.first == k.value; });
        int64_t &added = sum == sums.end() ? sums.emplace_back(k.value, begin).second : sum->second;
        if (added < end)
          rows.pieces.back().push_back(withReads({writer, {added, end}, {}}, way));
        added = end;
      }
  }

  void makeRows(int value, int64_t end, const std::vector<int64_t> &until, std::vector<int64_t> &made) {
    int64_t &now = made[size_t(value)];
    while (!source[size_t(value)] && now < end) {
      const int step = writers[size_t(value)];
      const SplitWay &way = *wayOf(size_t(step));
      const int64_t most = way.tile > 1 ? until[size_t(value)] : end;
      int64_t to = std::min(most, now + grains[size_t(value)]);
      // What is less than half a tile goes with the run before: on its own, a window of the next run would wait for it.
      if (way.tile > 1 && 2 * (most - to) <= way.tile)
        to = most;
      to = std::min(until[size_t(value)], (to + way.align - 1) / way.align * way.align);
      PieceRun run = withReads({step, {now, to}, {}}, way);
      for (size_t r = 0; r < run.reads.size(); ++r)
        if (way.operands[r].axis >= 0)
          makeRows(p.steps[size_t(step)].reads[r], run.reads[r].end, until, made);
      rows.pieces.back().push_back(std::move(run));
      now = to;
    }
  }
};

} // namespace

std::optional<StageRows> rowsOfStage(const SplitProblem &problem, const SplitPlan &plan, size_t stage,
                                     std::string &why) {
  return StageBuilder(problem, plan, stage, why).build();
}

} // namespace plim::solver
