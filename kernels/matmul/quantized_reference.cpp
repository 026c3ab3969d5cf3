//===- quantized_reference.cpp - matmul.quantized_reference ----------------------------------===//

#include "kernels/convert.h"
#include "kernels/epilogue/reference.h"
#include "kernels/matmul/quantized.h"
#include "kernels/pack/panel32.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

namespace {

// Columns of C computed together; the width of a panel, so that a block lies in one.
constexpr int64_t blockColumns = 32;

struct Problem {
  const plim_launch *launch;
  plim_quantized_operands at;
  Activation activation;
  int64_t m, n, k, groups;

  explicit Problem(const plim_launch *launch)
      : launch(launch), at(plim_quantized_operands_of(plim_attr_int(launch->attrs, PLIM_QUANTIZED_FLAGS))),
        activation(launch->attrs, PLIM_QUANTIZED_ACTIVATION) {}

  const plim_shape &shape(int operand) const { return *launch->shape[operand]; }

  // Elements [column, column + width) of row `row` of a matrix, or of a vector whose row is 0.
  void load(int operand, int64_t batch, int64_t row, int64_t column, int64_t width, double *block) const {
    const plim_shape &s = shape(operand);
    int64_t offset = 0, step = 1;
    if (s.layout == PLIM_PANEL32) {
      offset = plim_panel32_offset(s.dims[0], row, column);
    } else {
      step = s.strides[s.rank - 1];
      offset = column * step + (s.rank > 1 ? row * s.strides[s.rank - 2] : 0);
      if (s.rank > 2)
        offset += axesIn(s, (uint64_t(1) << (s.rank - 2)) - 1).offsetOf(batch);
    }
    loadRun(launch->buf[operand], s.dtype, offset, step, width, block);
  }
};

bool prepare(Problem &p) {
  if (p.launch->operands != uint32_t(p.at.c) + 1 || !p.activation.isKnown() ||
      !plim_quantized_fits(p.launch->shape, p.at))
    return false;
  const plim_shape &a = p.shape(0), &b = p.shape(1), &c = p.shape(p.at.c);
  if (c.rank < 2 || a.rank != c.rank || a.dtype != PLIM_F32 || c.dtype != PLIM_F32)
    return false;
  for (uint32_t i = 0; i + 1 < c.rank; ++i)
    if (a.dims[i] != c.dims[i])
      return false;
  p.m = c.dims[c.rank - 2];
  p.n = c.dims[c.rank - 1];
  p.k = a.dims[a.rank - 1];
  p.groups = plim_quantized_groups(p.launch->shape, p.at);
  if (b.dims[0] != p.k || b.dims[1] != p.n)
    return false;
  if (p.at.bias >= 0) {
    const plim_shape &bias = p.shape(p.at.bias);
    if (bias.rank != 1 || bias.dims[0] != p.n || bias.dtype != PLIM_F32)
      return false;
  }
  return p.at.residual < 0 || (sameDims(p.shape(p.at.residual), c) && p.shape(p.at.residual).dtype == PLIM_F32);
}

void computeBlock(const Problem &p, int64_t batch, int64_t row, int64_t column, int64_t width) {
  double sum[blockColumns] = {}, weight[blockColumns], zero[blockColumns] = {}, scale[blockColumns], term[blockColumns];
  for (int64_t k = 0; k < p.k; ++k) {
    int64_t group = k / (p.k / p.groups);
    if (k % (p.k / p.groups) == 0) {
      if (p.at.zero >= 0)
        p.load(p.at.zero, 0, group, column, width, zero);
      if (p.at.scale >= 0)
        p.load(p.at.scale, 0, group, column, width, scale);
    }
    double a;
    p.load(0, batch, row, k, 1, &a);
    p.load(1, 0, k, column, width, weight);
    for (int64_t j = 0; j < width; ++j)
      sum[j] += a * (weight[j] - zero[j]) * (p.at.scale >= 0 ? scale[j] : 1.0);
  }
  if (p.at.bias >= 0) {
    p.load(p.at.bias, 0, 0, column, width, term);
    for (int64_t j = 0; j < width; ++j)
      sum[j] += term[j];
  }
  if (p.at.residual >= 0) {
    p.load(p.at.residual, batch, row, column, width, term);
    for (int64_t j = 0; j < width; ++j)
      sum[j] += term[j];
  }
  for (int64_t j = 0; j < width; ++j)
    sum[j] = p.activation(sum[j]);
  const plim_shape &c = p.shape(p.at.c);
  int64_t step = c.strides[c.rank - 1], offset = row * c.strides[c.rank - 2] + column * step;
  offset += axesIn(c, (uint64_t(1) << (c.rank - 2)) - 1).offsetOf(batch);
  storeRun(p.launch->buf[p.at.c], PLIM_F32, offset, step, width, sum);
}

int32_t quantizedReference(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  Problem p(launch);
  if (!prepare(p))
    return PLIM_KERNEL_UNSUPPORTED;
  int64_t blocks = (p.n + blockColumns - 1) / blockColumns, rows = 1;
  const plim_shape &c = p.shape(p.at.c);
  for (uint32_t i = 0; i + 1 < c.rank; ++i)
    rows *= c.dims[i];
  Range units = taskRange(rows * blocks, launch, first, last);
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    int64_t column = unit % blocks * blockColumns, row = unit / blocks;
    computeBlock(p, row / p.m, row % p.m, column, p.n - column < blockColumns ? p.n - column : blockColumns);
  }
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_matmul_quantized_reference = {
    "matmul.quantized_reference", PLIM_KERNEL_ABI, 1, {quantizedReference, nullptr, nullptr}};
