//===- Windows.cpp - The rows of a stage that are in memory at once ---------------------------------===//
//
// Where steps run once a piece, a value lives as a window of rows, which is written anew in each piece: once the window
// before it is read last, it takes over the rows that are needed again.
//
// Where they run in parts, what a run makes stays where it is until it is read last. A read of rows of several runs, or
// of some that an earlier run left over, needs them together: then they are written, or copied, into a window that ends
// with the run's own time (until its step runs again, or the piece ends); only what is needed again is copied out of
// it. SplitGraph.cpp builds the same.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Split/Windows.h"
#include <algorithm>
#include <map>

namespace plim::solver {
namespace {

// Whether rows of a value along an axis lie apart, so that some of them are copied together before they are read.
bool liesApart(const SplitValue &value, int axis) {
  return axis > 0 && std::any_of(value.dims.begin(), value.dims.begin() + axis, [](int64_t size) { return size > 1; });
}

// The largest sum of windows while a stage runs, of steps that run once a piece.
class Windows {
public:
  Windows(const SplitProblem &problem, const SplitStage &stage, const StageRows &rows)
      : p(problem), rows(rows), held(p.values.size()), rowBytes(p.values.size()), isKept(p.values.size()),
        made(p.values.size()) {
    for (size_t v = 0; v < p.values.size(); ++v)
      if (rows.axes[v] >= 0)
        rowBytes[v] = p.values[v].bytes / std::max<int64_t>(1, p.values[v].dims[size_t(rows.axes[v])]);
    for (const SplitKeep &k : stage.keeps)
      isKept[size_t(k.value)] = 1;
    for (size_t s = 0; s < p.steps.size(); ++s)
      if (rows.ways[s] >= 0)
        made[size_t(p.steps[s].write)] = 1;
  }

  int64_t peak() {
    const size_t pieces = rows.pieces.size();
    std::vector<int64_t> none(p.values.size(), INT64_MAX);
    std::vector<std::vector<int64_t>> later(pieces + 1, none); // first row read in pieces [i, end), by value
    for (size_t i = pieces; i-- > 0;) {
      later[i] = later[i + 1];
      eachRead(rows.pieces[i], [&](size_t, int value, RowRange r) {
        later[i][size_t(value)] = std::min(later[i][size_t(value)], r.begin);
      });
    }
    for (size_t i = 0; i < pieces; ++i)
      runPiece(rows.pieces[i], later[i], later[i + 1]);
    return most;
  }

private:
  const SplitProblem &p;
  const StageRows &rows;
  std::vector<RowRange> held; // by value: rows of its window
  std::vector<int64_t> rowBytes;
  std::vector<char> isKept, made;
  int64_t live = 0, most = 0;

  template <typename F> void eachRead(const std::vector<PieceRun> &runs, F f) const {
    for (size_t k = 0; k < runs.size(); ++k)
      for (size_t r = 0; r < runs[k].reads.size(); ++r)
        if (runs[k].reads[r].rows() > 0)
          f(k, p.steps[size_t(runs[k].step)].reads[r], runs[k].reads[r]);
  }
  int64_t bytesOf(int value, RowRange range) const { return rowBytes[size_t(value)] * range.rows(); }

  void release(int value) {
    live -= bytesOf(value, held[size_t(value)]);
    held[size_t(value)] = {};
  }

  // Bytes of an operand that ends with this run and that its result is written over.
  int64_t takenOver(size_t run, const SplitStep &step, const std::vector<size_t> &lastRead,
                    const std::vector<int64_t> &later) const {
    int64_t bytes = 0;
    for (int value : step.reads)
      if (step.inPlace && made[size_t(value)] && lastRead[size_t(value)] == run &&
          later[size_t(value)] >= held[size_t(value)].end && !isKept[size_t(step.write)])
        bytes = std::max(bytes,
                         std::min(bytesOf(value, held[size_t(value)]), bytesOf(step.write, held[size_t(step.write)])));
    return bytes;
  }

