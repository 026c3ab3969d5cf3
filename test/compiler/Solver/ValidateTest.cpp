//===- ValidateTest.cpp - What makes a problem unsound ------------------------------------------===//
#include "compiler/Solver/ProblemText.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plim::solver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Problem two() {
  Problem p;
  p.buffers = {
      {.name = "x", .bytes = 64, .kind = BufferKind::Input}, {.name = "a", .bytes = 64}, {.name = "b", .bytes = 64}};
  p.steps = {{.name = "first", .reads = {0}, .writes = {1}, .candidates = {{.kernel = "k", .ns = 1}}},
             {.name = "second", .reads = {1}, .writes = {2}, .candidates = {{.kernel = "k", .ns = 1}}}};
  return p;
}

TEST(Validate, AcceptsASoundProblem) { EXPECT_THAT(validate(two()), testing::IsEmpty()); }

TEST(Validate, RefusesCyclesByName) {
  Problem p = two();
  p.steps[0].after = {1};
  EXPECT_THAT(validate(p), ElementsAre("steps: need an order, have a cycle: 'first' before 'second' before 'first'"));
}

TEST(Validate, NamesACycleForEachKnot) {
  Problem p;
  auto step = [&](const char *name, std::vector<int> after) {
    p.steps.push_back({.name = name, .candidates = {{.ns = 1}}, .after = std::move(after)});
  };
  step("a", {2}), step("b", {0}), step("c", {1, 5}), step("d", {4, 2}), step("e", {3}), step("f", {});
  step("g", {}), step("h", {6, 3});
  EXPECT_THAT(validate(p), ElementsAre("steps: need an order, have a cycle: 'a' before 'b' before 'c' before 'a'",
                                       "steps: need an order, have a cycle: 'd' before 'e' before 'd'"));
}

TEST(Validate, RefusesAnOrderThatBreaksDependencies) {
  Problem p = two();
  std::swap(p.steps[0], p.steps[1]);
  EXPECT_THAT(validate(p), ElementsAre("step 0 'second': need step 1 'first' before it, have it after"));
}

TEST(Validate, RefusesNegativeSizesUnknownIdsAndOverflow) {
  Problem p = two();
  p.buffers[0].bytes = -1;
  p.buffers[1].bytes = kMaxBytes + 1;
  p.buffers[2].align = 48;
  p.steps[0].reads = {7, 0, 0};
  p.steps[1].candidates = {};
  p.workers = 0;
  EXPECT_THAT(validate(p),
              ElementsAre("problem: need workers in [1, 65535], have 0", HasSubstr("buffer 0 'x': need bytes in"),
                          HasSubstr("buffer 1 'a': need bytes in"),
                          HasSubstr("need an alignment that is a power of two"),
                          "step 0 'first': need reads below 3, have 7",
                          "step 0 'first': need each of its reads once, have 0 twice",
                          "step 1 'second': need a candidate that is not barred, have 0 candidates"));
  Problem large = two();
  for (int k = 0; k < 4000; ++k)
    large.buffers.push_back({.name = "c", .bytes = kMaxBytes, .kind = BufferKind::Constant});
  EXPECT_THAT(validate(large), ElementsAre(HasSubstr("sum of all sizes below 2^61")));
}

TEST(Validate, RefusesWrongWritersAndAliases) {
  Problem p = two();
  p.steps[1].writes = {0, 1};
  EXPECT_THAT(validate(p), ElementsAre(HasSubstr("cannot write the input buffer 0 'x'"),
                                       HasSubstr("cannot read and write the transient buffer 1 'a'"),
                                       "buffer 1 'a': need one step that writes it, have 2",
                                       "buffer 2 'b': need one step that writes it, have 0"));
  p = two();
  p.aliases = {{AliasKind::InPlace, 1, 0, 0}, {AliasKind::View, 2, 1, 1, 64}, {AliasKind::Into, 2, 1, 0}};
  EXPECT_THAT(validate(p),
              ElementsAre("alias 0: cannot use the bytes of the input buffer 0 'x'",
                          HasSubstr("alias 1: need buffer 2 'b' inside buffer 1 'a', have it reach beyond"),
                          HasSubstr("alias 2: need a step 0 'first' that reads buffer 2 'b'")));
}

