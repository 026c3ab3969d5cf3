//===- gather_test.cpp - gathers, scatters and fills -----------------------------------------===//

#include "kernels/fill/fill.h"
#include "kernels/gather/gather.h"
#include "kernels/registry.h"
#include "kernels/scatter/scatter.h"
#include "kernels/status.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace plim::test;

namespace {

Tensor numbered(uint8_t dtype, const Dims &dims, Random &random, Form form = Form::Negative) {
  Tensor t(dtype, dims, form, &random);
  return t.fillWith([](int64_t i) { return double(i % 120); });
}

// Indices into [0, size), about half of them counted from the end.
Tensor indicesInto(int64_t size, uint8_t dtype, const Dims &dims, Random &random) {
  Tensor t(dtype, dims, Form::Permuted, &random);
  for (int64_t i = 0; i < t.elements(); ++i)
    t.setInt(i, int64_t(random() % uint64_t(2 * size)) - size);
  return t;
}

int64_t resolved(int64_t index, int64_t size) { return index < 0 ? index + size : index; }

} // namespace

TEST(Gather, AlongEveryAxisWithIndicesOfEveryRank) {
  Random random(1);
  for (uint8_t dtype : {PLIM_F32, PLIM_I64, PLIM_BOOL, PLIM_BF16})
    for (int64_t axis = 0; axis < 3; ++axis)
      for (const Dims &indexDims : {Dims{}, Dims{4}, Dims{2, 3}, Dims{0}})
        for (uint8_t indexType : {PLIM_I64, PLIM_I32}) {
          Dims dims = {3, 4, 5}, out(dims.begin(), dims.begin() + axis);
          out.insert(out.end(), indexDims.begin(), indexDims.end());
          out.insert(out.end(), dims.begin() + axis + 1, dims.end());
          Tensor x = numbered(dtype, dims, random), y(dtype, out, Form::Permuted, &random);
          Tensor indices = indicesInto(dims[size_t(axis)], indexType, indexDims, random);
          ASSERT_EQ(runKernel("gather.axis", {&x, &indices, &y}, {axis}), 0);
          forEachIndex(out, [&](const Dims &at) {
            Dims from(at.begin(), at.begin() + axis);
            Dims index(at.begin() + axis, at.begin() + axis + int64_t(indexDims.size()));
            from.push_back(resolved(indices.getInt(indices.numberOf(index)), dims[size_t(axis)]));
            from.insert(from.end(), at.begin() + axis + int64_t(indexDims.size()), at.end());
            ASSERT_EQ(y.at(at), x.at(from));
          });
        }
}

TEST(Gather, ElementsAlongEveryAxis) {
  Random random(2);
  for (int64_t axis = 0; axis < 3; ++axis) {
    Dims dims = {3, 4, 5}, out = {2, 4, 3};
    out[size_t(axis)] = 6;
    Tensor x = numbered(PLIM_F32, dims, random), y(PLIM_F32, out, Form::Permuted, &random);
    Tensor indices = indicesInto(dims[size_t(axis)], PLIM_I64, out, random);
    ASSERT_EQ(runKernel("gather.elements", {&x, &indices, &y}, {axis}), 0);
    forEachIndex(out, [&](const Dims &at) {
      Dims from = at;
      from[size_t(axis)] = resolved(indices.getInt(indices.numberOf(at)), dims[size_t(axis)]);
      ASSERT_EQ(y.at(at), x.at(from));
    });
  }
}

TEST(Gather, NdSlicesWithBatchDims) {
  Random random(3);
  for (int64_t batch : {0, 1, 2})
    for (int64_t depth = 1; batch + depth <= 4; ++depth) {
      Dims dims = {2, 3, 4, 5}, indexDims(dims.begin(), dims.begin() + batch);
      indexDims.push_back(6);
      Dims out = indexDims;
      out.insert(out.end(), dims.begin() + batch + depth, dims.end());
      indexDims.push_back(depth);
      Tensor x = numbered(PLIM_F32, dims, random), y(PLIM_F32, out, Form::Permuted, &random);
      Tensor indices(PLIM_I64, indexDims, Form::Negative, &random);
      forEachIndex(indexDims, [&](const Dims &at) {
        int64_t size = dims[size_t(batch + at.back())];
        indices.setInt(indices.numberOf(at), int64_t(random() % uint64_t(2 * size)) - size);
      });
      ASSERT_EQ(runKernel("gather.nd", {&x, &indices, &y}, {batch}), 0);
      forEachIndex(out, [&](const Dims &at) {
        Dims from(at.begin(), at.begin() + batch), tuple(at.begin(), at.begin() + batch + 1);
        tuple.push_back(0);
        for (; tuple.back() < depth; ++tuple.back())
          from.push_back(resolved(indices.getInt(indices.numberOf(tuple)), dims[size_t(batch + tuple.back())]));
        from.insert(from.end(), at.begin() + batch + 1, at.end());
        ASSERT_EQ(y.at(at), x.at(from));
      });
    }
}

