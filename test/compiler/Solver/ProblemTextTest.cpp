//===- ProblemTextTest.cpp - The text format: round trip, refusals, random text ------------------===//
#include "compiler/Solver/ProblemText.h"
#include "compiler/Solver/Fit.h"
#include "test/compiler/Solver/RandomProblem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plim::solver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ProblemText, RoundTripsProblemsAndSolutions) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Problem p = randomProblem(seed, {.steps = 5 + int(seed % 20)});
    p.tiers[1].capacity = int64_t(seed) * 1000;
    p.links.push_back({Tier::Ram, Tier::Ssd, 900'000'000, 80'000});
    p.steps[0].splits.push_back({"rows", 960, 8, SplitAxis::Combine::Sum, {}});
    p.steps[0].splits[0].operands.resize(p.steps[0].reads.size(), {2, -1, 3, int64_t(1 + seed % 3)});
    p.buffers[1].movable = seed % 2;
    p.buffers[0].name = "name with \"quotes\", = and \n\x01 # bytes";
    p.levers.recompute = seed % 2;
    p.buffers[0].movable = seed % 3 != 0;
    std::vector<std::string> errors;
    const std::string text = printProblem(p);
    auto again = parseProblem(text, errors);
    ASSERT_TRUE(again) << testing::PrintToString(errors);
    EXPECT_EQ(printProblem(*again), text);
    EXPECT_EQ(again->buffers[0].name, p.buffers[0].name);
    EXPECT_EQ(again->buffers[0].movable, p.buffers[0].movable);
    EXPECT_EQ(again->steps.size(), p.steps.size());
    EXPECT_EQ(again->steps[0].splits[0].operands.back().divisor, int64_t(1 + seed % 3));
    EXPECT_EQ(again->buffers[1].movable, p.buffers[1].movable);
    EXPECT_EQ(again->links.back().latencyNs, 80'000);
    EXPECT_THAT(validate(*again), testing::IsEmpty());

    FitOptions options;
    options.orderRounds = 5, options.packPasses = 4, options.exactNodes = 0;
    Solution s = *fitBudget(p, options).solution;
    s.actions.push_back({.kind = ActionKind::Copy, .reads = {0}, .writes = {1}});
    s.actions.push_back({.kind = ActionKind::Copy, .reads = {0}, .writes = {1}, .queue = Queue::Write});
    s.actions.push_back({.kind = ActionKind::Copy, .reads = {1}, .writes = {0}, .queue = Queue::Read});
    s.actions.push_back({.kind = ActionKind::Wait, .waits = {int(s.actions.size()) - 2, int(s.actions.size()) - 1}});
    s.storages.push_back({Region::File, Tier::Ssd, 0, 4096, 0, 3});
    auto solution = parseSolution(printSolution(s), errors);
    ASSERT_TRUE(solution) << testing::PrintToString(errors);
    EXPECT_EQ(*solution, s);
  }
}

TEST(ProblemText, ReportsAllErrorsWithLines) {
  std::vector<std::string> errors;
  EXPECT_FALSE(
      parseProblem("problem 1\nworkers many\nbuffer a bytes=12XB kind=weight\nfoo\nstep s reads=0,x colour=red\n"
                   "buffer b bytes=1 bytes=2\nbuffer \"open\n",
                   errors));
  EXPECT_THAT(errors,
              ElementsAre("line 2: need workers as a whole number in [-2147483648, 2147483647], have 'many'",
                          "line 3: need one of transient, input, output, constant, state, have 'weight'",
                          HasSubstr("line 3: need bytes as a whole number"), "line 4: unknown line 'foo'",
                          HasSubstr("line 5: need reads as a whole number"), "line 5: 'step' has no field 'colour'",
                          "line 6: need 'bytes' once, have it twice", HasSubstr("line 7: need a closing quote")));
}

TEST(ProblemText, ReportsWhatTransfersAndSplitsLack) {
  std::vector<std::string> errors;
  EXPECT_FALSE(
      parseProblem("problem 1\nstep s reads=- writes=-\n  split rows extent=9 min=1 operands=1:0,1:0:0:2:3,1:x:0\n"
                   "link from=ram to=disk bps=1\n",
                   errors));
  EXPECT_FALSE(
      parseSolution("solution 1\naction copy queue=later reads=0 writes=1\naction wait copies=1,two\n", errors));
  EXPECT_THAT(errors, ElementsAre("line 3: need operands as stride:before:after[:divisor], have '1:0'",
                                  "line 3: need operands as stride:before:after[:divisor], have '1:0:0:2:3'",
                                  "line 3: need operands as stride:before:after[:divisor], have '1:x:0'",
                                  "line 4: need one of ram, pinned, ssd, gpu, have 'disk'",
                                  "line 2: need one of cpu, read, write, have 'later'",
                                  HasSubstr("line 3: need copies as a whole number")));
}

TEST(ProblemText, NeedsItsHeader) {
  std::vector<std::string> errors;
  EXPECT_FALSE(parseProblem("", errors));
  EXPECT_FALSE(parseProblem("# only a comment\n", errors));
  EXPECT_FALSE(parseProblem("problem 2\n", errors));
  EXPECT_FALSE(parseProblem("solution 1\n", errors));
  EXPECT_THAT(errors, ElementsAre(HasSubstr("empty text"), HasSubstr("empty text"),
                                  "line 1: need 'problem 1' first, have 'problem'",
                                  "line 1: need 'problem 1' first, have 'solution'"));
}

TEST(ProblemText, RandomAndMutatedTextNeverCrashes) {
  std::mt19937_64 random(3);
  const std::string alphabet = "problem 1\nstepbufferaliascandidate =,\"\\x-0123456789 reads=writes=ns=kind=\n#";
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    if (round % 2) {
      text = printProblem(randomProblem(uint64_t(round), {.steps = 4}));
      for (int k = 0; k < 4; ++k)
        text[random() % text.size()] = round % 4 == 1 ? char(random()) : alphabet[random() % alphabet.size()];
    } else {
      text = "problem 1\n";
      for (size_t k = 0, length = random() % 300; k < length; ++k)
        text += alphabet[random() % alphabet.size()];
    }
    std::vector<std::string> errors;
    auto problem = parseProblem(text, errors);
    EXPECT_EQ(problem.has_value(), errors.empty());
    if (problem && validate(*problem).empty() && unplannable(*problem).empty()) {
      FitOptions options;
      options.orderRounds = 2, options.packPasses = 2, options.exactNodes = 0, options.alternatives = false;
      FitResult result = fitBudget(*problem, options);
      EXPECT_NE(result.solution.has_value(), result.refusal.has_value());
    }
    parseSolution("solution 1\n" + text.substr(10), errors);
  }
}

} // namespace
} // namespace plim::solver
