//===- Emit.cpp - From a timeline to what runs when ----------------------------------------------===//
#include "compiler/Solver/Joint/Emit.h"
#include <algorithm>
#include <tuple>

namespace plim::solver {
namespace {

class Emitter {
public:
  explicit Emitter(const Timeline &timeline) : t(timeline), graph(timeline.graph), p(timeline.graph.problem) {}

  JointPlan run() {
    start();
    listTransfers();
    for (slot = 0; slot < t.slots; ++slot) {
      std::vector<int> waits;
      for (const Due &due : writesEnd[slot])
        waits.push_back(writing[due.value]);
      wait(std::move(waits));
      for (const Due &due : readsStart[slot]) {
        now[due.value] = instance(graph.values[due.value].buffer, Tier::Ram);
        reading[due.value] = copy(Queue::Read, onSsd[due.value], now[due.value]);
      }
      runSlot();
    }
    chooseGroups();
    plan.ns = startsOf(p, plan.schedule).back();
    plan.live = liveOf(t);
    return std::move(plan);
  }

private:
  struct Due {
    int value, touch;
  };
  const Timeline &t;
  const Graph &graph;
  const Problem &p;
  JointPlan plan;
  int slot = 0;
  std::vector<std::vector<Due>> writesEnd, readsStart; // by slot
  std::vector<int> now, onSsd;                         // by value: its instance in the ram and on the ssd, or -1
  std::vector<int> writing, reading;                   // by value: the copy in flight, or -1
  std::vector<int> home;                               // by buffer: the instance that is there all run long, or -1
  std::vector<int> instances;                          // by step: how often it has run
  std::vector<int> writer;                             // by buffer: the step that writes it
  std::vector<int> viewBase;                           // by step that makes views: instance of the base shown last
  std::vector<int> view;                               // by buffer: its instance then
  std::vector<int> lastUse;                            // by value: in this slot

  int instance(int buffer, Tier tier) {
    plan.schedule.instances.push_back({buffer, tier});
    return int(plan.schedule.instances.size()) - 1;
  }

  int act(Action action) {
    plan.schedule.actions.push_back(std::move(action));
    plan.slots.push_back(slot);
    return int(plan.schedule.actions.size()) - 1;
  }

  int copy(Queue queue, int from, int to) {
    Action a;
    a.kind = ActionKind::Copy, a.queue = queue, a.reads = {from}, a.writes = {to};
    return act(std::move(a));
  }

  void wait(std::vector<int> copies) {
    if (copies.empty())
      return;
    Action a;
    a.kind = ActionKind::Wait, a.waits = std::move(copies);
    act(std::move(a));
  }

  // Instances that no action makes.
  void start() {
    now.assign(graph.values.size(), -1), onSsd = now, writing = now, reading = now, lastUse = now;
    home.assign(p.buffers.size(), -1), view = home, writer = home;
    instances.assign(p.steps.size(), 0), viewBase.assign(p.steps.size(), -1);
    for (int s = 0; s < int(p.steps.size()); ++s)
      for (int b : p.steps[s].writes)
        writer[b] = s;
    for (int b = 0; b < int(p.buffers.size()); ++b) {
      if (p.buffers[b].kind == BufferKind::Transient)
        continue;
      const int v = graph.valueOf[b];
      if (v < 0)
        home[b] = instance(b, p.buffers[b].tier);
      else if (graph.values[v].inFile || (t.touches[v].size() > 1 && t.touches[v][1].source == Source::Read))
        onSsd[v] = instance(b, Tier::Ssd);
      else
        now[v] = instance(b, Tier::Ram);
    }
  }

  void listTransfers() {
    writesEnd.resize(t.slots + 1), readsStart.resize(t.slots + 1);
    for (int v = 0; v < int(t.touches.size()); ++v)
      for (int i = 1; i < int(t.touches[v].size()); ++i) {
        if (t.touches[v][i].source != Source::Read)
          continue;
        const Transfer &transfer = t.transfers[t.touches[v][i].transfer];
        if (transfer.write)
          writesEnd[transfer.writeEnd].push_back({v, i});
        if (transfer.read)
          readsStart[transfer.readStart].push_back({v, i});
      }
    for (auto &list : readsStart)
      std::sort(list.begin(), list.end(), [&](const Due &a, const Due &b) {
        const int x = t.touches[a.value][a.touch].slot, y = t.touches[b.value][b.touch].slot;
        return std::tie(x, a.value) < std::tie(y, b.value);
      });
  }

