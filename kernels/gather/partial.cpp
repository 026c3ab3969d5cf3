//===- partial.cpp - gather.partial ----------------------------------------------------------===//

#include "kernels/attrs.h"
#include "kernels/gather/gather.h"
#include "kernels/gather/index.h"
#include "kernels/status.h"

using namespace plim::kernels;

static int32_t gatherPartial(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const bool goesOn = launch->operands == 4;
  const uint32_t soFar = 2, result = goesOn ? 3 : 2;
  const plim_shape &piece = *launch->shape[0], &indices = *launch->shape[1], &y = *launch->shape[result];
  const int64_t pieceBegin = plim_attr_int(launch->attrs, PLIM_PARTIAL_GATHER_FIRST);
  const int64_t tableRows = plim_attr_int(launch->attrs, PLIM_PARTIAL_GATHER_ROWS);
  if (!gatherFits(piece, indices, y, 0) || pieceBegin < 0 || pieceBegin + piece.dims[0] > tableRows ||
      (goesOn && (!sameDims(*launch->shape[soFar], y) || launch->shape[soFar]->dtype != y.dtype)))
    return PLIM_KERNEL_UNSUPPORTED;
  const Range range = taskRange(plim_elements(&y), launch, first, last);
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;
  const Axes inner = axesIn(piece, ~uint64_t(1)), index = axesIn(indices, ~uint64_t(0));
  const int64_t size = inner.elements();
  const uint32_t bytes = plim_dtype_bytes(y.dtype);
  // Rows of other pieces stay as they are: those of the pieces before are the operand's, which may be the result
  // itself.
  const bool keeps = goesOn && launch->buf[soFar] == launch->buf[result];
  const int64_t zeroStride[1] = {0};
  const uint64_t zero = 0;
  Cursor to(y), from = inner.cursor(), rest = goesOn ? Cursor(*launch->shape[soFar]) : Cursor(1, &size, zeroStride);
  for (int64_t at = range.begin; at < range.end;) {
    const int64_t offset = at % size, left = size - offset, n = left < range.end - at ? left : range.end - at;
    int64_t row = loadElement<int64_t>(launch->buf[1], indices.dtype, index.offsetOf(at / size));
    if (!resolveIndex(row, tableRows))
      return PLIM_KERNEL_BAD_INDEX;
    row -= pieceBegin;
    const bool isHere = row >= 0 && row < piece.dims[0];
    if (isHere || !keeps)
      to.seek(at);
    if (isHere) {
      from.seek(offset);
      copyBlock(launch->buf[result], to,
                static_cast<const char *>(launch->buf[0]) + row * piece.strides[0] * int64_t(bytes), from, n, bytes);
    } else if (!keeps) {
      rest.seek(goesOn ? at : offset);
      copyBlock(launch->buf[result], to, goesOn ? launch->buf[soFar] : &zero, rest, n, bytes);
    }
    at += n;
  }
  return PLIM_KERNEL_OK;
}

extern "C" const plim_kernel plim_kernel_gather_partial = {
    "gather.partial", PLIM_KERNEL_ABI, 1, {gatherPartial, nullptr, nullptr}};