// Adds a piece to the rows so far where they lie, which runKernel's checks of inputs would not let pass.
static int32_t addPiece(Tensor &piece, Tensor &indices, Tensor &rows, const std::vector<int64_t> &attrs,
                        uint32_t tasks) {
  void *buffers[] = {piece.data(), indices.data(), rows.data(), rows.data()};
  const plim_shape *shapes[] = {&piece.shape(), &indices.shape(), &rows.shape(), &rows.shape()};
  plim_launch launch = {attrs.data(), buffers, shapes, nullptr, nullptr, nullptr, 0, tasks, 4, uint32_t(attrs.size())};
  return plim_find_kernel("gather.partial")->fn[PLIM_ISA_BASE](&launch, nullptr, 0, tasks);
}

TEST(Gather, InPiecesOfTheTableIsTheWholeGatherWhereverTheRowsSoFarLie) {
  Random random(8);
  for (uint8_t dtype : {PLIM_F32, PLIM_I8, PLIM_BF16})
    for (const Dims &indexDims : {Dims{}, Dims{40}, Dims{2, 30}, Dims{0}})
      for (const std::vector<int64_t> &cuts : {std::vector<int64_t>{0, 11}, {0, 1, 11}, {0, 4, 8, 11}}) {
        Tensor table = numbered(dtype, {11, 3, 2}, random);
        Tensor indices = indicesInto(11, PLIM_I64, indexDims, random);
        if (indices.elements() >= 8) // the borders of pieces from both ends
          for (auto [i, value] : {std::pair{0, 3}, {1, 4}, {2, 7}, {3, 8}, {4, 10}, {5, 0}, {6, -11}, {7, -1}})
            indices.setInt(i, value);
        Dims out = indexDims;
        out.insert(out.end(), {3, 2});
        Tensor want(dtype, out), odd(dtype, out, Form::Permuted, &random), even(dtype, out, Form::Permuted, &random);
        Tensor there(dtype, out, Form::Permuted, &random), *soFar = nullptr, *result = &even;
        ASSERT_EQ(runKernel("gather.axis", {&table, &indices, &want}, {0}), 0);
        for (size_t p = 0; p + 1 < cuts.size(); ++p) {
          Tensor piece(dtype, {cuts[p + 1] - cuts[p], 3, 2}, Form::Negative, &random);
          for (int64_t i = 0; i < piece.elements(); ++i)
            piece.set(i, table.get(cuts[p] * 6 + i));
          result = soFar == &even ? &odd : &even;
          if (soFar) {
            ASSERT_EQ(runKernel("gather.partial", {&piece, &indices, soFar, result}, {cuts[p], 11}), 0);
            ASSERT_EQ(addPiece(piece, indices, there, {cuts[p], 11}, uint32_t(p + 1)), 0);
          } else {
            ASSERT_EQ(runKernel("gather.partial", {&piece, &indices, result}, {cuts[p], 11}), 0);
            ASSERT_EQ(runKernel("gather.partial", {&piece, &indices, &there}, {cuts[p], 11}), 0);
          }
          soFar = result;
        }
        for (int64_t i = 0; i < want.elements(); ++i) {
          ASSERT_EQ(result->get(i), want.get(i)) << i;
          ASSERT_EQ(there.get(i), want.get(i)) << i;
        }
      }
}

TEST(Gather, RowsOfPiecesToComeAreZero) {
  Random random(9);
  Tensor piece = numbered(PLIM_F32, {2, 3}, random), indices(PLIM_I64, {3}), y(PLIM_F32, {3, 3});
  for (auto [i, value] : {std::pair{0, 5}, {1, 2}, {2, -6}})
    indices.setInt(i, value);
  ASSERT_EQ(runKernel("gather.partial", {&piece, &indices, &y}, {1, 6}), 0);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(y.at({0, i}), 0);
    EXPECT_EQ(y.at({1, i}), piece.at({1, i}));
    EXPECT_EQ(y.at({2, i}), 0);
  }
}

