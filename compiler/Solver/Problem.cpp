//===- Problem.cpp - What makes a problem sound ----------------------------------------------===//
#include "compiler/Solver/Problem.h"
#include "absl/strings/str_cat.h"
#include "compiler/Solver/Dependencies.h"
#include <algorithm>
#include <set>

namespace plim::solver {

const Link *Problem::link(Tier from, Tier to) const {
  for (const Link &l : links)
    if (l.from == from && l.to == to)
      return &l;
  return nullptr;
}

int64_t transferNs(const Link &link, int64_t bytes) {
  const __int128 scaled = __int128(bytes) * 1000000000;
  return int64_t((scaled + link.bytesPerSecond - 1) / link.bytesPerSecond);
}

const char *tierName(Tier tier) {
  static constexpr const char *kNames[kTierCount] = {"ram", "pinned", "ssd", "gpu"};
  return kNames[int(tier)];
}

const char *kindName(BufferKind kind) {
  static constexpr const char *kNames[] = {"transient", "input", "output", "constant", "state"};
  return kNames[int(kind)];
}

namespace {

constexpr int64_t kMaxLatencyNs = int64_t(1) << 40;
constexpr int64_t kMaxRows = int64_t(1) << 40, kMaxStride = int64_t(1) << 20; // their product cannot overflow
constexpr int64_t kMaxTotal = INT64_MAX / 4;

// Collects what is wrong. Later phases index by ids, so they run only where the earlier ones found nothing.
class Validator {
public:
  explicit Validator(const Problem &problem) : p(problem) {}

  std::vector<std::string> run() {
    checkScalars();
    for (size_t b = 0; b < p.buffers.size(); ++b)
      checkBuffer(int(b));
    for (size_t s = 0; s < p.steps.size(); ++s)
      checkStep(int(s));
    if (errors.empty()) {
      checkUses();
      checkTotals();
    }
    if (errors.empty())
      checkOrder();
    if (errors.empty())
      for (size_t a = 0; a < p.aliases.size(); ++a)
        checkAlias(int(a));
    return std::move(errors);
  }

private:
  const Problem &p;
  std::vector<std::string> errors;

  template <typename... T> void fail(const T &...parts) { errors.push_back(absl::StrCat(parts...)); }

  std::string stepWhere(int s) const { return absl::StrCat("step ", s, " '", p.steps[s].name, "'"); }
  std::string bufferWhere(int b) const { return absl::StrCat("buffer ", b, " '", p.buffers[b].name, "'"); }

  void range(const std::string &where, const char *what, int64_t value, int64_t low, int64_t high) {
    if (value < low || value > high)
      fail(where, ": need ", what, " in [", low, ", ", high, "], have ", value);
  }

  void checkScalars() {
    range("problem", "workers", p.workers, 1, 65535);
    if (p.granule < kAlign || p.granule > (int64_t(1) << 30) || (p.granule & (p.granule - 1)))
      fail("problem: need a granule that is a power of two in [64, 1073741824], have ", p.granule);
    for (int t = 0; t < kTierCount; ++t)
      range(absl::StrCat("tier ", tierName(Tier(t))), "a capacity", p.tiers[t].capacity, 0, kUnbounded);
    for (const FixedCost &f : p.fixed)
      range(absl::StrCat("fixed '", f.name, "'"), "bytes", f.bytes, 0, kMaxBytes);
    checkLinks();
    for (const Group &g : p.groups)
      if (g.choices.empty())
        fail("group '", g.name, "': need at least one choice, have 0");
  }

  void checkLinks() {
    std::set<std::pair<Tier, Tier>> seen;
    for (const Link &l : p.links) {
      std::string where = absl::StrCat("link ", tierName(l.from), " to ", tierName(l.to));
      range(where, "bytes per second", l.bytesPerSecond, 1, kMaxBytes);
      range(where, "latency in ns", l.latencyNs, 0, kMaxLatencyNs);
      if (!seen.insert({l.from, l.to}).second)
        fail(where, ": need one link between two tiers, have another");
      if (l.from == Tier::Ssd && l.to == Tier::Ssd)
        fail(where, ": need a tier that is not the ssd at one end, have the ssd at both");
    }
  }

