//===- TypesTest.cpp - Element types, masks, several parts ----------------===//
#include "KernelRunner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace plim::gen;
namespace arith = mlir::arith;

static int convert(Region &r, int x, bool isUnsigned = false) {
  auto emit = [isUnsigned](mlir::ImplicitLocOpBuilder &b, mlir::ValueRange in) -> mlir::Value {
    mlir::Type to = b.getF32Type();
    if (auto v = mlir::dyn_cast<mlir::VectorType>(in[0].getType()))
      to = v.clone(to);
    if (isUnsigned)
      return arith::UIToFPOp::create(b, to, in[0]);
    return arith::SIToFPOp::create(b, to, in[0]);
  };
  return r.apply(emit, {x});
}

TEST(Types, HalvesRoundToNearestEvenAndComeBackExactly) {
  constexpr int64_t n = 1000;
  KernelRunner runner;
  std::vector<KernelInfo> narrow, wide;
  for (plim_dtype t : {PLIM_BF16, PLIM_F16}) {
    Region down({n}), up({n});
    down.store(1, t, {1}, down.load(0, PLIM_F32, {1}));
    up.store(1, PLIM_F32, {1}, up.load(0, t, {1}));
    narrow.push_back(runner.add(down));
    wide.push_back(runner.add(up));
  }
  runner.load();
  std::vector<float> x = randomFloats(n, 5, -70000, 70000), special = specialFloats();
  std::copy(special.begin(), special.end(), x.begin());
  for (int64_t i = 100; i < 200; ++i)
    x[i] = std::bit_cast<float>(0x3f800000u + uint32_t(i) * 0x1000u); // ties of f16
  for (int64_t i = 200; i < 300; ++i)
    x[i] = std::bit_cast<float>(0x3f800000u + uint32_t(i) * 0x8000u); // ties of bf16
  for (int64_t i = 300; i < 400; ++i)
    x[i] = std::ldexp(float(i), -33); // denormals of f16
  for (plim_isa isa : KernelRunner::levels()) {
    std::vector<uint16_t> h(n);
    std::vector<float> y(n);
    runner.run(narrow[0], isa, {x.data(), h.data()});
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(h[i], toBf16(x[i])) << x[i];
    runner.run(wide[0], isa, {h.data(), y.data()});
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(std::bit_cast<uint32_t>(y[i]), uint32_t(h[i]) << 16);
    runner.run(narrow[1], isa, {x.data(), h.data()});
    runner.run(wide[1], isa, {h.data(), y.data()});
    for (int64_t i = 0; i < n; ++i) {
      float want = float(_Float16(x[i]));
      ASSERT_TRUE(std::isnan(want) ? std::isnan(y[i]) : y[i] == want) << x[i] << " " << y[i];
    }
  }
}

TEST(Types, IntegersBecomeFloatsAndCopiesKeepThem) {
  constexpr int64_t n = 203;
  KernelRunner runner;
  auto make = [&](plim_dtype t, bool isUnsigned) {
    Region r({n});
    int x = r.load(0, t, {1});
    r.store(1, PLIM_F32, {1}, convert(r, x, isUnsigned));
    r.store(2, t, {1}, x);
    return runner.add(r);
  };
  KernelInfo i64 = make(PLIM_I64, false), i32 = make(PLIM_I32, false), i8 = make(PLIM_I8, false),
             u8 = make(PLIM_U8, true), boolean = make(PLIM_BOOL, true);
  runner.load();
  std::mt19937_64 rng(1);
  auto check = [&]<typename T>(const KernelInfo &k, T mask) {
    std::vector<T> x(n), copy(n);
    for (T &v : x)
      v = T(rng()) & mask;
    std::vector<float> y(n);
    for (plim_isa isa : KernelRunner::levels()) {
      runner.run(k, isa, {x.data(), y.data(), copy.data()});
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(y[i], float(x[i])) << k.symbol;
      ASSERT_EQ(copy, x);
    }
  };
  check(i64, int64_t(-1));
  check(i32, int32_t(-1));
  check(i8, int8_t(-1));
  check(u8, uint8_t(-1));
  check(boolean, uint8_t(1));
}

TEST(Types, AMaskSelectsPerElement) {
  constexpr int64_t rows = 7, columns = 37;
  KernelRunner runner;
  Region r({rows, columns});
  int keep = r.load(1, PLIM_BOOL, {0, 1}), x = r.load(0, PLIM_F32, {columns, 1});
  int id = r.load(2, PLIM_I64, {1, 0}), limit = r.load(3, PLIM_I64, {0, 0});
  int below = r.apply(
      [](mlir::ImplicitLocOpBuilder &b, mlir::ValueRange in) -> mlir::Value {
        return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, in[0], in[1]);
      },
      {id, limit});
  int both = r.op<arith::AndIOp>({keep, below});
  r.store(4, PLIM_F32, {columns, 1}, r.op<arith::SelectOp>({both, x, r.constant(-INFINITY)}));
  r.store(5, PLIM_BOOL, {columns, 1}, both);
  r.store(6, PLIM_BOOL, {1, 0}, below);
  KernelInfo k = runner.add(r);
  runner.load();
  std::vector<float> in = randomFloats(rows * columns, 2), y(in.size());
  std::vector<uint8_t> mask(columns), both8(in.size()), below8(rows);
  std::vector<int64_t> ids(rows), bound{4};
  for (int64_t j = 0; j < columns; ++j)
    mask[j] = j % 3 != 0;
  for (int64_t i = 0; i < rows; ++i)
    ids[i] = i * 3 % rows;
  for (plim_isa isa : KernelRunner::levels()) {
    runner.run(k, isa, {in.data(), mask.data(), ids.data(), bound.data(), y.data(), both8.data(), below8.data()});
    for (int64_t i = 0; i < rows * columns; ++i) {
      bool want = mask[i % columns] && ids[i / columns] < bound[0];
      ASSERT_EQ(both8[i], want);
      ASSERT_EQ(y[i], want ? in[i] : -INFINITY);
      ASSERT_EQ(below8[i / columns], ids[i / columns] < bound[0]);
    }
  }
}

