//===- Layout.cpp - Which buffers share storage, and how long each storage lives ---------------===//
#include "compiler/Solver/Layout.h"
#include "compiler/Solver/Lend.h"
#include <algorithm>
#include <numeric>

namespace plim::solver {

int64_t bytesOf(const Problem &problem, int buffer, const std::vector<int> &choices) {
  const Buffer &b = problem.buffers[buffer];
  return b.group < 0 ? b.bytes : b.sizes[choices[b.group]];
}

Context::Context(const Problem &p, std::vector<char> meetsSsd)
    : problem(p), onSsd(std::move(meetsSsd)), deps(dependenciesOf(p)), uses(usesOf(p)) {
  aliasOrder.resize(p.aliases.size());
  std::iota(aliasOrder.begin(), aliasOrder.end(), 0);
  auto size = [&](int buffer) {
    const Buffer &b = p.buffers[buffer];
    return b.sizes.empty() ? b.bytes : *std::max_element(b.sizes.begin(), b.sizes.end());
  };
  auto rank = [](AliasKind kind) { return kind == AliasKind::View ? 0 : kind == AliasKind::Into ? 1 : 2; };
  std::stable_sort(aliasOrder.begin(), aliasOrder.end(), [&](int a, int b) {
    const Alias &x = p.aliases[a], &y = p.aliases[b];
    if (x.kind != y.kind)
      return rank(x.kind) < rank(y.kind);
    return size(x.buffer) > size(y.buffer);
  });

  inPlace.resize(p.buffers.size());
  for (size_t a = 0; a < p.aliases.size(); ++a)
    if (p.aliases[a].kind == AliasKind::InPlace)
      inPlace[p.aliases[a].buffer].push_back(int(a));
}

Draft fastestDraft(const Problem &problem) {
  Draft draft;
  draft.order.resize(problem.steps.size());
  std::iota(draft.order.begin(), draft.order.end(), 0);
  draft.candidates.assign(problem.steps.size(), 0);
  draft.refused.assign(problem.aliases.size(), !problem.levers.alias);
  draft.choices.assign(problem.groups.size(), 0);
  auto lessNs = [](int64_t ns, bool barred, int64_t otherNs, bool otherBarred) {
    return barred != otherBarred ? !barred : ns < otherNs;
  };
  for (size_t g = 0; g < problem.groups.size(); ++g) {
    std::vector<int64_t> ns(problem.groups[g].choices.size(), 0);
    std::vector<char> barred(ns.size(), 0);
    for (const Step &step : problem.steps)
      if (step.group == int(g))
        for (size_t c = 0; c < ns.size(); ++c)
          ns[c] += step.candidates[c].ns, barred[c] |= !step.candidates[c].barredBy.empty();
    for (size_t c = 1; c < ns.size(); ++c)
      if (lessNs(ns[c], barred[c], ns[draft.choices[g]], barred[draft.choices[g]]))
        draft.choices[g] = int(c);
  }
  const bool choose = problem.levers.choose;
  for (size_t s = 0; s < problem.steps.size(); ++s) {
    const Step &step = problem.steps[s];
    int &best = draft.candidates[s];
    for (size_t c = 1; c < step.candidates.size(); ++c)
      if (lessNs(choose ? step.candidates[c].ns : 0, !step.candidates[c].barredBy.empty(),
                 choose ? step.candidates[best].ns : 0, !step.candidates[best].barredBy.empty()))
        best = int(c);
    if (step.group >= 0)
      best = draft.choices[step.group];
  }
  return draft;
}

namespace {

struct Range {
  int64_t offset = 0, run = 0, stride = 0, bytes = 0;
  int64_t end() const {
    if (run == 0 || bytes == 0)
      return offset + bytes;
    return offset + (bytes - 1) / run * stride + (bytes - 1) % run + 1;
  }
};

bool disjoint(const Range &a, const Range &b) {
  if (a.bytes == 0 || b.bytes == 0 || a.end() <= b.offset || b.end() <= a.offset)
    return true;
  if (a.run == 0 || b.run == 0 || a.stride != b.stride)
    return false;
  // Equal strides: the runs meet where they meet on the circle of one stride.
  int64_t gap = ((b.offset - a.offset) % a.stride + a.stride) % a.stride;
  return gap >= a.run && gap + b.run <= a.stride;
}

class Builder {
public:
  Builder(const Context &context, const Draft &draft) : ctx(context), p(context.problem), draft(draft) {
    const int steps = int(p.steps.size()), buffers = int(p.buffers.size());
    position.resize(steps);
    for (int k = 0; k < steps; ++k)
      position[draft.order[k]] = k;
    birth.resize(buffers), last.resize(buffers);
    range.resize(buffers), alias.assign(buffers, -1);
    owner.resize(buffers), contents.resize(buffers), next.assign(buffers, -1), tail.resize(buffers);
    for (int b = 0; b < buffers; ++b) {
      range[b].bytes = bytesOf(p, b, draft.choices);
      if (onSsd(b))
        range[b].bytes = alignUp(range[b].bytes, kSsdAlign);
      owner[b] = contents[b] = tail[b] = b;
      const BufferKind kind = p.buffers[b].kind;
      const bool made = kind == BufferKind::Transient || kind == BufferKind::Output;
      birth[b] = made ? position[ctx.uses.writer[b]] : -1;
      last[b] = kind == BufferKind::Transient || p.buffers[b].reused ? birth[b] : steps + 1;
      for (int reader : ctx.uses.readers[b])
        last[b] = std::max(last[b], position[reader]);
    }
    taken.resize(steps);
  }