  void checkBuffer(int b) {
    const Buffer &buffer = p.buffers[b];
    std::string where = bufferWhere(b);
    range(where, "bytes", buffer.bytes, 0, kMaxBytes);
    if (buffer.align < kAlign || buffer.align > (int64_t(1) << 21) || (buffer.align & (buffer.align - 1)))
      fail(where, ": need an alignment that is a power of two in [64, 2097152], have ", buffer.align);
    if (buffer.group < -1 || buffer.group >= int(p.groups.size())) {
      fail(where, ": need a group below ", p.groups.size(), ", have ", buffer.group);
      return;
    }
    size_t need = buffer.group < 0 ? 0 : p.groups[buffer.group].choices.size();
    if (buffer.sizes.size() != need)
      fail(where, ": need ", need, " sizes (one a choice of its group), have ", buffer.sizes.size());
    for (int64_t size : buffer.sizes)
      range(where, "sizes", size, 0, kMaxBytes);
    if (buffer.reused && buffer.kind != BufferKind::Input)
      fail(where, ": need an input to reuse its bytes");
  }

  void checkIds(const std::string &where, const char *what, const std::vector<int> &ids, size_t limit) {
    std::set<int> seen;
    for (int id : ids) {
      if (id < 0 || id >= int(limit))
        fail(where, ": need ", what, " below ", limit, ", have ", id);
      else if (!seen.insert(id).second)
        fail(where, ": need each of its ", what, " once, have ", id, " twice");
    }
  }

  void checkStep(int s) {
    const Step &step = p.steps[s];
    std::string where = stepWhere(s);
    checkIds(where, "reads", step.reads, p.buffers.size());
    checkIds(where, "writes", step.writes, p.buffers.size());
    checkIds(where, "after", step.after, p.steps.size());
    if (std::count(step.after.begin(), step.after.end(), s))
      fail(where, ": cannot come after itself");
    if (step.group < -1 || step.group >= int(p.groups.size()))
      fail(where, ": need a group below ", p.groups.size(), ", have ", step.group);
    else if (step.group >= 0 && step.candidates.size() != p.groups[step.group].choices.size())
      fail(where, ": need ", p.groups[step.group].choices.size(), " candidates (one a choice of its group), have ",
           step.candidates.size());
    if (std::all_of(step.candidates.begin(), step.candidates.end(),
                    [](const Candidate &c) { return !c.barredBy.empty(); }))
      fail(where, ": need a candidate that is not barred, have ", step.candidates.size(), " candidates");
    for (size_t c = 0; c < step.candidates.size(); ++c) {
      const Candidate &candidate = step.candidates[c];
      std::string at = absl::StrCat(where, " candidate ", c, " '", candidate.kernel, "'");
      range(at, "ns", candidate.ns, 0, kMaxNs);
      range(at, "shared bytes", candidate.sharedBytes, 0, kMaxBytes / 2);
      range(at, "tasks", candidate.tasks, 1, kMaxTasks);
      range(at, "scratch bytes", candidate.scratchBytes, 0, kMaxBytes / 2 / std::max(1, p.workers));
      if (candidate.tier == Tier::Ssd)
        fail(at, ": need a tier that kernels can reach, have the ssd");
    }
    for (const SplitAxis &axis : step.splits) {
      std::string at = absl::StrCat(where, " split '", axis.name, "'");
      range(at, "an extent", axis.extent, 1, kMaxRows);
      range(at, "a smallest piece", axis.minPiece, 1, std::max<int64_t>(1, axis.extent));
      if (axis.operands.size() != step.reads.size())
        fail(at, ": need ", step.reads.size(), " operands (one a read), have ", axis.operands.size());
      for (const SplitAxis::Operand &operand : axis.operands) {
        range(at, "strides", operand.stride, 0, kMaxStride);
        range(at, "rows before", operand.before, -kMaxRows, kMaxRows);
        range(at, "rows after", operand.after, -kMaxRows, kMaxRows);
        range(at, "divisors", operand.divisor, 0, kMaxStride);
      }
    }
  }

