//===- AsPlanned.cpp - The problem with a plan's kernels and copies of steps ---------------------===//
#include "compiler/Solver/Split/Split.h"
#include <algorithm>
#include <map>
#include <utility>

namespace plim::solver {
namespace {

bool isIn(const std::vector<int> &sorted, int number) {
  return std::binary_search(sorted.begin(), sorted.end(), number);
}

void makeLoose(SplitStep &step) {
  for (SplitWay &way : step.ways)
    if (way.tile > 1)
      way.align = 1;
}

} // namespace

PlannedProblem asPlanned(SplitProblem problem, const SplitPlan &plan) {
  for (int step : plan.fine)
    if (SplitStep &s = problem.steps[size_t(step)]; s.fine)
      static_cast<SplitKernel &>(s) = *std::exchange(s.fine, std::nullopt);
  for (int step : plan.loose)
    makeLoose(problem.steps[size_t(step)]);
  PlannedProblem planned;
  std::vector<SplitStep> steps;
  std::map<int, int> copies; // of values
  auto add = [&](SplitStep step, size_t origin) {
    steps.push_back(std::move(step));
    planned.origins.push_back(int(origin));
  };
  for (size_t s = 0; s < problem.steps.size(); ++s) {
    SplitStep step = problem.steps[s];
    if (isIn(plan.readers, int(s))) {
      for (int copied : plan.readers.front() == int(s) ? plan.copied : std::vector<int>()) {
        SplitStep copy = problem.steps[size_t(copied)];
        SplitValue value = problem.values[size_t(copy.write)];
        value.name += "'", value.output = false;
        for (int &read : copy.reads)
          if (auto other = copies.find(read); other != copies.end())
            read = other->second;
        copies[copy.write] = int(problem.values.size());
        copy.write = int(problem.values.size()), copy.name += "'";
        problem.values.push_back(std::move(value));
        add(std::move(copy), size_t(copied));
      }
      for (int &read : step.reads)
        if (auto other = copies.find(read); other != copies.end())
          read = other->second;
    }
    add(std::move(step), s);
  }
  problem.steps = std::move(steps);
  planned.problem = std::move(problem);
  return planned;
}

} // namespace plim::solver
