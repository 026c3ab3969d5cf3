//===- Cost.cpp - Memory and time of a plan of splitting ----------------------------------------===//
//
// An estimate that a planner of offsets comes near to: values that are whole live from the stage (or step) that makes
// them to the last that reads them; inside a stage a value lives as a window of rows, which is written anew in each
// piece: once the window before it is read last, it takes over the rows that are needed again.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Split/Cost.h"
#include "absl/strings/str_cat.h"
#include <algorithm>

namespace plim::solver {
namespace {

constexpr int64_t kLaunchNs = 1000; // of a run beside its kernel

// The largest sum of windows while a stage runs.
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
        const int axis = way.operands[r].axis;
        const std::vector<int64_t> &dims = p.values[size_t(step.reads[r])].dims;
        if (axis > 0 && !made[size_t(step.reads[r])] &&
            std::any_of(dims.begin(), dims.begin() + axis, [](int64_t size) { return size > 1; }))
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

} // namespace

SplitCoster::SplitCoster(const SplitProblem &problem) : p(problem), writers(writersOf(problem)) {}

const SplitCoster::Stage &SplitCoster::stageOf(const SplitPlan &plan, size_t index) {
  std::vector<int> sources;
  for (size_t s = 0; s < index; ++s)
    for (const SplitKeep &k : plan.stages[s].keeps)
      sources.push_back(k.value);
  std::sort(sources.begin(), sources.end());
  std::string key = absl::StrCat(plan.stages[index].pieces, ":");
  for (const SplitKeep &k : plan.stages[index].keeps)
    absl::StrAppend(&key, k.value, "@", k.axis, ",");
  for (int source : sources)
    absl::StrAppend(&key, "|", source);
  auto [at, isNew] = stages.try_emplace(key);
  Stage &stage = at->second;
  if (!isNew)
    return stage;
  std::optional<StageRows> rows = rowsOfStage(p, plan, index, stage.why);
  if (!rows)
    return stage;
  stage.sound = true;
  stage.whole = rows->whole;
  stage.transient = Windows(p, plan.stages[index], *rows).peak();
  std::vector<char> seen(p.values.size());
  for (size_t s = 0; s < p.steps.size(); ++s)
    if (rows->ways[s] >= 0) {
      stage.ns += p.steps[s].ns;
      stage.steps.push_back(int(s));
      seen[size_t(p.steps[s].write)] = 1;
      for (int read : p.steps[s].reads)
        if (!seen[size_t(read)]++)
          stage.sources.push_back(read);
    }
  for (const std::vector<PieceRun> &runs : rows->pieces)
    stage.ns += int64_t(runs.size()) * kLaunchNs;
  return stage;
}

// Bytes of those whole values that lie in the caller's outputs, which are free until they are written, and in reused
// inputs, which are free once they were read last.
int64_t SplitCoster::lent(std::vector<int> here, const std::vector<int> &birth, const std::vector<int> &death,
                          int event) const {
  std::sort(here.begin(), here.end(),
            [&](int a, int b) { return p.values[size_t(a)].bytes > p.values[size_t(b)].bytes; });
  int64_t bytes = 0;
  for (size_t out = 0; out < p.values.size(); ++out) {
    const bool reused = p.values[out].reused && death[out] < event;
    if (!reused && (!p.values[out].output || birth[out] <= event))
      continue;
    int64_t free = p.values[out].bytes;
    for (int &value : here)
      if (value >= 0 && (reused ? birth[size_t(value)] > death[out] : death[size_t(value)] < birth[out]) &&
          p.values[size_t(value)].bytes <= free) {
        free -= p.values[size_t(value)].bytes, bytes += p.values[size_t(value)].bytes;
        value = -1;
      }
  }
  return bytes;
}

std::optional<SplitCoster::Detail> SplitCoster::cost(const SplitPlan &plan, std::string &why) {
  struct Event {
    int stage, step;
    std::vector<int> reads, makes;
    int64_t transient, ns;
  };
  std::vector<Event> events;
  std::vector<char> whole(p.values.size());
  for (size_t v = 0; v < p.values.size(); ++v)
    whole[v] = p.values[v].kind != SplitValue::Kind::Made;
  // Steps that run as they are, each after what it reads.
  auto makeWhole = [&](int wanted) {
    std::vector<int> open{wanted};
    while (!open.empty()) {
      const int value = open.back();
      const int writer = writers[size_t(value)];
      if (whole[size_t(value)] || writer < 0) {
        open.pop_back();
        continue;
      }
      const SplitStep &step = p.steps[size_t(writer)];
      const size_t before = open.size();
      for (int read : step.reads)
        if (!whole[size_t(read)] && writers[size_t(read)] >= 0)
          open.push_back(read);
      if (open.size() > before)
        continue;
      open.pop_back();
      whole[size_t(value)] = 1;
      events.push_back({-1, writer, step.reads, {value}, step.workspace, step.ns + kLaunchNs});
    }
  };
  std::vector<char> isCut(p.steps.size());
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage &stage = stageOf(plan, s);
    if (!stage.sound) {
      why = stage.why;
      return std::nullopt;
    }
    for (int step : stage.steps)
      isCut[size_t(step)] = 1;
  }
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage &stage = stageOf(plan, s);
    for (int value : stage.whole)
      makeWhole(value);
    Event event{int(s), -1, stage.sources, {}, stage.transient, stage.ns};
    for (const SplitKeep &k : plan.stages[s].keeps)
      event.makes.push_back(k.value), whole[size_t(k.value)] = 1;
    events.push_back(std::move(event));
    for (size_t step = 0; step < p.steps.size(); ++step)
      if (!isCut[step] && followsStage(p, step, whole))
        makeWhole(p.steps[step].write);
  }
  for (size_t v = 0; v < p.values.size(); ++v)
    if (p.values[v].output)
      makeWhole(int(v));

  std::vector<int> birth(p.values.size(), -1), death(p.values.size(), -1);
  int64_t callers = 0;
  for (size_t v = 0; v < p.values.size(); ++v)
    if (p.values[v].output || p.values[v].kind == SplitValue::Kind::Input)
      callers += p.values[v].bytes;
  for (int e = 0; e < int(events.size()); ++e) {
    for (int value : events[size_t(e)].makes)
      birth[size_t(value)] = death[size_t(value)] = e;
    for (int value : events[size_t(e)].reads)
      death[size_t(value)] = e;
  }
  Detail detail;
  for (int e = 0; e < int(events.size()); ++e) {
    const Event &event = events[size_t(e)];
    int64_t live = callers + event.transient;
    std::vector<int> here;
    for (size_t v = 0; v < p.values.size(); ++v)
      if (birth[v] >= 0 && birth[v] <= e && death[v] >= e && !p.values[v].output)
        live += p.values[v].bytes, here.push_back(int(v));
    live -= lent(here, birth, death, e);
    if (event.step >= 0 && p.steps[size_t(event.step)].inPlace)
      for (int read : event.reads)
        if (death[size_t(read)] == e && birth[size_t(read)] >= 0 &&
            p.values[size_t(read)].bytes == p.values[size_t(event.makes[0])].bytes) {
          live -= p.values[size_t(read)].bytes;
          break;
        }
    detail.cost.ns += event.ns;
    if (live > detail.cost.peak) {
      detail.cost.peak = live;
      detail.cost.peakStage = event.stage;
      detail.atPeak = std::move(here);
    }
  }
  return detail;
}

std::optional<SplitCost> costOfSplit(const SplitProblem &problem, const SplitPlan &plan, std::string &why) {
  const SplitProblem kernels = withFineKernels(problem, plan.fine);
  std::optional<SplitCoster::Detail> detail = SplitCoster(kernels).cost(plan, why);
  return detail ? std::optional(detail->cost) : std::nullopt;
}

} // namespace plim::solver