TEST(Gather, AnIndexOutsideItsDimensionIsReported) {
  Random random(4);
  Tensor x = numbered(PLIM_F32, {3, 2}, random), index(PLIM_I64, {1}), y(PLIM_F32, {1, 2});
  for (int64_t bad : {int64_t(3), int64_t(-4), int64_t(1) << 40}) {
    index.setInt(0, bad);
    EXPECT_EQ(runKernel("gather.axis", {&x, &index, &y}, {0}), PLIM_KERNEL_BAD_INDEX);
    Tensor one(PLIM_I64, {1, 1}), element(PLIM_F32, {1, 1});
    one.setInt(0, bad);
    EXPECT_EQ(runKernel("gather.elements", {&x, &one, &element}, {0}), PLIM_KERNEL_BAD_INDEX);
    EXPECT_EQ(runKernel("gather.nd", {&x, &one, &y}, {0}), PLIM_KERNEL_BAD_INDEX);
    EXPECT_EQ(runKernel("gather.partial", {&x, &index, &y}, {0, 3}), PLIM_KERNEL_BAD_INDEX);
    EXPECT_EQ(runKernel("scatter.nd", {&x, &one, &y, &x}, {0, 0}, 0), PLIM_KERNEL_BAD_INDEX);
  }
}

TEST(Scatter, ElementsInOrderWithEveryReduction) {
  Random random(5);
  for (uint8_t dtype : {PLIM_F32, PLIM_I32})
    for (int64_t axis = 0; axis < 2; ++axis)
      for (int64_t reduction = 0; reduction < PLIM_SCATTER_REDUCTION_COUNT; ++reduction) {
        Dims dims = {5, 6}, updateDims = {4, 5};
        Tensor x = numbered(dtype, dims, random), y(dtype, dims, Form::Permuted, &random);
        Tensor indices = indicesInto(dims[size_t(axis)], PLIM_I64, updateDims, random); // repeats
        Tensor updates(dtype, updateDims, Form::Negative, &random);
        updates.fill(random, -3, 3);
        ASSERT_EQ(runKernel("scatter.elements", {&x, &indices, &updates, &y}, {axis, reduction}), 0);
        std::vector<double> expected;
        for (int64_t i = 0; i < x.elements(); ++i)
          expected.push_back(x.get(i));
        forEachIndex(updateDims, [&](const Dims &at) {
          Dims to = at;
          to[size_t(axis)] = resolved(indices.getInt(indices.numberOf(at)), dims[size_t(axis)]);
          double &old = expected[size_t(x.numberOf(to))], u = updates.at(at);
          old = reduction == PLIM_SCATTER_REPLACE ? u
                : reduction == PLIM_SCATTER_ADD   ? old + u
                : reduction == PLIM_SCATTER_MUL   ? old * u
                : reduction == PLIM_SCATTER_MAX   ? std::max(old, u)
                                                  : std::min(old, u);
        });
        EXPECT_LE(worstError(y, [&](int64_t i) { return expected[size_t(i)]; }, 1e-5, 1e-5), 1);
      }
}

TEST(Scatter, NdWritesSlices) {
  Random random(6);
  for (int64_t depth : {1, 2, 3}) {
    Dims dims = {3, 4, 5}, updateDims = {6};
    updateDims.insert(updateDims.end(), dims.begin() + depth, dims.end());
    Tensor x = numbered(PLIM_F32, dims, random), y(PLIM_F32, dims, Form::Permuted, &random);
    Tensor indices(PLIM_I64, {6, depth}), updates(PLIM_F32, updateDims, Form::Negative, &random);
    forEachIndex({6, depth}, [&](const Dims &at) {
      indices.setInt(indices.numberOf(at), int64_t(random() % uint64_t(dims[size_t(at[1])])));
    });
    updates.fill(random, -9, 9);
    ASSERT_EQ(runKernel("scatter.nd", {&x, &indices, &updates, &y}, {0, PLIM_SCATTER_REPLACE}), 0);
    std::vector<double> expected;
    for (int64_t i = 0; i < x.elements(); ++i)
      expected.push_back(x.get(i));
    forEachIndex(updateDims, [&](const Dims &at) {
      Dims to;
      for (int64_t d = 0; d < depth; ++d)
        to.push_back(indices.getInt(indices.numberOf({at[0], d})));
      to.insert(to.end(), at.begin() + 1, at.end());
      expected[size_t(x.numberOf(to))] = updates.at(at);
    });
    EXPECT_EQ(worstError(y, [&](int64_t i) { return expected[size_t(i)]; }, 0, 1e-9), 0);
  }
}

