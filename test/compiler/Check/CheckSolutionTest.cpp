//===- CheckSolutionTest.cpp - Sound solutions pass, every mutated one is rejected ---------------===//
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Fit.h"
#include "compiler/Solver/ProblemText.h"
#include "test/compiler/Solver/RandomProblem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <functional>

namespace plim::check {
namespace {

using namespace solver;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Solution solve(const Problem &p, bool smallest) {
  FitOptions options;
  options.orderRounds = 20, options.packPasses = 8, options.exactNodes = 200;
  Ladder ladder(p, options);
  std::array<int64_t, kTierCount> capacity;
  capacity.fill(kUnbounded);
  return smallest ? ladder.smallest() : *ladder.fastest(capacity);
}

class Mutator {
public:
  Mutator(const Problem &p, const Solution &s) : p(p), s(s) {}
  int tried = 0, missed = 0;
  std::string firstMissed;

  void tryAll() {
    for (size_t i = 0; i < s.storages.size(); ++i)
      storage(i);
    for (size_t i = 0; i < s.places.size(); ++i)
      place(i);
    for (size_t k = 0; k < s.actions.size(); ++k)
      action(k);
    for (auto field : {&Solution::fixed, &Solution::constants, &Solution::states, &Solution::caller, &Solution::arena,
                       &Solution::live, &Solution::peak})
      for (int t = 0; t < kTierCount; ++t)
        for (int64_t change : {-1, 1, 64})
          mutate("sum", [&](Solution &m) { (m.*field)[t] += change; });
    for (int change : {-1, 1}) {
      mutate("ns", [&](Solution &m) { m.ns += change; });
      mutate("peak action", [&](Solution &m) { m.peakAction += change; });
    }
    for (size_t g = 0; g < s.choices.size(); ++g)
      for (int change : {-1, 1, 2})
        if (groupUsed(int(g)))
          mutate("choice", [&](Solution &m) { m.choices[g] += change; });
  }

private:
  const Problem &p;
  const Solution &s;

  void mutate(const char *what, const std::function<void(Solution &)> &change) {
    Solution m = s;
    change(m);
    if (m == s)
      return;
    ++tried;
    if (checkSolution(p, m).empty() && missed++ == 0)
      firstMissed = what + (":\n" + printProblem(p)) + printSolution(m);
  }

  bool groupUsed(int g) const {
    return std::any_of(p.steps.begin(), p.steps.end(), [&](const Step &step) { return step.group == g; });
  }

  int64_t workspace(size_t k) const {
    const Action &a = s.actions[k];
    return a.kind == ActionKind::Run ? p.workspace(p.steps[a.step].candidates[a.candidate]) : 0;
  }

  void storage(size_t i) {
    const Storage &st = s.storages[i];
    for (int64_t change : {-64, -1, 1, 64})
      mutate("storage bytes", [&](Solution &m) { m.storages[i].bytes += change; });
    for (int change : {-1, 1}) {
      mutate("birth", [&](Solution &m) { m.storages[i].birth += change; });
      mutate("death", [&](Solution &m) { m.storages[i].death += change; });
    }
    for (int64_t change : {-32, 1, 32})
      mutate("misaligned", [&](Solution &m) { m.storages[i].offset += change; });
    mutate("region", [&](Solution &m) { m.storages[i].region = Region((int(st.region) + 1) % 4); });
    mutate("tier", [&](Solution &m) { m.storages[i].tier = Tier::Gpu; });
    if (st.bytes == 0 || st.region == Region::Caller)
      return;
    for (const Storage &other : s.storages) // onto one that is alive together with it
      if (&other != &st && other.region == st.region && other.bytes > 0 && other.birth < st.death &&
          st.birth < other.death)
        for (int64_t at : {other.offset, other.offset + (other.bytes - 1) / 64 * 64})
          mutate("overlap", [&](Solution &m) { m.storages[i].offset = at; });
    for (size_t k = 0; k < s.actions.size(); ++k)
      if (workspace(k) > 0 && st.region == Region::Transient && st.birth <= int(k) && int(k) < st.death) {
        mutate("storage on workspace", [&](Solution &m) { m.storages[i].offset = m.actions[k].workspaceOffset; });
        mutate("workspace on storage", [&](Solution &m) { m.actions[k].workspaceOffset = st.offset; });
      }
  }

