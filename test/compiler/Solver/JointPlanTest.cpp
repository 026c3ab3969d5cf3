//===- JointPlanTest.cpp - Joint plans, played action by action ----------------------------------===//
#include "compiler/Solver/Generate/Generate.h"
#include "compiler/Solver/Joint/Joint.h"
#include "test/compiler/Solver/JointReplay.h"
#include "test/compiler/Solver/RandomProblem.h"
#include <gmock/gmock.h>
#include <numeric>

namespace plim::solver {
namespace {

using testing::IsEmpty;

// Sizes in KiB, so that values are large enough to be worth a transfer.
Problem inKiB(Problem p) {
  constexpr int64_t kScale = 1024;
  for (Buffer &b : p.buffers) {
    b.bytes *= kScale;
    for (int64_t &size : b.sizes)
      size *= kScale;
  }
  for (Step &s : p.steps)
    for (Candidate &c : s.candidates)
      c.sharedBytes *= kScale, c.scratchBytes *= kScale, c.ns *= kScale;
  for (Alias &a : p.aliases)
    a.offset *= kScale, a.run *= kScale, a.stride *= kScale, a.savedNs *= kScale;
  return p;
}

Problem randomWithLevers(uint64_t seed, bool aliases) {
  std::mt19937_64 random(seed * 77 + 5);
  auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  Problem p = inKiB(randomProblem(seed, {.steps = 4 + int(random() % 40), .aliases = aliases}));
  p.levers = {.order = chance(80),
              .choose = chance(80),
              .alias = aliases,
              .recompute = chance(80),
              .spill = chance(60),
              .stream = chance(60)};
  if (chance(75)) {
    p.links.push_back({Tier::Ssd, Tier::Ram, 1'200'000'000, int64_t(random() % 2) * 1000});
    p.links.push_back({Tier::Ram, Tier::Ssd, 900'000'000, int64_t(random() % 2) * 1000});
  }
  for (Buffer &b : p.buffers)
    b.movable = !chance(5);
  return p;
}

std::vector<int> runCounts(const Problem &p, const Schedule &schedule) {
  std::vector<int> counts(p.steps.size(), 0);
  for (const Action &a : schedule.actions)
    if (a.kind == ActionKind::Run)
      ++counts[a.step];
  return counts;
}

int64_t constantBytes(const Problem &p, const Schedule &schedule) {
  std::vector<char> copied(schedule.instances.size(), 0);
  for (const Action &a : schedule.actions)
    if (a.kind == ActionKind::Copy)
      copied[a.writes[0]] = 1;
  int64_t sum = 0;
  for (size_t i = 0; i < schedule.instances.size(); ++i)
    if (const Schedule::Instance &x = schedule.instances[i];
        p.buffers[x.buffer].kind == BufferKind::Constant && x.tier == Tier::Ram && !copied[i])
      sum += alignUp(p.buffers[x.buffer].bytes, p.buffers[x.buffer].align);
  return sum;
}

// A plan for the budget, played: sound, within the budget, within its levers. Returns whether there was one.
bool planHolds(const Problem &p, const JointOptions &options, Replay *sum = nullptr) {
  const Context context(p);
  const std::optional<JointPlan> plan = JointPlanner(context).plan(options);
  if (!plan)
    return false;
  const Schedule &schedule = plan->schedule;
  const Replay played = replay(p, schedule);
  EXPECT_THAT(played.errors, IsEmpty());
  EXPECT_EQ(plan->slots.size(), schedule.actions.size());
  if (!p.levers.alias) {
    EXPECT_EQ(played.ns, plan->ns);
    const bool streams = p.levers.stream && p.link(Tier::Ssd, Tier::Ram);
    const int64_t constants = streams ? constantBytes(p, schedule) : 0;
    EXPECT_LE(played.live + constants, options.capacity[0]);
    EXPECT_LE(played.live, plan->live);
  }
  EXPECT_LE(played.spilled, options.capacity[int(Tier::Ssd)]);
  if (sum)
    sum->runs += played.runs - int(p.steps.size()), sum->copies += played.copies;
  const std::vector<int> counts = runCounts(p, schedule);
  if (!p.levers.recompute) {
    EXPECT_THAT(counts, testing::Each(testing::Le(1)));
  }
  if (!p.levers.spill && !p.levers.stream) {
    EXPECT_EQ(played.copies, 0);
  }
  if (!p.levers.order) {
    int last = -1;
    std::vector<char> seen(p.steps.size(), 0);
    for (const Action &a : schedule.actions)
      if (a.kind == ActionKind::Run && !std::exchange(seen[a.step], 1) && !p.levers.alias) {
        EXPECT_GT(a.step, last) << "first runs keep the given order";
        last = a.step;
      }
  }
  return true;
}

int64_t unboundedLive(const Problem &p) {
  const Context context(p);
  const std::optional<JointPlan> plan = JointPlanner(context).plan({});
  EXPECT_TRUE(plan.has_value());
  return plan ? plan->live : 0;
}

TEST(JointPlan, RandomProblemsWithAllLeversPlaySound) {
  int planned = 0;
  Replay sum; // of runs, those beyond the first
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const Problem p = randomWithLevers(seed, seed % 2);
    ASSERT_THAT(validate(p), IsEmpty());
    const int64_t live = unboundedLive(p);
    for (int percent : {100, 90, 75, 60, 40}) {
      JointOptions options{.seed = seed, .iterations = 20, .rescues = 30};
      int64_t constants = 0;
      for (const Buffer &b : p.buffers)
        constants += b.kind == BufferKind::Constant && p.levers.stream && p.link(Tier::Ssd, Tier::Ram) ? b.bytes : 0;
      options.capacity = {(live + (percent == 100 ? alignUp(constants, kSsdAlign) : 0)) * percent / 100, 0, live * 2,
                          0};
      if (seed % 5 == 0)
        options.capacity[int(Tier::Ssd)] = live / 4;
      planned += planHolds(p, options, &sum);
      if (HasFailure())
        return;
    }
  }
  EXPECT_GT(planned, 300);
  EXPECT_GT(sum.runs, 100);
  EXPECT_GT(sum.copies, 100);
}

TEST(JointPlan, TrainingGraphsFitBelowTheirPeakAndPlaySound) {
  for (GraphShape shape : {GraphShape::Gpt, GraphShape::ResNet, GraphShape::UNet, GraphShape::Layered}) {
    SCOPED_TRACE(graphShapeName(shape));
    const Problem p = generateProblem({.shape = shape, .ops = 300});
    const int64_t live = unboundedLive(p);
    for (int percent : {90, 70, 50})
      EXPECT_TRUE(planHolds(p, {.capacity = {live * percent / 100, 0, 0, 0}, .iterations = 20})) << percent;
  }
}

TEST(JointPlan, EqualOptionsGiveEqualPlans) {
  const Problem p = generateProblem({.shape = GraphShape::Gpt, .ops = 300});
  const Context context(p);
  const int64_t live = unboundedLive(p);
  const JointOptions options{.capacity = {live / 2, 0, 0, 0}, .iterations = 50};
  const std::optional<JointPlan> a = JointPlanner(context).plan(options), b = JointPlanner(context).plan(options);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->schedule, b->schedule);
}

TEST(JointPlan, PostponingCostsNothing) {
  // Two large values are made at once and used one after the other: the second is made just before its use.
  Problem p;
  p.buffers = {{.name = "in", .bytes = 64, .kind = BufferKind::Input},
               {.name = "a", .bytes = 6400},
               {.name = "b", .bytes = 6400},
               {.name = "c", .bytes = 64},
               {.name = "out", .bytes = 64, .kind = BufferKind::Output}};
  auto step = [](const std::vector<int> &reads, const std::vector<int> &writes) {
    return Step{.name = "s", .reads = reads, .writes = writes, .candidates = {{.kernel = "k", .ns = 100}}};
  };
  p.steps = {step({0}, {1}), step({0}, {2}), step({1}, {3}), step({2, 3}, {4})};
  ASSERT_THAT(validate(p), IsEmpty());
  const Context context(p);
  const std::optional<JointPlan> plan = JointPlanner(context).plan({.capacity = {7000, 0, 0, 0}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->ns, 400);
  EXPECT_LE(replay(p, plan->schedule).live, 7000);
  p.levers.order = false;
  EXPECT_FALSE(JointPlanner(context).plan({.capacity = {7000, 0, 0, 0}})) << "the given order needs both at once";
}

TEST(JointPlan, ProblemsWithoutTransientsArePlannedOrRefused) {
  Problem p;
  const Context nothing(p);
  EXPECT_TRUE(JointPlanner(nothing).plan({}));
  EXPECT_TRUE(JointPlanner(nothing).smallest({}));
  p.buffers = {{.name = "in", .bytes = 64, .kind = BufferKind::Input},
               {.name = "out", .bytes = 64, .kind = BufferKind::Output}};
  p.steps = {{.name = "s", .reads = {0}, .writes = {1}}};
  p.steps[0].candidates = {{.kernel = "fast", .ns = 1, .sharedBytes = 4096},
                           {.kernel = "lean", .ns = 2, .sharedBytes = 1024}};
  ASSERT_THAT(validate(p), IsEmpty());
  const Context context(p);
  auto ns = [&](int64_t capacity) {
    const std::optional<JointPlan> plan = JointPlanner(context).plan({.capacity = {capacity, 0, 0, 0}});
    return plan ? plan->ns : -1;
  };
  EXPECT_EQ(ns(4096), 1);
  EXPECT_EQ(ns(4095), 2);
  EXPECT_EQ(ns(1023), -1);
  EXPECT_EQ(JointPlanner(context).smallest({})->live, 1024);
}

TEST(JointPlan, SmallestNeedsLessThanHalfOfATrainingStep) {
  const Problem p = generateProblem({.shape = GraphShape::Gpt, .ops = 160});
  const Context context(p);
  const std::optional<JointPlan> plan = JointPlanner(context).smallest({.iterations = 20, .rescues = 50});
  ASSERT_TRUE(plan);
  const Replay played = replay(p, plan->schedule);
  EXPECT_THAT(played.errors, IsEmpty());
  EXPECT_EQ(played.live, plan->live);
  EXPECT_LT(plan->live, unboundedLive(p) / 2);
}

TEST(JointPlan, CapacitiesOfSlotsHold) {
  const Problem p = generateProblem({.shape = GraphShape::UNet, .ops = 300});
  const Context context(p);
  const int64_t live = unboundedLive(p);
  JointOptions options{.capacity = {live, 0, 0, 0}, .iterations = 20};
  options.capacityAt.assign(p.steps.size(), live);
  for (size_t k = p.steps.size() / 3; k < p.steps.size() / 2; ++k)
    options.capacityAt[k] = live * 6 / 10;
  const std::optional<JointPlan> plan = JointPlanner(context).plan(options);
  ASSERT_TRUE(plan);
  const Replay played = replay(p, plan->schedule);
  EXPECT_THAT(played.errors, IsEmpty());
  for (size_t k = 0; k < plan->slots.size(); ++k) {
    EXPECT_LE(played.liveAt[k], options.capacityAt[plan->slots[k]]) << "action " << k;
  }
  EXPECT_GT(plan->ns, JointPlanner(context).plan({.capacity = {live, 0, 0, 0}})->ns);
}

// Between its uses a value is out of memory in all slots, also in the very next one: its write is over by then.
TEST(JointPlan, AWriteEndsBeforeTheNextSlotWhereThatIsFull) {
  constexpr int64_t kBig = 1 << 20, kSmall = 1 << 16;
  Problem p;
  p.levers = {.spill = true};
  p.links = {{Tier::Ssd, Tier::Ram, 1'200'000'000, 60'000}, {Tier::Ram, Tier::Ssd, 900'000'000, 80'000}};
  p.buffers = {{.name = "x", .bytes = kSmall, .kind = BufferKind::Input},
               {.name = "kept", .bytes = kBig},
               {.name = "large", .bytes = kBig},
               {.name = "small", .bytes = kSmall},
               {.name = "y", .bytes = kSmall, .kind = BufferKind::Output}};
  auto step = [&](std::vector<int> reads, std::vector<int> writes) {
    p.steps.push_back(
        {.name = "s", .reads = std::move(reads), .writes = std::move(writes), .candidates = {{.ns = 1'000'000}}});
    p.steps.back().pure = false;
  };
  step({0}, {1}), step({0}, {2}), step({2}, {3}), step({1, 3}, {4});
  ASSERT_THAT(validate(p), IsEmpty());
  constexpr int64_t kLeast = kBig + kSmall; // what the third and the last step touch
  EXPECT_TRUE(planHolds(p, {.capacity = {kLeast, 0, kBig, 0}}));
  EXPECT_FALSE(planHolds(p, {.capacity = {kLeast, 0, 0, 0}}));
  // Where there is room the cpu does not wait for it.
  const Context context(p);
  const std::optional<JointPlan> full = JointPlanner(context).plan({.capacity = {kLeast, 0, kBig, 0}});
  const std::optional<JointPlan> room = JointPlanner(context).plan({.capacity = {2 * kBig, 0, kBig, 0}});
  ASSERT_TRUE(full && room);
  EXPECT_GT(full->ns, room->ns);
}

Step stepOf(std::vector<int> reads, std::vector<int> writes, int64_t ns) {
  return {.name = "s",
          .reads = std::move(reads),
          .writes = std::move(writes),
          .candidates = {{.kernel = "k", .ns = ns, .flags = kSubrangeOk}}};
}

// No search finds more than the memory of a step's operands here, so none is made: the plan is found at once.
TEST(JointPlan, WeightsThatAreUsedTwiceAreStreamedOneAtATime) {
  constexpr int kWeights = 60;
  constexpr int64_t kSmall = 256, kLarge = 1 << 20;
  Problem p;
  p.levers = {.stream = true};
  p.links = {{Tier::Ssd, Tier::Ram, 1'200'000'000, 60'000}};
  p.buffers = {{.name = "x", .bytes = kSmall, .kind = BufferKind::Input}};
  for (int k = 0; k < kWeights; ++k)
    p.buffers.push_back({.name = "w", .bytes = kLarge - (k * 7 % 16) * 40960, .kind = BufferKind::Constant});
  for (int k = 0; k < 2 * kWeights; ++k) { // forwards, then backwards
    p.buffers.push_back({.name = "v", .bytes = kSmall});
    const int weight = 1 + (k < kWeights ? k : 2 * kWeights - 1 - k);
    p.steps.push_back(stepOf({k == 0 ? 0 : kWeights + k, weight}, {kWeights + k + 1}, 100'000));
  }
  p.buffers.back().kind = BufferKind::Output;
  ASSERT_THAT(validate(p), IsEmpty());
  const Context context(p);
  const std::optional<JointPlan> least = JointPlanner(context).smallest({.iterations = 0, .rescues = 0});
  ASSERT_TRUE(least);
  EXPECT_EQ(least->live, kLarge + 2 * kSmall);
  EXPECT_TRUE(planHolds(p, {.capacity = {kLarge + 2 * kSmall, 0, 0, 0}, .iterations = 0, .rescues = 0}));
}

// Pieces that are written straight into an output of the caller's are no memory of the plan.
TEST(JointPlan, PiecesOfAnOutputTakeNothing) {
  constexpr int kPieces = 8;
  constexpr int64_t kPiece = 4096;
  Problem p;
  p.buffers = {{.name = "x", .bytes = 64, .kind = BufferKind::Input},
               {.name = "y", .bytes = kPieces * kPiece, .kind = BufferKind::Output}};
  Step whole = stepOf({}, {1}, 100);
  for (int k = 0; k < kPieces; ++k) {
    p.buffers.push_back({.name = "piece", .bytes = kPiece});
    p.steps.push_back(stepOf({0}, {k + 2}, 100));
    whole.reads.push_back(k + 2);
    p.aliases.push_back({AliasKind::Into, k + 2, 1, kPieces, k * kPiece});
  }
  p.steps.push_back(whole);
  ASSERT_THAT(validate(p), IsEmpty());
  EXPECT_TRUE(JointPlanner(Context(p)).plan({.capacity = {0, 0, 0, 0}, .iterations = 0, .rescues = 0}));
  for (Alias &alias : p.aliases) // between the rows of the others, which the kernel of one piece cannot write
    alias.run = 64, alias.stride = kPieces * 64, alias.offset = (&alias - p.aliases.data()) * 64;
  EXPECT_TRUE(JointPlanner(Context(p)).plan({.capacity = {0, 0, 0, 0}, .iterations = 0, .rescues = 0}));
  p.steps[3].candidates[0].flags = 0;
  EXPECT_EQ(JointPlanner(Context(p)).smallest({.iterations = 0, .rescues = 0})->live, kPiece);
}

} // namespace
} // namespace plim::solver
