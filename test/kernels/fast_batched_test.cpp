//===- fast_batched_test.cpp - matmul.batched and reduce.nhwc_spatial_mean -------------------===//

#include "fast_launch.h"

#include "kernels/matmul/matmul.h"

using namespace plim::test;

namespace {

/// How a matrix lies: rows contiguous, columns contiguous, or neither.
enum Order { RowMajor, ColumnMajor, Scattered };

Tensor matrix(const std::vector<int64_t> &batch, int64_t rows, int64_t columns, Order order, bool broadcast = false) {
  std::vector<int64_t> dims = batch, strides(batch.size() + 2);
  dims.insert(dims.end(), {rows, columns});
  int64_t gap = order == Scattered ? 3 : 0;
  strides[batch.size()] = order == ColumnMajor ? 1 : columns * (gap ? 2 : 1) + gap;
  strides[batch.size() + 1] = order == RowMajor ? 1 : order == ColumnMajor ? rows + 1 : 2;
  int64_t stride = (rows + 1) * (columns + 1) * 3;
  for (size_t i = batch.size(); i-- > 0;) {
    strides[i] = broadcast ? 0 : stride;
    stride *= dims[i];
  }
  return Tensor(dims, strides);
}

struct Case {
  std::vector<int64_t> batch;
  int64_t m, k, n;
  Order aOrder = RowMajor, bOrder = RowMajor;
  bool oneB = false, flatB = false;
  int64_t flags = 0, activation = PLIM_ACT_NONE;
};

void check(const Case &c, unsigned seed, const char *kernel = "matmul.batched") {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Tensor a = matrix(c.batch, c.m, c.k, c.aOrder);
  Tensor b = c.flatB ? matrix({}, c.k, c.n, c.bOrder) : matrix(c.batch, c.k, c.n, c.bOrder, c.oneB);
  std::vector<int64_t> dims = c.batch;
  dims.insert(dims.end(), {c.m, c.n});
  Tensor bias({c.n}), residual(dims, 1), result(dims, 2);
  for (const Tensor &t : {a, b, bias, residual})
    t.fill(random);
  std::vector<Tensor> operands = {a, b};
  if (c.flags & PLIM_EPILOGUE_BIAS)
    operands.push_back(bias);
  if (c.flags & PLIM_EPILOGUE_RESIDUAL)
    operands.push_back(residual);
  operands.push_back(result);
  Launch launch(kernel, operands, {c.flags, c.activation, plim_attr_from_double(0.3), plim_attr_from_double(0.7)});
  launch.runAll();
  int64_t step = std::max<int64_t>(1, result.elements() / 2000);
  for (int64_t element = 0; element < result.elements(); element += step) {
    std::vector<int64_t> at = result.indexOf(element), aAt = at, bAt = at;
    if (c.flatB)
      bAt = {0, at.back()};
    double sum = 0, magnitude = 1;
    for (int64_t k = 0; k < c.k; ++k) {
      aAt.back() = k;
      bAt[bAt.size() - 2] = k;
      double term = double(a(aAt)) * b(bAt);
      sum += term;
      magnitude += std::abs(term);
    }
    if (c.flags & PLIM_EPILOGUE_BIAS)
      sum += bias({at.back()});
    if (c.flags & PLIM_EPILOGUE_RESIDUAL)
      sum += residual(at);
    expectNear(result(at), activate(sum, c.activation, 0.3, 0.7), magnitude, "element " + std::to_string(element));
    if (testing::Test::HasFailure())
      return;
  }
}

TEST(MatmulBatched, EveryOrderOfAAndBIsRight) {
  unsigned seed = 0;
  for (Order a : {RowMajor, ColumnMajor, Scattered})
    for (Order b : {RowMajor, ColumnMajor, Scattered})
      for (int64_t k : {1, 17, 64, 600, 1100}) {
        check({{2, 3}, 19, k, 75, a, b, false, false, int64_t(seed % 4), int64_t(seed % PLIM_ACT_COUNT)}, seed);
        ++seed;
      }
}

TEST(MatmulBatched, OneBForAllBatchesIsRight) {
  check({{3, 2}, 20, 40, 70, RowMajor, ColumnMajor, true}, 1);
  check({{3, 2}, 20, 40, 70, RowMajor, RowMajor, false, true}, 2);
  check({{}, 300, 520, 130, RowMajor, RowMajor}, 3);
  check({{4}, 1, 33, 200, RowMajor, ColumnMajor}, 4);
}

TEST(MatmulBatched, FewRowsByContiguousColumnsAreRight) {
  unsigned seed = 0;
  for (int64_t rows : {1, 2, 3, 4, 5})
    for (int64_t k : {1, 15, 64, 65, 600})
      for (int64_t n : {1, 8, 31, 33, 200}) {
        check({{2},
               rows,
               k,
               n,
               seed % 3 ? RowMajor : Scattered,
               ColumnMajor,
               seed % 2 == 0,
               false,
               int64_t(seed % 4),
               int64_t(seed % PLIM_ACT_COUNT)},
              seed);
        ++seed;
      }
}

TEST(MatmulDot, FewRowsByContiguousColumnsAreRight) {
  unsigned seed = 0;
  for (std::vector<int64_t> batch : {std::vector<int64_t>{}, {2}, {1, 2}})
    for (int64_t rows : {1, 2, 4})
      for (int64_t k : {0, 1, 7, 8, 15, 16, 17, 600})
        for (int64_t n : {0, 1, 3, 31, 64, 200}) {
          const bool flat = seed % 2;
          if (rows * (batch.empty() ? 1 : 2) <= 4)
            check({batch, rows, k, n, RowMajor, ColumnMajor, !flat, flat, int64_t(seed % 4),
                   int64_t(seed % PLIM_ACT_COUNT)},
                  seed, "matmul.dot");
          ++seed;
        }
}

TEST(MatmulDot, MoreRowsAreRefused) {
  Tensor a({5, 8}), b({8, 3}, {1, 8}), c({5, 3});
  Launch launch("matmul.dot", {a, b, c}, {0, 0, 0, 0});
  void *buffers[] = {a.data(), b.data(), c.data()};
  const plim_shape *shapes[] = {&a.shape, &b.shape, &c.shape};
  plim_launch l = {};
  l.attrs = launch.attrs.data(), l.buf = buffers, l.shape = shapes;
  l.tasks = 1, l.operands = 3, l.attr_words = 4;
  EXPECT_NE(launch.entry->kernel->fn[PLIM_ISA_V3](&l, nullptr, 0, 1), 0);
}

TEST(MatmulBatched, RandomShapesAreRight) {
  std::mt19937 random(77);
  auto pick = [&](int64_t most) { return 1 + int64_t(random() % most); };
  for (int i = 0; i < 40; ++i)
    check({{pick(4)},
           pick(120),
           pick(150),
           pick(200),
           Order(random() % 3),
           Order(random() % 3),
           random() % 4 == 0,
           false,
           int64_t(random() % 4),
           int64_t(random() % PLIM_ACT_COUNT)},
          random());
}

TEST(MatmulBatched, EmptyDimsAreHandled) {
  check({{2}, 3, 0, 5, RowMajor, RowMajor, false, false, PLIM_EPILOGUE_BIAS}, 1);
  check({{2}, 0, 4, 5}, 2);
  check({{2}, 3, 4, 0}, 3);
  check({{0}, 3, 4, 5}, 4);
}

TEST(SpatialMean, ImagesOfAnySizeAreRight) {
  unsigned seed = 0;
  for (int64_t h : {1, 3, 40})
    for (int64_t w : {1, 7, 150})
      for (int64_t c : {1, 16, 45, 200})
        for (bool flat : {false, true}) {
          std::mt19937 random(++seed);
          Tensor x({2, h, w, c}, seed % 3), y(flat ? std::vector<int64_t>{2, c} : std::vector<int64_t>{2, 1, 1, c});
          x.fill(random, -1, 2);
          Launch("reduce.nhwc_spatial_mean", {x, y}, {}).runAll();
          for (int64_t n = 0; n < 2; ++n)
            for (int64_t channel = 0; channel < c; ++channel) {
              double sum = 0;
              for (int64_t i = 0; i < h * w; ++i)
                sum += x({n, i / w, i % w, channel});
              double got = flat ? y({n, channel}) : y({n, 0, 0, channel});
              ASSERT_NEAR(got, sum / (h * w), 2e-6) << h << "x" << w << "x" << c;
            }
        }
}

// Of an image that comes in pieces of rows.
TEST(SpatialMean, PiecesOfRowsGiveTheBitsOfTheWhole) {
  unsigned seed = 0;
  for (int64_t h : {2, 7, 48})
    for (int64_t w : {1, 7, 33, 150})
      for (int64_t c : {1, 16, 45})
        for (int64_t step : {1, 3, 7}) {
          std::mt19937 random(++seed);
          Tensor x({2, h, w, c}), y({2, 1, 1, c}), z({2, 1, 1, c});
          x.fill(random, -1, 2);
          Launch("reduce.nhwc_spatial_mean", {x, y}, {}).runAll();
          std::vector<Tensor> sums;
          for (int64_t row = 0; row < h; row += step) {
            const int64_t rows = std::min(step, h - row);
            Tensor piece({2, rows, w, c});
            for (int64_t i = 0; i < 2 * rows * w * c; ++i) {
              int64_t channel = i % c, column = i / c % w, at = i / c / w % rows, image = i / c / w / rows;
              piece({image, at, column, channel}) = x({image, row + at, column, channel});
            }
            Tensor next = row + rows == h ? z : Tensor({2, 5, c});
            if (row == 0)
              Launch("reduce.nhwc_partial_mean", {piece, next}, {row, h}).runAll();
            else
              Launch("reduce.nhwc_partial_mean", {piece, sums.back(), next}, {row, h}).runAll();
            sums.push_back(next);
          }
          for (int64_t n = 0; n < 2; ++n)
            for (int64_t channel = 0; channel < c; ++channel)
              ASSERT_EQ(sums.back()({n, 0, 0, channel}), y({n, 0, 0, channel})) << h << "x" << w << "x" << c;
        }
}

} // namespace
