// copy.concat equals plain indexing for every axis, rank and cut of the tasks, also from and into strided tensors.
#include "kernels/copy/concat.h"
#include "kernels/registry.h"
#include "gtest/gtest.h"
#include <random>
#include <vector>

namespace {

plim_shape rowShape(const std::vector<int64_t> &dims, int64_t gap) {
  plim_shape s = {};
  s.dtype = PLIM_I32, s.rank = uint8_t(dims.size());
  int64_t stride = gap;
  for (size_t d = dims.size(); d-- > 0;) {
    s.dims[d] = dims[d], s.strides[d] = stride;
    stride *= dims[d] ? dims[d] : 1;
  }
  return s;
}

int64_t offsetOf(const plim_shape &s, int64_t element) {
  int64_t offset = 0;
  for (uint32_t d = s.rank; d-- > 0;) {
    offset += element % s.dims[d] * s.strides[d];
    element /= s.dims[d];
  }
  return offset;
}

TEST(CopyConcat, EqualsPlainIndexingForEveryAxisAndCut) {
  const plim_kernel *kernel = plim_find_kernel("copy.concat");
  ASSERT_NE(kernel, nullptr);
  std::mt19937 rng(5);
  for (int round = 0; round < 300; ++round) {
    int64_t rank = 1 + rng() % 4, axis = rng() % rank, pieces = 1 + rng() % 4;
    std::vector<int64_t> dims(rank);
    for (int64_t &d : dims)
      d = 1 + rng() % 5;
    std::vector<plim_shape> shapes;
    std::vector<std::vector<int32_t>> data;
    int64_t sum = 0;
    for (int64_t p = 0; p < pieces; ++p) {
      dims[axis] = rng() % 4; // a piece may be empty
      sum += dims[axis];
      shapes.push_back(rowShape(dims, 1 + rng() % 2));
      data.emplace_back(size_t(plim_elements(&shapes.back()) * 2 + 1));
      for (int32_t &v : data.back())
        v = int32_t(rng());
    }
    dims[axis] = sum;
    plim_shape y = rowShape(dims, 1 + rng() % 2);
    std::vector<int32_t> out(size_t(plim_elements(&y) * 2 + 1), -1);
    std::vector<void *> buffers;
    std::vector<const plim_shape *> pointers;
    for (int64_t p = 0; p < pieces; ++p)
      buffers.push_back(data[size_t(p)].data()), pointers.push_back(&shapes[size_t(p)]);
    buffers.push_back(out.data()), pointers.push_back(&y);
    plim_launch launch = {};
    launch.attrs = &axis, launch.attr_words = 1;
    launch.buf = buffers.data(), launch.shape = pointers.data(), launch.operands = uint32_t(pieces) + 1;
    launch.tasks = 1 + rng() % 5;
    for (uint32_t t = launch.tasks; t-- > 0;)
      ASSERT_EQ(kernel->fn[PLIM_ISA_BASE](&launch, nullptr, t, t + 1), 0);

    std::vector<int32_t> want(out.size(), -1);
    int64_t before = 1, inner = 1;
    for (int64_t d = 0; d < rank; ++d)
      (d < axis ? before : inner) *= d == axis ? 1 : dims[size_t(d)];
    for (int64_t o = 0; o < before; ++o) {
      int64_t at = 0;
      for (int64_t p = 0; p < pieces; ++p) {
        const plim_shape &x = shapes[size_t(p)];
        for (int64_t i = 0; i < x.dims[axis] * inner; ++i, ++at)
          want[size_t(offsetOf(y, o * sum * inner + at))] =
              data[size_t(p)][size_t(offsetOf(x, o * x.dims[axis] * inner + i))];
      }
    }
    ASSERT_EQ(out, want) << "round " << round;
  }
}

} // namespace
