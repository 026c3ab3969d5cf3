//===- Fit.cpp - A plan that fits the budget, or why there is none ----------------------------===//
#include "compiler/Solver/Fit.h"
#include "absl/strings/str_cat.h"

namespace plim::solver {

std::vector<std::string> unplannable(const Problem &problem) {
  std::vector<std::string> faults;
  for (const Step &step : problem.steps) {
    for (const Candidate &c : step.candidates)
      if (c.tier != Tier::Ram)
        faults.push_back(absl::StrCat("step '", step.name, "': need candidates in tier ram, have '", c.kernel,
                                      "' in tier ", tierName(c.tier)));
    for (const auto *list : {&step.reads, &step.writes})
      for (int b : *list)
        if (const Buffer &buffer = problem.buffers[b];
            buffer.kind != BufferKind::Transient && buffer.tier != Tier::Ram && buffer.tier != Tier::Pinned)
          faults.push_back(absl::StrCat("step '", step.name, "': need '", buffer.name,
                                        "' in tier ram, have it in tier ", tierName(buffer.tier)));
  }
  return faults;
}

std::vector<FitResult> fitBudgets(const Problem &problem, const std::vector<int64_t> &ram, const FitOptions &options) {
  Problem asked = problem;
  Ladder ladder(problem, options);
  std::vector<FitResult> results;
  for (int64_t bytes : ram) {
    asked.tiers[int(Tier::Ram)].capacity = bytes;
    std::array<int64_t, kTierCount> capacity;
    for (int t = 0; t < kTierCount; ++t)
      capacity[t] = asked.tiers[t].capacity;
    FitResult &result = results.emplace_back();
    if (const Solution *plan = ladder.fastest(capacity))
      result.solution = *plan;
    else
      result.refusal = explainRefusal(asked, ladder, options);
  }
  return results;
}

FitResult fitBudget(const Problem &problem, const FitOptions &options) {
  return std::move(fitBudgets(problem, {problem.tiers[int(Tier::Ram)].capacity}, options).front());
}

} // namespace plim::solver
