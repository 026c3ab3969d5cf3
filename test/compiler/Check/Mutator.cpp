//===- Mutator.cpp - All single faults of a sound solution --------------------------------------===//
#include "test/compiler/Check/Mutator.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/ProblemText.h"
#include "test/compiler/Check/DerivedFields.h"
#include <algorithm>

namespace plim::check {

using namespace solver;

static bool isStep(const Action &a) { return a.kind == ActionKind::Run || a.kind == ActionKind::Elided; }

static bool has(const std::vector<int> &list, int id) { return std::find(list.begin(), list.end(), id) != list.end(); }

// Waits name actions by number.
static void renumber(Solution &m, const std::function<int(int)> &now) {
  for (Action &a : m.actions)
    for (int &copy : a.waits)
      copy = now(copy);
}

static void erase(Solution &m, int k) {
  m.actions.erase(m.actions.begin() + k);
  for (Action &a : m.actions)
    std::erase(a.waits, k);
  renumber(m, [&](int a) { return a > k ? a - 1 : a; });
}

static void insert(Solution &m, int k, const Action &a) {
  renumber(m, [&](int other) { return other >= k ? other + 1 : other; });
  m.actions.insert(m.actions.begin() + k, a);
}

static void moveLater(Solution &m, int from, int to) {
  std::rotate(m.actions.begin() + from, m.actions.begin() + from + 1, m.actions.begin() + to + 1);
  renumber(m, [&](int a) { return a == from ? to : a > from && a <= to ? a - 1 : a; });
}

void Mutator::judge(const char *kind, const Solution &mutant) {
  if (mutant == s)
    return;
  ++tried[kind];
  if (checkSolution(p, mutant).empty() && missed++ == 0)
    firstMissed = kind + (":\n" + printProblem(p)) + printSolution(s) + printSolution(mutant);
}

void Mutator::mutate(const char *kind, const Change &change) {
  Solution m = s;
  change(m);
  judge(kind, m);
}

void Mutator::mutateSound(const char *kind, const Change &change) {
  Solution m = s;
  change(m);
  if (m == s)
    return;
  derive(p, m);
  judge(kind, m);
}

void Mutator::tryAll() {
  for (int i = 0; i < int(s.storages.size()); ++i)
    storage(i);
  for (int i = 0; i < int(s.places.size()); ++i)
    place(i);
  for (int k = 0; k < int(s.actions.size()); ++k)
    action(k);
  totals();
}

bool Mutator::groupUsed(int group) const {
  return std::any_of(p.steps.begin(), p.steps.end(), [&](const Step &step) { return step.group == group; });
}

int64_t Mutator::workspace(int k) const {
  const Action &a = s.actions[k];
  return a.kind == ActionKind::Run ? p.workspace(p.steps[a.step].candidates[a.candidate]) : 0;
}

void Mutator::totals() {
  for (auto field : {&Solution::fixed, &Solution::constants, &Solution::states, &Solution::caller, &Solution::arena,
                     &Solution::live, &Solution::peak})
    for (int t = 0; t < kTierCount; ++t)
      for (int64_t change : {-1, 1, 64})
        mutate("sum", [&](Solution &m) { (m.*field)[t] += change; });
  for (int change : {-1, 1}) {
    mutate("ns", [&](Solution &m) { m.ns += change; });
    mutate("peak action", [&](Solution &m) { m.peakAction += change; });
  }
  for (size_t g = 0; g < s.choices.size(); ++g)
    for (int change : {-1, 1, 2})
      if (groupUsed(int(g)))
        mutate("choice", [&](Solution &m) { m.choices[g] += change; });
}

void Mutator::storage(int i) {
  const Storage &st = s.storages[i];
  for (int64_t change : {-64, -1, 1, 64})
    mutate("storage bytes", [&](Solution &m) { m.storages[i].bytes += change; });
  for (int change : {-1, 1}) {
    mutate("birth", [&](Solution &m) { m.storages[i].birth += change; });
    mutate("death", [&](Solution &m) { m.storages[i].death += change; });
  }
  for (int64_t change : {-32, 1, 32})
    mutateSound("misaligned", [&](Solution &m) { m.storages[i].offset += change; });
  for (Region region : {Region::Transient, Region::Constant, Region::State, Region::Caller, Region::File})
    mutateSound("region", [&](Solution &m) { m.storages[i].region = region; });
  mutate("tier", [&](Solution &m) { m.storages[i].tier = Tier::Gpu; });
  if (st.tier == Tier::Ssd)
    for (int64_t change : {64, 512, 2048})
      mutateSound("unaligned on the ssd", [&](Solution &m) { m.storages[i].offset += change; });
  if (st.bytes == 0 || st.region == Region::Caller || st.region == Region::File)
    return;
  // Onto one that is alive together with it for longer than a move takes.
  for (const Storage &other : s.storages)
    if (&other != &st && other.region == st.region && other.tier == st.tier && other.bytes > 0 &&
        std::min(st.death, other.death) - std::max(st.birth, other.birth) > 1)
      for (int64_t at : {other.offset, other.offset + (other.bytes - 1) / 64 * 64})
        mutateSound("overlap", [&](Solution &m) { m.storages[i].offset = at; });
  for (int k = 0; k < int(s.actions.size()); ++k)
    if (workspace(k) > 0 && transient(i) && st.tier == Tier::Ram && st.birth <= k && k < st.death) {
      mutateSound("storage on workspace", [&](Solution &m) { m.storages[i].offset = m.actions[k].workspaceOffset; });
      mutateSound("workspace on storage", [&](Solution &m) { m.actions[k].workspaceOffset = st.offset; });
    }
}

void Mutator::place(int i) {
  for (int64_t change : {-64, 64, 1})
    mutate("place offset", [&](Solution &m) { m.places[i].offset += change; });
  mutate("place buffer", [&](Solution &m) { m.places[i].buffer = (m.places[i].buffer + 1) % int(p.buffers.size()); });
  mutate("place run", [&](Solution &m) { m.places[i].run += 64, m.places[i].stride += 128; });
  mutate("place instance", [&](Solution &m) { m.places[i].instance = -1; });
  if (s.storages.size() > 1)
    mutate("storage", [&](Solution &m) { m.places[i].storage = (m.places[i].storage + 1) % int(s.storages.size()); });
  const int alias = s.places[i].alias;
  mutate("alias", [&](Solution &m) { m.places[i].alias = int(p.aliases.size()); });
  if (alias >= 0 && p.aliases[alias].kind != AliasKind::InPlace)
    mutate("no alias", [&](Solution &m) { m.places[i].alias = -1; });
}

void Mutator::action(int k) {
  const Action &a = s.actions[k];
  mutate("dropped", [&](Solution &m) { erase(m, k); });
  mutate("twice", [&](Solution &m) { insert(m, k, a); });
  for (ActionKind kind : {ActionKind::Run, ActionKind::Elided, ActionKind::Copy, ActionKind::Wait})
    mutate("kind", [&](Solution &m) { m.actions[k].kind = kind; });
  if (!a.writes.empty())
    mutate("no result", [&](Solution &m) { m.actions[k].writes.clear(); });
  for (size_t r = 0; r < a.reads.size(); ++r)
    mutate("operand", [&](Solution &m) { m.actions[k].reads[r] = (a.reads[r] + 1) % int(s.places.size()); });
  if (isStep(a))
    step(k);
  else if (a.kind == ActionKind::Copy)
    copy(k);
  else
    wait(k);
  order(k);
}

void Mutator::step(int k) {
  const Action &a = s.actions[k];
  if (workspace(k) > 0)
    for (int64_t offset : {int64_t(-1), a.workspaceOffset + 32, a.workspaceOffset - 1})
      mutate("workspace", [&](Solution &m) { m.actions[k].workspaceOffset = offset; });
  else
    mutate("workspace for none", [&](Solution &m) { m.actions[k].workspaceOffset = 0; });
  // A wait may hide what another candidate takes longer: then that plan is as good.
  const bool hidden = std::any_of(s.actions.begin() + k, s.actions.end(),
                                  [](const Action &later) { return later.kind == ActionKind::Wait; });
  const std::vector<Candidate> &all = p.steps[a.step].candidates;
  for (int c = -1; c <= int(all.size()); ++c)
    if (c < 0 || c == int(all.size()) || (a.kind == ActionKind::Run && !hidden && all[c].ns != all[a.candidate].ns))
      mutate("candidate", [&](Solution &m) { m.actions[k].candidate = c; });
  mutate("queue of a step", [&](Solution &m) { m.actions[k].queue = Queue::Read; });
  mutateSound("dropped, all else made right", [&](Solution &m) { erase(m, k); });
  if (p.levers.recompute && p.steps[a.step].pure)
    mutateSound("written again", [&](Solution &m) {
      insert(m, k + 1, a);
      m.actions[k + 1].instance += 1000;
    });
  // Another instance of an operand that is not there: not made yet, or its bytes are others' again.
  for (size_t r = 0; r < a.reads.size(); ++r)
    for (int other = 0; other < int(s.places.size()); ++other) {
      const Storage &st = s.storages[s.places[other].storage];
      if (s.places[other].buffer == s.places[a.reads[r]].buffer && other != a.reads[r] &&
          (k < st.birth || k >= st.death))
        mutate("stale clone", [&](Solution &m) { m.actions[k].reads[r] = other; });
    }
}

void Mutator::copy(int k) {
  const Action &a = s.actions[k];
  for (Queue queue : {Queue::Cpu, Queue::Read, Queue::Write})
    mutateSound("queue", [&](Solution &m) { m.actions[k].queue = queue; });
  mutate("turned round", [&](Solution &m) { std::swap(m.actions[k].reads, m.actions[k].writes); });
  mutate("step of a copy", [&](Solution &m) { m.actions[k].step = 0; });
  const Storage &from = s.storages[s.places[a.reads[0]].storage], &to = s.storages[s.places[a.writes[0]].storage];
  const bool share = from.tier == to.tier && from.offset < to.offset + to.bytes && to.offset < from.offset + from.bytes;
  if (a.queue != Queue::Cpu || !share || from.region != Region::Transient)
    return;
  // A later reader of what has slid away, while its bytes are the target's.
  for (int j = k + 1; j < int(s.actions.size()); ++j)
    for (size_t r = 0; r < s.actions[j].reads.size(); ++r)
      if (s.actions[j].reads[r] == a.writes[0] && to.death > k + 1 &&
          std::any_of(s.actions.begin() + k + 1, s.actions.end(),
                      [&](const Action &other) { return &other != &s.actions[j] && has(other.reads, a.writes[0]); }))
        mutateSound("reader of what has slid", [&](Solution &m) { m.actions[j].reads[r] = a.reads[0]; });
}

void Mutator::wait(int k) {
  for (int copy : s.actions[k].waits) {
    mutate("missing wait", [&](Solution &m) { std::erase(m.actions[k].waits, copy); });
    mutateSound("missing wait, all else made right", [&](Solution &m) {
      std::erase(m.actions[k].waits, copy);
      if (m.actions[k].waits.empty())
        erase(m, k);
    });
    mutate("waited twice", [&](Solution &m) { m.actions[k].waits.push_back(copy); });
    // Behind the first that needs what has come.
    for (int j = k + 1; j < int(s.actions.size()); ++j)
      if (has(s.actions[j].reads, s.actions[copy].writes[0])) {
        mutateSound("wait moved later", [&](Solution &m) { moveLater(m, k, j); });
        break;
      }
  }
  for (int j = 0; j < k; ++j)
    if (s.actions[j].kind == ActionKind::Copy && s.actions[j].queue == Queue::Cpu)
      mutateSound("waits for a move", [&](Solution &m) { m.actions[k].waits.push_back(j); });
  for (int later = k + 1; later < int(s.actions.size()); ++later)
    for (int copy : s.actions[later].waits)
      if (copy > k)
        mutateSound("waited for before it starts", [&](Solution &m) {
          m.actions[k].waits.push_back(copy);
          std::erase(m.actions[later].waits, copy);
          if (m.actions[later].waits.empty())
            erase(m, later);
        });
}

// Behind a later action that reads what this one writes.
void Mutator::order(int k) {
  const Action &a = s.actions[k];
  for (int j = k + 1; j < int(s.actions.size()); ++j)
    if (std::any_of(a.writes.begin(), a.writes.end(), [&](int place) { return has(s.actions[j].reads, place); }))
      mutateSound("order", [&](Solution &m) { moveLater(m, k, j); });
}

} // namespace plim::check
