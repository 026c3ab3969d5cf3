//===- kernels/attention/softmax_x86.h - What the fast attention kernels have in common ---===//
#ifndef PLIM_KERNELS_ATTENTION_SOFTMAX_X86_H
#define PLIM_KERNELS_ATTENTION_SOFTMAX_X86_H

#include "kernels/attention/fast_cost.h"
#include "kernels/attrs.h"
#include "kernels/status.h"
#include "kernels/x86/activation.h"
#include "kernels/x86/pack_panels.h"
#include "kernels/x86/panel_block.h"

namespace plim {
namespace {

struct Attention {
  const plim_shape *q, *k, *v, *mask, *o; // mask: null for none
  const float *qData, *kData, *vData;
  const void *maskData;
  float *oData;
  int64_t batches, heads, groups, queries, keys, depth, values;
  bool causal;
  int64_t offset;
  float scale;

  explicit Attention(const plim_launch *launch) {
    const int64_t flags = plim_attr_int(launch->attrs, PLIM_ATTENTION_FLAGS);
    const bool masked = flags & PLIM_ATTENTION_MASK;
    q = launch->shape[0], k = launch->shape[1], v = launch->shape[2];
    mask = masked ? launch->shape[3] : nullptr;
    o = launch->shape[3 + masked];
    qData = (const float *)launch->buf[0], kData = (const float *)launch->buf[1];
    vData = (const float *)launch->buf[2];
    maskData = masked ? launch->buf[3] : nullptr;
    oData = (float *)launch->buf[3 + masked];
    batches = q->dims[0], heads = q->dims[1], queries = q->dims[2], depth = q->dims[3];
    groups = k->dims[1], keys = k->dims[2], values = v->dims[3];
    causal = flags & PLIM_ATTENTION_CAUSAL;
    offset = plim_attention_offset(flags, plim_attr_int(launch->attrs, PLIM_ATTENTION_OFFSET), queries, keys);
    scale = (float)plim_attr_double(launch->attrs, PLIM_ATTENTION_SCALE);
  }

  /// f32 with stride 1 in the last dim (the mask with any, and bool too), heads of up to 256.
  bool fits() const {
    const plim_shape *all[] = {q, k, v, o, mask};
    for (const plim_shape *s : all)
      if (s && (s->rank != 4 || (s->dtype != PLIM_F32 && (s != mask || s->dtype != PLIM_BOOL)) ||
                (s != mask && s->dims[3] > 1 && s->strides[3] != 1)))
        return false;
    return depth <= PLIM_ATTENTION_HEAD_MAX && values <= PLIM_ATTENTION_HEAD_MAX && k->dims[3] == depth &&
           v->dims[2] == keys && v->dims[1] == groups && o->dims[3] == values &&
           (heads == 0 || (groups > 0 && heads % groups == 0));
  }

