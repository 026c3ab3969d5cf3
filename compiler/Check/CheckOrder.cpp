//===- CheckOrder.cpp - What each action of a solution finds, and what it leaves --------------===//
#include "compiler/Check/SolutionReplay.h"
#include <algorithm>
#include <map>

namespace plim::check {

using namespace solver;

void SolutionReplay::checkOrder() {
  const int end = int(s.actions.size());
  made.assign(s.places.size(), -2), ready = made, last = made;
  for (int i = 0; i < int(s.places.size()); ++i)
    if (startsAlive(i))
      made[i] = ready[i] = -1;
  // How many steps before it in the given order write a state: what each step must see, and what each place holds.
  std::vector<std::map<int, int>> need(p.steps.size());
  std::vector<int> writes(p.buffers.size(), 0), version(s.places.size(), 0);
  for (size_t t = 0; t < p.steps.size(); ++t) {
    for (const auto *list : {&p.steps[t].reads, &p.steps[t].writes})
      for (int b : *list)
        if (p.buffers[b].kind == BufferKind::State)
          need[t][b] = writes[b];
    for (int b : p.steps[t].writes)
      ++writes[b];
  }
  std::vector<int> first(p.steps.size(), -1);
  int lastImpure = -1;
  for (int k = 0; k < end; ++k) {
    const Action &a = s.actions[k];
    checkReads(k);
    if (isCopy(k))
      version[a.writes[0]] = version[a.reads[0]];
    if (isStep(k)) {
      const Step &step = p.steps[a.step];
      for (const auto *list : {&a.reads, &a.writes})
        for (int place : *list)
          if (auto it = need[a.step].find(s.places[place].buffer); it != need[a.step].end())
            if (version[place] != it->second)
              fail(where(k), ": need state '", p.buffers[it->first].name, "' after ", it->second, " writes, have ",
                   version[place]);
      if (first[a.step] >= 0 && !step.pure)
        fail(where(k), ": an impure step may run once only");
      if (first[a.step] >= 0 && candidateOf(first[a.step]).numerics != candidateOf(k).numerics)
        fail(where(k), ": need the numerics class of its other instances, '", candidateOf(first[a.step]).numerics,
             "', have '", candidateOf(k).numerics, "'");
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
    checkWrites(k);
    if (isStep(k))
      for (int place : a.writes)
        version[place] += p.buffers[s.places[place].buffer].kind == BufferKind::State;
  }
  for (size_t t = 0; t < p.steps.size(); ++t)
    if (first[t] < 0)
      fail("step ", t, " '", p.steps[t].name, "': need an action that runs it, have none");
  for (int i = 0; i < int(s.places.size()); ++i) {
    if (made[i] == -2)
      fail(placeName(i), ": need an action that writes it, have none");
    if (isHome(i) && !p.buffers[s.places[i].buffer].reused)
      last[i] = end;
  }
}

void SolutionReplay::checkReads(int action) {
  for (int place : s.actions[action].reads) {
    if (made[place] == -2)
      fail(where(action), ": reads ", placeName(place), " before any action has written it");
    else if (made[place] != -1 && ready[place] >= action)
      fail(where(action), ": reads ", placeName(place), ", which is in flight until action ", ready[place]);
    last[place] = std::max({last[place], action, waited[action]});
  }
}

// States are updated where they lie; all else is written once.
void SolutionReplay::checkWrites(int action) {
  const Action &a = s.actions[action];
  for (int place : a.writes) {
    const int b = s.places[place].buffer;
    if (p.buffers[b].kind != BufferKind::State || isCopy(action)) {
      if (made[place] != -2)
        fail(where(action), ": writes ", placeName(place), ", which was there already");
      made[place] = action;
      ready[place] = std::max(action, waited[action]);
      last[place] = std::max(last[place], ready[place]);
      continue;
    }
    if (!isHome(place))
      fail(where(action), ": need it to write instance 0 of state '", p.buffers[b].name, "', have ", placeName(place));
    for (int other : a.reads)
      if (s.places[other].buffer == b && other != place)
        fail(where(action), ": need state '", p.buffers[b].name, "' updated in place, have ", placeName(other),
             " read and ", placeName(place), " written");
    last[place] = action;
  }
}

} // namespace plim::check