TEST(Fill, IotaAlongAnAxis) {
  Random random(7);
  Tensor y(PLIM_I64, {3, 4}, Form::Negative, &random), f(PLIM_F32, {5}), scalar(PLIM_I32, {});
  ASSERT_EQ(runKernel("fill.iota", {&y}, {0, 10, -3}), 0);
  forEachIndex({3, 4}, [&](const Dims &at) { EXPECT_EQ(y.at(at), double(10 - 3 * at[0])); });
  ASSERT_EQ(runKernel("fill.iota", {&y}, {1, 1, 1}), 0);
  forEachIndex({3, 4}, [&](const Dims &at) { EXPECT_EQ(y.at(at), double(1 + at[1])); });
  ASSERT_EQ(runKernel("fill.iota", {&f}, {0, word(0.5), word(0.25)}), 0);
  for (int64_t i = 0; i < 5; ++i)
    EXPECT_EQ(f.get(i), 0.5 + 0.25 * double(i));
  ASSERT_EQ(runKernel("fill.iota", {&scalar}, {-1, 42, 7}), 0);
  EXPECT_EQ(scalar.getInt(0), 42);
}

TEST(Fill, OneHotAlongEveryAxis) {
  Random random(8);
  for (int64_t axis = 0; axis < 3; ++axis) {
    Dims indexDims = {3, 4}, dims = indexDims;
    dims.insert(dims.begin() + axis, 5);
    Tensor indices(PLIM_I32, indexDims), y(PLIM_F16, dims, Form::Permuted, &random);
    for (int64_t i = 0; i < 12; ++i)
      indices.setInt(i, i - 6); // from below -5 to above 4
    ASSERT_EQ(runKernel("fill.one_hot", {&indices, &y}, {axis, word(2), word(-1)}), 0);
    forEachIndex(dims, [&](const Dims &at) {
      Dims from = at;
      from.erase(from.begin() + axis);
      int64_t index = indices.getInt(indices.numberOf(from));
      EXPECT_EQ(y.at(at), resolved(index, 5) == at[size_t(axis)] ? 2.0 : -1.0);
    });
  }
}

TEST(Fill, ScalarsOfTheLaunch) {
  const plim_kernel *kernel = plim_find_kernel("fill.scalars");
  ASSERT_TRUE(kernel);
  auto run = [&](Tensor &y, const int64_t *scalars, uint32_t tasks) {
    void *data = y.data();
    const plim_shape *shape = &y.shape();
    plim_launch launch = {};
    launch.buf = &data;
    launch.shape = &shape;
    launch.scalar = scalars;
    launch.tasks = tasks;
    for (uint32_t task = tasks; task-- > 1;)
      if (int32_t code = kernel->fn[PLIM_ISA_BASE](&launch, nullptr, task, task + 1))
        return code;
    return kernel->fn[PLIM_ISA_BASE](&launch, nullptr, 0, 1);
  };
  Random random(9);
  const int64_t values[] = {5, -7, int64_t(1) << 40, 0, 1, 2};
  for (uint32_t tasks : {1u, 2u, 7u}) {
    Tensor y(PLIM_I64, {2, 3}, Form::Negative, &random), one(PLIM_I32, {}), truth(PLIM_BOOL, {1}), empty(PLIM_I64, {0});
    ASSERT_EQ(run(y, values, tasks), PLIM_KERNEL_OK);
    for (int64_t i = 0; i < 6; ++i)
      EXPECT_EQ(y.getInt(i), values[i]);
    EXPECT_TRUE(y.gapsUntouched());
    ASSERT_EQ(run(one, values + 1, tasks), PLIM_KERNEL_OK);
    EXPECT_EQ(one.getInt(0), -7);
    ASSERT_EQ(run(truth, values + 4, tasks), PLIM_KERNEL_OK);
    EXPECT_EQ(truth.getInt(0), 1);
    EXPECT_EQ(run(empty, nullptr, tasks), PLIM_KERNEL_OK);
  }
  Tensor f(PLIM_F32, {2}), y(PLIM_I64, {2});
  EXPECT_EQ(run(f, values, 1), PLIM_KERNEL_UNSUPPORTED);
  EXPECT_EQ(run(y, nullptr, 1), PLIM_KERNEL_UNSUPPORTED);
}
