//===- Staging.cpp - From maps that are kept to stages -------------------------------------------===//
#include "compiler/Solver/Split/Staging.h"
#include "compiler/Solver/DisjointSets.h"
#include <algorithm>
#include <map>

namespace plim::solver {

Staging::Staging(const SplitProblem &problem, const SplitSearch &search, const Axes &axes)
    : p(problem), search(search), axes(axes), writers(writersOf(problem)), ways(p.steps.size(), nullptr),
      sums(p.values.size()) {
  for (size_t s = 0; s < p.steps.size(); ++s)
    for (const SplitWay &way : p.steps[s].ways) {
      const int write = p.steps[s].write;
      if (way.carried ? axes.of(p.steps[s].reads[0]) == way.operands[0].axis && axes.of(write) < 0
                      : axes.of(write) == way.axis && fits(p.steps[s], way)) {
        ways[s] = &way;
        sums[size_t(write)] = way.carried;
        break;
      }
    }
  findCuts();
}

bool Staging::fits(const SplitStep &step, const SplitWay &way) const {
  for (size_t r = 0; r < step.reads.size(); ++r)
    if (way.operands[r].axis >= 0 && axes.of(step.reads[r]) != way.operands[r].axis)
      return false;
  return true;
}

void Staging::findCuts() {
  constexpr size_t kept = 2;
  std::vector<int> last(p.values.size(), -1); // step that reads it
  for (size_t s = 0; s < p.steps.size(); ++s)
    for (int read : p.steps[s].reads)
      last[size_t(read)] = int(s);
  std::map<int64_t, std::vector<std::pair<int64_t, int>>> byRows; // bytes and step
  std::vector<std::vector<int>> crossing(p.steps.size());
  for (size_t s = 0; s < p.steps.size(); ++s) {
    if (!isMap(p.steps[s].write) || last[size_t(p.steps[s].write)] < 0)
      continue;
    int64_t bytes = 0;
    for (size_t t = 0; t <= s; ++t)
      if (const int made = p.steps[t].write; isMap(made) && last[size_t(made)] > int(s))
        crossing[s].push_back(made), bytes += p.values[size_t(made)].bytes;
    byRows[extentOf(p, p.steps[s].write, axes.of(p.steps[s].write))].push_back({bytes, int(s)});
  }
  for (auto &[rows, steps] : byRows) {
    std::sort(steps.begin(), steps.end());
    for (size_t k = 0; k < std::min(kept, steps.size()); ++k)
      narrow.push_back(crossing[size_t(steps[k].second)]);
  }
}

bool Staging::isMap(int value) const {
  const int writer = writers[size_t(value)];
  return writer >= 0 && ways[size_t(writer)] && !sums[size_t(value)];
}

std::vector<int> Staging::mapsReadBy(int step) const {
  std::vector<int> maps;
  for (size_t r = 0; ways[size_t(step)] && r < p.steps[size_t(step)].reads.size(); ++r)
    if (const int read = p.steps[size_t(step)].reads[r]; ways[size_t(step)]->operands[r].axis >= 0 && isMap(read))
      maps.push_back(read);
  return maps;
}

Staging::Levels Staging::levelsOf(const Choice &choice) const {
  Levels l;
  l.rows.assign(p.values.size(), 0);
  l.whole.assign(p.values.size(), 0);
  for (size_t s = 0; s < p.steps.size(); ++s) {
    const size_t made = size_t(p.steps[s].write);
    int level = 0;
    for (size_t r = 0; r < p.steps[s].reads.size(); ++r) {
      const size_t read = size_t(p.steps[s].reads[r]);
      const bool byRows = ways[s] && ways[s]->operands[r].axis >= 0;
      level = std::max(level, byRows ? l.rows[read] + int(choice.last.count(int(read))) : l.whole[read]);
    }
    l.rows[made] = level;
    l.whole[made] = isMap(int(made)) || sums[made] ? level + 1 : level;
  }
  return l;
}

Choice Staging::everyCrossing() const {
  Choice choice;
  const Levels l = levelsOf(choice);
  for (size_t s = 0; s < p.steps.size(); ++s)
    for (size_t r = 0; r < p.steps[s].reads.size(); ++r) {
      const int read = p.steps[s].reads[r];
      const bool byRows = ways[s] && ways[s]->operands[r].axis >= 0;
      if (isMap(read) && (!byRows || l.rows[size_t(read)] < l.rows[size_t(p.steps[s].write)]))
        choice.kept.insert(read);
    }
  return choice;
}

SplitPlan Staging::planOf(const Choice &choice) const {
  const Levels l = levelsOf(choice);
  std::vector<SplitStage> stages;
  auto keep = [&](int value, int axis) {
    const size_t level = size_t(l.rows[size_t(value)]);
    if (stages.size() <= level)
      stages.resize(level + 1);
    stages[level].keeps.push_back({value, axis});
  };
  for (size_t s = 0; s < p.steps.size(); ++s) {
    const int value = p.steps[s].write;
    if (sums[size_t(value)])
      keep(value, ways[s]->operands[0].axis);
    else if (isMap(value) && (p.values[size_t(value)].output || choice.kept.count(value)))
      keep(value, axes.of(value));
  }
  SplitPlan plan;
  std::vector<char> before(p.values.size()); // kept by earlier stages
  for (const SplitStage &stage : stages) {
    for (SplitStage &part : partsOf(stage, before)) {
      const int64_t rows = longest(part, before);
      for (int64_t pieces : search.pieces)
        part.pieces = pieces <= rows ? std::max(part.pieces, pieces) : part.pieces;
      plan.stages.push_back(std::move(part));
    }
    for (const SplitKeep &k : stage.keeps)
      before[size_t(k.value)] = 1;
  }
  return plan;
}

// What has no step in common runs one after the other, so that only one's windows are alive.
std::vector<SplitStage> Staging::partsOf(const SplitStage &stage, const std::vector<char> &before) const {
  std::vector<SplitStage> parts;
  std::vector<int> keepOf(p.steps.size(), -1); // by step: one that needs it
  DisjointSets joined(int(stage.keeps.size()));
  for (int k = 0; k < int(stage.keeps.size()); ++k) {
    std::vector<int> open{stage.keeps[size_t(k)].value};
    while (!open.empty()) {
      const int value = open.back();
      open.pop_back();
      const int writer = writers[size_t(value)];
      if (writer < 0 || !ways[size_t(writer)] || before[size_t(value)])
        continue;
      if (keepOf[size_t(writer)] >= 0) {
        joined.join(k, keepOf[size_t(writer)]);
        continue;
      }
      keepOf[size_t(writer)] = k;
      const SplitStep &step = p.steps[size_t(writer)];
      for (size_t r = 0; r < step.reads.size(); ++r)
        if (ways[size_t(writer)]->operands[r].axis >= 0)
          open.push_back(step.reads[r]);
    }
  }
  std::vector<int> number(stage.keeps.size(), -1);
  for (size_t k = 0; k < stage.keeps.size(); ++k) {
    int &part = number[size_t(joined.find(int(k)))];
    if (part < 0)
      part = int(parts.size()), parts.emplace_back();
    parts[size_t(part)].keeps.push_back(stage.keeps[k]);
  }
  return parts;
}

int64_t Staging::longest(const SplitStage &stage, const std::vector<char> &before) const {
  int64_t rows = 1;
  std::vector<char> seen(p.values.size());
  std::vector<int> open;
  for (const SplitKeep &k : stage.keeps)
    open.push_back(k.value);
  while (!open.empty()) {
    const int value = open.back();
    open.pop_back();
    if (seen[size_t(value)]++)
      continue;
    if (axes.of(value) >= 0)
      rows = std::max(rows, extentOf(p, value, axes.of(value)));
    const int writer = writers[size_t(value)];
    if (writer < 0 || !ways[size_t(writer)] || before[size_t(value)])
      continue;
    for (size_t r = 0; r < p.steps[size_t(writer)].reads.size(); ++r)
      if (ways[size_t(writer)]->operands[r].axis >= 0)
        open.push_back(p.steps[size_t(writer)].reads[r]);
  }
  return rows;
}

} // namespace plim::solver
