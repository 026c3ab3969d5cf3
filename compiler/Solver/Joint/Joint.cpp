//===- Joint.cpp - Order, choice, recompute, spill and stream, planned together ------------------===//
#include "compiler/Solver/Joint/Joint.h"
#include "compiler/Solver/Exact/ExactPlan.h"
#include "compiler/Solver/Joint/Emit.h"
#include "compiler/Solver/Joint/Search.h"
#include <algorithm>
#include <memory>
#include <numeric>

namespace plim::solver {
namespace {

// What a link's time is charged with. None is best everywhere: a busy link stalls where the plan saw free slots.
constexpr double kLinkPrices[] = {0, 0.05, 0.25};
constexpr int kReplans = 6;
constexpr int kCoarseRescues = 100;
constexpr int kLoweringRescues = 2;      // times as many as elsewhere: each success is a smaller plan
constexpr int kThoroughOperations = 128; // graphs with transfers that are tried again where the first try fails
constexpr int kThoroughRounds = 12000;   // of that try, by operation: few take little time, and each matters more

// Work for one try at a smaller plan, and for all that follow it. Small graphs, which are the harder ones near their
// floor, take more of it; a million takes about 0.1 s.
int64_t tryWork(const Graph &graph) {
  return std::clamp<int64_t>(10'000'000'000 / int64_t(graph.operations.size() + 1), 6'000'000, 25'000'000);
}

int64_t ramOf(const JointOptions &options) { return options.capacity[int(Tier::Ram)]; }
int64_t ssdOf(const JointOptions &options) { return options.capacity[int(Tier::Ssd)]; }

// Plans transfers in the order of the queues and repairs what no longer fits, until it does.
bool settleTransfers(Timeline &t, const JointOptions &options) {
  std::mt19937_64 random(options.seed);
  for (int round = 0; round < kReplans; ++round) {
    const size_t mark = t.mark();
    t.replanTransfers();
    if (t.over() <= 0)
      break;
    if (!repair(t, {}, random)) {
      t.undo(mark);
      break;
    }
  }
  t.over();
  t.commit();
  relaxTransfers(t);
  return t.over() <= 0;
}

SearchOptions searchOf(const JointOptions &options, bool firstFit) {
  return {options.seed, options.iterations, options.rescues, firstFit, options.work};
}

// A timeline that fits; null where none is found.
std::unique_ptr<Timeline> fittingTimeline(const Graph &graph, const JointOptions &options, double linkPrice,
                                          bool firstFit) {
  auto t = std::make_unique<Timeline>(graph, ramOf(options), ssdOf(options));
  for (int slot = 0; slot < std::min(t->slots, int(options.capacityAt.size())); ++slot)
    t->setCapacity(slot, std::min(t->capacityAt(slot), options.capacityAt[slot] - graph.resident));
  t->linkPrice = linkPrice;
  plant(*t, searchOf(options, firstFit));
  if (!improve(*t, searchOf(options, firstFit)) || !settleTransfers(*t, options))
    return nullptr;
  return t;
}

bool transfers(const Graph &graph) {
  return std::any_of(graph.values.begin(), graph.values.end(),
                     [](const Graph::Value &v) { return v.maker < 0 || v.spillable; });
}

std::optional<JointPlan> planBest(const Graph &graph, const JointOptions &options, bool firstFit = false) {
  std::optional<JointPlan> best;
  for (double price : kLinkPrices) {
    if (std::unique_ptr<Timeline> t = fittingTimeline(graph, options, price, firstFit)) {
      JointPlan plan = emit(*t);
      if (!best || plan.ns < best->ns)
        best = std::move(plan);
    }
    if (!transfers(graph) || (firstFit && best))
      break;
  }
  return best;
}

// Lowers the capacity of a timeline that fits bit by bit, and mends it each time, until it no longer can.
std::unique_ptr<Timeline> lowered(std::unique_ptr<Timeline> t, int64_t least, const JointOptions &options) {
  constexpr double kFirstStep = 0.02, kLastStep = 0.002;
  const int64_t resident = t->graph.resident;
  SearchOptions search = searchOf(options, true);
  search.rescues *= kLoweringRescues;
  const int64_t most = tryWork(t->graph);
  int64_t work = 0;
  for (double step = kFirstStep; step > kLastStep && work < most;) {
    const int64_t now = liveOf(*t) + resident, target = std::max(least, now - int64_t(double(now) * step));
    if (target >= now)
      break;
    auto next = std::make_unique<Timeline>(*t);
    for (int slot = 0; slot < next->slots; ++slot)
      next->setCapacity(slot, target - resident);
    ++search.seed, next->work = work, search.work = most;
    const bool fits = mend(*next, search);
    work = next->work;
    if (fits)
      t = std::move(next);
    else
      step /= 2;
  }
  return t;
}

// Repair is weak on small graphs near their floor, where one value is a large part of the memory: there all plans are
// tried.
std::optional<JointPlan> planEither(const Context &context, const std::vector<int> &order, const Graph &graph,
                                    const JointOptions &options, bool firstFit = false) {
  std::optional<JointPlan> best = planBest(graph, options, firstFit);
  const bool searched = !transfers(graph) && options.capacityAt.empty() && isSmall(context.problem);
  if (!searched || (best && best->ns <= graph.fastestNs))
    return best;
  ExactPlan exact = exactPlan(context, {.arena = ramOf(options), .order = order});
  if (exact.outcome == ExactPlan::Outcome::Fastest && (!best || exact.ns < best->ns))
    best = JointPlan{std::move(exact.schedule), std::move(exact.begun), exact.live, exact.ns};
  return best;
}

} // namespace

JointPlanner::JointPlanner(const Context &c, std::vector<int> given) : context(c), order(std::move(given)) {
  if (order.empty()) {
    order.resize(c.problem.steps.size());
    std::iota(order.begin(), order.end(), 0);
  }
}

std::optional<JointPlan> JointPlanner::plan(const JointOptions &options) const {
  return planEither(context, order, Graph(context, order, ssdOf(options) > 0), options);
}

std::optional<JointPlan> JointPlanner::smallest(const JointOptions &given) const {
  const Graph graph(context, order, ssdOf(given) > 0);
  // No plan needs less than the operands of each operation with its leanest way.
  int64_t low = graph.resident, high = INT64_MAX;
  for (const Graph::Operation &op : graph.operations) {
    int64_t least = INT64_MAX;
    for (int w = 0; w < int(op.ways.size()); ++w) {
      int64_t bytes = op.ways[w].workspace;
      for (const auto *operands : {&op.reads, &op.writes})
        for (int v : *operands)
          bytes += *std::min_element(graph.values[v].bytes.begin(), graph.values[v].bytes.end());
      for (const Graph::Sharing &x : op.sharings)
        bytes -= *std::max_element(graph.values[x.gives].bytes.begin(), graph.values[x.gives].bytes.end());
      least = std::min(least, bytes);
    }
    low = std::max(low, least + graph.resident);
  }
  JointOptions options = given;
  options.capacityAt.clear(), options.iterations = 0;
  std::optional<JointPlan> best = planEither(context, order, graph, options, true);
  if (!best)
    return best;
  const int64_t lowest = low;
  high = best->live + graph.resident;
  // Where a timeline can be lowered from there on, a coarse search will do.
  const bool lowers = !transfers(graph) && !isSmall(context.problem);
  if (lowers)
    options.rescues = std::min(given.rescues, kCoarseRescues), options.work = tryWork(graph);
  const int64_t step = std::max(transfers(graph) ? kSsdAlign : kAlign, high / (lowers ? 25 : 500));
  // The first timeline that fits may not once its transfers are in the order of their queues, where another one does.
  const bool thorough = transfers(graph) && int(graph.operations.size()) <= kThoroughOperations;
  while (high - low > step) {
    options.capacity[int(Tier::Ram)] = low + (high - low) / 2;
    std::optional<JointPlan> plan = planEither(context, order, graph, options, true);
    if (!plan && thorough) {
      JointOptions more = options;
      more.iterations = std::max(given.iterations, kThoroughRounds / std::max(1, int(graph.operations.size())));
      plan = planEither(context, order, graph, more);
    }
    if (plan) {
      high = std::min(options.capacity[int(Tier::Ram)], plan->live + graph.resident);
      best = std::move(plan);
    } else {
      low = options.capacity[int(Tier::Ram)];
    }
  }
  options.capacity[int(Tier::Ram)] = high, options.rescues = given.rescues, options.work = given.work;
  if (lowers)
    if (std::unique_ptr<Timeline> t = fittingTimeline(graph, options, 0, true)) {
      t = lowered(std::move(t), lowest, options);
      if (liveOf(*t) + graph.resident < high) {
        improve(*t, searchOf(given, false));
        return emit(*t);
      }
    }
  options.iterations = given.iterations;
  std::optional<JointPlan> faster = planBest(graph, options);
  return faster && faster->ns < best->ns ? faster : best;
}

} // namespace plim::solver
