//===- RandomRegionsTest.cpp - Random regions against an interpreter ------===//
//
// Spaces of one to four dimensions, views with permuted, broadcast and spread dimensions, chains of elementwise ops
// with up to two reductions over the last dimension or over rows, one or two results. The interpreter keeps an array
// over the whole space for every node.
//
//===----------------------------------------------------------------------===//
#include "KernelRunner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

using namespace plim::gen;
namespace arith = mlir::arith;

namespace {
struct Operation {
  int node; // made by it
  int kind; // of elementwise below, or -1 - ReduceKind
  int lhs, rhs;
};

struct RandomRegion {
  Region region{{}};
  std::vector<size_t> extents; // of each buffer
  std::vector<Operation> operations;
  std::vector<std::pair<int, int>> loads;  // node, operand
  std::vector<std::pair<int, int>> stores; // node, operand
};

class Generator {
public:
  explicit Generator(uint32_t seed) : rng(seed) {}

  RandomRegion make() {
    RandomRegion result;
    Region &r = result.region;
    int rank = pick(1, 4);
    for (int d = 0; d < rank; ++d)
      r.space.push_back(pick(0, 3) ? pick(1, rank == 1 ? 3000 : 9) : pick(10, rank > 2 ? 40 : 150));
    bool reduces = rank > 1 && pick(0, 1);
    r.reduceRows = reduces && pick(0, 1);
    int folded = rank - (r.reduceRows ? 2 : 1);
    unsigned buffers = 0;
    std::vector<int> values, full; // full: differ along all dimensions, as far as is known
    for (int i = 0, n = pick(1, 3); i < n; ++i) {
      auto [strides, offset] = view(r, /*broadcasts=*/i > 0);
      int node = r.load(buffers++, PLIM_F32, strides, offset);
      result.loads.emplace_back(node, int(r.operands.size()) - 1);
      values.push_back(node);
    }
    std::vector<char> folds(64, 0); // values that are equal along the folded dimension
    int reductions = 0;
    for (int i = 0, n = pick(1, 7); i < n; ++i) {
      int lhs = values[pick(0, int(values.size()) - 1)], rhs = values[pick(0, int(values.size()) - 1)];
      if (reduces && reductions < 2 && !folds[lhs] && pick(0, 2) == 0) {
        ReduceKind kind = pick(0, 2) ? ReduceKind::Sum : pick(0, 1) ? ReduceKind::Max : ReduceKind::Min;
        int node = r.reduce(kind, lhs);
        result.operations.push_back({node, -1 - int(kind), lhs, -1});
        folds[node] = 1;
        values.push_back(node);
        ++reductions;
        continue;
      }
      int kind = pick(0, 4), node = -1;
      switch (kind) {
      case 0:
        node = r.op<arith::AddFOp>({lhs, rhs});
        break;
      case 1:
        node = r.op<arith::SubFOp>({lhs, rhs});
        break;
      case 2:
        node = r.op<mlir::math::AbsFOp>({rhs = lhs});
        break;
      case 3:
        node = r.op<arith::MaximumFOp>({lhs, rhs});
        break;
      case 4:
        node = r.op<mlir::math::TanhOp>({rhs = lhs});
        break;
      }
      folds[node] = folds[lhs] && folds[rhs];
      result.operations.push_back({node, kind, lhs, rhs});
      values.push_back(node);
    }
    for (int i = 0, n = pick(1, 2); i < n; ++i) {
      int node = values[values.size() - 1 - i];
      auto [strides, offset] = view(r, false);
      if (folds[node] && pick(0, 1))
        strides[folded] = 0;
      r.store(buffers++, PLIM_F32, strides, node, offset);
      result.stores.emplace_back(node, int(r.operands.size()) - 1);
      if (values.size() < 2)
        break;
    }
    for (const plim::gen::Operand &o : r.operands)
      result.extents.push_back(size_t(extentBytes(o, r.space) / 4));
    return result;
  }

private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); }

  std::pair<std::vector<int64_t>, int64_t> view(const Region &r, bool broadcasts) {
    std::vector<int> order(r.space.size());
    std::iota(order.begin(), order.end(), 0);
    if (pick(0, 2) == 0)
      std::shuffle(order.begin(), order.end(), rng);
    std::vector<int64_t> strides(order.size());
    int64_t next = pick(0, 4) ? 1 : 2;
    for (size_t i = order.size(); i-- > 0;) {
      strides[order[i]] = next;
      next = next * r.space[order[i]] + (pick(0, 5) ? 0 : 3);
    }
    for (int64_t &s : strides)
      if (broadcasts && pick(0, 2) == 0)
        s = 0;
    return {strides, pick(0, 3) ? 0 : pick(1, 20)};
  }

  std::mt19937 rng;
};