  void checkUses() {
    std::vector<int> writers(p.buffers.size(), 0);
    std::vector<bool> read(p.buffers.size(), false);
    for (int s = 0; s < int(p.steps.size()); ++s) {
      const Step &step = p.steps[s];
      for (int b : step.reads)
        read[b] = true;
      for (int b : step.writes) {
        BufferKind kind = p.buffers[b].kind;
        ++writers[b];
        if (kind == BufferKind::Input || kind == BufferKind::Constant)
          fail(stepWhere(s), ": cannot write the ", kindName(kind), " ", bufferWhere(b));
        else if (kind != BufferKind::State && std::count(step.reads.begin(), step.reads.end(), b))
          fail(stepWhere(s), ": cannot read and write the ", kindName(kind), " ", bufferWhere(b),
               "; an in-place step writes another buffer and has an alias");
      }
    }
    for (int b = 0; b < int(p.buffers.size()); ++b) {
      const BufferKind kind = p.buffers[b].kind;
      if ((kind == BufferKind::Transient || kind == BufferKind::Output) && writers[b] != 1)
        fail(bufferWhere(b), ": need one step that writes it, have ", writers[b]);
    }
    for (int g = 0; g < int(p.groups.size()); ++g) {
      std::vector<bool> barred(p.groups[g].choices.size(), false);
      for (const Step &step : p.steps)
        for (size_t c = 0; c < barred.size() && step.group == g; ++c)
          barred[c] = barred[c] || !step.candidates[c].barredBy.empty();
      if (std::all_of(barred.begin(), barred.end(), [](bool b) { return b; }))
        fail("group '", p.groups[g].name, "': need a choice that is not barred in any step, have none");
    }
  }

  void checkTotals() {
    __int128 bytes = 0, ns = 0;
    for (const Buffer &buffer : p.buffers) {
      int64_t largest = buffer.bytes;
      for (int64_t size : buffer.sizes)
        largest = std::max(largest, size);
      bytes += alignUp(largest, std::max(buffer.align, kSsdAlign));
    }
    for (const FixedCost &f : p.fixed)
      bytes += f.bytes;
    for (const Step &step : p.steps)
      for (const Candidate &c : step.candidates)
        ns += c.ns;
    if (bytes > kMaxTotal)
      fail("problem: need a sum of all sizes below 2^61 bytes, have more");
    if (ns > kMaxTotal)
      fail("problem: need a sum of all costs below 2^61 ns, have more");
    for (const Link &l : p.links)
      if (bytes * 1'000'000'000 / l.bytesPerSecond > kMaxTotal)
        fail("link ", tierName(l.from), " to ", tierName(l.to), ": need all buffers to take less than 2^61 ns, have ",
             l.bytesPerSecond, " bytes per second");
  }

  // Walking back along predecessors that are open ends in a cycle; its steps, each before the next.
  static std::vector<int> cycleBehind(const Dependencies &deps, const std::vector<int> &open, int at) {
    std::vector<int> path, seen(open.size(), 0);
    while (!seen[at]) {
      seen[at] = 1, path.push_back(at);
      at = *std::find_if(deps.before[at].begin(), deps.before[at].end(), [&](int b) { return open[b] > 0; });
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), at));
    std::reverse(path.begin(), path.end());
    return path;
  }

  // The given order must meet all dependencies. Where it does not, says whether some other order would.
  void checkOrder() {
    Dependencies deps = dependenciesOf(p);
    const int count = int(p.steps.size());
    std::vector<int> open(count), ready;
    for (int s = 0; s < count; ++s) {
      open[s] = int(deps.before[s].size());
      if (open[s] == 0)
        ready.push_back(s);
    }
    auto finish = [&](int s) {
      open[s] = -1;
      for (int t : deps.after[s])
        if (open[t] > 0) {
          --open[t];
          if (open[t] == 0)
            ready.push_back(t);
        }
    };
    for (bool cycles = false;;) {
      while (!ready.empty()) {
        const int s = ready.back();
        ready.pop_back();
        finish(s);
      }
      const auto stuck = std::find_if(open.begin(), open.end(), [](int o) { return o > 0; });
      if (stuck == open.end() && cycles)
        return;
      if (stuck == open.end())
        break;
      // Taken as done, a cycle shows what else is in one.
      const std::vector<int> cycle = cycleBehind(deps, open, int(stuck - open.begin()));
      std::string text = absl::StrCat("'", p.steps[cycle.back()].name, "'");
      for (int s : cycle)
        absl::StrAppend(&text, " before '", p.steps[s].name, "'");
      fail("steps: need an order, have a cycle: ", text);
      cycles = true;
      for (int s : cycle)
        open[s] = -1;
      for (int s : cycle)
        finish(s);
    }
    for (int s = 0; s < count; ++s)
      for (int other : deps.before[s])
        if (other > s)
          fail(stepWhere(s), ": need ", stepWhere(other), " before it, have it after");
  }