  void runPiece(const std::vector<PieceRun> &runs, const std::vector<int64_t> &needed,
                const std::vector<int64_t> &later) {
    std::vector<size_t> lastRead(p.values.size(), SIZE_MAX);
    eachRead(runs, [&](size_t run, int value, RowRange) { lastRead[size_t(value)] = run; });
    for (size_t k = 0; k < runs.size(); ++k) {
      const SplitStep &step = p.steps[size_t(runs[k].step)];
      const SplitWay &way = step.ways[size_t(rows.ways[size_t(runs[k].step)])];
      int64_t copies = 0; // of rows that do not lie together
      for (size_t r = 0; r < step.reads.size(); ++r) {
        if (!made[size_t(step.reads[r])] && liesApart(p.values[size_t(step.reads[r])], way.operands[r].axis))
          copies += bytesOf(step.reads[r], runs[k].reads[r]);
      }
      RowRange old;
      if (!way.carried) {
        old = held[size_t(step.write)];
        RowRange window{std::min(runs[k].rows.begin, needed[size_t(step.write)]), runs[k].rows.end};
        // What is kept is written into the whole; only a window with older rows is a copy.
        if (isKept[size_t(step.write)] && window == runs[k].rows)
          window = {};
        held[size_t(step.write)] = window;
        live += bytesOf(step.write, window) - bytesOf(step.write, old);
      }
      most = std::max(most, live + copies + step.workspace - takenOver(k, step, lastRead, later));
      for (int value : step.reads)
        if (made[size_t(value)] && lastRead[size_t(value)] == k) {
          if (later[size_t(value)] >= held[size_t(value)].end)
            release(value);
          else // beside the next window, which is about as large
            most = std::max(most, live + bytesOf(value, held[size_t(value)]));
        }
    }
  }
};

// The same of steps that run in parts.
class Lines {
public:
  Lines(const SplitProblem &problem, const SplitStage &stage, const StageRows &rows)
      : p(problem), stage(stage), rows(rows), of(p.values.size()) {
    for (const std::vector<PieceRun> &piece : rows.pieces) {
      for (const PieceRun &run : piece) {
        const int time = int(runs.size());
        runs.push_back(&run);
        const SplitStep &step = p.steps[size_t(run.step)];
        if (!wayOf(run).carried)
          of[size_t(step.write)].made.push_back({time, run.rows});
        for (size_t r = 0; r < run.reads.size(); ++r)
          if (run.reads[r].rows() > 0)
            of[size_t(step.reads[r])].read.push_back({time, run.reads[r]});
      }
      pieceEnds.push_back(int(runs.size()));
    }
    changes.resize(runs.size() + 2);
  }

  StageMemory memory() {
    for (size_t v = 0; v < p.values.size(); ++v)
      if (!of[v].made.empty())
        addValue(int(v));
    for (size_t t = 0; t < runs.size(); ++t)
      addRun(int(t));
    StageMemory most;
    int at = 0;
    int64_t live = 0;
    for (size_t t = 0; t < runs.size(); ++t)
      if (live += changes[t]; live > most.bytes)
        most.bytes = live, at = int(t);
    std::map<int, int64_t> there;
    for (const Life &life : lives)
      if (life.begin <= at && at < life.end)
        there[life.value] += life.bytes;
    for (const auto &[value, bytes] : there)
      most.lines.push_back(value);
    std::stable_sort(most.lines.begin(), most.lines.end(), [&](int a, int b) { return there[a] > there[b]; });
    return most;
  }

private:
  struct Event {
    int time;
    RowRange rows;
  };
  struct Events {
    std::vector<Event> made, read;
  };
  struct Life {
    int value, begin, end; // of runs
    int64_t bytes;
  };

  const SplitProblem &p;
  const SplitStage &stage;
  const StageRows &rows;
  std::vector<const PieceRun *> runs;
  std::vector<int> pieceEnds;
  std::vector<Events> of; // by value
  std::vector<int64_t> changes;
  std::vector<Life> lives;

  const SplitWay &wayOf(const PieceRun &run) const {
    return p.steps[size_t(run.step)].ways[size_t(rows.ways[size_t(run.step)])];
  }
  int64_t rowBytes(int value) const {
    return p.values[size_t(value)].bytes / std::max<int64_t>(1, extentOf(p, value, rows.axes[size_t(value)]));
  }
  void add(int value, int begin, int end, int64_t rowCount) {
    const int64_t bytes = rowBytes(value) * rowCount;
    if (begin >= end || bytes <= 0)
      return;
    changes[size_t(begin)] += bytes, changes[size_t(end)] -= bytes;
    lives.push_back({value, begin, end, bytes});
  }

