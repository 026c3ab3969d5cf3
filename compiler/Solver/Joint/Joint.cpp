//===- Joint.cpp - Order, choice, recompute, spill and stream, planned together ------------------===//
#include "compiler/Solver/Joint/Joint.h"
#include "compiler/Solver/Exact/ExactPlan.h"
#include "compiler/Solver/Joint/Emit.h"
#include "compiler/Solver/Joint/Search.h"
#include <algorithm>
#include <numeric>

namespace plim::solver {
namespace {

// What a link's time is charged with. None is best everywhere: a busy link stalls where the plan saw free slots.
constexpr double kLinkPrices[] = {0, 0.05, 0.25};
constexpr int kReplans = 6;

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

std::optional<JointPlan> planAt(const Graph &graph, const JointOptions &options, double linkPrice) {
  Timeline t(graph, ramOf(options), ssdOf(options));
  for (int slot = 0; slot < std::min(t.slots, int(options.capacityAt.size())); ++slot)
    t.setCapacity(slot, std::min(t.capacityAt(slot), options.capacityAt[slot] - graph.resident));
  t.linkPrice = linkPrice;
  const SearchOptions search{options.seed, options.iterations, options.rescues, options.work};
  plant(t, search);
  if (!improve(t, search) || !settleTransfers(t, options))
    return std::nullopt;
  return emit(t);
}

bool transfers(const Graph &graph) {
  return std::any_of(graph.values.begin(), graph.values.end(),
                     [](const Graph::Value &v) { return v.maker < 0 || v.spillable; });
}

std::optional<JointPlan> planBest(const Graph &graph, const JointOptions &options) {
  std::optional<JointPlan> best;
  for (double price : kLinkPrices) {
    std::optional<JointPlan> plan = planAt(graph, options, price);
    if (plan && (!best || plan->ns < best->ns))
      best = std::move(plan);
    if (!transfers(graph))
      break;
  }
  return best;
}

// Repair is weak on small graphs near their floor, where one value is a large part of the memory: there all plans are
// tried.
std::optional<JointPlan> planEither(const Context &context, const std::vector<int> &order, const Graph &graph,
                                    const JointOptions &options) {
  std::optional<JointPlan> best = planBest(graph, options);
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
  options.capacityAt.clear();
  std::optional<JointPlan> best = planEither(context, order, graph, options);
  if (!best)
    return best;
  high = best->live + graph.resident;
  const int64_t step = std::max(transfers(graph) ? kSsdAlign : kAlign, high / 500);
  while (high - low > step) {
    options.capacity[int(Tier::Ram)] = low + (high - low) / 2;
    if (std::optional<JointPlan> plan = planEither(context, order, graph, options)) {
      high = std::min(options.capacity[int(Tier::Ram)], plan->live + graph.resident);
      best = std::move(plan);
    } else {
      low = options.capacity[int(Tier::Ram)];
    }
  }
  return best;
}

} // namespace plim::solver
