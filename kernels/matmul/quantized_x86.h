//===- kernels/matmul/quantized_x86.h - matmul.quantized_panel32 at the level of a file ---===//
#ifndef PLIM_KERNELS_MATMUL_QUANTIZED_X86_H
#define PLIM_KERNELS_MATMUL_QUANTIZED_X86_H

#include "kernels/attrs.h"
#include "kernels/matmul/quantized_tile.h"
#include "kernels/status.h"
#include "kernels/x86/row_product.h"

namespace plim {
namespace {

inline bool takesQuantized(const plim_launch *launch, const plim_quantized_operands &o) {
  if (launch->operands != uint32_t(o.c) + 1 || launch->shape[1]->layout != PLIM_PANEL32 ||
      !plim_quantized_fits(launch->shape, o))
    return false;
  for (int i = 0; i <= o.c; ++i) {
    const plim_shape *s = launch->shape[i];
    if (i == 1)
      continue;
    if ((i != o.zero && s->dtype != PLIM_F32) || s->layout != PLIM_ROW || s->rank == 0 ||
        (s->dims[s->rank - 1] > 1 && s->strides[s->rank - 1] != 1) ||
        ((i == o.scale || i == o.zero) && s->dims[0] > 1 && s->strides[0] != s->dims[1]))
      return false;
  }
  return true;
}

/// The epilogue of sums that PanelBlock made; its blocks have one panel.
inline void finishBlock(const PanelBlock *block, const float *sums, int64_t run, int64_t row, int64_t rows, int64_t) {
  const int64_t residual = run * block->residualRun + row * block->residualRow;
  finishSums(*(const Epilogue *)block->context, sums, kPanel, rows, block->columns,
             block->c + run * block->cRun + row * block->cRow, block->cRow,
             block->residual ? block->residual + residual : nullptr, block->residualRow);
}

template <typename T>
inline void runQuantized(const plim_launch *launch, const plim_quantized_operands &o, void *scratch, uint32_t first,
                         uint32_t last) {
  const plim_shape *const *shape = launch->shape;
  void *const *buf = launch->buf;
  const plim_quantized_blocking q =
      plim_quantized_blocking_for(shape[0], shape[1], o.residual >= 0 ? shape[o.residual] : nullptr, shape[o.c]);
  const plim_row_space &space = q.space;
  const plim_panel_blocking &cut = q.cut;
  const int64_t k = shape[1]->dims[0], n = shape[1]->dims[1], groups = plim_quantized_groups(shape, o);
  const float *scale = o.scale >= 0 ? (const float *)buf[o.scale] : nullptr;
  const T *zeros = o.zero >= 0 ? (const T *)buf[o.zero] : nullptr;
  const Weights<T> weights = {(const T *)buf[1], zeros, groups > 1 ? scale : nullptr, k, n, k / groups};
  const Epilogue epilogue = {groups > 1 ? nullptr : scale, o.bias >= 0 ? (const float *)buf[o.bias] : nullptr,
                             Activation{(plim_activation)plim_attr_int(launch->attrs, PLIM_QUANTIZED_ACTIVATION),
                                        (float)plim_attr_double(launch->attrs, PLIM_QUANTIZED_ACT_A),
                                        (float)plim_attr_double(launch->attrs, PLIM_QUANTIZED_ACT_B)}};
  const float *residual = o.residual >= 0 ? (const float *)buf[o.residual] : nullptr;
  float *piece = (float *)scratch, *partial = (float *)((char *)scratch + q.piece_bytes);

  PanelBlock block = blockOfRows(space);
  block.panelCount = 1;
  block.b = piece;
  block.finish = finishBlock;

  const int64_t end = cut.units * last / launch->tasks;
  for (int64_t unit = cut.units * first / launch->tasks; unit < end; ++unit) {
    const RowUnit at(cut, unit);
    const auto offset = [&](int operand) { return plim_row_space_offset(&space, operand, at.outer, at.run, at.row); };
    const int64_t panels = smaller(plim_ceil_divide(n, kPanel) - at.panel, cut.panels);
    const float *a = (const float *)buf[0] + offset(PLIM_ROWS_A);
    float *c = (float *)buf[o.c] + offset(PLIM_ROWS_C);
    const float *r = residual ? residual + offset(PLIM_ROWS_RESIDUAL) : nullptr;
    block.runs = smaller(space.runs - at.run, cut.runs);
    block.rows = smaller(space.rows - at.row, cut.rows);
    if (q.direct) {
      const DirectRows rows = {a, block.aRow, c, block.cRow, r, block.residualRow};
      if (weights.isPlain())
        multiplyDirect<T, true>(weights, epilogue, rows, block.rows, at.panel, panels);
      else
        multiplyDirect<T, false>(weights, epilogue, rows, block.rows, at.panel, panels);
      continue;
    }
    const int64_t resting = q.depth < k ? block.runs * block.rows * kPanel : 0; // of each panel of the unit
    int64_t depth = 0;
    do {
      const int64_t depthEnd = depth + smaller(k - depth, q.depth);
      for (int64_t p = 0; p < panels; ++p) {
        const int64_t column = (at.panel + p) * kPanel;
        const Epilogue here = epilogue.from(column);
        block.context = &here;
        block.columns = smaller(n - column, kPanel);
        block.c = c + column;
        block.residual = r ? r + column : nullptr;
        block.partial = q.partial_bytes ? partial + p * resting : nullptr;
        int64_t term = depth;
        do {
          block.depth = smaller(depthEnd - term, q.piece);
          block.depthBlock = block.depth ? block.depth : 1;
          block.bPanel = block.depth * kPanel;
          widenPanel(weights, at.panel + p, term, block.depth, piece);
          block.a = a + term;
          block.resume = term > 0;
          term += block.depth;
          block.keep = term < k;
          PLIM_PANEL_BLOCK(&block);
        } while (term < depthEnd);
      }
      depth = depthEnd;
    } while (depth < k);
  }
}

inline int32_t runMatmulQuantizedPanel32(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  const plim_quantized_operands o = plim_quantized_operands_of(plim_attr_int(launch->attrs, PLIM_QUANTIZED_FLAGS));
  if (!takesQuantized(launch, o))
    return PLIM_KERNEL_UNSUPPORTED;
  switch (launch->shape[1]->dtype) {
  case PLIM_I8:
    runQuantized<int8_t>(launch, o, scratch, first, last);
    return PLIM_KERNEL_OK;
  case PLIM_U8:
    runQuantized<uint8_t>(launch, o, scratch, first, last);
    return PLIM_KERNEL_OK;
  case PLIM_F16:
    runQuantized<HalfBits>(launch, o, scratch, first, last);
    return PLIM_KERNEL_OK;
  case PLIM_BF16:
    runQuantized<BFloatBits>(launch, o, scratch, first, last);
    return PLIM_KERNEL_OK;
  default:
    return PLIM_KERNEL_UNSUPPORTED;
  }
}

} // namespace
} // namespace plim

#endif
