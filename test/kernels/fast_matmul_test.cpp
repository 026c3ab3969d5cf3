//===- fast_matmul_test.cpp - matmul.panel32 against double precision ----------------------===//

#include "fast_launch.h"

#include "kernels/matmul/matmul.h"

using namespace plim::test;

namespace {

struct Case {
  std::vector<int64_t> batch;
  int64_t m, k, n;
  int64_t gap;
  int64_t flags, activation;
};

void check(const Case &c, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int64_t> aDims = c.batch, cDims = c.batch;
  aDims.insert(aDims.end(), {c.m, c.k});
  cDims.insert(cDims.end(), {c.m, c.n});
  Tensor a(aDims, c.gap), result(cDims, c.gap ? c.gap + 1 : 0), bias({c.n}), residual(cDims, c.gap ? 3 : 0);
  Panels b(c.k, c.n, random);
  a.fill(random);
  bias.fill(random);
  residual.fill(random);
  std::vector<Tensor> operands = {a, b.tensor};
  if (c.flags & PLIM_EPILOGUE_BIAS)
    operands.push_back(bias);
  if (c.flags & PLIM_EPILOGUE_RESIDUAL)
    operands.push_back(residual);
  operands.push_back(result);
  Launch launch("matmul.panel32", operands,
                {c.flags, c.activation, plim_attr_from_double(0.3), plim_attr_from_double(0.7)});
  launch.runAll();

  std::vector<bool> written(result.memory->bytes() / sizeof(float));
  int64_t step = std::max<int64_t>(1, result.elements() / 3000);
  for (int64_t element = 0; element < result.elements(); ++element) {
    std::vector<int64_t> index = result.indexOf(element);
    written[result.offset(index)] = true;
    if (element % step)
      continue;
    std::vector<int64_t> aIndex = index;
    int64_t column = index.back();
    double sum = 0, magnitude = 1;
    for (int64_t k = 0; k < c.k; ++k) {
      aIndex.back() = k;
      double term = double(a(aIndex)) * b.value(k, column);
      sum += term;
      magnitude += std::abs(term);
    }
    if (c.flags & PLIM_EPILOGUE_BIAS)
      sum += bias({column});
    if (c.flags & PLIM_EPILOGUE_RESIDUAL)
      sum += residual(index);
    expectNear(result(index), activate(sum, c.activation, 0.3, 0.7), magnitude, "element " + std::to_string(element));
    if (testing::Test::HasFailure())
      return;
  }
  for (size_t i = 0; i < written.size(); ++i)
    if (!written[i]) {
      unsigned char pattern[4] = {0xa5, 0xa5, 0xa5, 0xa5};
      ASSERT_EQ(std::memcmp(result.data() + i, pattern, 4), 0) << "write between the rows of C";
    }
}

TEST(MatmulPanel32, EveryTileHeightAndPanelWidthIsRight) {
  for (int64_t m = 1; m <= 30; ++m)
    check({{}, m, 37, 5 + m * 7 % 90, m % 3, PLIM_EPILOGUE_BIAS, PLIM_ACT_RELU}, m);
  for (int64_t n = 1; n <= 66; ++n)
    check({{}, 15, 9, n, 0, 0, PLIM_ACT_NONE}, n);
  for (int64_t n : {31, 32, 64, 96, 97, 128, 160, 300})
    for (int64_t m : {1, 2, 3})
      check({{}, m, 50, n, 0, PLIM_EPILOGUE_BIAS | PLIM_EPILOGUE_RESIDUAL, PLIM_ACT_NONE}, n + m);
}

TEST(MatmulPanel32, EveryActivationWithEveryOperandIsRight) {
  for (int64_t activation = 0; activation < PLIM_ACT_COUNT; ++activation)
    for (int64_t flags = 0; flags < 4; ++flags) {
      check({{}, 17, 20, 75, 2, flags, activation}, activation);
      check({{}, 1, 20, 300, 0, flags, activation}, activation);
    }
}

TEST(MatmulPanel32, SumsThatRestBetweenDepthBlocksAreRight) {
  for (int64_t k : {1024, 1025, 1543, 3000, 4096})
    for (int64_t m : {1, 2, 20, 130})
      check({{}, m, k, 170, 1, PLIM_EPILOGUE_BIAS | PLIM_EPILOGUE_RESIDUAL, m % 2 ? PLIM_ACT_GELU_ERF : PLIM_ACT_CLIP},
            k + m);
}

TEST(MatmulPanel32, BatchesMergedOrNotAreRight) {
  check({{3, 2}, 5, 16, 40, 0, PLIM_EPILOGUE_RESIDUAL, PLIM_ACT_NONE}, 1);
  check({{3, 2}, 5, 16, 40, 4, PLIM_EPILOGUE_RESIDUAL, PLIM_ACT_SILU}, 2);
  check({{2, 1, 7}, 1, 33, 64, 5, PLIM_EPILOGUE_BIAS, PLIM_ACT_NONE}, 3);
  // Strides that no two dims share: outer, runs and rows.
  std::mt19937 random(4);
  Tensor a({2, 3, 4, 8}, {400, 100, 10, 1}), c({2, 3, 4, 6}, {1000, 200, 7, 1});
  Panels b(8, 6, random);
  a.fill(random);
  Launch launch("matmul.panel32", {a, b.tensor, c}, {0, PLIM_ACT_NONE, 0, 0});
  launch.runAll();
  for (int64_t element = 0; element < c.elements(); ++element) {
    std::vector<int64_t> index = c.indexOf(element);
    double sum = 0;
    for (int64_t k = 0; k < 8; ++k)
      sum += double(a({index[0], index[1], index[2], k})) * b.value(k, index[3]);
    expectNear(c(index), sum, 1, "element " + std::to_string(element));
  }
}

TEST(MatmulPanel32, EmptyDimsAreHandled) {
  check({{}, 5, 0, 40, 0, PLIM_EPILOGUE_BIAS, PLIM_ACT_RELU}, 1);
  check({{}, 0, 8, 40, 0, 0, PLIM_ACT_NONE}, 2);
  check({{}, 3, 8, 0, 0, 0, PLIM_ACT_NONE}, 3);
  check({{0, 2}, 3, 8, 9, 0, 0, PLIM_ACT_NONE}, 4);
}

TEST(MatmulPanel32, ResidualMayBeTheResult) {
  std::mt19937 random(9);
  Tensor a({20, 1500}), c({20, 70}), before({20, 70});
  Panels b(1500, 70, random);
  a.fill(random);
  Launch launch("matmul.panel32", {a, b.tensor, before, c}, {PLIM_EPILOGUE_RESIDUAL, PLIM_ACT_TANH, 0, 0});
  before.fill(random);
  std::vector<unsigned char> expected = launch.run(PLIM_ISA_V3, {1, 1, false});
  std::vector<float> saved(before.data(), before.data() + before.elements());
  Launch inPlace = launch;
  plim_launch l = {};
  std::vector<const plim_shape *> shapes;
  for (Tensor &t : inPlace.operands)
    shapes.push_back(&t.shape);
  plim_cost cost = inPlace.entry->cost(shapes.data(), 4, inPlace.attrs.data(), &plim_default_machine);
  GuardedBytes scratch(cost.scratch_bytes);
  void *buffers[] = {a.data(), b.tensor.data(), c.data(), c.data()};
  std::memcpy(c.data(), saved.data(), saved.size() * sizeof(float));
  l.attrs = inPlace.attrs.data();
  l.buf = buffers;
  l.shape = shapes.data();
  l.tasks = 1;
  l.operands = 4;
  l.attr_words = 4;
  ASSERT_EQ(inPlace.entry->kernel->fn[PLIM_ISA_V3](&l, scratch.data(), 0, 1), 0);
  EXPECT_EQ(std::memcmp(c.data(), expected.data(), expected.size()), 0);
}

TEST(MatmulPanel32, RandomShapesAreRight) {
  std::mt19937 random(123);
  auto pick = [&](int64_t most) { return 1 + int64_t(random() % most); };
  for (int i = 0; i < 60; ++i)
    check({{pick(3)},
           pick(90),
           pick(200),
           pick(150),
           int64_t(random() % 3),
           int64_t(random() % 4),
           int64_t(random() % PLIM_ACT_COUNT)},
          random());
}

TEST(MatmulPanel32, RowsDoNotDependOnHowManyThereAre) {
  std::mt19937 random(5);
  Panels b(700, 200, random);
  Tensor a({40, 700}), c({40, 200});
  a.fill(random);
  Launch whole("matmul.panel32", {a, b.tensor, c}, {0, PLIM_ACT_GELU_TANH, 0, 0});
  whole.runAll();
  for (int64_t rows : {1, 2, 3, 5}) {
    Tensor part({rows, 700}), partResult({rows, 200});
    std::memcpy(part.data(), a.data() + 7 * 700, rows * 700 * sizeof(float));
    Launch("matmul.panel32", {part, b.tensor, partResult}, whole.attrs).runAll();
    EXPECT_EQ(std::memcmp(partResult.data(), c.data() + 7 * 200, rows * 200 * sizeof(float)), 0) << rows << " rows";
  }
}

} // namespace
