//===- MoveBuffers.cpp - Live buffers slide where fixed offsets do not fit --------------------===//
#include "compiler/Solver/MoveBuffers.h"
#include "compiler/Solver/Layout.h"
#include "compiler/Solver/Makespan.h"
#include "compiler/Solver/Packing/Slide.h"
#include <algorithm>
#include <numeric>

namespace plim::solver {
namespace {

// The actions in which each place is needed: [made, last], transfers until they are waited for.
struct Lives {
  std::vector<int> made, last, waited;     // by place; `waited` by action: the wait of a transfer, or -1
  std::vector<std::vector<int>> transfers; // by place: its copies from or to the ssd

  Lives(const Problem &problem, const Solution &plan) {
    const int end = int(plan.actions.size());
    made.assign(plan.places.size(), end), last.assign(plan.places.size(), -1), waited.assign(end, -1);
    transfers.resize(plan.places.size());
    for (int k = 0; k < end; ++k)
      for (int copy : plan.actions[k].waits)
        waited[copy] = k;
    for (int k = 0; k < end; ++k)
      for (const auto *list : {&plan.actions[k].reads, &plan.actions[k].writes})
        for (int place : *list) {
          last[place] = std::max({last[place], k, waited[k]});
          if (plan.actions[k].queue != Queue::Cpu)
            transfers[place].push_back(k);
          if (list == &plan.actions[k].writes)
            made[place] = std::min(made[place], k);
        }
    for (size_t i = 0; i < plan.places.size(); ++i)
      if (plan.places[i].instance == 0 && problem.buffers[plan.places[i].buffer].kind != BufferKind::Transient)
        made[i] = 0, last[i] = end - 1;
  }

  int64_t align(const Problem &problem, const Solution &plan, int place) const {
    return std::max(problem.buffers[plan.places[place].buffer].align, transfers[place].empty() ? kAlign : kSsdAlign);
  }
  // End of its last byte in its storage, all blocks that the ssd reads or writes included.
  int64_t end(const Problem &problem, const Solution &plan, int place) const {
    const Place &at = plan.places[place];
    const int64_t bytes = bytesOf(problem, at.buffer, plan.choices);
    if (!transfers[place].empty())
      return at.offset + alignUp(bytes, kSsdAlign);
    if (at.run == 0 || bytes == 0)
      return at.offset + bytes;
    return at.offset + (bytes - 1) / at.run * at.stride + (bytes - 1) % at.run + 1;
  }
};

class Mover {
public:
  Mover(const Problem &problem, const Solution &plan, const std::vector<int64_t> &runNs)
      : p(problem), plan(plan), runNs(runNs), lives(problem, plan), inside(plan.storages.size()) {
    for (int i = 0; i < int(plan.places.size()); ++i)
      inside[plan.places[i].storage].push_back(i);
  }

  std::optional<Solution> run(int64_t capacity, const PackOptions &options) {
    collect();
    const SlidePlan slides = packSliding(items, capacity, pins, options);
    if (!slides.fits)
      return std::nullopt;
    rebuild(slides);
    account();
    return std::move(out);
  }

private:
  const Problem &p;
  const Solution &plan;
  const std::vector<int64_t> &runNs;
  const Lives lives;
  std::vector<std::vector<int>> inside; // by storage: its places
  std::vector<Item> items;              // storages first, workspaces after them
  std::vector<int> storageOf, actionOf; // by item, or -1
  std::vector<Pin> pins;
  Solution out;
  std::vector<int64_t> ns; // by action of `out`

  void collect() {
    for (int s = 0; s < int(plan.storages.size()); ++s) {
      const Storage &st = plan.storages[s];
      if (st.region != Region::Transient || st.tier != Tier::Ram)
        continue;
      int64_t align = kAlign;
      for (int i : inside[s])
        align = std::max(align, lives.align(p, plan, i));
      items.push_back({st.birth, st.death, alignUp(st.bytes, align), align, -1});
      storageOf.push_back(s), actionOf.push_back(-1);
      pin(s, int(items.size()) - 1);
    }
    for (int k = 0; k < int(plan.actions.size()); ++k) {
      const Action &action = plan.actions[k];
      if (action.workspaceOffset < 0 || p.steps[action.step].candidates[action.candidate].tier != Tier::Ram)
        continue;
      const int64_t bytes = p.workspace(p.steps[action.step].candidates[action.candidate]);
      items.push_back({k, k + 1, alignUp(bytes, kAlign), kAlign, -1});
      storageOf.push_back(-1), actionOf.push_back(k);
    }
  }

