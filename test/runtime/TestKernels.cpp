#include "test/runtime/TestKernels.h"

#include <cstdlib>
#include <cstring>

namespace plim::test {
namespace {

struct Range {
  int64_t begin, end;
};

Range elements(const plim_launch *l, uint32_t first, uint32_t last) {
  int64_t n = plim_elements(l->shape[0]);
  return {n * first / l->tasks, n * last / l->tasks};
}

double attr(const plim_launch *l) { return static_cast<const double *>(l->attrs)[0]; }

int32_t add(const plim_launch *l, void *, uint32_t first, uint32_t last) {
  auto [begin, end] = elements(l, first, last);
  auto *x = static_cast<const float *>(l->buf[0]), *y = static_cast<const float *>(l->buf[1]);
  auto *z = static_cast<float *>(l->buf[2]);
  for (int64_t i = begin; i < end; ++i)
    z[i] = x[i] + y[i];
  return 0;
}

int32_t scale(const plim_launch *l, void *, uint32_t first, uint32_t last) {
  auto [begin, end] = elements(l, first, last);
  auto factor = static_cast<float>(attr(l));
  auto *x = static_cast<const float *>(l->buf[0]);
  auto *y = static_cast<float *>(l->buf[1]);
  for (int64_t i = begin; i < end; ++i)
    y[i] = factor * x[i];
  return 0;
}

// Each task's partial sum has a line of its own in `shared`; the last phase folds them in order.
int32_t sum(const plim_launch *l, void *scratch, uint32_t first, uint32_t last) {
  auto *partial = static_cast<float *>(l->shared);
  if (l->phase == 1) {
    float total = 0;
    for (uint32_t i = 0; i < l->tasks && first == 0; ++i)
      total += partial[16 * i];
    if (first == 0)
      *static_cast<float *>(l->buf[1]) = total;
    return 0;
  }
  auto *x = static_cast<const float *>(l->buf[0]);
  auto *stage = static_cast<float *>(scratch);
  for (uint32_t task = first; task < last; ++task) {
    auto [begin, end] = elements(l, task, task + 1);
    memset(stage, 0, 256);
    for (int64_t i = begin; i < end; ++i)
      stage[(i - begin) % 64] += x[i];
    float total = 0;
    for (uint32_t i = 0; i < 64; ++i)
      total += stage[i];
    stage[63] = 1;
    partial[16 * task] = total;
  }
  return 0;
}

int32_t count(const plim_launch *l, void *, uint32_t, uint32_t) {
  auto *x = static_cast<const float *>(l->buf[0]);
  l->result[0] = 0;
  for (int64_t i = 0; i < plim_elements(l->shape[0]); ++i)
    l->result[0] += x[i] != 0;
  return 0;
}

int32_t fail(const plim_launch *l, void *, uint32_t, uint32_t) { return static_cast<int32_t>(attr(l)); }

int32_t overrun(const plim_launch *l, void *scratch, uint32_t first, uint32_t last) {
  scale(l, scratch, first, last);
  static_cast<char *>(l->buf[1])[plim_elements(l->shape[1]) * 4] ^= 1;
  return 0;
}

const plim_kernel kernels[] = {
    {"test.add", PLIM_KERNEL_ABI, 1, {add, nullptr, nullptr}},
    {"test.scale", PLIM_KERNEL_ABI, 1, {scale, nullptr, nullptr}},
    {"test.sum", PLIM_KERNEL_ABI, 2, {sum, nullptr, nullptr}},
    {"test.count", PLIM_KERNEL_ABI, 1, {count, nullptr, nullptr}},
    {"test.fail", PLIM_KERNEL_ABI, 1, {fail, nullptr, nullptr}},
    {"test.overrun", PLIM_KERNEL_ABI, 1, {overrun, nullptr, nullptr}},
    {"test.wide", PLIM_KERNEL_ABI, 1, {nullptr, nullptr, scale}},
};

void evalDouble(const int64_t *in, int64_t *out) { out[0] = 2 * in[0]; }
void evalSumDifference(const int64_t *in, int64_t *out) {
  out[0] = in[0] + in[1];
  out[1] = in[0] - in[1];
}
const plim_eval_fn evals[EVAL_COUNT] = {evalDouble, evalSumDifference};

} // namespace

const plim_kernel &findTestKernel(const std::string &name) {
  for (const plim_kernel &k : kernels)
    if (name == k.name)
      return k;
  abort();
}

Model::Model(Table finished, const std::vector<std::string> &kernelNames) : table(std::move(finished)) {
  for (const std::string &name : kernelNames)
    kernels.push_back(&findTestKernel(name));
  model = {sizeof model, PLIM_KERNEL_ABI, "test", table.get(), kernels.data(), evals, EVAL_COUNT, 0};
}

} // namespace plim::test