  // The instance of a buffer that a run reads now. A view is made where its base is another one than before.
  int resolve(int buffer) {
    if (home[buffer] >= 0)
      return home[buffer];
    if (graph.viewOf[buffer] < 0)
      return now[graph.valueOf[buffer]];
    const int step = writer[buffer], base = resolve(graph.viewOf[buffer]);
    if (viewBase[step] != base) {
      viewBase[step] = base;
      Action a;
      for (int b : p.steps[step].reads)
        a.reads.push_back(resolve(b));
      for (int b : p.steps[step].writes)
        a.writes.push_back(view[b] = instance(b, Tier::Ram));
      run(step, graph.candidate[step], std::move(a));
    }
    return view[buffer];
  }

  void run(int step, int candidate, Action a) {
    a.kind = ActionKind::Run, a.step = step, a.candidate = candidate, a.instance = instances[step]++;
    act(std::move(a));
  }

  void runSlot() {
    const std::vector<int> &list = t.runs[slot];
    for (int k = 0; k < int(list.size()); ++k)
      for (const auto *operands : {&graph.operations[list[k]].reads, &graph.operations[list[k]].writes})
        for (int v : *operands)
          lastUse[v] = k;
    for (int k = 0; k < int(list.size()); ++k) {
      const Graph::Operation &op = graph.operations[list[k]];
      std::vector<int> waits;
      for (int v : op.reads)
        if (reading[v] >= 0)
          waits.push_back(reading[v]), reading[v] = -1;
      wait(std::move(waits));
      Action a;
      for (int b : p.steps[op.step].reads)
        a.reads.push_back(resolve(b));
      for (int b : p.steps[op.step].writes) {
        if (home[b] >= 0) {
          a.writes.push_back(home[b]);
          continue;
        }
        a.writes.push_back(instance(b, Tier::Ram));
        const int v = graph.valueOf[b], i = t.find(v, slot);
        if (t.touchedAt(v, i, slot) && t.touches[v][i].source == Source::Make)
          now[v] = a.writes.back();
      }
      run(op.step, t.way(list[k]).candidate, std::move(a));
      for (const auto *operands : {&op.reads, &op.writes})
        for (int v : *operands)
          if (lastUse[v] == k)
            leave(v);
    }
  }

  // After its last use in a slot a value is kept, written, or dropped.
  void leave(int v) {
    const int i = t.find(v, slot);
    if (!t.touchedAt(v, i, slot) || now[v] < 0)
      return;
    if (i + 1 < int(t.touches[v].size())) {
      const Touch &next = t.touches[v][i + 1];
      if (next.source == Source::Keep)
        return;
      if (next.source == Source::Read && t.transfers[next.transfer].write) {
        onSsd[v] = instance(graph.values[v].buffer, Tier::Ssd);
        writing[v] = copy(Queue::Write, now[v], onSsd[v]);
      }
    }
    now[v] = -1;
  }