  bool mayMove(int place) const {
    const Place &at = plan.places[place];
    return at.offset == 0 && at.run == 0 && p.buffers[at.buffer].movable;
  }

  // A storage stays in place before action t, for each t at which not just one value in it is needed, or one that may
  // not move. A value is needed before the actions (made, last].
  void pin(int storage, int item) {
    const Storage &st = plan.storages[storage];
    std::vector<std::pair<int, int>> changes; // before which action, by how much: 1 a value, 2 one that may not move
    for (int i : inside[storage]) {
      const int weight = mayMove(i) ? 1 : 2;
      changes.push_back({lives.made[i] + 1, weight});
      changes.push_back({lives.last[i] + 1, -weight});
      for (int k : lives.transfers[i]) {
        changes.push_back({k + 1, 2});
        changes.push_back({lives.waited[k] + 1, -2});
      }
    }
    std::sort(changes.begin(), changes.end());
    int sum = 0;
    for (size_t c = 0; c < changes.size();) {
      const int from = changes[c].first;
      for (; c < changes.size() && changes[c].first == from; ++c)
        sum += changes[c].second;
      const int to = c < changes.size() ? changes[c].first : st.death;
      if (sum != 1 && from < to && from < st.death)
        pins.push_back({item, from - 1, to}); // holds strictly inside: at the instants [from, to)
    }
  }

  // The one value of the storage that is needed before action t.
  int valueBefore(int storage, int t) const {
    return *std::find_if(inside[storage].begin(), inside[storage].end(),
                         [&](int i) { return lives.made[i] < t && t <= lives.last[i]; });
  }

  void rebuild(const SlidePlan &slides) {
    out = plan;
    out.actions.clear();
    std::vector<int> current(plan.places.size()), storageNow(plan.storages.size()), index(plan.actions.size());
    std::iota(current.begin(), current.end(), 0), std::iota(storageNow.begin(), storageNow.end(), 0);
    std::vector<int> instances(p.buffers.size(), 0);
    for (Place &place : out.places) {
      instances[place.buffer] = std::max(instances[place.buffer], place.instance + 1);
      // Which instance of a piece lies in the whole is known when the whole is made.
      if (place.alias >= 0 && p.aliases[place.alias].kind == AliasKind::Into)
        place.alias = -1;
    }
    for (size_t k = 0; k < items.size(); ++k) {
      const int64_t offset = slides.segments[k].empty() ? 0 : slides.segments[k].front().offset;
      if (storageOf[k] >= 0)
        out.storages[storageOf[k]].offset = offset;
    }
    size_t next = 0;
    size_t workspace = items.size() - size_t(std::count(storageOf.begin(), storageOf.end(), -1));
    for (int k = 0; k < int(plan.actions.size()); ++k) {
      for (; next < slides.slides.size() && slides.slides[next].instant == k; ++next) {
        const int storage = storageOf[slides.slides[next].item], value = valueBefore(storage, k);
        const Place from = out.places[current[value]];
        storageNow[storage] = int(out.storages.size());
        out.storages.push_back(plan.storages[storage]);
        out.storages.back().offset = slides.slides[next].to;
        out.actions.push_back(
            {.kind = ActionKind::Copy, .reads = {current[value]}, .writes = {int(out.places.size())}});
        ns.push_back(0);
        current[value] = int(out.places.size());
        out.places.push_back({from.buffer, instances[from.buffer]++, storageNow[storage]});
      }
      Action action = plan.actions[k];
      takePieces(action, current);
      for (int &place : action.reads)
        place = current[place];
      for (int place : action.writes)
        out.places[place].storage = storageNow[plan.places[place].storage];
      for (int &copy : action.waits)
        copy = index[copy];
      if (action.workspaceOffset >= 0 && workspace < items.size() && actionOf[workspace] == k)
        action.workspaceOffset = slides.segments[workspace++].front().offset;
      index[k] = int(out.actions.size());
      out.actions.push_back(std::move(action));
      ns.push_back(runNs[k]);
    }
  }

