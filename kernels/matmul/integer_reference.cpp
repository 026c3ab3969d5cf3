//===- integer_reference.cpp - matmul.integer_reference --------------------------------------===//

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/matmul/integer.h"
#include "kernels/pack/panel32.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

// Offset of the first element of batch `batch` of a matrix.
static int64_t batchOffset(const plim_shape &s, const plim_shape &c, int64_t batch) {
  int64_t offset = 0;
  for (uint32_t i = c.rank - 2u; i-- > 0;) {
    offset += s.rank == c.rank ? batch % c.dims[i] * s.strides[i] : 0;
    batch /= c.dims[i];
  }
  return offset;
}

static int32_t integerReference(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  plim_integer_operands o = plim_integer_operands_of(plim_attr_int(launch->attrs, PLIM_INTEGER_MATMUL_FLAGS));
  if (!plim_integer_matmul_fits(launch->shape, launch->operands, o))
    return PLIM_KERNEL_UNSUPPORTED;
  const plim_shape &a = *launch->shape[0], &b = *launch->shape[1], &c = *launch->shape[o.c];
  int64_t m = c.dims[c.rank - 2], n = c.dims[c.rank - 1], k = a.dims[a.rank - 1];
  int64_t aStep = a.strides[a.rank - 1], bStep = b.strides[b.rank - 2];
  auto load = [&](int operand, int64_t at) {
    return loadElement<int64_t>(launch->buf[operand], launch->shape[operand]->dtype, at);
  };
  Range elements = taskRange(plim_elements(&c), launch, first, last);
  for (int64_t element = elements.begin; element < elements.end; ++element) {
    int64_t column = element % n, row = element / n % m, batch = element / n / m;
    int64_t aAt = batchOffset(a, c, batch) + row * a.strides[a.rank - 2];
    int64_t bAt = b.layout == PLIM_PANEL32 ? plim_panel32_offset(k, 0, column)
                                           : batchOffset(b, c, batch) + column * b.strides[b.rank - 1];
    int64_t aZero = 0, bZero = 0, sum = 0;
    if (o.a_zero >= 0) {
      const plim_shape &zero = *launch->shape[o.a_zero];
      aZero = load(o.a_zero, batchOffset(zero, c, batch) + row * zero.strides[zero.rank - 2]);
    }
    if (o.b_zero >= 0) {
      const plim_shape &zero = *launch->shape[o.b_zero];
      bZero = load(o.b_zero, batchOffset(zero, c, batch) + column * zero.strides[zero.rank - 1]);
    }
    for (int64_t i = 0; i < k; ++i)
      sum += (load(0, aAt + i * aStep) - aZero) * (load(1, bAt + i * (b.layout == PLIM_PANEL32 ? 32 : bStep)) - bZero);
    int64_t cAt = batchOffset(c, c, batch) + row * c.strides[c.rank - 2] + column * c.strides[c.rank - 1];
    storeElement(launch->buf[o.c], PLIM_I32, cAt, sum);
  }
  return PLIM_KERNEL_OK;
}

extern "C" const plim_kernel plim_kernel_matmul_integer_reference = {
    "matmul.integer_reference", PLIM_KERNEL_ABI, 1, {integerReference, nullptr, nullptr}};