  static int lastReadOf(RowRange range, const std::vector<int> &lastRead) {
    return *std::max_element(lastRead.begin() + range.begin, lastRead.begin() + range.end);
  }

  void addValue(int value) {
    const std::vector<Event> &made = of[size_t(value)].made, &read = of[size_t(value)].read;
    const bool isKept =
        std::any_of(stage.keeps.begin(), stage.keeps.end(), [&](const SplitKeep &keep) { return keep.value == value; });
    std::vector<int64_t> later(read.size() + 1, INT64_MAX); // first row that is read from each read on
    for (size_t k = read.size(); k-- > 0;)
      later[k] = std::min(later[k + 1], read[k].rows.begin);
    std::vector<int> lastRead(size_t(extentOf(p, value, rows.axes[size_t(value)])), -1); // by row
    for (const Event &r : read)
      std::fill(lastRead.begin() + r.rows.begin, lastRead.begin() + r.rows.end, r.time);
    size_t at = 0;
    for (size_t k = 0; k < made.size(); ++k) {
      const Event &m = made[k];
      const int next = k + 1 < made.size() ? made[k + 1].time : int(runs.size());
      const int ends = std::min(next, *std::upper_bound(pieceEnds.begin(), pieceEnds.end(), m.time));
      int64_t low = m.rows.begin, joinedEnd = m.rows.begin;
      int last = m.time, firstJoin = -1, lastJoin = -1;
      while (at < read.size() && read[at].time < m.time)
        ++at;
      for (; at < read.size() && read[at].time < ends; ++at) {
        const Event &r = read[at];
        last = r.time;
        if (r.rows.end <= m.rows.begin)
          joinOlder(value, r);
        else if (r.rows.begin < m.rows.begin) {
          low = std::min(low, r.rows.begin), joinedEnd = std::max(joinedEnd, r.rows.end), lastJoin = r.time;
          firstJoin = firstJoin < 0 ? r.time : firstJoin;
        }
      }
      const int64_t again = later[at];
      const bool waits = again <= m.rows.begin; // all of it
      if (isKept || waits) {
        if (firstJoin >= 0)
          add(value, firstJoin, lastJoin + 1, joinedEnd - low);
        if (!isKept)
          add(value, m.time, lastReadOf(m.rows, lastRead) + 1, m.rows.rows());
        continue;
      }
      add(value, m.time, last + 1, m.rows.end - low);
      if (again < m.rows.end)
        add(value, last + 1, std::min(next, lastReadOf({again, m.rows.end}, lastRead)) + 1, m.rows.end - again);
    }
  }

  // Rows of older runs only: a view of one of them, or a copy of them together.
  void joinOlder(int value, const Event &r) {
    for (const Event &m : of[size_t(value)].made)
      if (m.rows.begin <= r.rows.begin && r.rows.begin < m.rows.end) {
        if (r.rows.end > m.rows.end)
          add(value, r.time, r.time + 1, r.rows.rows());
        return;
      }
  }

  // Workspace, and copies of rows of whole values that do not lie together.
  void addRun(int time) {
    const PieceRun &run = *runs[size_t(time)];
    const SplitStep &step = p.steps[size_t(run.step)];
    int64_t bytes = step.workspace;
    for (size_t r = 0; r < step.reads.size(); ++r) {
      const int value = step.reads[r];
      if (of[size_t(value)].made.empty() && liesApart(p.values[size_t(value)], wayOf(run).operands[r].axis))
        bytes += rowBytes(value) * run.reads[r].rows();
    }
    changes[size_t(time)] += bytes, changes[size_t(time) + 1] -= bytes;
  }
};

} // namespace

StageMemory memoryOfStage(const SplitProblem &problem, const SplitStage &stage, const StageRows &rows) {
  if (stage.parts > 1)
    return Lines(problem, stage, rows).memory();
  return {Windows(problem, stage, rows).peak()};
}

} // namespace plim::solver
