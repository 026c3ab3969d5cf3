//===- kernels/attention/materialised_x86.h - attention.naive and attention.chunked -------===//
//
// Both pack K and V first and then, for blocks of query rows, write scores, turn them into weights in place and
// multiply those by V. They differ in where the scores lie and how many exist at a time; a row takes the same steps in
// both, so they give the same bits.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_ATTENTION_MATERIALISED_X86_H
#define PLIM_KERNELS_ATTENTION_MATERIALISED_X86_H

#include "kernels/attention/softmax_x86.h"

namespace plim {
namespace {

/// K and V of all heads, packed: for each (batch, group) first K, then V.
struct PackedHeads {
  float *data;
  int64_t keyFloats, headFloats;

  PackedHeads(const Attention &a, void *shared)
      : data((float *)shared), keyFloats(plim_attention_key_floats(a.k)),
        headFloats(keyFloats + plim_attention_value_floats(a.v)) {}
  float *keys(const Attention &a, int64_t batch, int64_t group) const {
    return data + (batch * a.groups + group) * headFloats;
  }
  float *values(const Attention &a, int64_t batch, int64_t group) const { return keys(a, batch, group) + keyFloats; }
};

/// Phase 0. A unit is one panel of keys or of values.
inline void packHeads(const Attention &a, const PackedHeads &packed, const plim_launch *launch, uint32_t first,
                      uint32_t last) {
  const int64_t keyPanels = plim_ceil_divide(a.keys, kPanel), panels = keyPanels + plim_ceil_divide(a.values, kPanel);
  const int64_t units = a.batches * a.groups * panels, end = units * last / launch->tasks;
  for (int64_t unit = units * first / launch->tasks; unit < end; ++unit) {
    const int64_t panel = unit % panels, group = unit / panels % a.groups, batch = unit / panels / a.groups;
    const auto columns = [](int64_t n, int64_t p) { return n - p * kPanel < kPanel ? n - p * kPanel : kPanel; };
    if (panel < keyPanels) {
      const float *k = a.kData + Attention::at(a.k, batch, group, panel * kPanel);
      packPanel(packed.keys(a, batch, group) + panel * a.depth * kPanel, k, 1, a.k->strides[2], a.depth,
                columns(a.keys, panel));
    } else {
      const int64_t p = panel - keyPanels;
      const float *v = a.vData + Attention::at(a.v, batch, group, 0) + p * kPanel;
      packPanel(packed.values(a, batch, group) + p * a.keys * kPanel, v, a.v->strides[2], 1, a.keys,
                columns(a.values, p));
    }
  }
}

/// Weights of rows [row, row + rows), not yet divided by their sum: the factor lies after each row.
inline void weighRows(const Attention &a, const PackedHeads &packed, int64_t batch, int64_t head, int64_t row,
                      int64_t rows, float *scores, int64_t pitch) {
  const int64_t seen = a.seen(row + rows - 1);
  const Tap tap = {0, 0};
  if (seen) {
    PanelBlock block =
        productBlock(a.qData + Attention::at(a.q, batch, head, row), a.q->strides[2], rows, &tap, a.depth,
                     packed.keys(a, batch, a.groupOf(head)), a.depth * kPanel, plim_attention_up_32(seen));
    block.c = scores;
    block.cRow = pitch;
    PLIM_PANEL_BLOCK(&block);
  }
  for (int64_t i = 0; i < rows; ++i) {
    float *s = scores + i * pitch;
    const int64_t count = a.seen(row + i);
    const float largest = scaleScores(a, batch, head, row + i, 0, count, s);
    float sum = 0.0f;
    if (largest == -__builtin_inff())
      memset(s, 0, (size_t)count * sizeof(float));
    else
      sum = exponentiateScores(s, count, largest);
    if (count < seen)
      memset(s + count, 0, (size_t)(seen - count) * sizeof(float));
    s[pitch - PLIM_ATTENTION_ROW_PAD] = sum == 0.0f ? 0.0f : 1.0f / sum;
  }
}

struct WeightedRows {
  const float *factors;
  int64_t pitch;
};

inline void storeWeighted(const PanelBlock *block, const float *sums, int64_t, int64_t row, int64_t rows,
                          int64_t panel) {
  const WeightedRows &weighted = *(const WeightedRows *)block->context;
  for (int64_t i = 0; i < rows; ++i) {
    const Vector factor = broadcast(weighted.factors[(row + i) * weighted.pitch]);
    for (int64_t column = 0; column < kPanel && panel * kPanel + column < block->columns; column += kLanes) {
      const LaneMask lanes = firstLanes(block->columns - panel * kPanel - column);
      store(block->c + (row + i) * block->cRow + panel * kPanel + column, load(sums + i * kPanel + column) * factor,
            lanes);
    }
  }
}

/// O = weights V.
inline void sumRows(const Attention &a, const PackedHeads &packed, int64_t batch, int64_t head, int64_t row,
                    int64_t rows, const float *weights, int64_t pitch, float *partial) {
  const Tap tap = {0, 0};
  PanelBlock block = productBlock(weights, pitch, rows, &tap, a.seen(row + rows - 1),
                                  packed.values(a, batch, a.groupOf(head)), a.keys * kPanel, a.values);
  const WeightedRows weighted = {weights + pitch - PLIM_ATTENTION_ROW_PAD, pitch};
  block.c = a.oData + Attention::at(a.o, batch, head, row);
  block.cRow = a.o->strides[2];
  block.partial = partial;
  block.finish = storeWeighted;
  block.context = &weighted;
  PLIM_PANEL_BLOCK(&block);
}

/// Calls function(batch, head, row, rows) for the blocks of `size` query rows that tasks [first, last) own.
template <typename Function>
inline void forBlocks(const Attention &a, int64_t size, const plim_launch *launch, uint32_t first, uint32_t last,
                      Function function) {
  const int64_t blocks = plim_ceil_divide(a.queries, size);
  const int64_t units = a.batches * a.heads * blocks, end = units * last / launch->tasks;
  for (int64_t unit = units * first / launch->tasks; unit < end; ++unit) {
    const int64_t row = unit % blocks * size, rows = a.queries - row < size ? a.queries - row : size;
    function(unit / blocks / a.heads, unit / blocks % a.heads, row, rows);
  }
}

inline int32_t runNaive(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  const Attention a(launch);
  if (!a.fits())
    return PLIM_KERNEL_UNSUPPORTED;
  const PackedHeads packed(a, launch->shared);
  float *scores = (float *)((char *)launch->shared + plim_attention_packed_bytes(a.k, a.v));
  const int64_t pitch = plim_attention_pitch(a.keys);
  const auto rowsAt = [&](int64_t batch, int64_t head, int64_t row) {
    return scores + ((batch * a.heads + head) * a.queries + row) * pitch;
  };
  if (launch->phase == 0)
    packHeads(a, packed, launch, first, last);
  else
    forBlocks(a, PLIM_ATTENTION_ROWS, launch, first, last, [&](int64_t batch, int64_t head, int64_t row, int64_t rows) {
      float *s = rowsAt(batch, head, row);
      if (launch->phase == 1)
        weighRows(a, packed, batch, head, row, rows, s, pitch);
      else
        sumRows(a, packed, batch, head, row, rows, s, pitch, (float *)scratch);
    });
  return PLIM_KERNEL_OK;
}

inline int32_t runChunked(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  const Attention a(launch);
  if (!a.fits())
    return PLIM_KERNEL_UNSUPPORTED;
  const PackedHeads packed(a, launch->shared);
  if (launch->phase == 0) {
    packHeads(a, packed, launch, first, last);
    return PLIM_KERNEL_OK;
  }
  float *scores = (float *)((char *)scratch + plim_attention_partial_bytes(a.v));
  const int64_t pitch = plim_attention_pitch(a.keys);
  forBlocks(a, plim_attention_chunk((const int64_t *)launch->attrs), launch, first, last,
            [&](int64_t batch, int64_t head, int64_t chunk, int64_t chunkRows) {
              for (int64_t i = 0; i < chunkRows; i += PLIM_ATTENTION_ROWS) {
                const int64_t left = chunkRows - i, rows = left < PLIM_ATTENTION_ROWS ? left : PLIM_ATTENTION_ROWS;
                weighRows(a, packed, batch, head, chunk + i, rows, scores + i * pitch, pitch);
                sumRows(a, packed, batch, head, chunk + i, rows, scores + i * pitch, pitch, (float *)scratch);
              }
            });
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
