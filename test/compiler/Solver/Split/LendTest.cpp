//===- LendTest.cpp - Storages in the caller's buffers --------------------------------------------===//
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Bound/Bound.h"
#include "compiler/Solver/Fit.h"
#include "compiler/Solver/ProblemText.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace plim::solver;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace {

// x -> a -> b -> c -> y: all of 4,096 bytes, run one after the other by steps that share nothing.
Problem chain() {
  Problem p;
  p.levers.order = false;
  p.buffers = {{.name = "x", .bytes = 4096, .kind = BufferKind::Input}};
  for (const char *name : {"a", "b", "c"})
    p.buffers.push_back({.name = name, .bytes = 4096});
  p.buffers.push_back({.name = "y", .bytes = 4096, .kind = BufferKind::Output});
  for (int s = 0; s < 4; ++s)
    p.steps.push_back({.name = p.buffers[size_t(s) + 1].name,
                       .reads = {s},
                       .writes = {s + 1},
                       .candidates = {{.kernel = "k", .ns = 1, .flags = 0}}});
  return p;
}

TEST(Lend, WhatEndsBeforeAnOutputIsWrittenLiesInIt) {
  Problem p = chain();
  EXPECT_EQ(fitBudget(p).solution->arena[0], 8192);
  p.levers.lend = true;
  const FitResult fit = fitBudget(p);
  ASSERT_TRUE(fit.solution);
  EXPECT_EQ(fit.solution->arena[0], 4096) << "of a, b and c two are alive together, one of them in y";
  EXPECT_THAT(plim::check::checkSolution(p, *fit.solution), IsEmpty());
}

TEST(Lend, WhatIsReadWhileTheOutputIsWrittenDoesNot) {
  Problem p = chain();
  p.levers.lend = true;
  p.steps.resize(1);
  p.steps.push_back({.name = "y", .reads = {1}, .writes = {4}, .candidates = {{.kernel = "k", .ns = 1, .flags = 0}}});
  p.buffers.erase(p.buffers.begin() + 2, p.buffers.begin() + 4);
  p.steps[1].writes = {2};
  EXPECT_EQ(fitBudget(p).solution->arena[0], 4096);
}

TEST(Lend, WhatIsMadeAfterAReusedInputIsReadLastLiesInIt) {
  Problem p = chain();
  p.buffers[0].reused = true;
  const FitResult fit = fitBudget(p);
  ASSERT_TRUE(fit.solution);
  EXPECT_EQ(fit.solution->arena[0], 4096) << "a cannot lie in x, b can";
  EXPECT_THAT(plim::check::checkSolution(p, *fit.solution), IsEmpty());
  EXPECT_EQ(leastBytes(p).bytes, 3 * 4096);
  p.levers.lend = true;
  p.steps.pop_back();
  p.buffers.pop_back();
  p.buffers[3].kind = BufferKind::Output;
  EXPECT_EQ(fitBudget(p).solution->arena[0], 0) << "a lies in c, b in x";
  EXPECT_EQ(leastBytes(p).bytes, 2 * 4096);
}

TEST(Lend, AnInputThatIsReadAgainIsNotOverwritten) {
  Problem p = chain();
  p.buffers[0].reused = true;
  FitResult fit = fitBudget(p);
  p.steps[3].reads.push_back(0);
  EXPECT_THAT(plim::check::checkSolution(p, *fit.solution), Not(IsEmpty()));
  fit = fitBudget(p);
  EXPECT_EQ(fit.solution->arena[0], 8192);
  EXPECT_THAT(plim::check::checkSolution(p, *fit.solution), IsEmpty());
}

TEST(Lend, OnlyAnInputCanBeReused) {
  Problem p = chain();
  std::vector<std::string> errors;
  p.buffers[0].reused = true;
  EXPECT_TRUE(parseProblem(printProblem(p), errors)->buffers[0].reused);
  p.buffers[1].reused = true;
  EXPECT_THAT(validate(p), ElementsAre(HasSubstr("need an input to reuse its bytes")));
}

} // namespace
