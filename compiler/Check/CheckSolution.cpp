//===- CheckSolution.cpp - References of a solution, and levers that are off ------------------===//
#include "compiler/Check/CheckSolution.h"
#include "compiler/Check/SolutionReplay.h"
#include <algorithm>
#include <set>

namespace plim::check {

using namespace solver;

std::vector<std::string> checkSolution(const Problem &problem, const Solution &solution, IgnoreCapacity ignore) {
  std::vector<std::string> faults;
  SolutionReplay replay(problem, solution, faults);
  replay.checkReferences();
  for (auto part : {&SolutionReplay::checkLevers, &SolutionReplay::checkOrder, &SolutionReplay::checkAliases,
                    &SolutionReplay::checkStorages, &SolutionReplay::checkSharing})
    if (faults.empty())
      (replay.*part)();
  if (faults.empty()) {
    replay.checkSums(ignore == IgnoreCapacity::No);
    replay.checkTime();
  }
  return faults;
}

SolutionReplay::SolutionReplay(const Problem &problem, const Solution &solution, std::vector<std::string> &faults)
    : p(problem), s(solution), faults(faults) {}

bool SolutionReplay::isStep(int action) const {
  const ActionKind kind = s.actions[action].kind;
  return kind == ActionKind::Run || kind == ActionKind::Elided;
}

std::string SolutionReplay::where(int action) const {
  const Action &a = s.actions[action];
  if (a.kind == ActionKind::Wait)
    return absl::StrCat("action ", action, " (wait)");
  if (a.kind == ActionKind::Copy)
    return absl::StrCat("action ", action, " (copy)");
  std::string text = absl::StrCat("action ", action, " ('", p.steps[a.step].name, "'");
  if (a.instance > 0)
    absl::StrAppend(&text, " instance ", a.instance);
  return text + ")";
}

std::string SolutionReplay::placeName(int place) const {
  const Place &at = s.places[place];
  std::string text = absl::StrCat("place ", place, " of '", p.buffers[at.buffer].name, "'");
  if (at.instance > 0)
    absl::StrAppend(&text, " instance ", at.instance);
  return text;
}

int64_t SolutionReplay::bytesOf(int place) const {
  const Buffer &b = p.buffers[s.places[place].buffer];
  return b.group < 0 ? b.bytes : b.sizes[s.choices[b.group]];
}

const Candidate &SolutionReplay::candidateOf(int action) const {
  return p.steps[s.actions[action].step].candidates[s.actions[action].candidate];
}

int64_t SolutionReplay::workspaceOf(int action) const {
  if (s.actions[action].kind != ActionKind::Run)
    return 0;
  const Candidate &c = candidateOf(action);
  return c.sharedBytes + (c.tasks < p.workers ? c.tasks : p.workers) * c.scratchBytes;
}

// Where an input, output, constant or state lies for the whole run.
bool SolutionReplay::isHome(int place) const {
  return p.buffers[s.places[place].buffer].kind != BufferKind::Transient && s.places[place].instance == 0;
}

bool SolutionReplay::startsAlive(int place) const {
  return isHome(place) && p.buffers[s.places[place].buffer].kind != BufferKind::Output;
}

void SolutionReplay::checkReferences() {
  if (s.choices.size() != p.groups.size())
    return fail("choices: need ", p.groups.size(), " (one a group), have ", s.choices.size());
  for (size_t g = 0; g < s.choices.size(); ++g)
    if (s.choices[g] < 0 || s.choices[g] >= int(p.groups[g].choices.size()))
      fail("group '", p.groups[g].name, "': need a choice below ", p.groups[g].choices.size(), ", have ", s.choices[g]);
  checkPlaces();
  if (!faults.empty())
    return;

  waited.assign(s.actions.size(), -1), onSsd.assign(s.places.size(), false);
  std::set<std::pair<int, int>> runs;
  for (int k = 0; k < int(s.actions.size()); ++k) {
    const Action &a = s.actions[k];
    if (!isStep(k) && (a.step != -1 || a.instance != 0 || a.candidate != -1 || a.workspaceOffset != -1))
      fail("action ", k, ": need no step, instance, candidate or workspace in a copy or wait");
    if (a.kind != ActionKind::Copy && a.queue != Queue::Cpu)
      fail("action ", k, ": need a queue for copies only");
    if (a.kind != ActionKind::Wait && !a.waits.empty())
      fail("action ", k, ": need copies to wait for in waits only");
    if (a.kind == ActionKind::Copy)
      checkCopy(k);
    else if (a.kind == ActionKind::Wait)
      checkWait(k);
    else if (a.step < 0 || a.step >= int(p.steps.size()))
      fail("action ", k, ": need a step below ", p.steps.size(), ", have ", a.step);
    else if (a.instance < 0 || !runs.insert({a.step, a.instance}).second)
      fail(where(k), ": need instances from 0 on, each once, have ", a.instance);
    else
      checkStep(k);
  }
  for (int k = 0; k < int(s.actions.size()); ++k)
    if (isCopy(k) && s.actions[k].queue != Queue::Cpu && waited[k] < 0)
      fail(where(k), ": need a wait for it before the end, have it in flight");
}

void SolutionReplay::checkPlaces() {
  std::set<std::pair<int, int>> instances;
  for (size_t i = 0; i < s.places.size(); ++i) {
    const Place &at = s.places[i];
    if (at.buffer < 0 || at.buffer >= int(p.buffers.size()))
      fail("place ", i, ": need a buffer below ", p.buffers.size(), ", have ", at.buffer);
    else if (!instances.insert({at.buffer, at.instance}).second || at.instance < 0)
      fail(placeName(int(i)), ": need instances from 0 on, each once, have ", at.instance);
    if (at.storage < 0 || at.storage >= int(s.storages.size()))
      fail("place ", i, ": need a storage below ", s.storages.size(), ", have ", at.storage);
    if (at.alias < -1 || at.alias >= int(p.aliases.size()))
      fail("place ", i, ": need an alias below ", p.aliases.size(), ", have ", at.alias);
    if (at.run > 0 && at.alias < 0)
      fail("place ", i, ": need an alias where it is strided, have none");
    if (at.offset < 0 || at.run < 0 || at.stride < at.run || at.offset > kMaxBytes || at.stride > kMaxBytes)
      fail("place ", i, ": need offset >= 0 and 0 <= run <= stride, have ", at.offset, ", ", at.run, ", ", at.stride);
  }
  for (int b = 0; b < int(p.buffers.size()); ++b)
    if (p.buffers[b].kind != BufferKind::Transient && !instances.count({b, 0}))
      fail("buffer ", b, " '", p.buffers[b].name, "': need a place, have none");
}

void SolutionReplay::checkStep(int action) {
  const Action &a = s.actions[action];
  const Step &step = p.steps[a.step];
  if (a.candidate < 0 || a.candidate >= int(step.candidates.size()))
    fail(where(action), ": need a candidate below ", step.candidates.size(), ", have ", a.candidate);
  else if (!step.candidates[a.candidate].barredBy.empty())
    fail(where(action), ": candidate ", a.candidate, " is barred by ", step.candidates[a.candidate].barredBy);
  else if (step.group >= 0 && s.choices[step.group] != a.candidate)
    fail(where(action), ": need the choice ", s.choices[step.group], " of its group, have ", a.candidate);
  auto operands = [&](const char *what, const std::vector<int> &places, const std::vector<int> &need) {
    if (places.size() != need.size())
      return fail(where(action), ": need ", need.size(), " ", what, ", have ", places.size());
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i] < 0 || places[i] >= int(s.places.size()))
        fail(where(action), ": need ", what, " below ", s.places.size(), ", have ", places[i]);
      else if (s.places[places[i]].buffer != need[i])
        fail(where(action), ": need a place of buffer ", need[i], " in its ", what, ", have one of ",
             s.places[places[i]].buffer);
  };
  operands("reads", a.reads, step.reads);
  operands("writes", a.writes, step.writes);
}

