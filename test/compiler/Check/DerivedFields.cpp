//===- DerivedFields.cpp - What follows from a solution's actions, places and offsets -----------===//
#include "test/compiler/Check/DerivedFields.h"
#include <algorithm>

namespace plim::check {

using namespace solver;

int64_t DerivedFields::workspace(const Action &a) const {
  return a.kind == ActionKind::Run ? p.workspace(p.steps[a.step].candidates[a.candidate]) : 0;
}

void DerivedFields::lives() {
  const int end = int(s.actions.size());
  std::vector<char> blocks(s.places.size(), 0);
  for (Storage &st : s.storages) {
    const bool transient = st.region == Region::Transient;
    st.birth = transient ? end : 0, st.death = transient ? 0 : end, st.bytes = 0;
  }
  auto use = [&](int place, int action) {
    Storage &st = s.storages[s.places[place].storage];
    if (st.region == Region::Transient)
      st.birth = std::min(st.birth, action), st.death = std::max(st.death, action + 1);
  };
  for (int k = 0; k < end; ++k) {
    const Action &a = s.actions[k];
    for (const auto *list : {&a.reads, &a.writes})
      for (int place : *list)
        use(place, k), blocks[place] |= a.queue != Queue::Cpu;
    for (int copy : a.waits)
      use(s.actions[copy].reads[0], k), use(s.actions[copy].writes[0], k);
  }
  for (size_t i = 0; i < s.places.size(); ++i) {
    const Place &at = s.places[i];
    Storage &st = s.storages[at.storage];
    const bool whole = blocks[i] || st.tier == Tier::Ssd;
    int64_t bytes = sizeOf(at.buffer);
    if (at.run > 0 && bytes > 0)
      bytes = (bytes - 1) / at.run * at.stride + (bytes - 1) % at.run + 1;
    st.bytes = std::max(st.bytes, at.offset + (whole ? alignUp(bytes, kSsdAlign) : bytes));
    align[at.storage] = std::max({align[at.storage], p.buffers[at.buffer].align, whole ? kSsdAlign : kAlign});
  }
  for (int k = 0; k < end; ++k)
    if (const Action &a = s.actions[k]; a.kind == ActionKind::Copy && a.queue == Queue::Cpu)
      if (const int from = s.places[a.reads[0]].storage; s.storages[from].death == k + 1)
        slidOut[from] = k;
}

void DerivedFields::sums() {
  for (auto *field : {&s.fixed, &s.constants, &s.states, &s.caller, &s.arena, &s.live, &s.peak})
    field->fill(0);
  for (const FixedCost &f : p.fixed)
    s.fixed[int(f.tier)] += f.bytes;
  auto grow = [](int64_t &top, int64_t end) { top = std::max(top, end); };
  for (size_t i = 0; i < s.storages.size(); ++i) {
    const Storage &st = s.storages[i];
    const int t = int(st.tier);
    if (st.region == Region::Caller)
      s.caller[t] += p.countIo ? st.bytes : 0;
    else if (st.region == Region::Constant || st.region == Region::State)
      grow((st.region == Region::Constant ? s.constants : s.states)[t], st.offset + alignUp(st.bytes, kAlign));
    else if (st.region == Region::Transient && st.bytes > 0)
      grow(s.arena[t], st.offset + alignUp(st.bytes, align[i]));
  }
  for (const Action &a : s.actions)
    if (workspace(a) > 0)
      grow(s.arena[0], a.workspaceOffset + alignUp(workspace(a), kAlign));
  for (int t = 0; t < kTierCount; ++t) {
    for (int k = 0; k < int(s.actions.size()); ++k) {
      const int64_t live = liveAt(t, k);
      if (t == 0 && (k == 0 || live > s.live[0]))
        s.peakAction = k;
      s.live[t] = std::max(s.live[t], live);
    }
    for (auto *field : {&s.arena, &s.constants, &s.states})
      (*field)[t] = alignUp((*field)[t], p.granule);
    s.peak[t] = s.fixed[t] + s.constants[t] + s.states[t] + s.caller[t] + s.arena[t];
  }
}

void DerivedFields::time() {
  std::vector<int64_t> ends(s.actions.size(), 0);
  int64_t queues[3] = {};
  s.ns = 0;
  for (size_t k = 0; k < s.actions.size(); ++k) {
    const Action &a = s.actions[k];
    if (a.kind == ActionKind::Run)
      s.ns += std::max<int64_t>(0, p.steps[a.step].candidates[a.candidate].ns - saved(a));
    for (int copy : a.waits)
      s.ns = std::max(s.ns, ends[copy]);
    if (a.kind != ActionKind::Copy)
      continue;
    const Place &from = s.places[a.reads[0]];
    const Link *link = p.link(s.storages[from.storage].tier, s.storages[s.places[a.writes[0]].storage].tier);
    if (!link)
      continue;
    const int64_t bytes = sizeOf(from.buffer);
    if (a.queue == Queue::Cpu) {
      s.ns += link->latencyNs + transferNs(*link, bytes);
    } else {
      int64_t &queue = queues[int(a.queue)];
      ends[k] = queue = std::max(queue, s.ns + link->latencyNs) + transferNs(*link, alignUp(bytes, kSsdAlign));
    }
  }
}

int64_t DerivedFields::sizeOf(int buffer) const {
  const Buffer &b = p.buffers[buffer];
  return b.group < 0 ? b.bytes : b.sizes[s.choices[b.group]];
}

int64_t DerivedFields::saved(const Action &a) const {
  int64_t ns = 0;
  for (const auto *list : {&a.reads, &a.writes})
    for (int place : *list)
      if (const int alias = s.places[place].alias; alias >= 0 && p.aliases[alias].step == a.step)
        ns += p.aliases[alias].savedNs;
  return ns;
}

// Bytes that both storages of a move have in this action count once.
int64_t DerivedFields::liveAt(int tier, int k) const {
  int64_t live = tier == 0 ? alignUp(workspace(s.actions[k]), kAlign) : 0;
  for (size_t i = 0; i < s.storages.size(); ++i) {
    const Storage &st = s.storages[i];
    if (st.region != Region::Transient || int(st.tier) != tier || st.birth > k || st.death <= k)
      continue;
    live += alignUp(st.bytes, align[i]);
    if (slidOut[i] != k)
      continue;
    const int to = s.places[s.actions[k].writes[0]].storage;
    const Storage &target = s.storages[to];
    live -= std::max<int64_t>(
        0, std::min(st.offset + alignUp(st.bytes, align[i]), target.offset + alignUp(target.bytes, align[to])) -
               std::max(st.offset, target.offset));
  }
  return live;
}

int DerivedFields::endOf(int storage) const {
  return slidOut[storage] >= 0 ? slidOut[storage] : s.storages[storage].death;
}

void derive(const Problem &problem, Solution &solution) {
  DerivedFields fields(problem, solution);
  fields.lives();
  fields.sums();
  fields.time();
}

} // namespace plim::check
