//===- ProblemText.cpp - Printing and reading problems and solutions ---------------------------===//
#include "compiler/Solver/ProblemText.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/Solver/TextRecord.h"

namespace plim::solver {
namespace {

const Names<Tier> kTiers{{"ram", "pinned", "ssd", "gpu"}};
const Names<BufferKind> kKinds{{"transient", "input", "output", "constant", "state"}};
const Names<AliasKind> kAliasKinds{{"inplace", "into", "view"}};
const Names<SplitAxis::Combine> kCombines{{"concat", "sum", "max"}};
const Names<Region> kRegions{{"transient", "constant", "state", "caller", "file"}};
const Names<ActionKind> kActions{{"run", "elided", "copy", "wait"}};
const Names<Queue> kQueues{{"cpu", "read", "write"}};

struct LeverName {
  const char *name;
  bool Levers::*flag;
};
constexpr LeverName kLevers[] = {
    {"order", &Levers::order},         {"choose", &Levers::choose}, {"alias", &Levers::alias},
    {"recompute", &Levers::recompute}, {"spill", &Levers::spill},   {"stream", &Levers::stream},
    {"split", &Levers::split},         {"move", &Levers::move},     {"lend", &Levers::lend}};

std::string ids(const std::vector<int> &list) { return list.empty() ? "-" : absl::StrJoin(list, ","); }
std::string bytesList(const std::vector<int64_t> &list) { return list.empty() ? "-" : absl::StrJoin(list, ","); }
std::string perTier(const std::array<int64_t, kTierCount> &values) { return absl::StrJoin(values, ","); }

std::string flagNames(uint32_t flags) {
  std::vector<const char *> names;
  if (flags & kInPlaceOk)
    names.push_back("inplace");
  if (flags & kSubrangeOk)
    names.push_back("subrange");
  return names.empty() ? "-" : absl::StrJoin(names, ",");
}

} // namespace

std::string printProblem(const Problem &p) {
  std::string out = absl::StrCat("problem 1\nworkers ", p.workers, "\ngranule ", p.granule, "\nio ",
                                 p.countIo ? "counted" : "excluded", "\n");
  for (int t = 0; t < kTierCount; ++t)
    if (p.tiers[t].capacity != kUnbounded)
      absl::StrAppend(&out, "tier ", kTiers.of(Tier(t)), " capacity=", p.tiers[t].capacity, "\n");
  absl::StrAppend(&out, "levers");
  for (const LeverName &lever : kLevers)
    if (p.levers.*lever.flag)
      absl::StrAppend(&out, " ", lever.name);
  absl::StrAppend(&out, "\n");
  for (const FixedCost &f : p.fixed)
    absl::StrAppend(&out, "fixed ", quote(f.name), " tier=", kTiers.of(f.tier), " bytes=", f.bytes, "\n");
  for (const Link &l : p.links)
    absl::StrAppend(&out, "link from=", kTiers.of(l.from), " to=", kTiers.of(l.to), " bps=", l.bytesPerSecond,
                    " latency=", l.latencyNs, "\n");
  for (const Group &g : p.groups) {
    absl::StrAppend(&out, "group ", quote(g.name));
    for (const std::string &choice : g.choices)
      absl::StrAppend(&out, " ", quote(choice));
    absl::StrAppend(&out, "\n");
  }
  for (const Buffer &b : p.buffers) {
    absl::StrAppend(&out, "buffer ", quote(b.name), " kind=", kKinds.of(b.kind), " bytes=", b.bytes);
    if (b.align != kAlign)
      absl::StrAppend(&out, " align=", b.align);
    if (b.tier != Tier::Ram)
      absl::StrAppend(&out, " tier=", kTiers.of(b.tier));
    if (b.group != -1)
      absl::StrAppend(&out, " group=", b.group);
    if (!b.sizes.empty())
      absl::StrAppend(&out, " sizes=", bytesList(b.sizes));
    if (!b.movable)
      absl::StrAppend(&out, " movable=0");
    if (b.reused)
      absl::StrAppend(&out, " reused=1");
    if (!b.source.empty())
      absl::StrAppend(&out, " source=", quote(b.source));
    absl::StrAppend(&out, "\n");
  }
  for (const Step &s : p.steps) {
    absl::StrAppend(&out, "step ", quote(s.name), " reads=", ids(s.reads), " writes=", ids(s.writes));
    if (!s.after.empty())
      absl::StrAppend(&out, " after=", ids(s.after));
    if (s.group != -1)
      absl::StrAppend(&out, " group=", s.group);
    if (!s.pure)
      absl::StrAppend(&out, " pure=0");
    if (!s.source.empty())
      absl::StrAppend(&out, " source=", quote(s.source));
    absl::StrAppend(&out, "\n");
    for (const Candidate &c : s.candidates) {
      absl::StrAppend(&out, "  candidate ", quote(c.kernel), " ns=", c.ns, " shared=", c.sharedBytes,
                      " scratch=", c.scratchBytes);
      if (c.tasks != kMaxTasks)
        absl::StrAppend(&out, " tasks=", c.tasks);
      absl::StrAppend(&out, " flags=", flagNames(c.flags));
      if (c.tier != Tier::Ram)
        absl::StrAppend(&out, " tier=", kTiers.of(c.tier));
      if (!c.label.empty())
        absl::StrAppend(&out, " label=", quote(c.label));
      if (!c.numerics.empty())
        absl::StrAppend(&out, " numerics=", quote(c.numerics));
      if (!c.barredBy.empty())
        absl::StrAppend(&out, " barred=", quote(c.barredBy));
      absl::StrAppend(&out, "\n");
    }
    for (const SplitAxis &a : s.splits) {
      absl::StrAppend(&out, "  split ", quote(a.name), " extent=", a.extent, " min=", a.minPiece,
                      " combine=", kCombines.of(a.combine), " operands=");
      absl::StrAppend(&out, a.operands.empty() ? "-" : "");
      for (size_t k = 0; k < a.operands.size(); ++k) {
        const SplitAxis::Operand &o = a.operands[k];
        absl::StrAppend(&out, k ? "," : "", o.stride, ":", o.before, ":", o.after);
        if (o.divisor != 1)
          absl::StrAppend(&out, ":", o.divisor);
      }
      absl::StrAppend(&out, "\n");
    }
  }
  for (const Alias &a : p.aliases) {
    absl::StrAppend(&out, "alias ", kAliasKinds.of(a.kind), " buffer=", a.buffer, " base=", a.base, " step=", a.step,
                    " offset=", a.offset);
    if (a.run != 0 || a.stride != 0)
      absl::StrAppend(&out, " run=", a.run, " stride=", a.stride);
    absl::StrAppend(&out, " saves=", a.savedNs, "\n");
  }
  return out;
}

std::string printSolution(const Solution &s) {
  std::string out = absl::StrCat("solution 1\nns ", s.ns, "\npeak-action ", s.peakAction, "\n");
  absl::StrAppend(&out, "fixed ", perTier(s.fixed), "\nconstants ", perTier(s.constants), "\nstates ",
                  perTier(s.states), "\ncaller ", perTier(s.caller), "\narena ", perTier(s.arena), "\nlive ",
                  perTier(s.live), "\npeak ", perTier(s.peak), "\nchoices ", ids(s.choices), "\n");
  for (const Storage &st : s.storages)
    absl::StrAppend(&out, "storage ", kRegions.of(st.region), " tier=", kTiers.of(st.tier), " offset=", st.offset,
                    " bytes=", st.bytes, " birth=", st.birth, " death=", st.death, "\n");
  for (const Place &at : s.places) {
    absl::StrAppend(&out, "place buffer=", at.buffer, " instance=", at.instance, " storage=", at.storage,
                    " offset=", at.offset);
    if (at.run != 0 || at.stride != 0)
      absl::StrAppend(&out, " run=", at.run, " stride=", at.stride);
    if (at.alias != -1)
      absl::StrAppend(&out, " alias=", at.alias);
    absl::StrAppend(&out, "\n");
  }
  for (const Action &a : s.actions) {
    absl::StrAppend(&out, "action ", kActions.of(a.kind));
    if (a.kind == ActionKind::Run || a.kind == ActionKind::Elided)
      absl::StrAppend(&out, " step=", a.step, " instance=", a.instance, " candidate=", a.candidate);
    if (a.queue != Queue::Cpu)
      absl::StrAppend(&out, " queue=", kQueues.of(a.queue));
    if (a.kind == ActionKind::Wait)
      absl::StrAppend(&out, " copies=", ids(a.waits));
    else
      absl::StrAppend(&out, " reads=", ids(a.reads), " writes=", ids(a.writes));
    if (a.workspaceOffset != -1)
      absl::StrAppend(&out, " workspace=", a.workspaceOffset);
    absl::StrAppend(&out, "\n");
  }
  return out;
}

namespace {

uint32_t readFlags(Record &record) {
  uint32_t flags = 0;
  for (const std::string &name : record.words("flags")) {
    if (name == "inplace")
      flags |= kInPlaceOk;
    else if (name == "subrange")
      flags |= kSubrangeOk;
    else
      record.fail("need flags of inplace, subrange, have '" + name + "'");
  }
  return flags;
}

void readSplit(Record &record, SplitAxis &axis) {
  axis.name = record.name();
  axis.extent = record.number("extent", 0), axis.minPiece = record.number("min", 1);
  axis.combine = record.oneOf("combine", kCombines, SplitAxis::Combine::Concat);
  for (const std::string &word : record.words("operands")) {
    std::vector<int64_t> values;
    if (!Record::colonNumbers(word, values) || values.size() < 3 || values.size() > 4) {
      record.fail("need operands as stride:before:after[:divisor], have '" + word + "'");
      continue;
    }
    SplitAxis::Operand operand{values[0], values[1], values[2]};
    if (values.size() == 4)
      operand.divisor = values[3];
    axis.operands.push_back(operand);
  }
}

void readProblemRecord(Record &record, Problem &p) {
  const std::string &verb = record.verb();
  if (verb == "workers") {
    p.workers = record.plainId(1);
  } else if (verb == "granule") {
    p.granule = record.plainNumber();
  } else if (verb == "io") {
    const std::string word = record.name();
    if (word != "counted" && word != "excluded")
      record.fail("need io counted or excluded, have '" + word + "'");
    p.countIo = word != "excluded";
  } else if (verb == "tier") {
    Tier tier = record.nameOf(kTiers, Tier::Ram);
    p.tiers[int(tier)].capacity = record.number("capacity", kUnbounded);
  } else if (verb == "levers") {
    for (const LeverName &lever : kLevers)
      p.levers.*lever.flag = false;
    for (const std::string &word : record.names()) {
      bool known = false;
      for (const LeverName &lever : kLevers)
        if (word == lever.name)
          p.levers.*lever.flag = known = true;
      if (!known)
        record.fail("need the name of a lever, have '" + word + "'");
    }
  } else if (verb == "fixed") {
    p.fixed.push_back({record.name(), record.oneOf("tier", kTiers, Tier::Ram), record.number("bytes", 0)});
  } else if (verb == "link") {
    p.links.push_back({record.oneOf("from", kTiers, Tier::Ram), record.oneOf("to", kTiers, Tier::Ram),
                       record.number("bps", 0), record.number("latency", 0)});
  } else if (verb == "group") {
    std::vector<std::string> names = record.names();
    Group group{names.empty() ? "" : names.front(), {}};
    if (names.empty())
      record.fail("need the name of the group");
    else
      group.choices.assign(names.begin() + 1, names.end());
    p.groups.push_back(std::move(group));
  } else if (verb == "buffer") {
    Buffer b;
    b.name = record.name();
    b.kind = record.oneOf("kind", kKinds, BufferKind::Transient);
    b.bytes = record.number("bytes", 0), b.align = record.number("align", kAlign);
    b.tier = record.oneOf("tier", kTiers, Tier::Ram);
    b.group = record.id("group", -1), b.sizes = record.numbers("sizes");
    b.movable = record.number("movable", 1) != 0;
    b.reused = record.number("reused", 0) != 0;
    b.source = record.text("source");
    p.buffers.push_back(std::move(b));
  } else if (verb == "step") {
    Step s;
    s.name = record.name();
    s.reads = record.ids("reads"), s.writes = record.ids("writes"), s.after = record.ids("after");
    s.group = record.id("group", -1), s.pure = record.number("pure", 1) != 0;
    s.source = record.text("source");
    p.steps.push_back(std::move(s));
  } else if (verb == "candidate" || verb == "split") {
    if (p.steps.empty())
      return record.fail("need a step above this line");
    if (verb == "split")
      return readSplit(record, p.steps.back().splits.emplace_back());
    Candidate &c = p.steps.back().candidates.emplace_back();
    c.kernel = record.name();
    c.ns = record.number("ns", 0), c.sharedBytes = record.number("shared", 0);
    c.scratchBytes = record.number("scratch", 0), c.tasks = record.number("tasks", kMaxTasks);
    c.flags = record.has("flags") ? readFlags(record) : c.flags;
    c.tier = record.oneOf("tier", kTiers, Tier::Ram);
    c.label = record.text("label"), c.numerics = record.text("numerics"), c.barredBy = record.text("barred");
  } else if (verb == "alias") {
    Alias a;
    a.kind = record.nameOf(kAliasKinds, AliasKind::InPlace);
    a.buffer = record.id("buffer", -1), a.base = record.id("base", -1), a.step = record.id("step", -1);
    a.offset = record.number("offset", 0), a.run = record.number("run", 0), a.stride = record.number("stride", 0);
    a.savedNs = record.number("saves", 0);
    p.aliases.push_back(a);
  } else {
    record.failUnknown();
  }
}

void readSolutionRecord(Record &record, Solution &s) {
  const std::string &verb = record.verb();
  if (verb == "ns") {
    s.ns = record.plainNumber();
  } else if (verb == "peak-action") {
    s.peakAction = record.plainId(-1);
  } else if (verb == "fixed") {
    record.perTier(s.fixed);
  } else if (verb == "constants") {
    record.perTier(s.constants);
  } else if (verb == "states") {
    record.perTier(s.states);
  } else if (verb == "caller") {
    record.perTier(s.caller);
  } else if (verb == "arena") {
    record.perTier(s.arena);
  } else if (verb == "live") {
    record.perTier(s.live);
  } else if (verb == "peak") {
    record.perTier(s.peak);
  } else if (verb == "choices") {
    s.choices = record.plainIds();
  } else if (verb == "storage") {
    Storage st;
    st.region = record.nameOf(kRegions, Region::Transient);
    st.tier = record.oneOf("tier", kTiers, Tier::Ram);
    st.offset = record.number("offset", 0), st.bytes = record.number("bytes", 0);
    st.birth = record.id("birth", 0), st.death = record.id("death", 0);
    s.storages.push_back(st);
  } else if (verb == "place") {
    Place at;
    at.buffer = record.id("buffer", -1), at.instance = record.id("instance", 0), at.storage = record.id("storage", -1);
    at.offset = record.number("offset", 0), at.run = record.number("run", 0), at.stride = record.number("stride", 0);
    at.alias = record.id("alias", -1);
    s.places.push_back(at);
  } else if (verb == "action") {
    Action a;
    a.kind = record.nameOf(kActions, ActionKind::Run);
    a.step = record.id("step", -1), a.instance = record.id("instance", 0), a.candidate = record.id("candidate", -1);
    a.reads = record.ids("reads"), a.writes = record.ids("writes");
    a.queue = record.oneOf("queue", kQueues, Queue::Cpu), a.waits = record.ids("copies");
    a.workspaceOffset = record.number("workspace", -1);
    s.actions.push_back(std::move(a));
  } else {
    record.failUnknown();
  }
}

} // namespace

std::optional<Problem> parseProblem(std::string_view text, std::vector<std::string> &errors) {
  const size_t known = errors.size();
  Problem problem;
  readRecords(text, "problem", errors, [&](Record &record) { readProblemRecord(record, problem); });
  if (errors.size() != known)
    return std::nullopt;
  return problem;
}

std::optional<Solution> parseSolution(std::string_view text, std::vector<std::string> &errors) {
  const size_t known = errors.size();
  Solution solution;
  readRecords(text, "solution", errors, [&](Record &record) { readSolutionRecord(record, solution); });
  if (errors.size() != known)
    return std::nullopt;
  return solution;
}

} // namespace plim::solver
