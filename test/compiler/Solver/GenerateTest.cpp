//===- GenerateTest.cpp - Generated problems -----------------------------------------------------===//
#include "compiler/Solver/Generate/Generate.h"
#include <gmock/gmock.h>

namespace plim::solver {
namespace {

constexpr GraphShape kShapes[] = {GraphShape::Gpt, GraphShape::ResNet, GraphShape::UNet, GraphShape::Layered,
                                  GraphShape::Stream};

TEST(Generate, ProblemsAreSoundAndMeetTheStepsAskedFor) {
  for (GraphShape shape : kShapes)
    for (int ops : {100, 1000, 9000}) {
      SCOPED_TRACE(graphShapeName(shape));
      const Problem p = generateProblem({.shape = shape, .ops = ops});
      EXPECT_THAT(validate(p), testing::IsEmpty());
      EXPECT_NEAR(double(p.steps.size()), ops, 60 + 0.05 * ops);
    }
}

TEST(Generate, TheGraphsOfTheFiguresHaveTheirSteps) {
  auto steps = [](GraphShape shape, int ops) { return generateProblem({.shape = shape, .ops = ops}).steps.size(); };
  for (int ops : {380, 972, 2822, 9482, 28426})
    EXPECT_EQ(steps(GraphShape::Gpt, ops), size_t(ops));
  for (int ops : {364, 2510, 8281})
    EXPECT_EQ(steps(GraphShape::ResNet, ops), size_t(ops));
  for (int ops : {283, 2470, 8221})
    EXPECT_EQ(steps(GraphShape::UNet, ops), size_t(ops));
}

TEST(Generate, OnlyTheSeedMakesLayeredGraphsDiffer) {
  auto reads = [](uint64_t seed) {
    std::vector<std::vector<int>> all;
    for (const Step &s : generateProblem({.shape = GraphShape::Layered, .ops = 200, .seed = seed}).steps)
      all.push_back(s.reads);
    return all;
  };
  EXPECT_EQ(reads(1), reads(1));
  EXPECT_NE(reads(1), reads(2));
}

TEST(Generate, NamesLeadBackToShapes) {
  for (GraphShape shape : kShapes)
    EXPECT_EQ(graphShapeNamed(graphShapeName(shape)), shape);
  EXPECT_EQ(graphShapeNamed("transformer"), std::nullopt);
}

TEST(Generate, LinksBringTheirLevers) {
  const Problem both = generateProblem({.ops = 100, .readBytesPerSecond = 2, .writeBytesPerSecond = 1});
  EXPECT_TRUE(both.levers.spill && both.levers.stream);
  ASSERT_TRUE(both.link(Tier::Ssd, Tier::Ram) && both.link(Tier::Ram, Tier::Ssd));
  EXPECT_EQ(both.link(Tier::Ssd, Tier::Ram)->bytesPerSecond, 2);
  EXPECT_EQ(both.link(Tier::Ram, Tier::Ssd)->bytesPerSecond, 1);
  const Problem none = generateProblem({.ops = 100});
  EXPECT_FALSE(none.levers.spill || none.levers.stream);
}

} // namespace
} // namespace plim::solver