TEST(Validate, RefusesBrokenLinksCandidatesAndSplits) {
  Problem p = two();
  p.links = {{Tier::Ram, Tier::Ssd, 0, 5},
             {Tier::Ssd, Tier::Ram, -1, -1},
             {Tier::Ram, Tier::Ssd, 10, 5},
             {Tier::Ssd, Tier::Ssd, 10, 0},
             {Tier::Ram, Tier::Gpu, kMaxBytes + 1, int64_t(1) << 41}};
  p.tiers[int(Tier::Ssd)].capacity = -4096;
  p.steps[0].candidates[0].tier = Tier::Ssd;
  p.steps[0].splits = {{"rows", 8, 1, SplitAxis::Combine::Concat, {{1, 0, 0, -1}}},
                       {"heads", int64_t(1) << 41, 1, SplitAxis::Combine::Sum, {{-1, 0, 0}, {1, 0, 0}}}};
  EXPECT_THAT(validate(p),
              ElementsAre(HasSubstr("tier ssd: need a capacity in [0, "),
                          HasSubstr("link ram to ssd: need bytes per second in [1, "),
                          HasSubstr("link ssd to ram: need bytes per second in [1, "),
                          HasSubstr("link ssd to ram: need latency in ns in [0, "),
                          "link ram to ssd: need one link between two tiers, have another",
                          "link ssd to ssd: need a tier that is not the ssd at one end, have the ssd at both",
                          HasSubstr("link ram to gpu: need bytes per second in [1, "),
                          HasSubstr("link ram to gpu: need latency in ns in [0, "),
                          "step 0 'first' candidate 0 'k': need a tier that kernels can reach, have the ssd",
                          HasSubstr("step 0 'first' split 'rows': need divisors in [0, "),
                          HasSubstr("step 0 'first' split 'heads': need an extent in [1, "),
                          "step 0 'first' split 'heads': need 1 operands (one a read), have 2",
                          HasSubstr("step 0 'first' split 'heads': need strides in [0, ")));
}

TEST(Validate, RefusesSumsThatOverflow) {
  Problem p = two();
  p.links = {{Tier::Ssd, Tier::Ram, 1, 0}}; // 3 * 4,096 bytes at one byte per second are no overflow
  EXPECT_THAT(validate(p), testing::IsEmpty());
  p.buffers[0].bytes = int64_t(1) << 40;
  EXPECT_THAT(validate(p), ElementsAre("link ssd to ram: need all buffers to take less than 2^61 ns, have 1 bytes per "
                                       "second"));
  p.links.clear();
  for (int k = 0; k < 4000; ++k)
    p.steps[1].candidates.push_back({.kernel = "slow", .ns = kMaxNs});
  EXPECT_THAT(validate(p), ElementsAre("problem: need a sum of all costs below 2^61 ns, have more"));
}

// Files as a user may have them: every fault of a kind is reported, with its line where the text itself is wrong.
struct BrokenFile {
  const char *text;
  std::vector<const char *> faults;
};

class BrokenFiles : public testing::TestWithParam<BrokenFile> {};

TEST_P(BrokenFiles, AreRefusedWithAllFaults) {
  std::vector<std::string> errors;
  std::optional<Problem> p = parseProblem(GetParam().text, errors);
  if (p)
    errors = validate(*p);
  std::vector<testing::Matcher<std::string>> expected;
  for (const char *fault : GetParam().faults)
    expected.push_back(HasSubstr(fault));
  EXPECT_THAT(errors, testing::ElementsAreArray(expected));
}

const BrokenFile kBroken[] = {
    {"problem 1\nbuffer a\nbuffer b\nstep one reads=0 writes=1\n  candidate k\nstep two reads=1 writes=0\n"
     "  candidate k\n",
     {"have a cycle: 'one' before 'two' before 'one'"}},
    {"problem 1\nbuffer a bytes=-1\nbuffer b bytes=-9223372036854775808 align=-64\nfixed stack tier=ram bytes=-5\n"
     "step one reads=- writes=0,1\n  candidate k ns=-1 shared=-2 scratch=-3 tasks=0\n",
     {"fixed 'stack': need bytes in", "buffer 0 'a': need bytes in", "buffer 1 'b': need bytes in",
      "buffer 1 'b': need an alignment", "need ns in", "need shared bytes in", "need tasks in",
      "need scratch bytes in"}},
    {"problem 1\nbuffer a group=3\nstep one reads=7,-1 writes=0 after=9 group=4\n  candidate k\n",
     {"buffer 0 'a': need a group below 0, have 3", "need reads below 1, have 7", "need reads below 1, have -1",
      "need after below 1, have 9", "need a group below 0, have 4"}},
    {"problem 1\nbuffer a bytes=9223372036854775808\nbuffer b bytes=1e9\nbuffer c bytes=\n",
     {"line 2: need bytes as a whole number", "line 3: need bytes as a whole number",
      "line 4: need bytes as a whole number"}},
    {"problem 1\ngroup g\ngroup h x y\nbuffer a group=1 sizes=5\nstep one reads=- writes=0 group=1\n  candidate k\n",
     {"group 'g': need at least one choice, have 0", "buffer 0 'a': need 2 sizes", "need 2 candidates"}},
    {"problem 1\nbuffer a\nstep one reads=- writes=0\n  candidate k\nalias view buffer=0 base=0 step=5\n"
     "alias into buffer=1 base=0 step=0 offset=-1 run=8 stride=4\n",
     {"alias 0: need each of its buffers once", "alias 0: need steps below 1, have 5", "alias 1: need buffers below 1",
      "alias 1: need an offset in", "alias 1: need a stride in"}},
    {"problem 1\ntier ram capacity=-1\ntier disk capacity=5\nworkers 70000\n", {"line 3: need one of ram, pinned"}},
    {"problem 1\ntier ram capacity=-1\nworkers 70000\ngranule 100\n",
     {"need workers in [1, 65535], have 70000", "need a granule", "tier ram: need a capacity in"}},
};

INSTANTIATE_TEST_SUITE_P(Validate, BrokenFiles, testing::ValuesIn(kBroken));

} // namespace
} // namespace plim::solver