TEST(Parts, FillOneOutputFromSeveralInputs) {
  constexpr int64_t rows = 300, a = 24, b = 41, c = a + b;
  KernelRunner runner;
  Region left({rows, a}), right({rows, b});
  left.store(2, PLIM_F32, {c, 1}, left.load(0, PLIM_F32, {a, 1}));
  right.store(2, PLIM_F32, {c, 1}, right.load(1, PLIM_F32, {b, 1}), a);
  KernelInfo k = runner.add({left, right});
  EXPECT_GE(k.tasks, 2u);
  runner.load();
  std::vector<float> x = randomFloats(rows * a, 1), y = randomFloats(rows * b, 2);
  for (plim_isa isa : KernelRunner::levels())
    for (uint32_t step : {1u, k.tasks}) {
      std::vector<float> z(rows * c);
      runner.run(k, isa, {x.data(), y.data(), z.data()}, step);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < c; ++j)
          ASSERT_EQ(z[i * c + j], j < a ? x[i * a + j] : y[i * b + j - a]);
    }
}

TEST(Parts, TransposesWithOuterDimensionsWhateverTheirOrder) {
  constexpr int64_t n0 = 3, n1 = 37, n2 = 5, n3 = 50;
  std::vector<float> x = randomFloats(n0 * n1 * n2 * n3, 9);
  const int64_t size[4] = {n0, n1, n2, n3}, stride[4] = {n1 * n2 * n3, n2 * n3, n3, 1};
  int p[4] = {0, 1, 2, 3};
  KernelRunner runner;
  std::vector<std::pair<std::vector<int>, KernelInfo>> all;
  do {
    Region r({size[p[0]], size[p[1]], size[p[2]], size[p[3]]});
    int64_t s3 = size[p[3]], s2 = s3 * size[p[2]], s1 = s2 * size[p[1]];
    int v = r.load(0, PLIM_F32, {stride[p[0]], stride[p[1]], stride[p[2]], stride[p[3]]});
    r.store(1, PLIM_F32, {s1, s2, s3, 1}, v);
    all.emplace_back(std::vector<int>(p, p + 4), runner.add(r));
  } while (std::next_permutation(p, p + 4));
  runner.load();
  for (auto &[perm, k] : all)
    for (plim_isa isa : KernelRunner::levels()) {
      std::vector<float> y(x.size());
      runner.run(k, isa, {x.data(), y.data()});
      size_t at = 0;
      int64_t i[4];
      for (i[0] = 0; i[0] < size[perm[0]]; ++i[0])
        for (i[1] = 0; i[1] < size[perm[1]]; ++i[1])
          for (i[2] = 0; i[2] < size[perm[2]]; ++i[2])
            for (i[3] = 0; i[3] < size[perm[3]]; ++i[3]) {
              int64_t from = 0;
              for (int d = 0; d < 4; ++d)
                from += i[d] * stride[perm[d]];
              ASSERT_EQ(y[at++], x[from]) << perm[0] << perm[1] << perm[2] << perm[3];
            }
    }
}

TEST(Parts, EmptySpacesWriteWhatAReductionOfNothingIs) {
  KernelRunner runner;
  Region none({0, 5}), sum({3, 0}), columns({0, 4});
  none.store(1, PLIM_F32, {5, 1}, none.load(0, PLIM_F32, {5, 1}));
  sum.store(1, PLIM_F32, {1, 0}, sum.reduce(ReduceKind::Sum, sum.load(0, PLIM_F32, {0, 1})));
  columns.reduceRows = true;
  columns.store(1, PLIM_F32, {0, 1}, columns.reduce(ReduceKind::Max, columns.load(0, PLIM_F32, {4, 1})));
  KernelInfo k0 = runner.add(none), k1 = runner.add(sum), k2 = runner.add(columns);
  runner.load();
  std::vector<float> y(8, 7.0f), x(8);
  for (plim_isa isa : KernelRunner::levels()) {
    runner.run(k0, isa, {x.data(), y.data()});
    EXPECT_EQ(y[0], 7.0f);
    runner.run(k1, isa, {x.data(), y.data()});
    EXPECT_EQ(y, (std::vector<float>{0, 0, 0, 7, 7, 7, 7, 7}));
    runner.run(k2, isa, {x.data(), y.data()});
    EXPECT_EQ(y, (std::vector<float>{-INFINITY, -INFINITY, -INFINITY, -INFINITY, 7, 7, 7, 7}));
    y.assign(8, 7.0f);
  }
}
