//===- JointTimelineTest.cpp - The joint planner's state under random moves ----------------------===//
#include "compiler/Solver/Generate/Generate.h"
#include "compiler/Solver/Joint/Timeline.h"
#include "test/compiler/Solver/RandomProblem.h"
#include <gmock/gmock.h>
#include <numeric>

namespace plim::solver {
namespace {

std::vector<int64_t> valuesOf(const SlotTree &tree) {
  std::vector<int64_t> values;
  tree.values(values);
  return values;
}

TEST(SlotTree, AgreesWithAPlainArray) {
  std::mt19937_64 random(3);
  for (int n : {1, 2, 7, 64, 100}) {
    std::vector<int64_t> plain(n);
    for (int64_t &x : plain)
      x = int64_t(random() % 1000);
    SlotTree tree(plain);
    for (int k = 0; k < 500; ++k) {
      int a = int(random() % uint64_t(n + 1)), b = int(random() % uint64_t(n + 1));
      if (a > b)
        std::swap(a, b);
      const int64_t by = int64_t(random() % 200) - 100;
      tree.add(a, b, by);
      for (int i = a; i < b; ++i)
        plain[i] += by;
      ASSERT_EQ(valuesOf(tree), plain);
      ASSERT_EQ(tree.max(), *std::max_element(plain.begin(), plain.end()));
      ASSERT_EQ(tree.argmax(), std::max_element(plain.begin(), plain.end()) - plain.begin());
      if (a < b) {
        ASSERT_EQ(tree.max(a, b), *std::max_element(plain.begin() + a, plain.begin() + b));
      }
    }
  }
}

TEST(LinkTime, FindsTheNextAndTheLastFreeSlot) {
  std::mt19937_64 random(4);
  for (int n : {1, 63, 64, 65, 200}) {
    std::vector<int64_t> plain(n, 0);
    LinkTime time(plain);
    for (int k = 0; k < 400; ++k) {
      const int slot = int(random() % uint64_t(n));
      plain[slot] = random() % 4 == 0 ? 5 : 0;
      time.set(slot, plain[slot]);
      int first = int(random() % uint64_t(n + 1)), end = int(random() % uint64_t(n + 1));
      if (first > end)
        std::swap(first, end);
      auto isFree = [](int64_t ns) { return ns > 0; };
      const auto begin = plain.begin();
      ASSERT_EQ(time.next(first, end), std::find_if(begin + first, begin + end, isFree) - begin);
      int last = end - 1;
      while (last >= first && plain[last] == 0)
        --last;
      ASSERT_EQ(time.last(first, end), last);
      ASSERT_EQ(time[slot], plain[slot]);
    }
  }
}

double excessOf(const std::vector<int64_t> &memory) {
  double sum = 0;
  for (int64_t x : memory)
    sum += double(std::max<int64_t>(0, x));
  return sum;
}

int64_t nsOf(const Timeline &t) {
  int64_t sum = 0;
  for (const std::vector<int> &list : t.runs)
    for (int o : list)
      sum += t.way(o).ns;
  for (const std::vector<Touch> &list : t.touches)
    for (const Touch &touch : list)
      if (touch.source == Source::Read)
        sum += t.transfers[touch.transfer].price;
  return sum;
}

// Runs random moves, takes some of them back, and holds the state against what its touches say.
void shake(const Problem &p, uint64_t seed, int moves) {
  const Context context(p);
  std::vector<int> order(p.steps.size());
  std::iota(order.begin(), order.end(), 0);
  const Graph graph(context, order, true);
  Timeline t(graph, 1 << 20, 1 << 30);
  std::mt19937_64 random(seed);
  auto below = [&](size_t limit) { return int(random() % limit); };
  for (int k = 0; k < moves && !graph.values.empty(); ++k) {
    const size_t mark = t.mark();
    const std::vector<int64_t> memory = valuesOf(t.memory);
    const int64_t ns = t.ns;
    for (int slot = 0; slot < t.slots; ++slot)
      t.weight[slot] = below(3), t.prefix[slot + 1] = t.prefix[slot] + t.weight[slot];
    t.lambda = 1e-3 * below(1000);
    const int v = below(graph.values.size()), kind = below(4);
    bool ok = false;
    if (kind == 3) {
      if (!graph.groups.empty()) {
        const int g = below(graph.groups.size());
        t.setChoice(g, below(graph.groups[g].choices.size())), ok = true;
      }
    } else if (t.touches[v].size() > 1) {
      const int i = 1 + below(t.touches[v].size() - 1);
      if (kind == 0 && t.droppable(v, i) && t.quoteMake(v, i).possible)
        ok = t.dropToMake(v, i);
      else if (kind == 1 && t.touches[v][i].source == Source::Read)
        t.lateReads = below(2) == 0, t.replanTransfer(v, i), t.lateReads = false, ok = true;
      else if (kind == 1 && t.droppable(v, i))
        ok = t.dropToRead(v, i);
      else if (kind == 2)
        ok = t.restore(v, i);
    }
    t.over();
    if (ok) {
      ASSERT_EQ(t.excessSince(mark, memory), excessOf(valuesOf(t.memory)) - excessOf(memory)) << "move " << k;
    }
    if (!ok || below(3) == 0) {
      t.undo(mark);
      ASSERT_EQ(valuesOf(t.memory), memory);
      ASSERT_EQ(t.ns, ns);
    }
    ASSERT_EQ(valuesOf(t.memory), t.recount()) << "move " << k << " kind " << kind;
    ASSERT_EQ(t.ns, nsOf(t)) << "move " << k << " kind " << kind;
    for (const std::vector<Touch> &list : t.touches)
      for (const Touch &touch : list)
        ASSERT_FALSE(touch.source == Source::Keep && touch.uses == 0);
    if (below(50) == 0) {
      t.replanTransfers();
      t.over();
      ASSERT_EQ(valuesOf(t.memory), t.recount());
    }
  }
}

TEST(JointTimeline, MemoryAndTimeAreWhatTheTouchesSayAfterAnyMoves) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Problem p = randomProblem(seed, {.steps = 5 + int(seed), .aliases = seed % 2 == 1});
    for (Buffer &b : p.buffers) {
      b.bytes *= 1024;
      for (int64_t &size : b.sizes)
        size *= 1024;
    }
    for (Alias &a : p.aliases)
      a.offset *= 1024, a.run *= 1024, a.stride *= 1024;
    p.levers = {.alias = seed % 2 == 1, .recompute = true, .spill = seed % 3 != 0, .stream = seed % 4 != 0};
    p.links = {{Tier::Ssd, Tier::Ram, 1'000'000'000, 0}, {Tier::Ram, Tier::Ssd, 1'000'000'000, 0}};
    shake(p, seed, 300);
    if (HasFatalFailure())
      return;
  }
  for (GraphShape shape : {GraphShape::Gpt, GraphShape::ResNet, GraphShape::Layered, GraphShape::Stream}) {
    SCOPED_TRACE(graphShapeName(shape));
    shake(generateProblem(
              {.shape = shape, .ops = 120, .readBytesPerSecond = 1'200'000'000, .writeBytesPerSecond = 900'000'000}),
          7, 400);
    if (HasFatalFailure())
      return;
  }
}

} // namespace
} // namespace plim::solver
