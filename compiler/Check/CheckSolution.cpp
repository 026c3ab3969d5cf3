//===- CheckSolution.cpp - References, order and aliases of a solution ------------------------===//
#include "compiler/Check/CheckSolution.h"
#include "compiler/Check/SolutionReplay.h"
#include <algorithm>
#include <map>
#include <set>

namespace plim::check {

using namespace solver;

std::vector<std::string> checkSolution(const Problem &problem, const Solution &solution, IgnoreCapacity ignore) {
  std::vector<std::string> faults;
  SolutionReplay replay(problem, solution, faults);
  replay.checkReferences();
  if (faults.empty())
    replay.checkOrder();
  if (faults.empty())
    replay.checkAliases();
  if (faults.empty())
    replay.checkStorages();
  if (faults.empty())
    replay.checkSharing();
  if (faults.empty())
    replay.checkSums(ignore == IgnoreCapacity::No);
  return faults;
}

SolutionReplay::SolutionReplay(const Problem &problem, const Solution &solution, std::vector<std::string> &faults)
    : p(problem), s(solution), faults(faults) {}

bool SolutionReplay::isCopy(int action) const { return s.actions[action].kind == ActionKind::Copy; }

std::string SolutionReplay::where(int action) const {
  if (isCopy(action))
    return absl::StrCat("action ", action, " (copy)");
  const Action &a = s.actions[action];
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

bool SolutionReplay::startsAlive(int place) const {
  const BufferKind kind = p.buffers[s.places[place].buffer].kind;
  const bool given = kind == BufferKind::Input || kind == BufferKind::Constant || kind == BufferKind::State;
  return given && s.places[place].instance == 0;
}

void SolutionReplay::checkReferences() {
  if (s.choices.size() != p.groups.size())
    return fail("choices: need ", p.groups.size(), " (one a group), have ", s.choices.size());
  for (size_t g = 0; g < s.choices.size(); ++g)
    if (s.choices[g] < 0 || s.choices[g] >= int(p.groups[g].choices.size()))
      fail("group '", p.groups[g].name, "': need a choice below ", p.groups[g].choices.size(), ", have ", s.choices[g]);

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

  std::set<std::pair<int, int>> runs;
  auto operands = [&](const std::string &at, const char *what, const std::vector<int> &places,
                      const std::vector<int> &need) {
    if (places.size() != need.size())
      return fail(at, ": need ", need.size(), " ", what, ", have ", places.size());
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i] < 0 || places[i] >= int(s.places.size()))
        fail(at, ": need ", what, " below ", s.places.size(), ", have ", places[i]);
      else if (s.places[places[i]].buffer != need[i])
        fail(at, ": need a place of buffer ", need[i], " in its ", what, ", have one of ", s.places[places[i]].buffer);
  };
  for (int k = 0; k < int(s.actions.size()); ++k) {
    const Action &a = s.actions[k];
    if (a.kind == ActionKind::Copy) {
      auto known = [&](const std::vector<int> &ids) {
        return ids.size() == 1 && ids[0] >= 0 && ids[0] < int(s.places.size());
      };
      if (!known(a.reads) || !known(a.writes) || a.reads == a.writes)
        fail("action ", k, " (copy): need one place to read and another to write");
      else if (s.places[a.reads[0]].buffer != s.places[a.writes[0]].buffer)
        fail("action ", k, " (copy): need two places of one buffer");
      continue;
    }
    if (a.step < 0 || a.step >= int(p.steps.size())) {
      fail("action ", k, ": need a step below ", p.steps.size(), ", have ", a.step);
      continue;
    }
    const Step &step = p.steps[a.step];
    if (a.instance < 0 || !runs.insert({a.step, a.instance}).second)
      fail(where(k), ": need instances from 0 on, each once, have ", a.instance);
    if (a.candidate < 0 || a.candidate >= int(step.candidates.size()))
      fail(where(k), ": need a candidate below ", step.candidates.size(), ", have ", a.candidate);
    else if (!step.candidates[a.candidate].barredBy.empty())
      fail(where(k), ": candidate ", a.candidate, " is barred by ", step.candidates[a.candidate].barredBy);
    else if (step.group >= 0 && s.choices[step.group] != a.candidate)
      fail(where(k), ": need the choice ", s.choices[step.group], " of its group, have ", a.candidate);
    operands(where(k), "reads", a.reads, step.reads);
    operands(where(k), "writes", a.writes, step.writes);
  }
}

