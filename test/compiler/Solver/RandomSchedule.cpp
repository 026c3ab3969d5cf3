//===- RandomSchedule.cpp - Sound schedules without any aim, for tests -------------------------===//
#include "test/compiler/Solver/RandomSchedule.h"
#include "compiler/Solver/Layout.h"
#include <algorithm>
#include <random>

namespace plim::solver {
namespace {

class Scrambler {
public:
  Scrambler(const Problem &problem, uint64_t seed) : p(problem), random(seed) {}

  Schedule run() {
    const Draft draft = fastestDraft(p);
    out.choices = draft.choices;
    current.assign(p.buffers.size(), -1);
    for (int b = 0; b < int(p.buffers.size()); ++b)
      if (p.buffers[b].kind != BufferKind::Transient) {
        const bool streamed = p.buffers[b].kind == BufferKind::Constant && below(2);
        current[b] = instance(b, streamed ? Tier::Ssd : Tier::Ram);
      }
    for (int s : draft.order) {
      for (int b : p.steps[s].reads)
        disturb(b, draft);
      runStep(s, draft);
    }
    return std::move(out);
  }

private:
  const Problem &p;
  std::mt19937_64 random;
  Schedule out;
  std::vector<int> current; // by buffer: the instance to read

  int below(int limit) { return int(random() % uint64_t(limit)); }
  int instance(int buffer, Tier tier) {
    out.instances.push_back({buffer, tier});
    return int(out.instances.size()) - 1;
  }

  int copy(int from, Tier to) {
    const int made = instance(out.instances[from].buffer, to);
    Action action{.kind = ActionKind::Copy, .reads = {from}, .writes = {made}};
    action.queue = to == Tier::Ssd ? Queue::Write : Queue::Read;
    out.actions.push_back(action);
    return made;
  }
  void wait(int copies) {
    Action action{.kind = ActionKind::Wait};
    for (int k = copies; k > 0; --k)
      action.waits.push_back(int(out.actions.size()) - k);
    out.actions.push_back(action);
  }

  void disturb(int b, const Draft &draft) {
    if (out.instances[current[b]].tier == Tier::Ssd) {
      const int file = current[b];
      current[b] = copy(file, Tier::Ram);
      wait(1);
      return;
    }
    if (p.buffers[b].kind != BufferKind::Transient)
      return;
    if (below(5) == 0) {
      const int there = copy(current[b], Tier::Ssd);
      wait(1);
      current[b] = copy(there, Tier::Ram);
      // Two in flight at once, done by one wait.
      const int again = below(2) ? copy(there, Tier::Ram) : -1;
      wait(again < 0 ? 1 : 2);
      current[b] = again < 0 ? current[b] : again;
    } else if (below(4) == 0) {
      for (int s = 0; s < int(p.steps.size()); ++s)
        if (std::count(p.steps[s].writes.begin(), p.steps[s].writes.end(), b) && p.steps[s].pure && repeats(p.steps[s]))
          runStep(s, draft);
    }
  }
  bool repeats(const Step &step) const {
    auto plain = [&](int b) { return p.buffers[b].kind != BufferKind::State; };
    return std::all_of(step.writes.begin(), step.writes.end(), plain) &&
           std::all_of(step.reads.begin(), step.reads.end(),
                       [&](int b) { return plain(b) && out.instances[current[b]].tier == Tier::Ram; });
  }

  void runStep(int s, const Draft &draft) {
    Action action;
    action.step = s, action.candidate = draft.candidates[s];
    for (int b : p.steps[s].reads)
      action.reads.push_back(current[b]);
    for (int b : p.steps[s].writes) {
      const bool first = current[b] >= 0 && p.buffers[b].kind != BufferKind::Transient;
      action.writes.push_back(first ? current[b] : instance(b, Tier::Ram));
      current[b] = action.writes.back();
    }
    out.actions.push_back(action);
  }
};

} // namespace

Schedule randomSchedule(const Problem &problem, uint64_t seed) { return Scrambler(problem, seed).run(); }

void offerSsd(Problem &problem) {
  problem.links = {{Tier::Ram, Tier::Ssd, 900'000'000, 80'000}, {Tier::Ssd, Tier::Ram, 1'200'000'000, 50'000}};
  problem.levers.recompute = problem.levers.spill = problem.levers.stream = true;
}

} // namespace plim::solver
