//===- ScrambledSchedule.h - What a planner might do with a problem --------------------------*- C++ -*-===//
#ifndef PLIM_TEST_COMPILER_LOWERING_PLANPROBLEM_SCRAMBLEDSCHEDULE_H
#define PLIM_TEST_COMPILER_LOWERING_PLANPROBLEM_SCRAMBLEDSCHEDULE_H

#include "test/compiler/Lowering/PlanProblem/TransferPlans.h"

#include <random>

namespace plim::test {

/// Steps that run again, spills and streamed constants at random, without any aim.
inline solver::Schedule scrambled(const solver::Problem &p, unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&](int limit) { return int(random() % unsigned(limit)); };
  Scheduler s(p);
  std::vector<int> maker(p.buffers.size(), -1);
  std::vector<std::vector<int>> flying(p.buffers.size()); // writes to the ssd that nothing has waited for
  for (int b = 0; b < int(p.buffers.size()); ++b)
    if (p.buffers[b].kind == solver::BufferKind::Constant && p.buffers[b].movable && below(2))
      s.stream(b);
  for (int step = 0; step < int(p.steps.size()); ++step) {
    std::vector<int> reads;
    for (int b : p.steps[step].reads) {
      const bool plain = p.buffers[b].kind == solver::BufferKind::Transient && p.buffers[b].movable;
      bool again = plain && maker[b] >= 0 && p.steps[maker[b]].pure && below(4) == 0;
      for (int from : again ? p.steps[maker[b]].reads : std::vector<int>())
        again = again && !s.onSsd(from) && p.buffers[from].kind != solver::BufferKind::State;
      again = again && p.steps[maker[b]].writes.size() == 1;
      if (!s.onSsd(b) && again) {
        if (!reads.empty())
          s.wait(std::exchange(reads, {}));
        s.run(maker[b]);
      }
      if (!s.onSsd(b) && !again && plain && below(4) == 0)
        flying[b].push_back(s.copy(b, solver::Tier::Ssd));
      if (!s.onSsd(b))
        continue;
      if (!flying[b].empty())
        s.wait(std::exchange(flying[b], {}));
      reads.push_back(s.copy(b, solver::Tier::Ram));
    }
    if (!reads.empty())
      s.wait(reads);
    s.run(step);
    for (int b : p.steps[step].writes)
      maker[b] = step;
    // What the next steps need is dropped to the ssd now and then.
    for (int b : p.steps[step].writes)
      if (p.buffers[b].kind == solver::BufferKind::Transient && p.buffers[b].movable && below(5) == 0)
        s.wait({s.copy(b, solver::Tier::Ssd)});
    // A streamed constant is read anew for each step.
    for (int b : p.steps[step].reads)
      if (p.buffers[b].kind == solver::BufferKind::Constant)
        s.forget(b);
  }
  for (const std::vector<int> &open : flying)
    if (!open.empty())
      s.wait(open);
  return s.schedule;
}

} // namespace plim::test

#endif // PLIM_TEST_COMPILER_LOWERING_PLANPROBLEM_SCRAMBLEDSCHEDULE_H
