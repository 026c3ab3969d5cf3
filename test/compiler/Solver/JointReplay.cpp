//===- JointReplay.cpp - Plays a joint plan action by action -------------------------------------===//
#include "test/compiler/Solver/JointReplay.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <map>

namespace plim::solver {
namespace {

class Player {
public:
  Player(const Problem &problem, const Schedule &schedule) : p(problem), s(schedule) {}

  Replay play() {
    const int count = int(s.instances.size());
    made.assign(count, -1), last.assign(count, -1), inFlight.assign(count, -1), version.assign(count, 0);
    first.assign(p.steps.size(), -1), home.assign(p.buffers.size(), -1);
    listStateVersions();
    for (int i = 0; i < count; ++i)
      if (standing(i))
        made[i] = -2, home[s.instances[i].buffer] = i;
    for (at = 0; at < int(s.actions.size()); ++at) {
      const Action &a = s.actions[at];
      if (a.kind == ActionKind::Run)
        run(a);
      else if (a.kind == ActionKind::Copy)
        copy(a);
      else if (a.kind == ActionKind::Wait)
        wait(a);
      else
        fail("has an elided step");
    }
    at = -1;
    for (const auto &[action, done] : flying)
      fail(absl::StrCat("copy ", action, " is never waited for"));
    for (int step = 0; step < int(p.steps.size()); ++step)
      if (first[step] < 0)
        fail(absl::StrCat("step ", step, " never runs"));
    for (int b = 0; b < int(p.buffers.size()); ++b)
      if (p.buffers[b].kind == BufferKind::Output && (home[b] < 0 || made[home[b]] == -2))
        fail(absl::StrCat("output ", b, " is never written"));
    countLive();
    out.ns = clock;
    return std::move(out);
  }

private:
  const Problem &p;
  const Schedule &s;
  Replay out;
  int at = 0;
  std::vector<int> made, last;  // by instance: action that makes it (-1 none, -2 there from the start), last use
  std::vector<int> inFlight;    // by instance: the copy that fills it, until it is waited for
  std::vector<int> version;     // by instance of a state: writes so far
  std::vector<int> first, home; // by step: its first action; by buffer: the instance that stays
  std::vector<std::map<int, int>> needed; // by step: writes of each state that it must see
  std::map<int, int64_t> flying;          // copies not waited for, and when they end
  std::vector<char> meetsSsd = std::vector<char>(s.instances.size(), 0);
  int64_t clock = 0, readEnd = 0, writeEnd = 0;
  int lastImpure = -1;

  void fail(const std::string &what) { out.errors.push_back(absl::StrCat("action ", at, ": ", what)); }

  const Buffer &buffer(int instance) const { return p.buffers[s.instances[instance].buffer]; }
  bool standing(int i) const {
    const BufferKind kind = buffer(i).kind;
    if (kind == BufferKind::Transient)
      return false;
    if (kind != BufferKind::Constant || s.instances[i].tier == Tier::Ssd)
      return true;
    // In the ram a constant stands where no copy makes it.
    return std::none_of(s.actions.begin(), s.actions.end(),
                        [&](const Action &a) { return a.kind == ActionKind::Copy && a.writes[0] == i; });
  }
  int64_t bytes(int i) const {
    const Buffer &b = buffer(i);
    const int64_t size = b.group < 0 ? b.bytes : b.sizes[s.choices[b.group]];
    return alignUp(size, meetsSsd[i] ? std::max(b.align, kSsdAlign) : b.align);
  }

  void listStateVersions() {
    needed.resize(p.steps.size());
    std::map<int, int> writes;
    for (int step = 0; step < int(p.steps.size()); ++step) {
      for (const auto *list : {&p.steps[step].reads, &p.steps[step].writes})
        for (int b : *list)
          if (p.buffers[b].kind == BufferKind::State)
            needed[step][b] = writes[b];
      for (int b : p.steps[step].writes)
        ++writes[b];
    }
  }

  bool readable(int i) {
    if (made[i] == -1)
      fail(absl::StrCat("reads instance ", i, " of '", buffer(i).name, "', which nothing has made"));
    else if (inFlight[i] >= 0)
      fail(absl::StrCat("reads instance ", i, " of '", buffer(i).name, "', which copy ", inFlight[i], " fills"));
    else
      return last[i] = std::max(last[i], at), true;
    return false;
  }