  Layout build() {
    for (int a : ctx.aliasOrder)
      if (!draft.refused[a])
        tryAlias(a);
    return finish();
  }

private:
  const Context &ctx;
  const Problem &p;
  const Draft &draft;
  std::vector<int> position;     // by step
  std::vector<int> birth, last;  // by buffer: positions of its writer and of its last reader
  std::vector<Range> range;      // by buffer: in its class
  std::vector<int> alias, owner; // by buffer: alias taken, class
  // By buffer: the one at the end of its chain of views and pieces. Where two have the same, a byte that both have in
  // their class holds the same contents for both, as each lies where the chain puts it.
  std::vector<int> contents;
  // A class goes by one of its members, whose owner is itself, and has the others in a list behind it.
  std::vector<int> next, tail; // by buffer; `tail` of classes only
  struct Taken {
    int into = 0, view = 0;
    int64_t ns = 0;
  };
  std::vector<Taken> taken; // by step
  // Of tryAlias: members of both classes, and where they would lie.
  std::vector<int> movedMembers, stillMembers;
  std::vector<Range> moved, still;

  const Candidate &chosen(int step) const { return p.steps[step].candidates[draft.candidates[step]]; }
  bool transient(int b) const { return p.buffers[b].kind == BufferKind::Transient; }
  bool onSsd(int b) const { return !ctx.onSsd.empty() && ctx.onSsd[b]; }

  // May every step that touches b, but for the one whose copy its alias saves, take a subrange?
  bool takesSubrange(int b, int its) const {
    int exempt = its >= 0 && p.aliases[its].kind != AliasKind::InPlace ? p.aliases[its].step : -1;
    auto ok = [&](int step) { return step < 0 || step == exempt || (chosen(step).flags & kSubrangeOk); };
    return ok(ctx.uses.writer[b]) && std::all_of(ctx.uses.readers[b].begin(), ctx.uses.readers[b].end(), ok);
  }

  // May `next` be made in bytes of `dead`, which the same step reads last?
  bool handsOver(int dead, const Range &rd, int next, const Range &rn) const {
    if (last[dead] != birth[next] || rd.offset != rn.offset || rd.run != rn.run || rd.stride != rn.stride)
      return false;
    return std::any_of(ctx.inPlace[next].begin(), ctx.inPlace[next].end(), [&](int a) {
      return p.aliases[a].base == dead && (chosen(p.aliases[a].step).flags & kInPlaceOk);
    });
  }

  bool compatible(int a, const Range &ra, int b, const Range &rb) const {
    return last[a] < birth[b] || last[b] < birth[a] || disjoint(ra, rb) || handsOver(a, ra, b, rb) ||
           handsOver(b, rb, a, ra);
  }

  static std::pair<int64_t, int64_t> extent(const std::vector<Range> &ranges) {
    std::pair<int64_t, int64_t> hull{INT64_MAX, INT64_MIN};
    for (const Range &r : ranges)
      hull = {std::min(hull.first, r.offset), std::max(hull.second, r.end())};
    return hull;
  }

