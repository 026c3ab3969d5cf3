//===- Makespan.cpp - How long a list of actions takes ----------------------------------------===//
#include "compiler/Solver/Makespan.h"
#include "compiler/Solver/Layout.h"
#include <algorithm>

namespace plim::solver {

int64_t makespan(const Problem &problem, const std::vector<Action> &actions,
                 const std::vector<Schedule::Instance> &instances, const std::vector<int> &choices,
                 const std::vector<int64_t> &runNs) {
  std::vector<int64_t> ends(actions.size(), 0);
  std::array<int64_t, 3> queue{}; // by Queue: when it has done all that was issued
  int64_t &now = queue[int(Queue::Cpu)];
  for (size_t k = 0; k < actions.size(); ++k) {
    const Action &action = actions[k];
    now += runNs[k];
    for (int copy : action.waits)
      now = std::max(now, ends[copy]);
    if (action.kind != ActionKind::Copy)
      continue;
    const Schedule::Instance &from = instances[action.reads[0]], &to = instances[action.writes[0]];
    const Link *link = problem.link(from.tier, to.tier);
    if (!link) // inside the ram
      continue;
    int64_t bytes = bytesOf(problem, from.buffer, choices);
    if (action.queue != Queue::Cpu)
      bytes = alignUp(bytes, kSsdAlign);
    int64_t &end = queue[int(action.queue)];
    ends[k] = end = std::max(end, now + link->latencyNs) + transferNs(*link, bytes);
  }
  return now;
}

} // namespace plim::solver