  void chooseGroups() {
    plan.schedule.choices.assign(p.groups.size(), 0);
    for (int g = 0; g < int(graph.groups.size()); ++g)
      if (const int number = graph.groups[g].group; number >= 0)
        plan.schedule.choices[number] = graph.groups[g].choices[t.choice[g]];
  }
};

} // namespace

int64_t liveOf(const Timeline &t) {
  std::vector<int64_t> over;
  t.memory.values(over);
  int64_t live = 0;
  for (int slot = 0; slot < t.slots; ++slot)
    live = std::max(live, over[slot] + t.capacityAt(slot));
  return live;
}

JointPlan emit(const Timeline &timeline) { return Emitter(timeline).run(); }

std::vector<int64_t> startsOf(const Problem &p, const Schedule &schedule) {
  const Link *in = p.link(Tier::Ssd, Tier::Ram), *out = p.link(Tier::Ram, Tier::Ssd);
  std::vector<int64_t> saved(p.steps.size(), 0), starts, done(schedule.actions.size(), 0);
  if (p.levers.alias)
    for (const Alias &a : p.aliases)
      if (a.kind == AliasKind::View)
        saved[a.step] += a.savedNs;
  int64_t clock = 0, readEnd = 0, writeEnd = 0;
  for (size_t k = 0; k < schedule.actions.size(); ++k) {
    const Action &a = schedule.actions[k];
    starts.push_back(clock);
    if (a.kind == ActionKind::Run)
      clock += std::max<int64_t>(0, p.steps[a.step].candidates[a.candidate].ns - saved[a.step]);
    for (int copy : a.waits)
      clock = std::max(clock, done[copy]);
    if (a.kind != ActionKind::Copy)
      continue;
    const Link &link = a.queue == Queue::Read ? *in : *out;
    int64_t &end = a.queue == Queue::Read ? readEnd : writeEnd;
    const int64_t bytes = bytesOf(p, schedule.instances[a.reads[0]].buffer, schedule.choices);
    end = done[k] = std::max(end, clock + link.latencyNs) + transferNs(link, alignUp(bytes, kSsdAlign));
  }
  starts.push_back(clock);
  return starts;
}

int64_t scheduleNs(const Problem &problem, const Schedule &schedule) { return startsOf(problem, schedule).back(); }

void relaxTransfers(Timeline &t) {
  constexpr int kPasses = 4;
  const Problem &p = t.graph.problem;
  const Link *in = p.link(Tier::Ssd, Tier::Ram), *out = p.link(Tier::Ram, Tier::Ssd);
  struct Item {
    int value, touch, due, from;
  };
  for (int pass = 0; pass < kPasses; ++pass) {
    std::vector<Item> items;
    for (int v = 0; v < int(t.touches.size()); ++v)
      for (int i = 1; i < int(t.touches[v].size()); ++i)
        if (const Touch &touch = t.touches[v][i]; touch.source == Source::Read)
          items.push_back({v, i, touch.slot, t.transfers[touch.transfer].from});
    if (items.empty())
      return;
    const JointPlan plan = emit(t);
    const std::vector<int64_t> starts = startsOf(p, plan.schedule);
    int64_t busy = 0;
    for (const Action &a : plan.schedule.actions)
      if (a.kind == ActionKind::Run)
        busy += p.steps[a.step].candidates[a.candidate].ns;
    if (plan.ns <= busy + busy / 2000)
      return;
    std::vector<int64_t> start(t.slots + 1, plan.ns); // by slot
    for (size_t k = plan.slots.size(); k-- > 0;)
      start[plan.slots[k]] = starts[k];
    for (int slot = t.slots; slot-- > 0;)
      start[slot] = std::min(start[slot], start[slot + 1]);

    auto transfer = [&](const Item &x) -> const Transfer & {
      return t.transfers[t.touches[x.value][x.touch].transfer];
    };
    std::sort(items.begin(), items.end(),
              [](const Item &a, const Item &b) { return std::tie(a.from, a.value) < std::tie(b.from, b.value); });
    int64_t end = 0;
    for (const Item &x : items) {
      const Transfer &w = transfer(x);
      if (!w.write)
        continue;
      end = std::max(end, start[std::min(t.slots, w.from + 1)] + out->latencyNs) + transferNs(*out, t.bytes(x.value));
      int slot = w.writeEnd;
      while (slot < w.readStart && start[slot] < end && t.memory.max(slot, slot + 1) + t.bytes(x.value) <= 0)
        ++slot;
      t.holdWrite(x.value, x.touch, slot);
    }
    std::sort(items.begin(), items.end(),
              [](const Item &a, const Item &b) { return std::tie(a.due, a.value) < std::tie(b.due, b.value); });
    end = 0;
    for (const Item &x : items) {
      const Transfer &r = transfer(x);
      if (!r.read)
        continue;
      int slot = r.readStart;
      const int least = r.write ? r.writeEnd : r.from + 1;
      while (slot > least && start[slot] > end && t.memory.max(slot - 1, slot) + t.bytes(x.value) <= 0)
        --slot;
      t.holdRead(x.value, x.touch, slot);
      end = std::max(end, start[slot] + in->latencyNs) + transferNs(*in, t.bytes(x.value));
    }
    t.over();
    t.commit();
  }
}

} // namespace plim::solver