  void place(size_t i) {
    for (int64_t change : {-64, 64, 1})
      mutate("place offset", [&](Solution &m) { m.places[i].offset += change; });
    mutate("place buffer", [&](Solution &m) { m.places[i].buffer = (m.places[i].buffer + 1) % int(p.buffers.size()); });
    mutate("place run", [&](Solution &m) { m.places[i].run += 64, m.places[i].stride += 128; });
    mutate("place instance", [&](Solution &m) { m.places[i].instance = -1; });
    if (s.storages.size() > 1)
      mutate("storage", [&](Solution &m) { m.places[i].storage = (m.places[i].storage + 1) % int(s.storages.size()); });
    const int alias = s.places[i].alias;
    mutate("alias", [&](Solution &m) { m.places[i].alias = int(p.aliases.size()); });
    if (alias >= 0 && p.aliases[alias].kind != AliasKind::InPlace)
      mutate("no alias", [&](Solution &m) { m.places[i].alias = -1; });
  }

  void action(size_t k) {
    const Action &a = s.actions[k];
    mutate("dropped", [&](Solution &m) { m.actions.erase(m.actions.begin() + int64_t(k)); });
    mutate("twice", [&](Solution &m) { m.actions.insert(m.actions.begin() + int64_t(k), a); });
    mutate("kind",
           [&](Solution &m) { m.actions[k].kind = a.kind == ActionKind::Run ? ActionKind::Elided : ActionKind::Run; });
    for (size_t r = 0; r < a.reads.size(); ++r)
      mutate("operand", [&](Solution &m) { m.actions[k].reads[r] = (a.reads[r] + 1) % int(s.places.size()); });
    mutate("no result", [&](Solution &m) { m.actions[k].writes.clear(); });
    if (workspace(k) > 0)
      for (int64_t offset : {int64_t(-1), a.workspaceOffset + 32, a.workspaceOffset - 1})
        mutate("workspace", [&](Solution &m) { m.actions[k].workspaceOffset = offset; });
    else
      mutate("workspace for none", [&](Solution &m) { m.actions[k].workspaceOffset = 0; });
    const std::vector<Candidate> &all = p.steps[a.step].candidates;
    for (int c = -1; c <= int(all.size()); ++c)
      if (c < 0 || c == int(all.size()) || (a.kind == ActionKind::Run && all[c].ns != all[a.candidate].ns))
        mutate("candidate", [&](Solution &m) { m.actions[k].candidate = c; });
    for (size_t j = k + 1; j < s.actions.size(); ++j) // a later one that needs this one
      if (depends(s.actions[j], a))
        mutate("order", [&](Solution &m) { std::swap(m.actions[k], m.actions[j]); });
  }

