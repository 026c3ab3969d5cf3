//===- apply.cpp - elementwise.apply and elementwise.cast ------------------------------------===//

#include "kernels/elementwise/apply.h"

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/elementwise/operations.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

namespace {

// Elements converted at a time; the blocks of all operands stay in the first-level cache.
constexpr int64_t blockElements = 256;

enum class Compute { Float, Double, Signed, Unsigned };

Compute computeOf(const uint8_t *dtypes, uint32_t count) {
  bool anyFloat = false, anyDouble = false, anyWide = false, anySigned = false;
  for (uint32_t i = 0; i < count; ++i) {
    uint8_t t = dtypes[i];
    anyFloat |= isFloatDtype(t);
    anyDouble |= t == PLIM_F64;
    anyWide |= !isFloatDtype(t) && plim_dtype_bytes(t) >= 4;
    anySigned |= !isFloatDtype(t) && !isUnsignedDtype(t) && t != PLIM_BOOL;
  }
  if (anyFloat)
    return anyDouble || anyWide ? Compute::Double : Compute::Float;
  return anySigned ? Compute::Signed : Compute::Unsigned;
}

template <class C>
bool runBlock(const plim_launch *launch, uint32_t inputs, const C (*in)[blockElements], C *out, int64_t n) {
  int64_t op = plim_attr_int(launch->attrs, PLIM_ELEMENTWISE_OP);
  switch (inputs) {
  case 1:
    return applyUnary<C>(op, in[0], out, n, plim_attr_double(launch->attrs, PLIM_ELEMENTWISE_A),
                         plim_attr_double(launch->attrs, PLIM_ELEMENTWISE_B));
  case 2:
    return applyBinary<C>(op, in[0], in[1], out, n);
  default:
    return applyTernary<C>(op, in[0], in[1], in[2], out, n);
  }
}

template <class C> int32_t applyIn(const plim_launch *launch, uint32_t inputs, Range range) {
  C in[3][blockElements];
  Cursor cursors[4] = {Cursor(*launch->shape[0]), Cursor(*launch->shape[1]),
                       Cursor(*launch->shape[inputs >= 2 ? 2 : 0]), Cursor(*launch->shape[inputs == 3 ? 3 : 0])};
  for (uint32_t i = 0; i <= inputs; ++i)
    cursors[i].seek(range.begin);
  for (int64_t at = range.begin; at < range.end; at += blockElements) {
    int64_t n = range.end - at < blockElements ? range.end - at : blockElements;
    for (uint32_t i = 0; i < inputs; ++i)
      loadBlock(launch->buf[i], launch->shape[i]->dtype, cursors[i], n, in[i]);
    if (!runBlock<C>(launch, inputs, in, in[0], n))
      return PLIM_KERNEL_UNSUPPORTED;
    storeBlock(launch->buf[inputs], launch->shape[inputs]->dtype, cursors[inputs], n, in[0]);
  }
  return PLIM_KERNEL_OK;
}

int32_t apply(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  int64_t op = plim_attr_int(launch->attrs, PLIM_ELEMENTWISE_OP);
  uint32_t inputs = plim_elementwise_inputs(op);
  if (inputs == 0 || launch->operands != inputs + 1)
    return PLIM_KERNEL_UNSUPPORTED;
  uint8_t dtypes[3];
  for (uint32_t i = 0; i <= inputs; ++i) {
    if (!isKnownDtype(launch->shape[i]->dtype) || !sameDims(*launch->shape[i], *launch->shape[inputs]))
      return PLIM_KERNEL_UNSUPPORTED;
    if (i < inputs)
      dtypes[i] = launch->shape[i]->dtype;
  }
  Range range = taskRange(plim_elements(launch->shape[inputs]), launch, first, last);
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;
  bool hasCondition = op == PLIM_EW_WHERE;
  switch (computeOf(dtypes + hasCondition, inputs - hasCondition)) {
  case Compute::Float:
    return applyIn<float>(launch, inputs, range);
  case Compute::Double:
    return applyIn<double>(launch, inputs, range);
  case Compute::Signed:
    return applyIn<int64_t>(launch, inputs, range);
  default:
    return applyIn<uint64_t>(launch, inputs, range);
  }
}

template <class C> int32_t castIn(const plim_launch *launch, Range range) {
  C block[blockElements];
  Cursor from(*launch->shape[0]), to(*launch->shape[1]);
  from.seek(range.begin);
  to.seek(range.begin);
  for (int64_t at = range.begin; at < range.end; at += blockElements) {
    int64_t n = range.end - at < blockElements ? range.end - at : blockElements;
    loadBlock(launch->buf[0], launch->shape[0]->dtype, from, n, block);
    storeBlock(launch->buf[1], launch->shape[1]->dtype, to, n, block);
  }
  return PLIM_KERNEL_OK;
}

int32_t cast(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[1];
  if (!isKnownDtype(x.dtype) || !isKnownDtype(y.dtype) || !sameDims(x, y))
    return PLIM_KERNEL_UNSUPPORTED;
  Range range = taskRange(plim_elements(&y), launch, first, last);
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;
  switch (computeOf(&x.dtype, 1)) {
  case Compute::Float:
    return castIn<float>(launch, range);
  case Compute::Double:
    return castIn<double>(launch, range);
  case Compute::Signed:
    return castIn<int64_t>(launch, range);
  default:
    return castIn<uint64_t>(launch, range);
  }
}

} // namespace

extern "C" const plim_kernel plim_kernel_elementwise_apply = {
    "elementwise.apply", PLIM_KERNEL_ABI, 1, {apply, nullptr, nullptr}};
extern "C" const plim_kernel plim_kernel_elementwise_cast = {
    "elementwise.cast", PLIM_KERNEL_ABI, 1, {cast, nullptr, nullptr}};
