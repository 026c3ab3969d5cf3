//===- Footprint.cpp - Bytes that values cannot help taking ------------------------------------===//
#include "compiler/Solver/Bound/Footprint.h"
#include "compiler/Solver/DisjointSets.h"
#include <algorithm>

namespace plim::solver {

Footprint::Footprint(const Problem &p) : problem(p), uses(usesOf(p)) {
  for (size_t g = 0; g < p.groups.size(); ++g) {
    barred.emplace_back(p.groups[g].choices.size(), 0);
    for (const Step &step : p.steps)
      for (size_t c = 0; step.group == int(g) && c < barred[g].size(); ++c)
        barred[g][c] |= !step.candidates[c].barredBy.empty();
  }
  findHomes();
  findValues();
  std::vector<char> counts(p.buffers.size());
  for (int b = 0; b < int(p.buffers.size()); ++b)
    counts[b] = value[b] || streamed(b);
  segments = segmentsOf(p, bytes, counts);
  findNeeds();
  segmentMark.assign(segments.all.size(), 0), bufferMark.assign(p.buffers.size(), 0);
  sums.assign(homes.size() + 1, 0), savedResults = savedOperands = sums;
}

bool Footprint::allowed(const Step &step, size_t candidate) const {
  return step.candidates[candidate].barredBy.empty() && (step.group < 0 || !barred[step.group][candidate]);
}

int64_t Footprint::leastSize(const Buffer &buffer) const {
  if (buffer.group < 0)
    return buffer.bytes;
  int64_t least = INT64_MAX;
  for (size_t c = 0; c < buffer.sizes.size(); ++c)
    if (!barred[buffer.group][c])
      least = std::min(least, buffer.sizes[c]);
  return least;
}

bool Footprint::streamed(int b) const {
  const Buffer &buffer = problem.buffers[b];
  return buffer.kind == BufferKind::Constant && problem.levers.stream && buffer.movable && buffer.tier == Tier::Ram;
}

// Where outputs are not lent, only aliases lead into their bytes; reused inputs are.
void Footprint::findHomes() {
  const int count = int(problem.buffers.size());
  homeOf.assign(count, -1);
  DisjointSets joined(count);
  auto made = [&](int b) {
    const BufferKind kind = problem.buffers[b].kind;
    return kind == BufferKind::Transient || kind == BufferKind::Output;
  };
  for (const Alias &alias : problem.aliases)
    if (problem.levers.alias && made(alias.buffer) && made(alias.base))
      joined.join(alias.buffer, alias.base);
  std::vector<int> number(count, -1);
  std::vector<char> shared(count, 0);
  for (int b = 0; b < count; ++b)
    shared[joined.find(b)] |= problem.buffers[b].kind == BufferKind::Transient;
  for (int b = 0; b < count; ++b) {
    const Buffer &buffer = problem.buffers[b];
    if ((buffer.kind != BufferKind::Output && !buffer.reused) || buffer.tier != Tier::Ram)
      continue;
    const int64_t most =
        buffer.sizes.empty() ? buffer.bytes : *std::max_element(buffer.sizes.begin(), buffer.sizes.end());
    if (problem.levers.lend || buffer.reused) {
      lent += most;
      continue;
    }
    if (!shared[joined.find(b)])
      continue;
    int &home = number[joined.find(b)];
    if (home < 0)
      home = int(homes.size()), homes.push_back(0);
    homes[home] += most;
  }
  for (int b = 0; b < count; ++b)
    if (made(b))
      homeOf[b] = number[joined.find(b)];
}

void Footprint::findValues() {
  const int count = int(problem.buffers.size());
  bytes.resize(count), value.assign(count, 0), needs.resize(problem.steps.size());
  for (size_t s = 0; s < problem.steps.size(); ++s) {
    const Step &step = problem.steps[s];
    for (size_t c = 0; c < step.candidates.size(); ++c)
      needs[s].inRam = needs[s].inRam && (!allowed(step, c) || step.candidates[c].tier == Tier::Ram);
  }
  for (int b = 0; b < count; ++b) {
    const Buffer &buffer = problem.buffers[b];
    bytes[b] = leastSize(buffer);
    value[b] = buffer.kind == BufferKind::Transient ? needs[uses.writer[b]].inRam
                                                    : buffer.kind == BufferKind::Output && buffer.tier == Tier::Ram &&
                                                          (problem.levers.lend || homeOf[b] >= 0);
  }
  if (!problem.levers.alias)
    return;
  // A view of what the caller or the weights hold takes no bytes; nor does a view of such a view.
  std::vector<std::vector<int>> views(problem.steps.size());
  for (size_t a = 0; a < problem.aliases.size(); ++a)
    if (problem.aliases[a].kind == AliasKind::View)
      views[problem.aliases[a].step].push_back(int(a));
  for (const auto &ofStep : views)
    for (int a : ofStep) {
      const Alias &alias = problem.aliases[a];
      const BufferKind base = problem.buffers[alias.base].kind;
      const bool held = base == BufferKind::Input || (base == BufferKind::Constant && !streamed(alias.base));
      if (held || (base == BufferKind::Transient && !value[alias.base]))
        value[alias.buffer] = 0;
    }
}

// The least part of `all` bytes that `piece` rows of an axis need of an operand: without rows around them, which an end
// of the axis has not, and without those that a stride passes and no window reads.
static int64_t share(int64_t all, const SplitAxis &axis, const SplitAxis::Operand &operand, int64_t piece) {
  if (operand.divisor <= 0)
    return 0;
  if (operand.stride <= 0)
    return all;
  const __int128 span = __int128(axis.extent) * operand.stride;
  const __int128 rows = (span + operand.divisor - 1) / operand.divisor + std::max<int64_t>(0, operand.before) +
                        std::max<int64_t>(0, operand.after); // at most
  const __int128 passed = std::min<int64_t>(0, operand.before) + __int128(std::min<int64_t>(0, operand.after));
  const __int128 needed = std::max<__int128>(0, __int128(piece) * operand.stride + passed * operand.divisor);
  return int64_t(std::min<__int128>(all, __int128(all) * needed / (rows * operand.divisor)));
}

void Footprint::findNeeds() {
  for (size_t s = 0; s < problem.steps.size(); ++s) {
    const Step &step = problem.steps[s];
    Needs &need = needs[s];
    need.cut = problem.levers.split && !step.splits.empty();
    for (size_t r = 0; r < step.reads.size(); ++r) {
      const int b = step.reads[r];
      if (!value[b] && !streamed(b))
        continue;
      Operand operand{b, bytes[b], bytes[b], true};
      if (need.cut)
        for (const SplitAxis &axis : step.splits) {
          const int64_t least = std::min(axis.minPiece, axis.extent);
          operand.bytes = share(operand.bytes, axis, axis.operands[r], least);
          operand.lastBytes = share(operand.lastBytes, axis, axis.operands[r], 1);
          operand.whole = operand.whole && axis.operands[r].stride <= 0 && axis.operands[r].divisor > 0;
        }
      need.reads.push_back(operand);
    }
    for (int b : step.writes) {
      if (!value[b])
        continue;
      Operand operand{b, bytes[b], bytes[b], true};
      if (need.cut)
        for (const SplitAxis &axis : step.splits)
          if (axis.combine == SplitAxis::Combine::Concat) {
            operand.bytes = int64_t(__int128(operand.bytes) * std::min(axis.minPiece, axis.extent) / axis.extent);
            operand.lastBytes /= axis.extent;
            operand.whole = false;
          }
      need.writes.push_back(operand);
    }
  }
  if (!problem.levers.alias)
    return;
  std::vector<std::vector<int>> into(problem.steps.size()), views(problem.steps.size());
  for (const Alias &alias : problem.aliases)
    if (alias.kind == AliasKind::InPlace)
      needs[alias.step].inPlace.push_back({alias.buffer, alias.base});
    else
      (alias.kind == AliasKind::Into ? into : views)[alias.step].push_back(alias.buffer);
  for (size_t s = 0; s < problem.steps.size(); ++s) {
    const Step &step = problem.steps[s];
    auto all = [](const std::vector<int> &of, const std::vector<int> &have) {
      return !of.empty() && std::all_of(of.begin(), of.end(),
                                        [&](int b) { return std::find(have.begin(), have.end(), b) != have.end(); });
    };
    needs[s].elidable = all(step.reads, into[s]) || all(step.writes, views[s]);
  }
}

int64_t Footprint::arena(int64_t raw, int64_t workspace) const {
  return alignUp(std::max<int64_t>(0, raw - lent), kAlign) + alignUp(workspace, kAlign);
}

int64_t Footprint::leastWorkspace(int s, uint32_t flags) const {
  const Step &step = problem.steps[s];
  if (needs[s].cut || needs[s].elidable)
    return 0;
  int64_t least = -1;
  for (size_t c = 0; c < step.candidates.size(); ++c)
    if (allowed(step, c) && (step.candidates[c].flags & flags) == flags)
      if (const int64_t bytes = problem.workspace(step.candidates[c]); least < 0 || bytes < least)
        least = bytes;
  return least;
}

// The bytes that the buffer adds to those marked.
int64_t Footprint::add(int buffer) {
  int64_t sum = 0;
  for (int s : segments.of[buffer])
    if (segmentMark[s] != mark)
      segmentMark[s] = mark, sum += segments.all[s].bytes;
  return sum;
}

// Bytes of the buffer, beyond those of its segments that are marked.
void Footprint::count(int buffer, int64_t more) {
  const int home = homeOf[buffer] + 1;
  if (more > 0 && sums[home] == 0)
    touchedHomes.push_back(home);
  sums[home] += more;
}

// Results in place of operands: each result takes one, each operand is taken once, so what is saved is at most the sum
// over the results and at most the sum over the operands. Both of a pair have one home, as an alias joins them.
void Footprint::findSavings(const Needs &need, const std::vector<int> &made, bool last) {
  auto usable = [&](const std::pair<int, int> &pair) {
    return value[pair.first] && value[pair.second] && bufferMark[pair.second] != mark;
  };
  auto counted = [&](int b) {
    if (std::find(made.begin(), made.end(), b) == made.end())
      for (const auto *list : {&need.reads, &need.writes})
        for (const Operand &o : *list)
          if (o.buffer == b)
            return last ? o.lastBytes : o.bytes;
    return bytes[b];
  };
  for (size_t i = 0; i < need.inPlace.size(); ++i) {
    if (!usable(need.inPlace[i]))
      continue;
    const auto [result, operand] = need.inPlace[i];
    int64_t ofResult = 0, ofOperand = 0;
    bool newResult = true, newOperand = true;
    for (size_t j = 0; j < need.inPlace.size(); ++j) {
      if (!usable(need.inPlace[j]))
        continue;
      const auto [r, o] = need.inPlace[j];
      const int64_t shared = std::min(counted(r), counted(o));
      if (r == result)
        ofResult = std::max(ofResult, shared), newResult = newResult && j >= i;
      if (o == operand)
        ofOperand = std::max(ofOperand, shared), newOperand = newOperand && j >= i;
    }
    savedResults[homeOf[result] + 1] += newResult ? ofResult : 0;
    savedOperands[homeOf[operand] + 1] += newOperand ? ofOperand : 0;
  }
}

// Of a step that runs in pieces: bytes of a result that may lie in those of an operand. A piece can run in place where
// the whole step cannot: one row of a broadcast operand is as large as one row of the result.
int64_t Footprint::savedByPieces(const Needs &need, bool last) const {
  if (!need.cut || !problem.levers.alias)
    return 0;
  int64_t results = 0, operand = 0;
  for (const Operand &o : need.writes)
    results += last ? o.lastBytes : o.bytes;
  for (const Operand &o : need.reads)
    if (value[o.buffer])
      operand = std::max(operand, last ? o.lastBytes : o.bytes);
  return std::min(results, operand);
}

int64_t Footprint::leastArena(bool inPlace, int64_t workspace, int64_t saved) const {
  int64_t raw = -saved;
  for (int home : touchedHomes) {
    const int64_t saved = inPlace ? std::min(savedResults[home], savedOperands[home]) : 0;
    const int64_t here = sums[home] - saved;
    raw += home == 0 ? here : std::max<int64_t>(0, here - homes[home - 1]);
  }
  return arena(std::max<int64_t>(0, raw), workspace);
}

int64_t Footprint::running(int s, const std::vector<int> &kept, const std::vector<int> &made, bool last,
                           int64_t &work) {
  const Needs &need = needs[s];
  if (!need.inRam)
    return 0;
  ++mark;
  for (int home : touchedHomes)
    sums[home] = savedResults[home] = savedOperands[home] = 0;
  touchedHomes.clear();
  for (int b : kept)
    bufferMark[b] = mark, count(b, add(b));
  for (int b : made)
    count(b, add(b));
  for (const auto *list : {&need.reads, &need.writes})
    for (const Operand &o : *list)
      if (o.whole)
        count(o.buffer, add(o.buffer));
  // Pieces lie inside what is there whole, where the two may share bytes.
  for (const auto *list : {&need.reads, &need.writes})
    for (const Operand &o : *list)
      if (!o.whole && add(o.buffer) == bytes[o.buffer])
        count(o.buffer, last ? o.lastBytes : o.bytes);
  work -= int64_t(kept.size() + need.reads.size() + need.writes.size());

  if (need.cut)
    return leastArena(false, 0, savedByPieces(need, last));
  findSavings(need, made, last);
  const int64_t apart = leastArena(false, leastWorkspace(s, 0), 0), workspace = leastWorkspace(s, kInPlaceOk);
  return workspace < 0 ? apart : std::min(apart, leastArena(true, workspace, 0));
}

} // namespace plim::solver