  static bool depends(const Action &later, const Action &earlier) {
    return std::any_of(later.reads.begin(), later.reads.end(), [&](int place) {
      return std::find(earlier.writes.begin(), earlier.writes.end(), place) != earlier.writes.end();
    });
  }
};

TEST(CheckSolution, RejectsEveryMutationOfSoundSolutions) {
  int tried = 0, elided = 0, inPlace = 0, strided = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    Problem p = randomProblem(seed, {.steps = 4 + int(seed % 14)});
    ASSERT_THAT(validate(p), IsEmpty());
    Solution s = solve(p, seed % 2);
    ASSERT_THAT(checkSolution(p, s), IsEmpty()) << "seed " << seed;
    for (const Action &a : s.actions)
      elided += a.kind == ActionKind::Elided;
    for (const Place &at : s.places) {
      inPlace += at.alias >= 0 && p.aliases[at.alias].kind == AliasKind::InPlace;
      strided += at.run > 0;
    }
    Mutator mutator(p, s);
    mutator.tryAll();
    EXPECT_EQ(mutator.missed, 0) << "seed " << seed << " " << mutator.firstMissed;
    tried += mutator.tried;
  }
  EXPECT_GT(tried, 20000);
  // The claim is about plans that use all kinds of aliases.
  EXPECT_GT(elided, 20);
  EXPECT_GT(inPlace, 100);
  EXPECT_GT(strided, 5);
}

TEST(CheckSolution, AcceptsWhatThePlannerMakes) {
  for (uint64_t seed = 1000; seed < 1600; ++seed) {
    Problem p = randomProblem(seed, {.steps = 3 + int(seed % 40)});
    EXPECT_THAT(checkSolution(p, solve(p, seed % 2)), IsEmpty()) << "seed " << seed;
  }
}

TEST(CheckSolution, RejectsAPeakAboveTheCapacity) {
  Problem p = randomProblem(5);
  Solution s = solve(p, true);
  p.tiers[0].capacity = s.peak[0];
  EXPECT_THAT(checkSolution(p, s), IsEmpty());
  p.tiers[0].capacity = s.peak[0] - 1;
  EXPECT_THAT(checkSolution(p, s), ElementsAre(HasSubstr("tier ram: need a peak within")));
  EXPECT_THAT(checkSolution(p, s, IgnoreCapacity::Yes), IsEmpty());
}

// x -> a -> b -> y; a is also read by the last step.
struct Chain {
  Problem p;
  Solution s;
  Chain() {
    p.buffers = {{.name = "x", .bytes = 64, .kind = BufferKind::Input},
                 {.name = "a", .bytes = 64},
                 {.name = "b", .bytes = 64},
                 {.name = "y", .bytes = 64, .kind = BufferKind::Output}};
    auto step = [&](const char *name, std::vector<int> reads, int write) {
      p.steps.push_back({.name = name, .reads = std::move(reads), .writes = {write}, .candidates = {{.ns = 10}}});
    };
    step("first", {0}, 1), step("second", {1}, 2), step("third", {1, 2}, 3);
    s.storages = {{Region::Caller, Tier::Ram, 0, 64, 0, 3},
                  {Region::Transient, Tier::Ram, 0, 64, 0, 3},
                  {Region::Transient, Tier::Ram, 64, 64, 1, 3},
                  {Region::Caller, Tier::Ram, 0, 64, 0, 3}};
    for (int b = 0; b < 4; ++b)
      s.places.push_back({b, 0, b});
    for (int k = 0; k < 3; ++k)
      s.actions.push_back({ActionKind::Run, k, 0, 0, p.steps[k].reads, p.steps[k].writes});
    s.ns = 30, s.caller[0] = 128, s.arena[0] = s.live[0] = 128, s.peak[0] = 256, s.peakAction = 1;
  }
};

TEST(CheckSolution, AcceptsAHandWrittenPlan) {
  Chain c;
  EXPECT_THAT(checkSolution(c.p, c.s), IsEmpty());
}

TEST(CheckSolution, SaysWhichContentsAnInPlaceWriteDestroys) {
  Chain c;
  c.p.aliases = {{AliasKind::InPlace, 2, 1, 1}};
  c.s.places[2] = {2, 0, 1, 0, 0, 0, 0};
  c.s.places[3].storage = 2;
  c.s.storages.erase(c.s.storages.begin() + 2);
  EXPECT_THAT(checkSolution(c.p, c.s),
              ElementsAre("action 1 ('second'): writing place 2 of 'b' destroys place 1 of 'a', "
                          "which is read until action 2"));
}

TEST(CheckSolution, AcceptsRecomputationAsASecondInstance) {
  Chain c;
  // 'first' runs again for 'third', so that a may be freed after 'second'.
  c.s.storages[1] = {Region::Transient, Tier::Ram, 0, 64, 0, 2};
  c.s.storages[2] = {Region::Transient, Tier::Ram, 64, 64, 1, 4};
  c.s.storages[0].death = c.s.storages[3].death = 4;
  c.s.storages.push_back({Region::Transient, Tier::Ram, 0, 64, 2, 4});
  c.s.places.push_back({1, 1, 4});
  c.s.actions.insert(c.s.actions.begin() + 2, {ActionKind::Run, 0, 1, 0, {0}, {4}});
  c.s.actions[3].reads = {4, 2};
  c.s.ns = 40;
  EXPECT_THAT(checkSolution(c.p, c.s), IsEmpty());
  c.p.steps[0].pure = false;
  EXPECT_THAT(checkSolution(c.p, c.s), ElementsAre(HasSubstr("an impure step may run once only")));
}

TEST(CheckSolution, AcceptsASpillAndItsReturn) {
  Chain c;
  c.p.links = {{Tier::Ram, Tier::Ssd, 64'000'000'000, 5}, {Tier::Ssd, Tier::Ram, 64'000'000'000, 7}};
  c.s.storages = {{Region::Caller, Tier::Ram, 0, 64, 0, 5},       {Region::Transient, Tier::Ram, 0, 64, 0, 3},
                  {Region::Transient, Tier::Ram, 4096, 64, 1, 5}, {Region::Caller, Tier::Ram, 0, 64, 0, 5},
                  {Region::Transient, Tier::Ssd, 0, 64, 2, 4},    {Region::Transient, Tier::Ram, 0, 64, 3, 5}};
  c.s.places.push_back({1, 1, 4}), c.s.places.push_back({1, 2, 5});
  c.s.actions = {{ActionKind::Run, 0, 0, 0, {0}, {1}},
                 {ActionKind::Run, 1, 0, 0, {1}, {2}},
                 {ActionKind::Copy, -1, 0, -1, {1}, {4}},
                 {ActionKind::Copy, -1, 0, -1, {4}, {5}},
                 {ActionKind::Run, 2, 0, 0, {5, 2}, {3}}};
  c.s.ns = 30 + 6 + 8;
  c.s.arena = {4160, 0, 4096, 0}, c.s.live = {4160, 0, 4096, 0}, c.s.peak = {4288, 0, 4096, 0};
  EXPECT_THAT(checkSolution(c.p, c.s), IsEmpty());
  Solution early = c.s;
  std::swap(early.actions[2], early.actions[3]);
  EXPECT_THAT(checkSolution(c.p, early), ElementsAre(HasSubstr("before any action has written it")));
  Solution misplaced = c.s;
  misplaced.storages[5].offset = 64;
  EXPECT_THAT(checkSolution(c.p, misplaced), ElementsAre(HasSubstr("need an offset that is a multiple of 4096")));
}

TEST(CheckSolution, RejectsAReadOfAnotherVersionOfAState) {
  Problem p;
  p.buffers = {{.name = "cache", .bytes = 64, .kind = BufferKind::State},
               {.name = "a", .bytes = 64},
               {.name = "b", .bytes = 64, .kind = BufferKind::Output}};
  p.steps = {{.name = "read", .reads = {0}, .writes = {1}, .candidates = {{.ns = 1}}},
             {.name = "update", .reads = {0}, .writes = {0}, .candidates = {{.ns = 1}}},
             {.name = "use", .reads = {1}, .writes = {2}, .candidates = {{.ns = 1}}}};
  Solution s = solve(p, true);
  ASSERT_THAT(checkSolution(p, s), IsEmpty());
  size_t read = 0, update = 0;
  for (size_t k = 0; k < s.actions.size(); ++k)
    (s.actions[k].step == 0 ? read : s.actions[k].step == 1 ? update : k) = k;
  std::swap(s.actions[read], s.actions[update]);
  EXPECT_THAT(checkSolution(p, s), testing::Contains(HasSubstr("need state 'cache' after 0 writes, have 1")));
}

} // namespace
} // namespace plim::check
