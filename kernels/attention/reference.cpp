//===- reference.cpp - attention.reference ---------------------------------------------------===//

#include "kernels/attention/attention.h"

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/status.h"
#include "kernels/strided.h"

#include <cmath>

using namespace plim::kernels;

namespace {

constexpr int64_t block = 64; // elements of a row loaded together

struct Query {
  int64_t batch, head, group, row;
};

int64_t offsetOf(const plim_shape &s, int64_t i, int64_t j, int64_t k) {
  return i * s.strides[0] + j * s.strides[1] + k * s.strides[2];
}

// scores[t] = scale * dot(Q row, K row t) + mask, for keys [0, count).
void score(const plim_launch *launch, const Query &at, bool hasMask, int64_t count, double *scores) {
  const plim_shape &q = *launch->shape[0], &k = *launch->shape[1];
  double scale = plim_attr_double(launch->attrs, PLIM_ATTENTION_SCALE), left[block], right[block];
  for (int64_t t = 0; t < count; ++t)
    scores[t] = 0;
  int64_t qRow = offsetOf(q, at.batch, at.head, at.row);
  for (int64_t d = 0; d < q.dims[3]; d += block) {
    int64_t n = q.dims[3] - d < block ? q.dims[3] - d : block;
    loadRun(launch->buf[0], q.dtype, qRow + d * q.strides[3], q.strides[3], n, left);
    for (int64_t t = 0; t < count; ++t) {
      loadRun(launch->buf[1], k.dtype, offsetOf(k, at.batch, at.group, t) + d * k.strides[3], k.strides[3], n, right);
      for (int64_t i = 0; i < n; ++i)
        scores[t] += left[i] * right[i];
    }
  }
  for (int64_t t = 0; t < count; ++t)
    scores[t] *= scale;
  if (!hasMask)
    return;
  const plim_shape &mask = *launch->shape[3];
  int64_t row = offsetOf(mask, at.batch, at.head, at.row);
  for (int64_t t = 0; t < count; t += block) {
    int64_t n = count - t < block ? count - t : block;
    loadRun(launch->buf[3], mask.dtype, row + t * mask.strides[3], mask.strides[3], n, left);
    for (int64_t i = 0; i < n; ++i)
      scores[t + i] = mask.dtype != PLIM_BOOL ? scores[t + i] + left[i] : left[i] != 0 ? scores[t + i] : -INFINITY;
  }
}

// Turns scores into weights that sum to 1, or to 0 where no key is seen.
void softmax(double *scores, int64_t count) {
  double top = -INFINITY, sum = 0;
  for (int64_t t = 0; t < count; ++t)
    top = scores[t] > top ? scores[t] : top;
  for (int64_t t = 0; t < count; ++t) {
    scores[t] = top == -INFINITY ? 0 : std::exp(scores[t] - top);
    sum += scores[t];
  }
  for (int64_t t = 0; t < count; ++t)
    scores[t] = sum == 0 ? 0 : scores[t] / sum;
}

bool fits(const plim_launch *launch, bool hasMask) {
  if (launch->operands != 4u + hasMask)
    return false;
  const plim_shape &q = *launch->shape[0], &k = *launch->shape[1], &v = *launch->shape[2];
  const plim_shape &o = *launch->shape[3 + hasMask];
  for (uint32_t i = 0; i < launch->operands; ++i)
    if (launch->shape[i]->rank != 4 || !isKnownDtype(launch->shape[i]->dtype))
      return false;
  int64_t batch = q.dims[0], heads = q.dims[1], groups = k.dims[1], queries = q.dims[2], keys = k.dims[2];
  bool ok = k.dims[0] == batch && v.dims[0] == batch && o.dims[0] == batch && v.dims[1] == groups &&
            o.dims[1] == heads && o.dims[2] == queries && v.dims[2] == keys && k.dims[3] == q.dims[3] &&
            o.dims[3] == v.dims[3] && (heads == 0 || (groups > 0 && heads % groups == 0));
  if (ok && hasMask) {
    const plim_shape &m = *launch->shape[3];
    ok = m.dims[0] == batch && m.dims[1] == heads && m.dims[2] == queries && m.dims[3] == keys;
  }
  return ok;
}

int32_t attentionReference(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  int64_t flags = plim_attr_int(launch->attrs, PLIM_ATTENTION_FLAGS);
  bool hasMask = flags & PLIM_ATTENTION_MASK, causal = flags & PLIM_ATTENTION_CAUSAL;
  if (!fits(launch, hasMask))
    return PLIM_KERNEL_UNSUPPORTED;
  uint32_t output = 3 + hasMask;
  const plim_shape &k = *launch->shape[1], &v = *launch->shape[2], &o = *launch->shape[output];
  int64_t heads = o.dims[1], queries = o.dims[2], keys = k.dims[2];
  int64_t offset = plim_attention_offset(flags, plim_attr_int(launch->attrs, PLIM_ATTENTION_OFFSET), queries, keys);
  double *weights = static_cast<double *>(scratch);
  Range rows = taskRange(o.dims[0] * heads * queries, launch, first, last);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    int64_t head = row / queries % heads;
    Query at = {row / queries / heads, head, head / (heads / k.dims[1]), row % queries};
    int64_t seen = causal && at.row + offset + 1 < keys ? at.row + offset + 1 : keys;
    seen = seen < 0 ? 0 : seen;
    score(launch, at, hasMask, seen, weights);
    softmax(weights, seen);
    int64_t out = offsetOf(o, at.batch, at.head, at.row);
    for (int64_t e = 0; e < o.dims[3]; e += block) {
      int64_t n = o.dims[3] - e < block ? o.dims[3] - e : block;
      double acc[block] = {}, value[block];
      for (int64_t t = 0; t < seen; ++t) {
        loadRun(launch->buf[2], v.dtype, offsetOf(v, at.batch, at.group, t) + e * v.strides[3], v.strides[3], n, value);
        for (int64_t i = 0; i < n; ++i)
          acc[i] += weights[t] * value[i];
      }
      storeRun(launch->buf[output], o.dtype, out + e * o.strides[3], o.strides[3], n, acc);
    }
  }
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_attention_reference = {
    "attention.reference", PLIM_KERNEL_ABI, 1, {attentionReference, nullptr, nullptr}};