void SolutionReplay::checkCopy(int action) {
  const Action &a = s.actions[action];
  auto known = [&](const std::vector<int> &ids) {
    return ids.size() == 1 && ids[0] >= 0 && ids[0] < int(s.places.size());
  };
  if (!known(a.reads) || !known(a.writes) || a.reads == a.writes)
    return fail(where(action), ": need one place to read and another to write");
  if (s.places[a.reads[0]].buffer != s.places[a.writes[0]].buffer)
    fail(where(action), ": need two places of one buffer");
  const Tier from = tierOf(a.reads[0]), to = tierOf(a.writes[0]);
  const bool moves = from == to && from != Tier::Ssd;
  const bool reads = from == Tier::Ssd && to != Tier::Ssd, writes = from != Tier::Ssd && to == Tier::Ssd;
  if (a.queue == Queue::Cpu ? !moves : a.queue == Queue::Read ? !reads : !writes)
    fail(where(action), ": need the cpu inside a tier, read from the ssd, write to the ssd; have ", tierName(from),
         " to ", tierName(to), " on ",
         a.queue == Queue::Cpu    ? "the cpu"
         : a.queue == Queue::Read ? "read"
                                  : "write");
  if (a.queue != Queue::Cpu)
    onSsd[a.reads[0]] = onSsd[a.writes[0]] = true;
}

