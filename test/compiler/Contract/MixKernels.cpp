//===- MixKernels.cpp - Kernels in which every byte that is read counts ----------------------===//
#include "test/compiler/Contract/MixKernels.h"
#include "kernels/registry.h"
#include <algorithm>
#include <string>

namespace plim::test {
namespace {

constexpr uint64_t kElement = 0x9e3779b97f4a7c15, kOperand = 0xd1342543de82ef95, kScalar = 0xaf251af3b0f025b5;

int64_t attr(const plim_launch *l, int i) { return static_cast<const int64_t *>(l->attrs)[i]; }
uint32_t *data(const plim_launch *l, uint32_t operand) { return static_cast<uint32_t *>(l->buf[operand]); }

// Calls visit(number, offset) for elements [begin, end) of a shape, both in elements.
template <class Visit> void eachElement(const plim_shape &s, int64_t begin, int64_t end, Visit visit) {
  const int64_t inner = s.rank ? s.dims[s.rank - 1] : 1, step = s.rank ? s.strides[s.rank - 1] : 1;
  for (int64_t i = begin; i < end;) {
    int64_t offset = 0, rest = i / inner;
    for (int d = int(s.rank) - 2; d >= 0; --d) {
      offset += rest % s.dims[d] * s.strides[d];
      rest /= s.dims[d];
    }
    const int64_t first = i % inner, last = std::min(inner, first + (end - i));
    for (int64_t c = first; c < last; ++c, ++i)
      visit(i, offset + c * step);
  }
}

struct Range {
  int64_t begin, end;
};

Range part(int64_t n, const plim_launch *l, uint32_t first, uint32_t last) {
  return {n * first / l->tasks, n * last / l->tasks};
}

// A sum of terms of single elements, so it does not depend on how tasks cut it.
uint64_t digest(const plim_launch *l, uint32_t first, uint32_t last) {
  uint64_t sum = 0;
  for (uint32_t o = 0; o < attr(l, 0); ++o) {
    const uint32_t *x = data(l, o);
    const Range range = part(plim_elements(l->shape[o]), l, first, last);
    eachElement(*l->shape[o], range.begin, range.end, [&](int64_t i, int64_t at) {
      sum += mixed((uint64_t(x[at]) << 32) ^ (uint64_t(i) * kElement + (o + 1) * kOperand + uint64_t(attr(l, 1))));
    });
  }
  return sum;
}

void write(const plim_launch *l, uint64_t digest, uint32_t first, uint32_t last) {
  if (l->scalar) // the trip of a loop
    digest += uint64_t(l->scalar[0] + 1) * kScalar;
  for (uint32_t o = uint32_t(attr(l, 0)); o < l->operands; ++o) {
    uint32_t *y = data(l, o);
    const Range range = part(plim_elements(l->shape[o]), l, first, last);
    eachElement(*l->shape[o], range.begin, range.end, [&](int64_t i, int64_t at) {
      y[at] = uint32_t(mixed(digest + uint64_t(i) * kElement + o * kOperand) >> 32);
    });
  }
}

// Goes through the scratch, so that one that others share is seen.
uint64_t throughScratch(const plim_launch *l, void *scratch, uint64_t value) {
  auto *words = static_cast<volatile uint64_t *>(scratch);
  for (int64_t i = 0; i < attr(l, 2); ++i)
    words[i] = value + uint64_t(i);
  for (int64_t i = attr(l, 2) - 1; i >= 0; --i)
    value = words[i] - uint64_t(i);
  return value;
}

template <uint64_t kSalt> int32_t mixTwo(const plim_launch *l, void *scratch, uint32_t first, uint32_t last) {
  auto *digests = static_cast<uint64_t *>(l->shared);
  if (l->phase == 0) {
    for (uint32_t task = first; task < last; ++task)
      digests[task] = throughScratch(l, scratch, digest(l, task, task + 1));
    return 0;
  }
  uint64_t sum = kSalt;
  for (uint32_t task = 0; task < l->tasks; ++task)
    sum += digests[task];
  write(l, sum, first, last);
  return 0;
}

int32_t mixOne(const plim_launch *l, void *scratch, uint32_t first, uint32_t last) {
  write(l, throughScratch(l, scratch, digest(l, 0, l->tasks)), first, last);
  return 0;
}

int32_t rows(const plim_launch *l, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *l->shape[0], &y = *l->shape[1];
  const int64_t top = attr(l, 1), image = attr(l, 2);
  const Range range = part(y.dims[0], l, first, last);
  for (int64_t r = range.begin; r < range.end; ++r) {
    uint64_t sum = 0;
    for (int64_t d = -1; d <= 1; ++d) {
      const int64_t row = r + top + d;
      if (row < 0 || row >= x.dims[0])
        continue;
      for (int64_t c = 0; c < x.dims[1]; ++c)
        sum += mixed((uint64_t(data(l, 0)[row * x.strides[0] + c * x.strides[1]]) << 32) ^
                     (uint64_t(c) * kElement + uint64_t(d + 2) * kOperand + uint64_t(attr(l, 0))));
    }
    for (int64_t c = 0; c < y.dims[1]; ++c)
      data(l, 1)[r * y.strides[0] + c * y.strides[1]] =
          uint32_t(mixed(sum + uint64_t(c) * kElement + uint64_t(image + r) * kOperand) >> 32);
  }
  return 0;
}

int32_t join(const plim_launch *l, void *, uint32_t first, uint32_t) {
  if (first > 0)
    return 0;
  const uint32_t result = l->operands - 1;
  const plim_shape &y = *l->shape[result];
  const int64_t axis = attr(l, 0);
  int64_t begin = 0;
  for (uint32_t o = 0; o < result; ++o) {
    const plim_shape &x = *l->shape[o];
    eachElement(x, 0, plim_elements(&x), [&](int64_t i, int64_t at) {
      const int64_t row = i / x.dims[1] + (axis == 0 ? begin : 0), column = i % x.dims[1] + (axis == 1 ? begin : 0);
      data(l, result)[row * y.strides[0] + column * y.strides[1]] = data(l, o)[at];
    });
    begin += x.dims[axis];
  }
  return 0;
}

int32_t cut(const plim_launch *l, void *, uint32_t first, uint32_t) {
  if (first > 0)
    return 0;
  const plim_shape &x = *l->shape[0], &y = *l->shape[1];
  const int64_t axis = attr(l, 0), begin = attr(l, 1);
  eachElement(y, 0, plim_elements(&y), [&](int64_t i, int64_t at) {
    const int64_t row = i / y.dims[1] + (axis == 0 ? begin : 0), column = i % y.dims[1] + (axis == 1 ? begin : 0);
    data(l, 1)[at] = data(l, 0)[row * x.strides[0] + column * x.strides[1]];
  });
  return 0;
}

int32_t reshape(const plim_launch *l, void *, uint32_t first, uint32_t) {
  if (first > 0)
    return 0;
  const plim_shape &x = *l->shape[0], &y = *l->shape[1];
  eachElement(y, 0, plim_elements(&y), [&](int64_t i, int64_t to) {
    eachElement(x, i, i + 1, [&](int64_t, int64_t from) { data(l, 1)[to] = data(l, 0)[from]; });
  });
  return 0;
}

const plim_kernel kKernels[] = {
    {"mix.two", PLIM_KERNEL_ABI, 2, {mixTwo<0>, nullptr, nullptr}},
    {"mix.one", PLIM_KERNEL_ABI, 1, {mixOne, nullptr, nullptr}},
    {"mix.other", PLIM_KERNEL_ABI, 2, {mixTwo<kOperand>, nullptr, nullptr}},
    {"rows", PLIM_KERNEL_ABI, 1, {rows, nullptr, nullptr}},
    {"join", PLIM_KERNEL_ABI, 1, {join, nullptr, nullptr}},
    {"cut", PLIM_KERNEL_ABI, 1, {cut, nullptr, nullptr}},
    {"reshape", PLIM_KERNEL_ABI, 1, {reshape, nullptr, nullptr}},
};

} // namespace

const plim_kernel *findContractKernel(std::string_view name) {
  for (const plim_kernel &kernel : kKernels)
    if (name == kernel.name)
      return &kernel;
  return plim_find_kernel(std::string(name).c_str());
}

} // namespace plim::test
