//===- SplitProblems.cpp - Problems of splitting that tests share -----------------------------------===//
#include "SplitProblems.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::solver {

using ::testing::IsEmpty;

SplitProblem parsed(const std::string &text) {
  std::vector<std::string> errors;
  std::optional<SplitProblem> problem = parseSplitProblem(text, errors);
  EXPECT_THAT(errors, IsEmpty());
  return problem ? *problem : SplitProblem();
}

SplitPlan planned(const std::string &text, const SplitProblem &problem) {
  std::string why;
  std::optional<SplitPlan> plan = parseSplitPlan(text, problem, why);
  EXPECT_TRUE(plan) << why;
  return plan ? *plan : SplitPlan();
}

const char *const kChain = R"(split 1
value x dims=1,16,4,2 bytes=512 kind=input
value a dims=1,16,4,8 bytes=2048
value b dims=1,8,2,8 bytes=512
value c dims=1,16,4,8 bytes=2048 output=1
value mean dims=1,1,1,8 bytes=32
value scaled dims=1,16,4,8 bytes=2048 output=1
step conv1 reads=0 write=1 ns=1000
way 1 operands=1:1:1:1:1
step conv2 reads=1 write=2 ns=500
way 1 operands=1:2:1:0:1
step resize reads=2 write=3 ns=10
way 1 align=2 operands=1:1:0:0:2
step mean reads=1 write=4 ns=10
way sum operands=1:1:0:0:1
step scale reads=1,4 write=5 ns=20
way 1 operands=1:1:0:0:1,whole
)";

const char *const kExcite = R"(split 1
value x dims=1,64,8,3 bytes=6144 kind=input
value narrow dims=1,64,8,4 bytes=8192
value wide dims=1,64,8,64 bytes=131072
value mean dims=1,1,1,64 bytes=256
value gate dims=1,1,1,64 bytes=256
value scaled dims=1,64,8,64 bytes=131072
value y dims=1,64,8,2 bytes=4096 output=1
step conv1 reads=0 write=1 ns=1000000
way 1 operands=1:1:1:1:1
step conv2 reads=1 write=2 ns=200000
way 1 operands=1:1:0:0:1
step mean reads=2 write=3 ns=1000
way sum operands=1:1:0:0:1
step gate reads=3 write=4 ns=1000
step scale reads=2,4 write=5 ns=20000
way 1 operands=1:1:0:0:1,whole
step conv3 reads=5 write=6 ns=500000
way 1 operands=1:1:1:1:1
)";

SplitProblem randomProblem(std::mt19937 &random) {
  auto pick = [&](int64_t low, int64_t high) { return low + int64_t(random() % uint64_t(high - low + 1)); };
  SplitProblem p;
  p.values.push_back({"x", {1, pick(8, 64)}, 64, SplitValue::Kind::Input});
  for (int s = 0; s < 8; ++s) {
    const int read = int(pick(std::max<int64_t>(0, int64_t(p.values.size()) - 3), int64_t(p.values.size()) - 1));
    const int64_t extent = p.values[size_t(read)].dims[1];
    SplitOperand o{1, 1, 0, 0, 1};
    int64_t rows = extent, align = 1;
    if (random() % 4 == 0) {
      o.divisor = align = pick(1, 3);
      rows = extent * o.divisor;
    } else {
      const int64_t kernel = pick(1, 5), stride = pick(1, 2), before = pick(0, kernel - 1), high = pick(0, kernel - 1);
      if (extent + before + high < kernel)
        continue;
      o.stride = stride, o.before = before, o.after = kernel - stride - before;
      rows = (extent + before + high - kernel) / stride + 1;
      align = random() % 3 == 0 ? 4 : 1;
    }
    SplitStep step;
    step.name = "s" + std::to_string(s);
    step.reads = {read};
    step.write = int(p.values.size());
    step.ways.push_back({1, align, false, {o}, o.divisor == 1 ? align : 1});
    p.values.push_back({"v" + std::to_string(s), {1, rows}, 64 * rows});
    p.steps.push_back(step);
  }
  return p;
}

std::vector<int> tiledSteps(const SplitProblem &problem) {
  std::vector<int> steps;
  for (size_t s = 0; s < problem.steps.size(); ++s)
    if (problem.steps[s].ways[0].tile > 1)
      steps.push_back(int(s));
  return steps;
}

} // namespace plim::solver
