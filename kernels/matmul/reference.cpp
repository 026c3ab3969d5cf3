//===- reference.cpp - matmul.reference ------------------------------------------------------===//

#include "kernels/epilogue/reference.h"
#include "kernels/convert.h"
#include "kernels/matmul/matmul.h"
#include "kernels/pack/panel32.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

namespace {

// Columns of C computed together; the width of a panel, so that a block lies in one.
constexpr int64_t blockColumns = 32, blockDepth = 128;

struct Problem {
  const plim_launch *launch;
  EpilogueOperands operands;
  Activation activation;
  int64_t m, n, k;
  Axes aBatch, bBatch, cBatch, residualBatch;

  explicit Problem(const plim_launch *launch)
      : launch(launch), operands(plim_attr_int(launch->attrs, PLIM_MATMUL_FLAGS), 2),
        activation(launch->attrs, PLIM_MATMUL_ACTIVATION) {}

  const plim_shape &a() const { return *launch->shape[0]; }
  const plim_shape &b() const { return *launch->shape[1]; }
  const plim_shape &c() const { return *launch->shape[operands.output]; }
};

bool isBatchOf(const plim_shape &s, const plim_shape &c) {
  if (s.rank != c.rank)
    return false;
  for (uint32_t i = 0; i + 2 < c.rank; ++i)
    if (s.dims[i] != c.dims[i])
      return false;
  return true;
}

bool prepare(Problem &p) {
  if (p.launch->operands != p.operands.output + 1 || !p.activation.isKnown())
    return false;
  const plim_shape &a = p.a(), &b = p.b(), &c = p.c();
  if (c.rank < 2 || b.rank < 2 || !isBatchOf(a, c) || (b.rank != 2 && !isBatchOf(b, c)) ||
      (b.layout == PLIM_PANEL32 && b.rank != 2))
    return false;
  p.m = c.dims[c.rank - 2];
  p.n = c.dims[c.rank - 1];
  p.k = a.dims[a.rank - 1];
  if (a.dims[a.rank - 2] != p.m || b.dims[b.rank - 2] != p.k || b.dims[b.rank - 1] != p.n)
    return false;
  uint64_t leading = (uint64_t(1) << (c.rank - 2)) - 1;
  p.aBatch = axesIn(a, leading);
  p.cBatch = axesIn(c, leading);
  // One matrix of all batches repeats with stride 0.
  p.bBatch = p.cBatch;
  for (uint32_t i = 0; i < p.bBatch.rank; ++i)
    p.bBatch.strides[i] = b.rank == c.rank ? b.strides[i] : 0;
  if (p.operands.bias >= 0) {
    const plim_shape &bias = *p.launch->shape[p.operands.bias];
    if (bias.rank != 1 || bias.dims[0] != p.n)
      return false;
  }
  if (p.operands.residual >= 0) {
    const plim_shape &residual = *p.launch->shape[p.operands.residual];
    if (!sameDims(residual, c))
      return false;
    p.residualBatch = axesIn(residual, leading);
  }
  for (uint32_t i = 0; i <= p.operands.output; ++i)
    if (!isKnownDtype(p.launch->shape[i]->dtype))
      return false;
  return true;
}

// acc[j] += sum over k of A[row, k] B[k, column + j].
template <class C>
void accumulate(const Problem &p, int64_t batch, int64_t row, int64_t column, int64_t width, C *acc) {
  const plim_shape &a = p.a(), &b = p.b();
  int64_t aStep = a.strides[a.rank - 1], aRow = p.aBatch.offsetOf(batch) + row * a.strides[a.rank - 2];
  bool packed = b.layout == PLIM_PANEL32;
  int64_t bStep = packed ? blockColumns : b.strides[b.rank - 2], bColumnStep = packed ? 1 : b.strides[b.rank - 1];
  int64_t bAt = packed ? plim_panel32_offset(p.k, 0, column) : p.bBatch.offsetOf(batch) + column * bColumnStep;
  withType(b.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const T *rows = static_cast<const T *>(p.launch->buf[1]) + bAt;
    C left[blockDepth];
    for (int64_t k0 = 0; k0 < p.k; k0 += blockDepth) {
      int64_t depth = p.k - k0 < blockDepth ? p.k - k0 : blockDepth;
      loadRun(p.launch->buf[0], a.dtype, aRow + k0 * aStep, aStep, depth, left);
      for (int64_t k = 0; k < depth; ++k) {
        const T *right = rows + (k0 + k) * bStep;
        if (bColumnStep == 1)
          for (int64_t j = 0; j < width; ++j)
            acc[j] += left[k] * decode<C>(right[j]);
        else
          for (int64_t j = 0; j < width; ++j)
            acc[j] += left[k] * decode<C>(right[j * bColumnStep]);
      }
    }
  });
}

// C is double, or uint64_t for integers: it wraps, and its low bits are those of the signed result.
template <class C> void runUnits(const Problem &p, Range units) {
  const plim_launch *launch = p.launch;
  const plim_shape &c = p.c();
  int64_t blocks = (p.n + blockColumns - 1) / blockColumns;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    int64_t column = unit % blocks * blockColumns, row = unit / blocks % p.m, batch = unit / blocks / p.m;
    int64_t width = p.n - column < blockColumns ? p.n - column : blockColumns;
    C acc[blockColumns] = {}, term[blockColumns];
    accumulate(p, batch, row, column, width, acc);
    if (p.operands.bias >= 0) {
      const plim_shape &bias = *launch->shape[p.operands.bias];
      loadRun(launch->buf[p.operands.bias], bias.dtype, column * bias.strides[0], bias.strides[0], width, term);
      for (int64_t j = 0; j < width; ++j)
        acc[j] += term[j];
    }
    if (p.operands.residual >= 0) {
      const plim_shape &r = *launch->shape[p.operands.residual];
      int64_t step = r.strides[r.rank - 1];
      loadRun(launch->buf[p.operands.residual], r.dtype,
              p.residualBatch.offsetOf(batch) + row * r.strides[r.rank - 2] + column * step, step, width, term);
      for (int64_t j = 0; j < width; ++j)
        acc[j] += term[j];
    }
    int64_t step = c.strides[c.rank - 1];
    int64_t at = p.cBatch.offsetOf(batch) + row * c.strides[c.rank - 2] + column * step;
    if (p.activation.kind == PLIM_ACT_NONE) {
      storeRun(launch->buf[p.operands.output], c.dtype, at, step, width, acc);
      continue;
    }
    double activated[blockColumns];
    for (int64_t j = 0; j < width; ++j)
      activated[j] = p.activation(isFloating<C> ? double(acc[j]) : double(int64_t(acc[j])));
    storeRun(launch->buf[p.operands.output], c.dtype, at, step, width, activated);
  }
}

int32_t matmulReference(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  Problem p(launch);
  if (!prepare(p))
    return PLIM_KERNEL_UNSUPPORTED;
  int64_t blocks = (p.n + blockColumns - 1) / blockColumns;
  Range units = taskRange(p.cBatch.elements() * p.m * blocks, launch, first, last);
  if (units.begin == units.end)
    return PLIM_KERNEL_OK;
  if (isFloatDtype(p.a().dtype) || isFloatDtype(p.b().dtype))
    runUnits<double>(p, units);
  else
    runUnits<uint64_t>(p, units);
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_matmul_reference = {
    "matmul.reference", PLIM_KERNEL_ABI, 1, {matmulReference, nullptr, nullptr}};