  /// Keys [0, seen) are those that query row `row` sees.
  int64_t seen(int64_t row) const {
    const int64_t limit = causal ? row + offset + 1 : keys;
    return limit < 0 ? 0 : limit < keys ? limit : keys;
  }
  static int64_t at(const plim_shape *s, int64_t batch, int64_t head, int64_t row) {
    return batch * s->strides[0] + head * s->strides[1] + row * s->strides[2];
  }
  int64_t groupOf(int64_t head) const { return head / (heads / groups); }
};

/// Calls function(vector, t, lanes) for elements [0, count), `vector` being t / kLanes modulo the vectors of Lanes64
/// and a constant after unrolling, so that what it numbers stays in registers.
template <typename Function> PLIM_INLINE void forLanes64(int64_t count, Function function) {
  int64_t t = 0;
  for (; t + 64 <= count; t += 64)
#pragma clang loop unroll(full)
    for (int v = 0; v < Lanes64::kVectors; ++v)
      function(v, t + v * kLanes, firstLanes(kLanes));
#pragma clang loop unroll(full)
  for (int v = 0; v < Lanes64::kVectors; ++v)
    if (t + v * kLanes < count)
      function(v, t + v * kLanes, firstLanes(count - t - v * kLanes));
}

/// scores = scale * scores + mask(t, lanes) for `count` keys, -inf in the rest of the last vector. Returns the largest,
/// -inf for none.
template <typename Mask> PLIM_INLINE float scaleScores(float scale, int64_t count, float *scores, Mask mask) {
  const Vector factor = broadcast(scale), lowest = broadcast(-__builtin_inff());
  Lanes64 largest;
  for (Vector &v : largest.part)
    v = lowest;
  forLanes64(count, [&](int v, int64_t t, LaneMask lanes) __attribute__((always_inline)) {
    const Vector s = select(lanes, mask(load(scores + t) * factor, t, lanes), lowest);
    store(scores + t, s);
    largest.part[v] = max(largest.part[v], s);
  });
  return foldLanes(largest, Max());
}

/// The above for keys [first, first + count) of a query row.
inline float scaleScores(const Attention &a, int64_t batch, int64_t head, int64_t row, int64_t first, int64_t count,
                         float *scores) {
  if (!a.mask)
    return scaleScores(a.scale, count, scores,
                       [](Vector s, int64_t, LaneMask) __attribute__((always_inline)) { return s; });
  const int64_t stride = a.mask->strides[3], offset = Attention::at(a.mask, batch, head, row) + first * stride;
  if (a.mask->dtype == PLIM_BOOL) {
    const uint8_t *keeps = (const uint8_t *)a.maskData + offset;
    return scaleScores(a.scale, count, scores, [=](Vector s, int64_t t, LaneMask) __attribute__((always_inline)) {
      alignas(16) uint8_t bytes[16] = {};
      if (stride == 1 && t + kLanes <= count)
        memcpy(bytes, keeps + t, kLanes);
      else
        for (int64_t i = 0; i < kLanes && t + i < count; ++i)
          bytes[i] = keeps[(t + i) * stride];
      return select(notZero(_mm_load_si128((const __m128i *)bytes)), s, broadcast(-__builtin_inff()));
    });
  }
  const float *mask = (const float *)a.maskData + offset;
  if (stride == 1)
    return scaleScores(a.scale, count, scores, [=](Vector s, int64_t t, LaneMask lanes) __attribute__((always_inline)) {
      return s + load(mask + t, lanes);
    });
  return scaleScores(a.scale, count, scores, [=](Vector s, int64_t t, LaneMask) __attribute__((always_inline)) {
    alignas(64) float gathered[kLanes] = {};
    for (int64_t i = 0; i < kLanes && t + i < count; ++i)
      gathered[i] = mask[(t + i) * stride];
    return s + load(gathered);
  });
}

/// scores = exp(scores - largest) for `count` keys, zeros in the rest of the last vector. Returns the sum.
inline float exponentiateScores(float *scores, int64_t count, float largest) {
  const Vector top = broadcast(largest);
  Lanes64 sum;
  for (Vector &v : sum.part)
    v = zero();
  forLanes64(count, [&](int v, int64_t t, LaneMask) __attribute__((always_inline)) {
    // Lanes beyond the last key hold -inf, which weighs 0.
    const Vector p = exponential(load(scores + t) - top);
    store(scores + t, p);
    sum.part[v] = sum.part[v] + p;
  });
  return foldLanes(sum, Add());
}

/// A block of products of one matrix by packed keys or values, without epilogue.
inline PanelBlock productBlock(const float *a, int64_t aRow, int64_t rows, const Tap *tap, int64_t depth,
                               const float *b, int64_t bPanel, int64_t columns) {
  PanelBlock block = {};
  block.a = a;
  block.aRow = aRow;
  block.runs = 1;
  block.rows = rows;
  block.taps = tap;
  block.tapCount = 1;
  block.depth = depth;
  block.depthBlock = plim_panel_depth_block(depth);
  block.b = b;
  block.bPanel = bPanel;
  block.columns = columns;
  block.panelCount = plim_ceil_divide(columns, kPanel);
  block.activation = PLIM_ACT_NONE;
  return block;
}

} // namespace
} // namespace plim

#endif