void SolutionReplay::checkOrder() {
  made.assign(s.places.size(), -2), last.assign(s.places.size(), -2);
  for (int i = 0; i < int(s.places.size()); ++i)
    if (startsAlive(i))
      made[i] = -1;
  // What each step must see of a state: how many steps before it in the given order write it.
  std::vector<std::map<int, int>> version(p.steps.size());
  std::vector<int> writes(p.buffers.size(), 0);
  for (size_t t = 0; t < p.steps.size(); ++t) {
    for (const auto *list : {&p.steps[t].reads, &p.steps[t].writes})
      for (int b : *list)
        if (p.buffers[b].kind == BufferKind::State)
          version[t][b] = writes[b];
    for (int b : p.steps[t].writes)
      ++writes[b];
  }
  std::fill(writes.begin(), writes.end(), 0);
  std::vector<int> first(p.steps.size(), -1);
  int lastImpure = -1;
  for (int k = 0; k < int(s.actions.size()); ++k) {
    const Action &a = s.actions[k];
    for (int place : a.reads) {
      if (made[place] == -2)
        fail(where(k), ": reads ", placeName(place), " before any action has written it");
      last[place] = k;
    }
    if (!isCopy(k)) {
      const Step &step = p.steps[a.step];
      for (auto [b, need] : version[a.step])
        if (writes[b] != need)
          fail(where(k), ": need state '", p.buffers[b].name, "' after ", need, " writes, have ", writes[b]);
      if (first[a.step] >= 0 && !step.pure)
        fail(where(k), ": an impure step may run once only");
      if (!step.pure) {
        if (a.step < lastImpure)
          fail(where(k), ": need the impure step '", p.steps[lastImpure].name, "' after it, have it before");
        lastImpure = std::max(lastImpure, a.step);
      }
      for (int other : step.after)
        if (first[other] < 0)
          fail(where(k), ": need '", p.steps[other].name, "' before it, have it after");
      if (first[a.step] < 0)
        first[a.step] = k;
    }
    for (int place : a.writes) {
      const int b = s.places[place].buffer;
      const bool state = p.buffers[b].kind == BufferKind::State;
      if (state && !isCopy(k))
        ++writes[b];
      else if (made[place] != -2)
        fail(where(k), ": writes ", placeName(place), ", which was there already");
      if (made[place] == -2)
        made[place] = k;
      last[place] = k;
    }
  }
  for (size_t t = 0; t < p.steps.size(); ++t)
    if (first[t] < 0)
      fail("step ", t, " '", p.steps[t].name, "': need an action that runs it, have none");
  const int end = int(s.actions.size());
  for (int i = 0; i < int(s.places.size()); ++i) {
    if (made[i] == -2)
      fail(placeName(i), ": need an action that writes it, have none");
    if (p.buffers[s.places[i].buffer].kind != BufferKind::Transient && s.places[i].instance == 0)
      last[i] = end;
  }
}

// `place` claims to lie in `base`, the other operand of the alias in this action.
void SolutionReplay::checkAlias(int action, int place, int base) {
  const Place &at = s.places[place], &in = s.places[base];
  const Alias &alias = p.aliases[at.alias];
  bool fits = at.storage == in.storage;
  if (in.run == 0)
    fits = fits && at.offset == in.offset + alias.offset && at.run == alias.run && at.stride == alias.stride;
  else
    fits = fits && alias.offset == 0 && alias.run == 0 && at.offset == in.offset && at.run == in.run &&
           at.stride == in.stride && bytesOf(place) == bytesOf(base);
  if (!fits)
    fail(where(action), ": ", placeName(place), " does not lie in ", placeName(base), " as alias ", at.alias, " says");
  if (alias.kind == AliasKind::InPlace && !(candidateOf(action).flags & kInPlaceOk))
    fail(where(action), ": candidate '", candidateOf(action).kernel, "' does not run in place");
}

void SolutionReplay::checkAliases() {
  std::vector<int> parent(s.places.size(), -1);
  std::vector<bool> seen(s.places.size(), false);
  for (int k = 0; k < int(s.actions.size()); ++k) {
    if (isCopy(k))
      continue;
    const Action &a = s.actions[k];
    int pieces = 0, views = 0;
    auto follow = [&](int place, bool isRead) {
      const int id = s.places[place].alias;
      if (id < 0 || p.aliases[id].step != a.step || (p.aliases[id].kind == AliasKind::Into) != isRead)
        return;
      const Alias &alias = p.aliases[id];
      const std::vector<int> &others = isRead ? a.writes : a.reads;
      auto base = std::find_if(others.begin(), others.end(), [&](int o) { return s.places[o].buffer == alias.base; });
      if (alias.buffer != s.places[place].buffer || base == others.end())
        return fail(where(k), ": alias ", id, " is none of ", placeName(place));
      checkAlias(k, place, *base);
      seen[place] = true;
      if (alias.kind != AliasKind::InPlace)
        parent[place] = *base;
      pieces += alias.kind == AliasKind::Into;
      views += alias.kind == AliasKind::View;
    };
    for (int place : a.reads)
      follow(place, true);
    for (int place : a.writes)
      follow(place, false);
    const bool empty = (pieces > 0 && pieces == int(a.reads.size())) || (views > 0 && views == int(a.writes.size()));
    if (empty != (a.kind == ActionKind::Elided))
      fail(where(k),
           empty ? ": aliases leave nothing to do, yet it runs" : ": left out, yet aliases do not do its work");
  }
  for (int i = 0; i < int(s.places.size()); ++i)
    if (s.places[i].alias >= 0 && !seen[i])
      fail(placeName(i), ": alias ", s.places[i].alias, " belongs to no action that has it");
  // A piece has its buffer's bytes where the whole has them, and a view likewise; so on up the chain.
  contents.resize(s.places.size());
  for (int i = 0; i < int(s.places.size()); ++i) {
    int top = i;
    for (size_t hops = 0; parent[top] >= 0 && hops <= s.places.size(); ++hops)
      top = parent[top];
    contents[i] = top;
  }
}

} // namespace plim::check