/// The values of all nodes over the whole space, row-major.
std::vector<std::vector<double>> interpret(const RandomRegion &c, const std::vector<std::vector<float>> &buffers,
                                           double &largest) {
  const Region &r = c.region;
  int64_t elements = 1;
  for (int64_t n : r.space)
    elements *= n;
  std::vector<std::vector<double>> values(r.nodes.size(), std::vector<double>(elements));
  for (auto [node, operand] : c.loads)
    for (int64_t i = 0; i < elements; ++i) {
      const plim::gen::Operand &o = r.operands[operand];
      int64_t at = o.offset, rest = i;
      for (size_t d = r.space.size(); d-- > 0; rest /= r.space[d])
        at += rest % r.space[d] * o.strides[d];
      values[node][i] = buffers[o.arg][at];
    }
  size_t folded = r.space.size() - (r.reduceRows ? 2 : 1);
  for (const Operation &op : c.operations) {
    std::vector<double> &y = values[op.node];
    if (op.kind < 0) {
      int64_t inner = r.reduceRows ? r.space.back() : 1, n = r.space[folded];
      for (int64_t i = 0; i < elements; ++i) {
        int64_t first = i - i / inner % n * inner;
        double acc = values[op.lhs][first];
        for (int64_t j = 1; j < n; ++j) {
          double v = values[op.lhs][first + j * inner];
          ReduceKind kind = ReduceKind(-1 - op.kind);
          acc = kind == ReduceKind::Sum ? acc + v : kind == ReduceKind::Max ? std::max(acc, v) : std::min(acc, v);
        }
        y[i] = acc;
      }
    }
    for (int64_t i = 0; i < elements; ++i) {
      double a = values[op.lhs][i], b = op.rhs < 0 ? 0 : values[op.rhs][i];
      switch (op.kind) {
      case 0:
        y[i] = a + b;
        break;
      case 1:
        y[i] = a - b;
        break;
      case 2:
        y[i] = std::fabs(a);
        break;
      case 3:
        y[i] = std::max(a, b);
        break;
      case 4:
        y[i] = std::tanh(a);
        break;
      }
      largest = std::max(largest, std::fabs(y[i]));
    }
  }
  return values;
}
} // namespace

TEST(RandomRegions, MatchAnInterpreterOverEveryKindOfView) {
  KernelRunner runner;
  std::vector<std::pair<RandomRegion, KernelInfo>> cases;
  for (uint32_t seed = 0; seed < 160; ++seed) {
    RandomRegion c = Generator(seed).make();
    KernelInfo k = runner.add(c.region);
    cases.emplace_back(std::move(c), std::move(k));
  }
  runner.load();
  for (size_t n = 0; n < cases.size(); ++n) {
    auto &[c, k] = cases[n];
    constexpr float guard = 987.25f;
    std::vector<std::vector<float>> buffers;
    for (size_t i = 0; i < c.extents.size(); ++i)
      buffers.push_back(i < c.loads.size() ? randomFloats(c.extents[i], uint32_t(i + n), -2, 2)
                                           : std::vector<float>(c.extents[i], guard));
    double largest = 1;
    std::vector<std::vector<double>> want = interpret(c, buffers, largest);
    std::vector<std::vector<float>> first;
    for (plim_isa isa : KernelRunner::levels())
      for (uint32_t step : {1u, k.tasks}) {
        std::vector<std::vector<float>> mine = buffers;
        std::vector<void *> pointers;
        for (std::vector<float> &b : mine)
          pointers.push_back(b.data());
        runner.run(k, isa, pointers, step);
        if (!first.empty()) {
          for (size_t i = 0; i < mine.size(); ++i)
            ASSERT_TRUE(sameBits(mine[i], first[i])) << "region " << n;
          continue;
        }
        first = mine;
        for (auto [node, operand] : c.stores) {
          const plim::gen::Operand &o = c.region.operands[operand];
          std::vector<char> written(mine[o.arg].size(), 0);
          for (size_t i = 0; i < want[node].size(); ++i) {
            int64_t at = o.offset, rest = int64_t(i);
            for (size_t d = c.region.space.size(); d-- > 0; rest /= c.region.space[d])
              at += rest % c.region.space[d] * o.strides[d];
            written[at] = 1;
            ASSERT_LE(std::fabs(mine[o.arg][at] - want[node][i]), 1e-5 * largest) << "region " << n << " at " << i;
          }
          for (size_t i = 0; i < written.size(); ++i)
            ASSERT_TRUE(written[i] || mine[o.arg][i] == guard) << "region " << n << " writes between its elements";
        }
      }
  }
}