  void run(const Action &a) {
    const Step &step = p.steps[a.step];
    ++out.runs;
    if (a.reads.size() != step.reads.size() || a.writes.size() != step.writes.size())
      return fail("has not the operands of its step");
    if (a.candidate < 0 || a.candidate >= int(step.candidates.size()) ||
        !step.candidates[a.candidate].barredBy.empty() || (step.group >= 0 && a.candidate != s.choices[step.group]))
      fail("runs a candidate that it may not");
    for (size_t k = 0; k < a.reads.size(); ++k) {
      if (s.instances[a.reads[k]].buffer != step.reads[k] || s.instances[a.reads[k]].tier != Tier::Ram)
        fail(absl::StrCat("read ", k, " is another buffer, or not in the ram"));
      const BufferKind kind = buffer(a.reads[k]).kind;
      if (kind == BufferKind::Output && made[a.reads[k]] == -2)
        fail("reads an output that nothing has written");
      readable(a.reads[k]);
    }
    for (auto [b, writes] : needed[a.step])
      if (version[home[b]] != writes)
        fail(absl::StrCat("sees state ", b, " after ", version[home[b]], " writes, needs ", writes));
    for (size_t k = 0; k < a.writes.size(); ++k) {
      const int i = a.writes[k];
      if (s.instances[i].buffer != step.writes[k] || s.instances[i].tier != Tier::Ram)
        fail(absl::StrCat("write ", k, " is another buffer, or not in the ram"));
      const BufferKind kind = buffer(i).kind;
      if (kind == BufferKind::State)
        ++version[i];
      else if (made[i] != (kind == BufferKind::Output ? -2 : -1))
        fail(absl::StrCat("writes instance ", i, " again"));
      else
        made[i] = at, last[i] = std::max(last[i], at);
    }
    if (first[a.step] >= 0 && !step.pure)
      fail("runs an impure step again");
    if (!step.pure && a.step < lastImpure)
      fail("runs an impure step late");
    if (!step.pure)
      lastImpure = a.step;
    for (int other : step.after)
      if (first[other] < 0)
        fail(absl::StrCat("needs step ", other, " before it"));
    if (a.instance != (first[a.step] < 0 ? 0 : runsOf[a.step]))
      fail("has not the number of its run");
    if (first[a.step] < 0)
      first[a.step] = at;
    ++runsOf[a.step];
    clock += step.candidates[a.candidate].ns;
  }
  std::map<int, int> runsOf;

  void copy(const Action &a) {
    const int from = a.reads[0], to = a.writes[0];
    const bool reads = a.queue == Queue::Read;
    ++out.copies;
    if (a.queue == Queue::Cpu || s.instances[from].tier != (reads ? Tier::Ssd : Tier::Ram) ||
        s.instances[to].tier != (reads ? Tier::Ram : Tier::Ssd) || s.instances[from].buffer != s.instances[to].buffer)
      return fail("copies between the wrong tiers or buffers");
    const Link *link = p.link(s.instances[from].tier, s.instances[to].tier);
    if (!link || (buffer(from).kind != BufferKind::Transient && buffer(from).kind != BufferKind::Constant))
      return fail("copies what cannot be copied");
    if (readable(from) && made[to] != -1)
      fail(absl::StrCat("fills instance ", to, " again"));
    made[to] = at, last[to] = at, inFlight[to] = at;
    meetsSsd[from] = meetsSsd[to] = 1;
    int64_t &end = reads ? readEnd : writeEnd;
    end = flying[at] = std::max(end, clock + link->latencyNs) + transferNs(*link, bytes(to));
    if (!reads)
      out.spilled += bytes(to);
  }

  void wait(const Action &a) {
    for (int action : a.waits) {
      auto found = flying.find(action);
      if (found == flying.end()) {
        fail(absl::StrCat("waits for ", action, ", which is not in flight"));
        continue;
      }
      clock = std::max(clock, found->second);
      flying.erase(found);
      for (int i : {s.actions[action].reads[0], s.actions[action].writes[0]})
        last[i] = std::max(last[i], at);
      inFlight[s.actions[action].writes[0]] = -1;
    }
  }

  void countLive() {
    std::vector<int64_t> sum(s.actions.size() + 1, 0);
    for (int i = 0; i < int(s.instances.size()); ++i)
      if (made[i] >= 0 && s.instances[i].tier == Tier::Ram && buffer(i).kind != BufferKind::Output)
        sum[made[i]] += bytes(i), sum[last[i] + 1] -= bytes(i);
    int64_t live = 0;
    for (size_t k = 0; k < s.actions.size(); ++k) {
      live += sum[k];
      const Action &a = s.actions[k];
      const int64_t workspace =
          a.kind == ActionKind::Run ? alignUp(p.workspace(p.steps[a.step].candidates[a.candidate]), kAlign) : 0;
      out.liveAt.push_back(live + workspace);
      out.live = std::max(out.live, live + workspace);
    }
  }
};

} // namespace

Replay replay(const Problem &problem, const Schedule &schedule) { return Player(problem, schedule).play(); }

} // namespace plim::solver
