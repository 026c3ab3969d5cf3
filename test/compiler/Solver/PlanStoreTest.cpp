//===- PlanStoreTest.cpp - Plans of an earlier search save time and change none ---------------===//
#include "compiler/Solver/PlanStore.h"
#include "compiler/Solver/Generate/Generate.h"
#include "compiler/Solver/Ladder.h"
#include "compiler/Solver/Layout.h"
#include "compiler/Solver/ProblemText.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <random>
#include <sstream>

namespace plim::solver {
namespace {

FitOptions quick(PlanStore *store) {
  FitOptions options;
  options.orderRounds = 40, options.tradeEvaluations = 500, options.packPasses = 24, options.exactNodes = 500;
  options.jointRounds = 20, options.jointRescues = 20, options.alternatives = false;
  options.store = store;
  return options;
}

Problem problem() { return generateProblem({.shape = GraphShape::UNet, .ops = 60}); }

// The text of the plan for so many eighths of the largest budget.
std::string planOf(const Problem &p, int eighths, PlanStore *store) {
  Ladder ladder(p, quick(store));
  const int64_t most = ladder.fastest({kUnbounded, kUnbounded, 0, kUnbounded})->peak[0];
  const Solution *plan = ladder.fastest({most * eighths / 8, kUnbounded, 0, kUnbounded});
  return plan ? printSolution(*plan) : "refused";
}

std::string filled(int eighths) {
  PlanStore store("build");
  planOf(problem(), eighths, &store);
  return store.print();
}

TEST(PlanStore, GivesThePlansThatASearchGives) {
  std::string text;
  for (int eighths : {4, 6, 5, 4, 7}) {
    PlanStore store("build");
    EXPECT_EQ(store.parse(text), !text.empty());
    EXPECT_EQ(planOf(problem(), eighths, &store), planOf(problem(), eighths, nullptr)) << eighths;
    const std::string next = store.print();
    EXPECT_GE(next.size(), text.size());
    text = next;
  }
}

TEST(PlanStore, TakesThePlaceOfTheSearch) {
  // Where it says that no plan was found for any budget, none is looked for.
  const Problem p = problem();
  const std::string text = filled(5);
  PlanStore store("build");
  ASSERT_TRUE(store.parse(text));
  std::istringstream lines(text);
  std::string key, word;
  int denied = 0;
  while (lines >> word)
    if (word == "problem") {
      lines >> key;
    } else if (word == "plan") {
      std::string call;
      PlanStore::TierBytes capacity;
      char comma;
      lines >> call >> capacity[0] >> comma >> capacity[1] >> comma >> capacity[2] >> comma >> capacity[3];
      if (call == "within")
        store.add(key, call, capacity, std::nullopt), ++denied;
    }
  EXPECT_GT(denied, 2);
  EXPECT_NE(planOf(p, 5, &store), planOf(p, 5, nullptr));
}

TEST(PlanStore, KnowsProblemsApart) {
  const Problem p = problem();
  Problem other = p, budget = p;
  ++other.steps[3].candidates[0].ns;
  budget.tiers[0].capacity = 1 << 20;
  Draft start;
  const FitOptions options = quick(nullptr);
  FitOptions more = options;
  ++more.jointRounds;
  EXPECT_NE(PlanStore::keyOf(p, start, options), PlanStore::keyOf(other, start, options));
  EXPECT_NE(PlanStore::keyOf(p, start, options), PlanStore::keyOf(p, start, more));
  EXPECT_EQ(PlanStore::keyOf(p, start, options), PlanStore::keyOf(budget, start, options));
}

TEST(PlanStore, TakesNothingFromATextThatIsNotItsOwn) {
  const std::string text = filled(5);
  PlanStore store("other");
  EXPECT_FALSE(store.parse(text));
  for (const std::string &foreign : {std::string(), std::string("hash "), std::string("plim-plans 1 build\n"),
                                     std::string(1000, '\0'), text + "x", text.substr(0, text.size() / 2)})
    EXPECT_FALSE(PlanStore("build").parse(foreign));
  std::mt19937 random(7);
  for (int k = 0; k < 200; ++k) {
    std::string damaged = text;
    damaged[random() % damaged.size()] ^= char(1 << random() % 7);
    PlanStore empty("build");
    EXPECT_FALSE(empty.parse(damaged));
    EXPECT_EQ(empty.print(), "");
  }
}

TEST(PlanStore, TakesNoPlanThatTheCheckerRefuses) {
  const Problem p = problem();
  Ladder ladder(p, quick(nullptr));
  Solution plan = ladder.smallest();
  const PlanStore::TierBytes enough{plan.peak[0], kUnbounded, kUnbounded, kUnbounded};
  PlanStore store("build");
  store.add("key", "within", enough, plan);
  store.add("key", "none", enough, std::nullopt);
  ASSERT_TRUE(store.find(p, "key", "within", enough));
  EXPECT_EQ(**store.find(p, "key", "within", enough), plan);
  ASSERT_TRUE(store.find(p, "key", "none", enough));
  EXPECT_FALSE(*store.find(p, "key", "none", enough));
  EXPECT_FALSE(store.find(p, "key", "smallest", enough));
  EXPECT_FALSE(store.find(p, "other", "within", enough));
  std::swap(plan.storages[0].offset, plan.storages[0].bytes);
  store.add("key", "within", enough, plan);
  EXPECT_FALSE(store.find(p, "key", "within", enough));
  // Nor one above the budget that it is said to be for.
  plan = ladder.smallest();
  PlanStore::TierBytes less = enough;
  --less[0];
  store.add("key", "within", less, plan);
  EXPECT_FALSE(store.find(p, "key", "within", less));
}

TEST(PlanStore, IsBounded) {
  const Problem p = problem();
  Ladder ladder(p, quick(nullptr));
  const Solution plan = ladder.smallest();
  const size_t bytes = printSolution(plan).size();
  PlanStore store("build");
  for (size_t k = 0; k * bytes < 2 * PlanStore::kMaxBytes; ++k)
    store.add("key", "within", {int64_t(k), 0, 0, 0}, plan);
  const std::string text = store.print();
  EXPECT_LE(text.size(), PlanStore::kMaxBytes);
  EXPECT_GT(text.size(), PlanStore::kMaxBytes / 2);
  EXPECT_TRUE(PlanStore("build").parse(text));
}

} // namespace
} // namespace plim::solver