  void tryAlias(int id) {
    const Alias &al = p.aliases[id];
    const int a = owner[al.buffer], b = owner[al.base];
    if (alias[al.buffer] >= 0 || a == b)
      return;
    if (al.kind == AliasKind::InPlace && (last[al.base] != position[al.step] || !(chosen(al.step).flags & kInPlaceOk)))
      return;
    const Range &base = range[al.base], old = range[al.buffer];
    Range at{base.offset + al.offset, al.run, al.stride, old.bytes};
    if (base.run > 0) {
      if (al.offset != 0 || al.run != 0 || base.bytes != old.bytes)
        return;
      at = base;
    }
    moved.clear(), still.clear(), movedMembers.clear(), stillMembers.clear();
    for (int m = a; m >= 0; m = next[m]) {
      Range r = range[m];
      if (at.run == 0) {
        r.offset += at.offset - old.offset;
      } else {
        if (r.run != 0 || r.offset != old.offset || r.bytes != old.bytes)
          return;
        r = at;
      }
      moved.push_back(r), movedMembers.push_back(m);
    }
    for (int m = b; m >= 0; m = next[m])
      still.push_back(range[m]), stillMembers.push_back(m);
    auto ea = extent(moved), eb = extent(still);
    const bool outer = eb.first <= ea.first && ea.second <= eb.second;
    const bool inner = ea.first <= eb.first && eb.second <= ea.second;
    if (!outer && !inner)
      return;
    const int64_t start = std::min(ea.first, eb.first), end = std::max(ea.second, eb.second);
    int anchored = 0, transferred = 0;
    auto place = [&](const std::vector<int> &members, std::vector<Range> &ranges) {
      for (size_t k = 0; k < members.size(); ++k) {
        const int m = members[k];
        if (!transient(m) && (++anchored > 1 || ranges[k].offset != start || ranges[k].end() != end))
          return false;
        if (onSsd(m) && (++transferred, ranges[k].run > 0 || ranges[k].offset != start || ranges[k].end() != end))
          return false;
        ranges[k].offset -= start;
        const int its = m == al.buffer ? id : alias[m];
        if ((ranges[k].run > 0 || ranges[k].offset % p.buffers[m].align != 0) && !takesSubrange(m, its))
          return false;
      }
      return true;
    };
    if (!place(movedMembers, moved) || !place(stillMembers, still) || (anchored > 0 && transferred > 0))
      return;
    const bool equal = al.kind != AliasKind::InPlace;
    for (size_t i = 0; i < moved.size(); ++i)
      for (size_t j = 0; j < still.size(); ++j) {
        const int m = movedMembers[i], n = stillMembers[j];
        const bool same = equal && contents[m] == contents[al.buffer] && contents[n] == contents[al.base];
        if (!same && !compatible(m, moved[i], n, still[j]))
          return;
      }
    if (equal)
      for (int from = contents[al.buffer]; int m : movedMembers)
        if (contents[m] == from)
          contents[m] = contents[al.base];

    for (size_t k = 0; k < moved.size(); ++k)
      range[movedMembers[k]] = moved[k], owner[movedMembers[k]] = b;
    for (size_t k = 0; k < still.size(); ++k)
      range[stillMembers[k]] = still[k];
    next[tail[b]] = a, tail[b] = tail[a];
    alias[al.buffer] = id;
    taken[al.step].into += al.kind == AliasKind::Into;
    taken[al.step].view += al.kind == AliasKind::View;
    taken[al.step].ns += al.savedNs;
  }

  Layout finish() const {
    Layout out;
    const int steps = int(p.steps.size());
    out.members.resize(p.buffers.size()), out.storages.reserve(p.buffers.size());
    for (int b = 0; b < int(p.buffers.size()); ++b) {
      if (owner[b] != b)
        continue;
      StorageLife life{.birth = steps, .death = 0};
      for (int m = b; m >= 0; m = next[m]) {
        out.members[m] = {int(out.storages.size()), range[m].offset, range[m].run, range[m].stride, alias[m]};
        life.bytes = std::max(life.bytes, range[m].end());
        life.align = std::max({life.align, p.buffers[m].align, onSsd(m) ? kSsdAlign : kAlign});
        life.birth = std::min(life.birth, std::max(birth[m], 0));
        life.death = std::max(life.death, std::min(last[m] + 1, steps));
        life.tier = transient(m) ? chosen(ctx.uses.writer[m]).tier : p.buffers[m].tier;
      }
      for (int m = b; m >= 0; m = next[m])
        if (!transient(m)) {
          const BufferKind kind = p.buffers[m].kind;
          const bool io = kind == BufferKind::Input || kind == BufferKind::Output;
          life.region = io                               ? Region::Caller
                        : kind == BufferKind::State      ? Region::State
                        : p.buffers[m].tier == Tier::Ssd ? Region::File
                                                         : Region::Constant;
          life.tier = p.buffers[m].tier;
          life.birth = 0, life.death = steps;
        }
      out.storages.push_back(life);
    }
    out.elided.assign(steps, 0), out.workspace.assign(steps, 0), out.ns.assign(steps, 0);
    for (int s = 0; s < steps; ++s) {
      const Step &step = p.steps[s];
      const Candidate &c = chosen(s);
      out.elided[s] = (taken[s].into > 0 && taken[s].into == int(step.reads.size())) ||
                      (taken[s].view > 0 && taken[s].view == int(step.writes.size()));
      if (out.elided[s])
        continue;
      out.workspace[s] = p.workspace(c);
      out.ns[s] = std::max<int64_t>(0, c.ns - taken[s].ns);
    }
    lendBuffers(p, birth, last, out);
    return out;
  }
};

} // namespace

Layout layOut(const Context &context, const Draft &draft) { return Builder(context, draft).build(); }

int64_t computeNs(const Layout &layout) { return std::accumulate(layout.ns.begin(), layout.ns.end(), int64_t(0)); }

} // namespace plim::solver
