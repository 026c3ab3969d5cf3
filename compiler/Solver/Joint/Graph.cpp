//===- Graph.cpp - A problem as the joint planner sees it ----------------------------------------===//
#include "compiler/Solver/Joint/Graph.h"
#include <algorithm>
#include <numeric>

namespace plim::solver {
namespace {

// Smaller ones are not worth a transfer, nor that their storage is rounded up to whole blocks of the ssd.
constexpr int64_t kLeastTransfer = 16 * kSsdAlign;

void sortUnique(std::vector<int> &v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

} // namespace

Graph::Graph(const Context &context, const std::vector<int> &order, bool ssd) : problem(context.problem) {
  findViews(context);
  makeValues(context, ssd);
  makeOperations(order);
  makeGroups();
  findSharings();
  for (const Operation &op : operations)
    fastestNs += op.ways[0].ns;
}

bool Graph::takesSubrange(const Context &context, int buffer, int exempt) const {
  for (int reader : context.uses.readers[buffer])
    for (const Candidate &c : problem.steps[reader].candidates)
      if (reader != exempt && !(c.flags & kSubrangeOk))
        return false;
  return true;
}

// A step is left out where all that it writes can be views of one buffer, and nothing else speaks against it.
void Graph::findViews(const Context &context) {
  viewOf.assign(problem.buffers.size(), -1);
  if (!problem.levers.alias)
    return;
  std::vector<const Alias *> aliasOf(problem.buffers.size(), nullptr);
  for (const Alias &a : problem.aliases)
    if (a.kind == AliasKind::View && !aliasOf[a.buffer])
      aliasOf[a.buffer] = &a;
  std::vector<char> named(problem.steps.size(), 0);
  for (const Step &step : problem.steps)
    for (int other : step.after)
      named[other] = 1;
  std::vector<char> strided(problem.buffers.size(), 0);
  for (int s = 0; s < int(problem.steps.size()); ++s) {
    const Step &step = problem.steps[s];
    if (!step.pure || step.group >= 0 || named[s] || !step.after.empty() || step.writes.empty())
      continue;
    const Alias *first = aliasOf[step.writes[0]];
    bool ok = first && first->step == s, read = false;
    for (int b : step.writes) {
      const Alias *a = aliasOf[b];
      // What may not move stays where it is first made; a view is made again with each instance of its base.
      ok = ok && a && a->step == s && a->base == first->base && problem.buffers[b].movable;
      if (!ok)
        break;
      read = read || !context.uses.readers[b].empty();
      const bool whole = a->offset == 0 && a->run == 0;
      if (a->offset % problem.buffers[b].align != 0 || a->run > 0 || strided[a->base])
        ok = (whole || !strided[a->base]) && takesSubrange(context, b, -1);
    }
    for (int b : step.reads) {
      const BufferKind kind = problem.buffers[b].kind;
      ok = ok && (b == first->base || kind == BufferKind::Input ||
                  (kind == BufferKind::Constant && problem.buffers[b].bytes < kLeastTransfer));
    }
    if (!ok || !read)
      continue;
    for (int b : step.writes) {
      viewOf[b] = first->base;
      strided[b] = aliasOf[b]->run > 0 || strided[first->base];
    }
  }
}

// Whether all that touches a piece can have it where it ends up in one of the caller's outputs, which is there all run
// long: then it takes no memory of its own. By buffer.
std::vector<char> Graph::liesInOutput(const Context &context) const {
  std::vector<char> inside(problem.buffers.size(), 0);
  if (!problem.levers.alias)
    return inside;
  for (const Alias &a : problem.aliases) {
    const Buffer &buffer = problem.buffers[a.buffer];
    if (a.kind != AliasKind::Into || buffer.kind != BufferKind::Transient ||
        problem.buffers[a.base].kind != BufferKind::Output)
      continue;
    const std::vector<Candidate> &makers = problem.steps[context.uses.writer[a.buffer]].candidates;
    const bool subrange = a.run > 0 || a.offset % buffer.align != 0;
    inside[a.buffer] |=
        !subrange || (takesSubrange(context, a.buffer, a.step) &&
                      std::ranges::all_of(makers, [](const Candidate &c) { return (c.flags & kSubrangeOk) != 0; }));
  }
  return inside;
}

void Graph::makeValues(const Context &context, bool ssd) {
  const Link *in = problem.link(Tier::Ssd, Tier::Ram), *out = problem.link(Tier::Ram, Tier::Ssd);
  const bool streams = problem.levers.stream && in, spills = problem.levers.spill && in && out && ssd;
  const std::vector<char> placed = liesInOutput(context);
  valueOf.assign(problem.buffers.size(), -1);
  for (int b = 0; b < int(problem.buffers.size()); ++b) {
    const Buffer &buffer = problem.buffers[b];
    const bool transient = buffer.kind == BufferKind::Transient, constant = buffer.kind == BufferKind::Constant;
    const bool inFile = constant && buffer.tier == Tier::Ssd;
    if (viewOf[b] >= 0 || (!transient && (!constant || !streams)) || (constant && buffer.tier != Tier::Ram && !inFile))
      continue;
    std::vector<int64_t> sizes = buffer.group < 0 ? std::vector<int64_t>{buffer.bytes} : buffer.sizes;
    const bool large = inFile || (*std::min_element(sizes.begin(), sizes.end()) >= kLeastTransfer && buffer.movable);
    if (constant && (!large || buffer.group >= 0)) {
      resident += alignUp(*std::max_element(sizes.begin(), sizes.end()), buffer.align);
      continue;
    }
    Value v;
    v.buffer = b, v.group = buffer.group, v.inFile = inFile;
    v.spillable = transient && large && spills && !placed[b];
    const int64_t align = constant || v.spillable ? std::max(kSsdAlign, buffer.align) : buffer.align;
    for (int64_t bytes : sizes)
      v.bytes.push_back(placed[b] ? 0 : alignUp(bytes, align));
    valueOf[b] = int(values.size());
    values.push_back(std::move(v));
  }
  for (int s = 0; s < int(problem.steps.size()); ++s) // a view's base comes before it in the given order
    for (int b : problem.steps[s].writes)
      if (viewOf[b] >= 0)
        valueOf[b] = valueOf[viewOf[b]];
}

void Graph::makeOperations(const std::vector<int> &order) {
  candidate = fastestDraft(problem).candidates;
  std::vector<char> named(problem.steps.size(), 0);
  for (const Step &step : problem.steps)
    for (int other : step.after)
      named[other] = 1;
  for (int s : order) {
    const Step &step = problem.steps[s];
    if (!step.writes.empty() && viewOf[step.writes[0]] >= 0)
      continue;
    const int number = int(operations.size());
    Operation op;
    op.step = s;
    op.latest = INT32_MAX;
    op.once = !step.pure || step.writes.empty();
    op.first = named[s] || !problem.levers.order;
    for (int b : step.reads)
      if (valueOf[b] >= 0)
        op.reads.push_back(valueOf[b]);
    for (int b : step.writes) {
      op.once = op.once || problem.buffers[b].kind != BufferKind::Transient || !problem.buffers[b].movable;
      if (valueOf[b] >= 0)
        op.writes.push_back(valueOf[b]), values[valueOf[b]].maker = number;
    }
    sortUnique(op.reads), sortUnique(op.writes);
    op.first = op.first || op.once;
    operations.push_back(std::move(op));
  }
  // From the end: the next step that writes a state ends the time in which its readers may run.
  std::vector<int> nextWrite(problem.buffers.size(), INT32_MAX);
  for (int o = int(operations.size()); o-- > 0;) {
    const Step &step = problem.steps[operations[o].step];
    for (int b : step.reads)
      operations[o].latest = std::min(operations[o].latest, nextWrite[b]);
    for (int b : step.writes)
      if (problem.buffers[b].kind == BufferKind::State)
        nextWrite[b] = o;
  }
  for (int o = 0; o < int(operations.size()); ++o)
    for (int v : operations[o].reads)
      values[v].readers.push_back(o);
  for (Value &v : values)
    v.remakable = v.maker >= 0 && !operations[v.maker].once;
}

// The ways that may be taken, the fastest first. Of the candidates of a single step, those that another beats in all
// respects are left out.
void Graph::makeGroups() {
  const Draft fastest = fastestDraft(problem);
  std::vector<int> groupOf(problem.groups.size());
  for (int g = 0; g < int(problem.groups.size()); ++g) {
    std::vector<char> barred(problem.groups[g].choices.size(), 0);
    for (const Step &step : problem.steps)
      for (size_t c = 0; c < barred.size() && step.group == g; ++c)
        barred[c] |= !step.candidates[c].barredBy.empty() || step.candidates[c].tier != Tier::Ram;
    Group group{.group = g, .choices = {fastest.choices[g]}};
    for (int c = 0; c < int(barred.size()) && problem.levers.choose; ++c)
      if (!barred[c] && c != fastest.choices[g])
        group.choices.push_back(c);
    groupOf[g] = int(groups.size());
    groups.push_back(std::move(group));
  }
  auto way = [&](const Candidate &c, int number) {
    return Way{c.ns, alignUp(problem.workspace(c), kAlign), number, problem.levers.alias && (c.flags & kInPlaceOk)};
  };
  for (int o = 0; o < int(operations.size()); ++o) {
    Operation &op = operations[o];
    const Step &step = problem.steps[op.step];
    if (step.group >= 0) {
      op.group = groupOf[step.group];
      groups[op.group].operations.push_back(o);
      for (int c : groups[op.group].choices)
        op.ways.push_back(way(step.candidates[c], c));
      continue;
    }
    const int best = fastest.candidates[op.step];
    op.ways = {way(step.candidates[best], best)};
    std::vector<int> choices(step.candidates.size());
    std::iota(choices.begin(), choices.end(), 0);
    std::stable_sort(choices.begin(), choices.end(),
                     [&](int a, int b) { return step.candidates[a].ns < step.candidates[b].ns; });
    for (int c : choices) {
      const Candidate &candidate = step.candidates[c];
      if (!problem.levers.choose || !candidate.barredBy.empty() || candidate.tier != Tier::Ram)
        continue;
      const Way w = way(candidate, c);
      if (std::all_of(op.ways.begin(), op.ways.end(),
                      [&](const Way &x) { return w.workspace < x.workspace || (w.inPlace && !x.inPlace); }))
        op.ways.push_back(w);
    }
    if (op.ways.size() == 1)
      continue;
    op.group = int(groups.size());
    Group group{.operations = {o}};
    for (const Way &w : op.ways)
      group.choices.push_back(w.candidate);
    groups.push_back(std::move(group));
  }
  for (int v = 0; v < int(values.size()); ++v)
    if (int g = values[v].group; g >= 0) {
      std::vector<int64_t> bytes;
      for (int c : groups[groupOf[g]].choices)
        bytes.push_back(values[v].bytes[c]);
      values[v].group = groupOf[g], values[v].bytes = std::move(bytes);
      groups[groupOf[g]].values.push_back(v);
    }
}

void Graph::findSharings() {
  if (!problem.levers.alias)
    return;
  std::vector<int> operationOf(problem.steps.size(), -1);
  for (int o = 0; o < int(operations.size()); ++o)
    operationOf[operations[o].step] = o;
  std::vector<char> into(values.size(), 0); // a piece lies in one whole only
  for (const Alias &a : problem.aliases) {
    const int o = operationOf[a.step], buffer = valueOf[a.buffer], base = valueOf[a.base];
    if (a.kind == AliasKind::View || o < 0 || buffer < 0 || base < 0 || buffer == base)
      continue;
    if (a.kind == AliasKind::InPlace)
      operations[o].sharings.push_back({base, buffer, true});
    else if (!into[buffer])
      operations[o].sharings.push_back({buffer, base, false}), into[buffer] = 1;
  }
}

} // namespace plim::solver
