//===- Cost.cpp - Memory and time of a plan of splitting ----------------------------------------===//
//
// An estimate that a planner of offsets comes near to: values that are whole live from the stage (or step) that makes
// them to the last that reads them; what a stage needs beside them is in Windows.cpp.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Split/Cost.h"
#include "absl/strings/str_cat.h"
#include "compiler/Solver/Split/Windows.h"
#include <algorithm>

namespace plim::solver {
namespace {

constexpr int64_t kLaunchNs = 1000; // of a run beside its kernel

// Its rows' share of the step, in whole tiles.
int64_t nsOf(const SplitProblem &p, const StageRows &rows, const PieceRun &run) {
  const SplitStep &step = p.steps[size_t(run.step)];
  const SplitWay &way = step.ways[size_t(rows.ways[size_t(run.step)])];
  const int64_t extent =
      way.carried ? extentOf(p, step.reads[0], way.operands[0].axis) : extentOf(p, step.write, way.axis);
  const int64_t made = (run.rows.rows() + way.tile - 1) / way.tile * way.tile;
  return int64_t(double(step.ns) * double(made) / double(extent));
}

} // namespace

SplitCoster::SplitCoster(const SplitProblem &problem) : p(problem), writers(writersOf(problem)) {}

const SplitCoster::Stage &SplitCoster::stageOf(const SplitPlan &plan, size_t index) {
  std::vector<int> sources;
  for (size_t s = 0; s < index; ++s)
    for (const SplitKeep &k : plan.stages[s].keeps)
      sources.push_back(k.value);
  std::sort(sources.begin(), sources.end());
  std::string key = absl::StrCat(plan.stages[index].pieces, "x", plan.stages[index].parts, ":");
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
  StageMemory memory = memoryOfStage(p, plan.stages[index], *rows);
  stage.transient = memory.bytes, stage.lines = std::move(memory.lines);
  std::vector<char> seen(p.values.size());
  for (size_t s = 0; s < p.steps.size(); ++s)
    if (rows->ways[s] >= 0) {
      stage.steps.push_back(int(s));
      seen[size_t(p.steps[s].write)] = 1;
      for (int read : p.steps[s].reads)
        if (!seen[size_t(read)]++)
          stage.sources.push_back(read);
    }
  for (const std::vector<PieceRun> &runs : rows->pieces)
    for (const PieceRun &run : runs)
      stage.ns += nsOf(p, *rows, run) + kLaunchNs;
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
      detail.lines = event.stage < 0 ? std::vector<int>() : stageOf(plan, size_t(event.stage)).lines;
      detail.atPeak = std::move(here);
    }
  }
  return detail;
}

std::optional<SplitCost> costOfSplit(const SplitProblem &problem, const SplitPlan &plan, std::string &why) {
  const PlannedProblem planned = asPlanned(problem, plan);
  std::optional<SplitCoster::Detail> detail = SplitCoster(planned.problem).cost(plan, why);
  return detail ? std::optional(detail->cost) : std::nullopt;
}

} // namespace plim::solver