void SolutionReplay::checkWait(int action) {
  const Action &a = s.actions[action];
  if (!a.reads.empty() || !a.writes.empty())
    fail(where(action), ": need no places in a wait");
  if (a.waits.empty())
    fail(where(action), ": need a copy to wait for, have none");
  for (int copy : a.waits)
    if (copy < 0 || copy >= action || !isCopy(copy) || s.actions[copy].queue == Queue::Cpu)
      fail(where(action), ": need an earlier copy from or to the ssd, have action ", copy);
    else if (waited[copy] >= 0)
      fail(where(action), ": need each copy waited for once, have ", copy, " again");
    else
      waited[copy] = action;
}

void SolutionReplay::checkLevers() {
  std::vector<int> runs(p.steps.size(), 0), views(p.steps.size(), 0), places(p.buffers.size(), 0);
  std::set<int> shown;
  for (const Alias &alias : p.aliases)
    if (alias.kind == AliasKind::View && p.levers.alias && shown.insert(alias.buffer).second)
      ++views[alias.step];
  int before = -1;
  for (int k = 0; k < int(s.actions.size()); ++k) {
    const Action &a = s.actions[k];
    if (!p.levers.spill && a.queue == Queue::Write)
      fail(where(k), ": need no spill as that lever is off");
    if (!p.levers.move && isCopy(k) && a.queue == Queue::Cpu)
      fail(where(k), ": need no move as that lever is off");
    if (isStep(k))
      ++runs[a.step];
    // Where a view stands, and how often it is made, follows from what shows it and from its base.
    if (a.kind != ActionKind::Run || views[a.step] == int(a.writes.size()))
      continue;
    if (runs[a.step] > 1 && !p.levers.recompute)
      fail(where(k), ": need no recomputation as that lever is off");
    if (runs[a.step] > 1)
      continue;
    if (!p.levers.order && a.step < before)
      fail(where(k), ": need the given order as that lever is off, have '", p.steps[before].name, "' before it");
    before = a.step;
  }
  for (int i = 0; i < int(s.places.size()); ++i) {
    const Buffer &b = p.buffers[s.places[i].buffer];
    const bool streamed = s.storages[s.places[i].storage].region == Region::File;
    if (!p.levers.alias && s.places[i].alias >= 0)
      fail(placeName(i), ": need no alias as that lever is off");
    if (!p.levers.stream && streamed)
      fail(placeName(i), ": need it resident as streaming is off");
    if (!b.movable && (++places[s.places[i].buffer] > 1 || streamed))
      fail(placeName(i), ": need one resident place as the buffer is not movable");
  }
}

} // namespace plim::check
