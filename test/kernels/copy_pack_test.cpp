//===- copy_pack_test.cpp - copy.strided and pack.panel32 ------------------------------------===//

#include "kernels/status.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

using namespace plim::test;

namespace {

Tensor numbered(uint8_t dtype, const Dims &dims, Form form = Form::Row, Random *random = nullptr) {
  Tensor t(dtype, dims, form, random);
  return t.fillWith([](int64_t i) { return double(i % 251 % (1 << 11)); });
}

} // namespace

TEST(Copy, ElementsGoOverInRowMajorOrderWhateverTheFormsAndDims) {
  Random random(1);
  for (uint8_t dtype : {PLIM_U8, PLIM_BF16, PLIM_F32, PLIM_I64})
    for (Form from : {Form::Row, Form::Permuted, Form::Negative})
      for (Form to : {Form::Row, Form::Permuted, Form::Negative})
        for (const Dims &dims : {Dims{4, 5, 6}, Dims{120}, Dims{6, 20}, Dims{2, 2, 5, 1, 6}, Dims{1, 120, 1}}) {
          Tensor x = numbered(dtype, {4, 5, 6}, from, &random), y(dtype, dims, to, &random);
          ASSERT_EQ(runKernel("copy.strided", {&x, &y}, {}), 0);
          for (int64_t i = 0; i < 120; ++i)
            ASSERT_EQ(y.get(i), x.get(i));
        }
}

TEST(Copy, TransposesOfAllSizesReadColumns) {
  Random random(2);
  for (uint8_t dtype : {PLIM_I8, PLIM_F16, PLIM_F32, PLIM_F64})
    for (const Dims &d : {Dims{1, 3, 5}, Dims{2, 17, 65}, Dims{3, 64, 16}, Dims{1, 100, 1}, Dims{2, 33, 130}}) {
      Tensor x = numbered(dtype, d), y(dtype, {d[0], d[2], d[1]});
      Tensor columns = x.view({d[0], d[2], d[1]}, {d[1] * d[2], 1, d[2]});
      ASSERT_EQ(runKernel("copy.strided", {&columns, &y}, {}), 0);
      forEachIndex(d, [&](const Dims &i) { ASSERT_EQ(y.at({i[0], i[2], i[1]}), x.at(i)); });
    }
}

TEST(Copy, ExpandsSlicesAndWritesPiecesOfAConcat) {
  Tensor x = numbered(PLIM_F32, {3, 1, 4}), expanded(PLIM_F32, {3, 5, 4});
  Tensor repeated = x.broadcastTo({3, 5, 4});
  ASSERT_EQ(runKernel("copy.strided", {&repeated, &expanded}, {}), 0);
  forEachIndex({3, 5, 4}, [&](const Dims &i) { EXPECT_EQ(expanded.at(i), x.at({i[0], 0, i[2]})); });

  // Every second column backwards.
  Tensor slice = x.view({3, 2}, {4, -2}, 3), sliced(PLIM_F32, {3, 2});
  ASSERT_EQ(runKernel("copy.strided", {&slice, &sliced}, {}), 0);
  forEachIndex({3, 2}, [&](const Dims &i) { EXPECT_EQ(sliced.at(i), x.at({i[0], 0, 3 - 2 * i[1]})); });

  // Columns [2, 6) of a [3, 9] result: the rest keeps its bytes, which runKernel checks.
  Tensor whole(PLIM_F32, {3, 9}), piece = whole.view({3, 4}, {9, 1}, 2);
  Tensor flat = x.view({3, 4}, {4, 1});
  ASSERT_EQ(runKernel("copy.strided", {&flat, &piece}, {}), 0);
  forEachIndex({3, 4}, [&](const Dims &i) { EXPECT_EQ(piece.at(i), flat.at(i)); });
}

TEST(Copy, EmptyScalarAndWrongUse) {
  Tensor none(PLIM_F32, {0, 4}), noneToo(PLIM_F32, {2, 0}), one = numbered(PLIM_F32, {}), oneToo(PLIM_F32, {1, 1});
  EXPECT_EQ(runKernel("copy.strided", {&none, &noneToo}, {}), 0);
  one.set(0, 42);
  ASSERT_EQ(runKernel("copy.strided", {&one, &oneToo}, {}), 0);
  EXPECT_EQ(oneToo.get(0), 42);
  Tensor half(PLIM_F16, {1, 1});
  EXPECT_EQ(runKernel("copy.strided", {&one, &half}, {}), PLIM_KERNEL_UNSUPPORTED);
  EXPECT_EQ(runKernel("copy.strided", {&one, &noneToo}, {}), PLIM_KERNEL_UNSUPPORTED);
}

TEST(Pack, PanelsHoldTheMatrixAndZeros) {
  Random random(3);
  for (uint8_t dtype : {PLIM_F32, PLIM_BF16, PLIM_I8})
    for (const Dims &d : {Dims{1, 1}, Dims{7, 32}, Dims{5, 33}, Dims{64, 100}, Dims{3, 31}})
      for (Form form : {Form::Row, Form::Permuted, Form::Negative}) {
        Tensor x = numbered(dtype, d, form, &random), y = Tensor::panel32(dtype, d[0], d[1]);
        ASSERT_EQ(runKernel("pack.panel32", {&x, &y}, {}), 0);
        for (int64_t i = 0; i < x.elements(); ++i)
          ASSERT_EQ(y.get(i), x.get(i));
        // The buffer as [panel, k, 32]: columns from N on are zero.
        int64_t panels = (d[1] + 31) / 32, size = plim_dtype_bytes(dtype);
        for (int64_t k = 0; k < d[0]; ++k)
          for (int64_t n = d[1]; n < panels * 32; ++n)
            for (int64_t b = 0; b < size; ++b)
              ASSERT_EQ(y.raw()[size_t(((n / 32 * d[0] + k) * 32 + n % 32) * size + b)], 0);
      }
}

TEST(Pack, TakesAConvolutionFilterFromAView) {
  int64_t o = 37, i = 3, h = 2, w = 5;
  Tensor oihw = numbered(PLIM_F32, {o, i, h, w}), y = Tensor::panel32(PLIM_F32, h * w * i, o);
  Tensor hwio = oihw.view({h, w, i, o}, {w, 1, h * w, i * h * w});
  ASSERT_EQ(runKernel("pack.panel32", {&hwio, &y}, {}), 0);
  forEachIndex({h, w, i, o}, [&](const Dims &at) {
    EXPECT_EQ(y.at({(at[0] * w + at[1]) * i + at[2], at[3]}), oihw.at({at[3], at[2], at[0], at[1]}));
  });
}
