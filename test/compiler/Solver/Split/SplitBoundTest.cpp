//===- SplitBoundTest.cpp - No plan in pieces takes less than the bound --------------------------------===//
#include "SplitProblems.h"
#include "compiler/Solver/Bound/Bound.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace plim::solver;
using ::testing::IsEmpty;

namespace {

// The problem without pieces, of steps that say how they can be cut.
Problem boundProblem(const SplitProblem &split) {
  Problem p;
  p.levers.split = p.levers.lend = p.levers.recompute = true;
  for (const SplitValue &v : split.values)
    p.buffers.push_back({.name = v.name,
                         .bytes = v.bytes,
                         .kind = v.output                            ? BufferKind::Output
                                 : v.kind == SplitValue::Kind::Input ? BufferKind::Input
                                                                     : BufferKind::Transient});
  for (const SplitStep &s : split.steps) {
    Step step{.name = s.name, .reads = s.reads, .writes = {s.write}, .candidates = {{.kernel = "k", .ns = s.ns}}};
    for (const SplitWay &way : s.ways) {
      const int64_t extent =
          way.carried ? extentOf(split, s.reads[0], way.operands[0].axis) : extentOf(split, s.write, way.axis);
      SplitAxis axis{.name = "rows", .extent = extent, .minPiece = way.tile > 1 ? 1 : std::min(way.align, extent)};
      axis.combine = way.carried ? SplitAxis::Combine::Sum : SplitAxis::Combine::Concat;
      for (size_t r = 0; r < s.reads.size(); ++r) {
        const SplitOperand &o = way.operands[r];
        axis.operands.push_back(
            leastOperand(o, axis.minPiece, extent, o.axis < 0 ? 0 : extentOf(split, s.reads[r], o.axis)));
      }
      step.splits.push_back(std::move(axis));
    }
    p.steps.push_back(std::move(step));
  }
  EXPECT_THAT(validate(p), IsEmpty());
  return p;
}

TEST(SplitBound, NoPlanInPiecesTakesLess) {
  std::mt19937 random(11);
  int plans = 0, tight = 0;
  auto expectAbove = [&](const SplitProblem &problem, const SplitPlan &plan, int64_t least) {
    std::string why;
    const std::optional<SplitCost> cost = costOfSplit(problem, plan, why);
    if (!cost)
      return;
    ++plans;
    EXPECT_GE(cost->peak, least) << printSplitPlan(plan, problem) << "\n" << printSplitProblem(problem);
    tight += cost->peak <= 2 * least;
  };
  for (int round = 0; round < 400; ++round) {
    SplitProblem problem = randomProblem(random);
    if (problem.steps.empty())
      continue;
    for (size_t v = 1; v < problem.values.size(); ++v)
      problem.values[v].output = std::none_of(problem.steps.begin(), problem.steps.end(),
                                              [&](const SplitStep &step) { return step.reads[0] == int(v); });
    const Problem whole = boundProblem(problem);
    // The bound counts the arena in multiples of 64.
    const int64_t least = leastBytes(whole).bytes - kAlign;
    SplitSearch search;
    search.slowest = 1e9;
    for (const PricedSplit &found : proposeSplits(problem, search))
      expectAbove(problem, found.plan, least);
    for (int64_t pieces : {1, 2, 5, 64}) {
      SplitPlan plan{{{pieces, {{problem.steps.back().write, 1}}}}};
      expectAbove(problem, plan, least);
      SplitPlan inParts = plan;
      inParts.stages[0].parts = 3, inParts.loose = tiledSteps(problem);
      expectAbove(problem, inParts, least);
      if (problem.steps.size() > 2) {
        plan.stages.insert(plan.stages.begin(), {pieces, {{problem.steps[problem.steps.size() / 2].write, 1}}});
        expectAbove(problem, plan, least);
      }
    }
  }
  for (const char *text : {kChain, kExcite}) {
    SplitProblem problem = parsed(text);
    const int64_t least = leastBytes(boundProblem(problem)).bytes - kAlign;
    SplitSearch search;
    search.slowest = 1000;
    for (const PricedSplit &found : proposeSplits(problem, search))
      expectAbove(problem, found.plan, least);
  }
  EXPECT_GT(plans, 1000);
  EXPECT_GT(tight, plans / 2) << "the bound says nothing of plans";
}

} // namespace
