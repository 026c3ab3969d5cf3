//===- Joint.cpp - Order, choice, recompute, spill and stream, planned together ------------------===//
#include "compiler/Solver/Joint/Joint.h"
#include "compiler/Solver/Exact/ExactPlan.h"
#include "compiler/Solver/Joint/Emit.h"
#include "compiler/Solver/Joint/Search.h"
#include <algorithm>
#include <memory>
#include <numeric>

namespace plim::solver {

struct JointSearch {
  std::shared_ptr<const Graph> graph; // of the timeline
  std::unique_ptr<const Timeline> timeline;
};

namespace {

// What a link's time is charged with. None is best everywhere: a busy link stalls where the plan saw free slots.
constexpr double kLinkPrices[] = {0, 0.05, 0.25};
constexpr int kPriceShare = 4;    // of the rounds, for each of them
constexpr int kPatienceShare = 3; // of the rounds that remain, without a better plan
constexpr int kMendRounds = 60;   // after a plan was made smaller
constexpr int kReplans = 6;
constexpr int kCoarseRescues = 100;
constexpr int kLoweringRescues = 2; // times as many as elsewhere: each success is a smaller plan

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

// A plan of a timeline that fits, once its transfers are settled; nothing where they no longer fit then.
std::optional<JointPlan> settled(Timeline t, const JointOptions &options) {
  if (!settleTransfers(t, options))
    return std::nullopt;
  return emit(t);
}

void setCapacities(Timeline &t, const JointOptions &options) {
  for (int slot = 0; slot < t.slots; ++slot) {
    const int64_t own = slot < int(options.capacityAt.size()) ? options.capacityAt[slot] : kUnbounded;
    t.setCapacity(slot, std::min(ramOf(options), own) - t.graph.resident);
  }
}

// A timeline that fits; null where none is found.
std::unique_ptr<Timeline> fittingTimeline(const Graph &graph, const JointOptions &options, double linkPrice,
                                          const SearchOptions &search) {
  auto t = std::make_unique<Timeline>(graph, ramOf(options), ssdOf(options));
  if (!options.capacityAt.empty())
    setCapacities(*t, options);
  t->linkPrice = linkPrice;
  plant(*t, search);
  return improve(*t, search) ? std::move(t) : nullptr;
}

std::optional<JointPlan> firstPlan(const Graph &graph, const JointOptions &options) {
  for (double price : kLinkPrices) {
    const auto t = fittingTimeline(graph, options, price, searchOf(options, true));
    if (!t)
      break; // whether a timeline fits hardly depends on the price; whether its transfers do, may
    if (std::optional<JointPlan> plan = settled(*t, options); plan || !graph.transfers())
      return plan;
  }
  return std::nullopt;
}

// A few rounds for each price of the link, the rest for the best of them.
std::optional<JointPlan> planBest(const std::shared_ptr<const Graph> &graph, const JointOptions &options) {
  const bool sends = graph->transfers();
  SearchOptions search = searchOf(options, false);
  search.iterations = sends ? options.iterations / kPriceShare : options.iterations;
  std::optional<JointPlan> best;
  std::unique_ptr<Timeline> chosen;
  auto consider = [&](std::unique_ptr<Timeline> t) {
    std::optional<JointPlan> plan = settled(*t, options);
    if (chosen && !(plan && (!best || plan->ns < best->ns)))
      return;
    if (plan)
      best = std::move(plan);
    chosen = std::move(t);
  };
  for (double price : kLinkPrices) {
    std::unique_ptr<Timeline> t = fittingTimeline(*graph, options, price, search);
    if (!t)
      break;
    consider(std::move(t));
    if (!sends)
      break;
  }
  if (chosen && sends) {
    search.iterations = options.iterations - search.iterations, search.patience = search.iterations / kPatienceShare;
    ++search.seed;
    auto more = std::make_unique<Timeline>(*chosen);
    improve(*more, search);
    consider(std::move(more));
  }
  if (best)
    best->search = std::make_shared<const JointSearch>(graph, std::move(chosen));
  return best;
}

// From a plan that took too much.
std::optional<JointPlan> planFrom(const JointSearch &from, const JointOptions &options) {
  auto t = std::make_unique<Timeline>(*from.timeline);
  setCapacities(*t, options);
  SearchOptions search = searchOf(options, false);
  search.iterations = std::min(search.iterations, kMendRounds);
  if (!mend(*t, search))
    return std::nullopt;
  improve(*t, search);
  std::optional<JointPlan> best = settled(*t, options);
  if (best)
    best->search = std::make_shared<const JointSearch>(from.graph, std::move(t));
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
void tryAll(const Context &context, const std::vector<int> &order, const Graph &graph, const JointOptions &options,
            std::optional<JointPlan> &best) {
  const bool searched = !graph.transfers() && options.capacityAt.empty() && isSmall(context.problem);
  if (!searched || (best && best->ns <= graph.fastestNs))
    return;
  ExactPlan exact = exactPlan(context, {.arena = ramOf(options), .order = order});
  if (exact.outcome == ExactPlan::Outcome::Fastest && (!best || exact.ns < best->ns))
    best = JointPlan{std::move(exact.schedule), std::move(exact.begun), exact.live, exact.ns, {}};
}

std::optional<JointPlan> planAny(const Context &context, const std::vector<int> &order, const Graph &graph,
                                 const JointOptions &options) {
  std::optional<JointPlan> plan = firstPlan(graph, options);
  tryAll(context, order, graph, options, plan);
  return plan;
}

} // namespace

JointPlanner::JointPlanner(const Context &c, std::vector<int> given) : context(c), order(std::move(given)) {
  if (order.empty()) {
    order.resize(c.problem.steps.size());
    std::iota(order.begin(), order.end(), 0);
  }
}

std::optional<JointPlan> JointPlanner::plan(const JointOptions &options) const {
  if (options.from)
    return planFrom(*options.from, options);
  const auto graph = std::make_shared<const Graph>(context, order, ssdOf(options) > 0);
  std::optional<JointPlan> best = planBest(graph, options);
  tryAll(context, order, *graph, options, best);
  return best;
}

std::optional<JointPlan> JointPlanner::smallest(const JointOptions &given) const {
  const auto shared = std::make_shared<const Graph>(context, order, ssdOf(given) > 0);
  const Graph &graph = *shared;
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
  std::optional<JointPlan> best = planAny(context, order, graph, options);
  if (!best)
    return best;
  const int64_t lowest = low;
  high = best->live + graph.resident;
  // Where a timeline can be lowered from there on, a coarse search will do.
  const bool lowers = !graph.transfers() && !isSmall(context.problem);
  if (lowers)
    options.rescues = std::min(given.rescues, kCoarseRescues), options.work = tryWork(graph);
  const int64_t step = std::max(graph.transfers() ? kSsdAlign : kAlign, high / (lowers ? 25 : 500));
  while (high - low > step) {
    options.capacity[int(Tier::Ram)] = low + (high - low) / 2;
    std::optional<JointPlan> plan = planAny(context, order, graph, options);
    if (plan) {
      high = std::min(options.capacity[int(Tier::Ram)], plan->live + graph.resident);
      best = std::move(plan);
    } else {
      low = options.capacity[int(Tier::Ram)];
    }
  }
  options.capacity[int(Tier::Ram)] = high, options.rescues = given.rescues, options.work = given.work;
  if (lowers)
    if (std::unique_ptr<Timeline> t = fittingTimeline(graph, options, 0, searchOf(options, true))) {
      t = lowered(std::move(t), lowest, options);
      if (liveOf(*t) + graph.resident < high) {
        improve(*t, searchOf(given, false));
        return emit(*t);
      }
    }
  options.iterations = given.iterations;
  std::optional<JointPlan> faster = planBest(shared, options);
  return faster && faster->ns < best->ns ? faster : best;
}

} // namespace plim::solver
