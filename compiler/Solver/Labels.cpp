//===- Labels.cpp - Problems whose steps have nothing but one label ---------------------------===//
#include "compiler/Solver/Labels.h"
#include "compiler/Solver/JointRungs.h"
#include <algorithm>

namespace plim::solver {

std::map<std::string, std::string> labelsOf(const Problem &problem) {
  std::map<std::string, std::string> labels;
  for (const Step &step : problem.steps)
    for (const Candidate &c : step.candidates)
      if (!c.label.empty())
        if (std::string &barredBy = labels[c.label]; barredBy.empty())
          barredBy = c.barredBy;
  return labels;
}

Problem onlyLabel(const Problem &problem, const std::string &label) {
  Problem only = problem;
  for (Step &step : only.steps) {
    auto has = [&](const Candidate &c) { return c.label == label; };
    if (std::none_of(step.candidates.begin(), step.candidates.end(), has))
      continue;
    for (Candidate &c : step.candidates)
      c.barredBy = has(c) ? "" : "other label";
  }
  return only;
}

std::vector<Solution> smallestByLabel(const Problem &problem, const FitOptions &options) {
  std::map<std::string, std::string> labels = labelsOf(problem);
  std::erase_if(labels, [](const auto &entry) { return !entry.second.empty(); });
  std::vector<Solution> plans;
  if (labels.size() < 2 || !problem.levers.choose || int64_t(problem.steps.size()) > kLabelSteps)
    return plans;
  FitOptions less = withLessSearch(options);
  less.jointRounds = 0, less.jointRescues = options.jointRescues / 2; // only least memory is sought
  for (const auto &[label, barredBy] : labels) {
    Problem only = onlyLabel(problem, label);
    only.levers.spill = false;
    if (!validate(only).empty())
      continue;
    const Context context(only);
    DraftRungs drafts(context, less);
    plans.push_back(drafts.smallest());
    if (!only.levers.recompute && !only.levers.stream)
      continue;
    const JointRungs joint(context, drafts.leanest(), less);
    if (auto plan = joint.smallest({kUnbounded, kUnbounded, kUnbounded, kUnbounded}))
      plans.push_back(std::move(*plan));
  }
  return plans;
}

FitOptions withLessSearch(const FitOptions &options) {
  FitOptions less = options;
  less.jointRounds /= 4, less.jointRescues /= 4, less.orderRounds /= 4, less.tradeEvaluations /= 4;
  less.progress = {};
  return less;
}

} // namespace plim::solver