  // The largest size of `small` must fit into the smallest of `large`, choice by choice where one group rules both.
  bool fits(const Alias &alias) const {
    const Buffer &small = p.buffers[alias.buffer], &large = p.buffers[alias.base];
    size_t ways = std::max<size_t>(1, std::max(small.sizes.size(), large.sizes.size()));
    auto size = [](const Buffer &b, size_t k) { return b.sizes.empty() ? b.bytes : b.sizes[k]; };
    bool same = small.group == large.group;
    for (size_t i = 0; i < ways; ++i)
      for (size_t j = 0; j < ways; ++j) {
        if (same && i != j)
          continue;
        if (i >= std::max<size_t>(1, small.sizes.size()) || j >= std::max<size_t>(1, large.sizes.size()))
          continue;
        int64_t bytes = size(small, i);
        __int128 span = bytes;
        if (alias.run > 0 && bytes > 0)
          span = __int128((bytes - 1) / alias.run) * alias.stride + (bytes - 1) % alias.run + 1;
        if (alias.offset + span > size(large, j))
          return false;
      }
    return true;
  }

  void checkAlias(int a) {
    const Alias &alias = p.aliases[a];
    std::string where = absl::StrCat("alias ", a);
    size_t known = errors.size();
    checkIds(where, "buffers", {alias.buffer, alias.base}, p.buffers.size());
    checkIds(where, "steps", {alias.step}, p.steps.size());
    range(where, "an offset", alias.offset, 0, kMaxBytes);
    range(where, "saved ns", alias.savedNs, 0, kMaxNs);
    range(where, "a run", alias.run, 0, kMaxBytes);
    range(where, "a stride", alias.stride, alias.run, kMaxBytes);
    if (errors.size() != known)
      return;
    const Step &step = p.steps[alias.step];
    auto in = [](const std::vector<int> &ids, int id) { return std::count(ids.begin(), ids.end(), id) != 0; };
    bool into = alias.kind == AliasKind::Into;
    int reads = into ? alias.buffer : alias.base, writes = into ? alias.base : alias.buffer;
    if (!in(step.reads, reads))
      fail(where, ": need a ", stepWhere(alias.step), " that reads ", bufferWhere(reads));
    if (!in(step.writes, writes))
      fail(where, ": need a ", stepWhere(alias.step), " that writes ", bufferWhere(writes));
    BufferKind buffer = p.buffers[alias.buffer].kind, base = p.buffers[alias.base].kind;
    bool made = alias.kind == AliasKind::InPlace ? buffer != BufferKind::State : buffer == BufferKind::Transient;
    if (!made)
      fail(where, ": need a transient ", bufferWhere(alias.buffer), ", have ", kindName(buffer));
    bool baseOk = alias.kind == AliasKind::InPlace ? base == BufferKind::Transient
                  : into                           ? base != BufferKind::State
                                                   : base != BufferKind::State && base != BufferKind::Output;
    if (!baseOk)
      fail(where, ": cannot use the bytes of the ", kindName(base), " ", bufferWhere(alias.base));
    if (alias.kind == AliasKind::InPlace && (alias.offset != 0 || alias.run != 0))
      fail(where, ": need offset 0 and run 0 in place, have ", alias.offset, " and ", alias.run);
    if (!fits(alias))
      fail(where, ": need ", bufferWhere(alias.buffer), " inside ", bufferWhere(alias.base), ", have it reach beyond");
  }
};

} // namespace

std::vector<std::string> validate(const Problem &problem) { return Validator(problem).run(); }

} // namespace plim::solver