  void takePieces(const Action &action, const std::vector<int> &current) {
    for (int place : action.reads) {
      const int id = plan.places[place].alias;
      if (id < 0 || p.aliases[id].kind != AliasKind::Into || p.aliases[id].step != action.step)
        continue;
      for (int whole : action.writes)
        if (plan.places[whole].buffer == p.aliases[id].base && plan.places[whole].storage == plan.places[place].storage)
          out.places[current[place]].alias = id;
    }
  }

  // Lives, sizes and sums of the new plan.
  void account() {
    const Lives now(p, out);
    const int end = int(out.actions.size());
    std::vector<int64_t> align(out.storages.size(), kAlign);
    for (Storage &st : out.storages)
      if (st.region == Region::Transient)
        st.bytes = 0, st.birth = end, st.death = 0;
      else
        st.death = end;
    for (int i = 0; i < int(out.places.size()); ++i) {
      Storage &st = out.storages[out.places[i].storage];
      align[out.places[i].storage] = std::max(align[out.places[i].storage], now.align(p, out, i));
      if (st.region != Region::Transient)
        continue;
      st.bytes = std::max(st.bytes, now.end(p, out, i));
      st.birth = std::min(st.birth, now.made[i]), st.death = std::max(st.death, now.last[i] + 1);
    }
    std::vector<int64_t> live(size_t(end) + 1, 0);
    int64_t top = 0;
    for (size_t s = 0; s < out.storages.size(); ++s) {
      const Storage &st = out.storages[s];
      if (st.region != Region::Transient || st.tier != Tier::Ram)
        continue;
      live[st.birth] += alignUp(st.bytes, align[s]), live[st.death] -= alignUp(st.bytes, align[s]);
      top = std::max(top, st.offset + alignUp(st.bytes, align[s]));
    }
    int64_t alive = 0, most = -1;
    for (int k = 0; k < end; ++k) {
      const Action &action = out.actions[k];
      int64_t bytes = alive += live[k];
      if (action.workspaceOffset >= 0 && p.steps[action.step].candidates[action.candidate].tier == Tier::Ram) {
        const int64_t workspace = alignUp(p.workspace(p.steps[action.step].candidates[action.candidate]), kAlign);
        bytes += workspace, top = std::max(top, action.workspaceOffset + workspace);
      }
      if (action.kind == ActionKind::Copy && action.queue == Queue::Cpu)
        bytes -= shared(action, align);
      if (bytes > most)
        most = bytes, out.peakAction = k;
    }
    out.live[0] = std::max<int64_t>(most, 0);
    out.peak[0] -= out.arena[0];
    out.arena[0] = alignUp(top, p.granule);
    out.peak[0] += out.arena[0];
    std::vector<Schedule::Instance> instances;
    instances.reserve(out.places.size());
    for (const Place &place : out.places)
      instances.push_back({place.buffer, out.storages[place.storage].tier});
    out.ns = makespan(p, out.actions, instances, out.choices, ns);
  }

  // Bytes that the two storages of a move have in common, which are there once.
  int64_t shared(const Action &move, const std::vector<int64_t> &align) const {
    const int from = out.places[move.reads[0]].storage, to = out.places[move.writes[0]].storage;
    const Storage &a = out.storages[from], &b = out.storages[to];
    return std::max<int64_t>(
        0, std::min(a.offset + alignUp(a.bytes, align[from]), b.offset + alignUp(b.bytes, align[to])) -
               std::max(a.offset, b.offset));
  }
};

} // namespace

std::optional<Solution> moveBuffers(const Problem &problem, const Solution &plan, const std::vector<int64_t> &runNs,
                                    int64_t capacity, const PackOptions &options) {
  return Mover(problem, plan, runNs).run(capacity, options);
}

} // namespace plim::solver
