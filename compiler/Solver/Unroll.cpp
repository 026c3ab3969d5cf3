//===- Unroll.cpp - A schedule as a problem of its own ----------------------------------------===//
#include "compiler/Solver/Unroll.h"
#include "compiler/Solver/Makespan.h"
#include <algorithm>
#include <numeric>

namespace plim::solver {
namespace {

bool transfers(const Action &action) { return action.kind == ActionKind::Copy && action.queue != Queue::Cpu; }

std::vector<char> meetsSsd(const Schedule &schedule) {
  std::vector<char> result;
  result.reserve(schedule.instances.size());
  for (const Schedule::Instance &instance : schedule.instances)
    result.push_back(instance.tier == Tier::Ssd);
  for (const Action &action : schedule.actions)
    if (transfers(action))
      result[action.reads[0]] = result[action.writes[0]] = 1;
  return result;
}

// Instances of one buffer, numbered by the action that makes them; what is there from the start comes first.
std::vector<int> numbers(const Problem &problem, const Schedule &schedule) {
  const int count = int(schedule.instances.size());
  std::vector<int> made(count, -1);
  for (int k = int(schedule.actions.size()); k-- > 0;)
    for (int i : schedule.actions[k].writes)
      if (problem.buffers[schedule.instances[i].buffer].kind != BufferKind::State ||
          schedule.actions[k].kind == ActionKind::Copy)
        made[i] = k;
  std::vector<int> byTime(count), result(count), next(problem.buffers.size(), 0);
  std::iota(byTime.begin(), byTime.end(), 0);
  std::stable_sort(byTime.begin(), byTime.end(), [&](int a, int b) { return made[a] < made[b]; });
  for (int i : byTime)
    result[i] = next[schedule.instances[i].buffer]++;
  return result;
}

std::vector<Buffer> buffers(const Problem &problem, const Schedule &schedule, const std::vector<int> &numberOf,
                            const std::vector<char> &onSsd) {
  std::vector<Buffer> result;
  result.reserve(schedule.instances.size());
  for (size_t i = 0; i < schedule.instances.size(); ++i) {
    const Buffer &from = problem.buffers[schedule.instances[i].buffer];
    Buffer b;
    b.bytes = from.bytes, b.group = from.group, b.sizes = from.sizes, b.movable = from.movable;
    b.align = onSsd[i] ? std::max(from.align, kSsdAlign) : from.align;
    const bool home = from.kind != BufferKind::Transient && numberOf[i] == 0;
    b.kind = home ? from.kind : BufferKind::Transient;
    b.reused = home && from.reused;
    // A resident buffer stays where it was (in pinned memory, perhaps).
    b.tier = schedule.instances[i].tier == Tier::Ram && home ? from.tier : schedule.instances[i].tier;
    result.push_back(std::move(b));
  }
  return result;
}

Step stepOf(const Problem &problem, const Schedule &schedule, int k) {
  const Action &action = schedule.actions[k];
  Step step;
  step.reads = action.reads, step.writes = action.writes;
  if (action.kind == ActionKind::Run) {
    const Step &from = problem.steps[action.step];
    step.group = from.group;
    step.candidates.reserve(from.candidates.size());
    for (const Candidate &c : from.candidates)
      step.candidates.push_back({.ns = c.ns,
                                 .sharedBytes = c.sharedBytes,
                                 .scratchBytes = c.scratchBytes,
                                 .tasks = c.tasks,
                                 .flags = c.flags,
                                 .tier = c.tier,
                                 .barredBy = c.barredBy});
    return step;
  }
  for (int copy : action.waits)
    for (int i : {schedule.actions[copy].reads[0], schedule.actions[copy].writes[0]})
      if (std::find(step.reads.begin(), step.reads.end(), i) == step.reads.end())
        step.reads.push_back(i);
  // A copy takes all of an instance, not a subrange of another; a wait touches nothing.
  const bool copies = action.kind == ActionKind::Copy;
  step.candidates = {
      {.flags = copies ? 0 : kSubrangeOk, .tier = copies ? schedule.instances[action.writes[0]].tier : Tier::Ram}};
  return step;
}

// Each alias for each run of its step, in the order of the original's.
std::vector<Alias> aliases(const Problem &problem, const Schedule &schedule, std::vector<int> &aliasOf) {
  std::vector<std::vector<int>> runs(problem.steps.size());
  for (int k = 0; k < int(schedule.actions.size()); ++k)
    if (schedule.actions[k].kind == ActionKind::Run)
      runs[schedule.actions[k].step].push_back(k);
  std::vector<Alias> result;
  for (int a = 0; a < int(problem.aliases.size()); ++a) {
    const Alias &from = problem.aliases[a];
    const Step &step = problem.steps[from.step];
    const bool into = from.kind == AliasKind::Into;
    auto at = [](const std::vector<int> &ids, int id) { return std::find(ids.begin(), ids.end(), id) - ids.begin(); };
    const auto bufferAt = at(into ? step.reads : step.writes, from.buffer);
    const auto baseAt = at(into ? step.writes : step.reads, from.base);
    for (int k : runs[from.step]) {
      const Action &action = schedule.actions[k];
      Alias alias = from;
      alias.step = k;
      alias.buffer = (into ? action.reads : action.writes)[bufferAt];
      alias.base = (into ? action.writes : action.reads)[baseAt];
      result.push_back(alias);
      aliasOf.push_back(a);
    }
  }
  return result;
}

Problem problemOf(const Problem &original, const Schedule &schedule, const std::vector<int> &numberOf,
                  const std::vector<char> &onSsd, std::vector<int> &aliasOf) {
  Problem p;
  p.tiers = original.tiers, p.workers = original.workers, p.granule = original.granule;
  p.countIo = original.countIo, p.levers = original.levers, p.fixed = original.fixed, p.links = original.links;
  p.groups = original.groups;
  p.buffers = buffers(original, schedule, numberOf, onSsd);
  p.steps.reserve(schedule.actions.size());
  for (int k = 0; k < int(schedule.actions.size()); ++k)
    p.steps.push_back(stepOf(original, schedule, k));
  p.aliases = aliases(original, schedule, aliasOf);
  return p;
}

Draft draftOf(const Problem &unrolled, const Schedule &schedule) {
  Draft draft;
  draft.order.resize(schedule.actions.size());
  std::iota(draft.order.begin(), draft.order.end(), 0);
  draft.candidates.reserve(schedule.actions.size());
  for (const Action &action : schedule.actions)
    draft.candidates.push_back(std::max(0, action.candidate));
  draft.choices = schedule.choices;
  draft.refused.assign(unrolled.aliases.size(), !unrolled.levers.alias);
  return draft;
}

} // namespace

Unrolled::Unrolled(const Problem &given, const Schedule &how)
    : original(given), schedule(how), numberOf(numbers(original, schedule)), onSsd(meetsSsd(schedule)),
      problem(problemOf(original, schedule, numberOf, onSsd, aliasOf)), context(problem, onSsd),
      draft(draftOf(problem, schedule)) {}

Schedule scheduleOf(const Problem &problem, const Draft &draft) {
  Schedule schedule;
  schedule.instances.reserve(problem.buffers.size());
  for (int b = 0; b < int(problem.buffers.size()); ++b)
    schedule.instances.push_back({b, Tier::Ram});
  schedule.actions.reserve(draft.order.size());
  for (int s : draft.order) {
    Action action;
    action.step = s, action.candidate = draft.candidates[s];
    action.reads = problem.steps[s].reads, action.writes = problem.steps[s].writes;
    schedule.actions.push_back(std::move(action));
  }
  schedule.choices = draft.choices;
  return schedule;
}

int64_t predictNs(const Unrolled &unrolled, const Layout &layout) {
  const Schedule &schedule = unrolled.schedule;
  return makespan(unrolled.original, schedule.actions, schedule.instances, schedule.choices, layout.ns);
}

Solution assemble(const Unrolled &unrolled, const Draft &draft, const PackOptions &options) {
  const Schedule &schedule = unrolled.schedule;
  Solution out = assemble(unrolled.context, draft, options);
  out.ns = predictNs(unrolled, layOut(unrolled.context, draft));
  for (size_t i = 0; i < out.places.size(); ++i) {
    Place &place = out.places[i];
    place.buffer = schedule.instances[i].buffer, place.instance = unrolled.numberOf[i];
    if (place.alias >= 0)
      place.alias = unrolled.aliasOf[place.alias];
  }
  std::vector<int> runs(unrolled.original.steps.size(), 0);
  for (size_t k = 0; k < out.actions.size(); ++k) {
    Action action = schedule.actions[k];
    if (action.kind == ActionKind::Run) {
      action.kind = out.actions[k].kind, action.candidate = out.actions[k].candidate;
      action.workspaceOffset = out.actions[k].workspaceOffset;
      action.instance = runs[action.step]++;
    }
    out.actions[k] = std::move(action);
  }
  return out;
}

} // namespace plim::solver
