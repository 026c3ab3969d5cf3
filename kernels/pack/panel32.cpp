//===- panel32.cpp - pack.panel32 ------------------------------------------------------------===//

#include "kernels/pack/panel32.h"

#include "kernels/convert.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

static int32_t packPanel32(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[1];
  if (x.dtype != y.dtype || !isKnownDtype(x.dtype) || x.layout != PLIM_ROW || y.layout != PLIM_PANEL32 || y.rank != 2 ||
      plim_elements(&x) != plim_elements(&y))
    return PLIM_KERNEL_UNSUPPORTED;
  int64_t rows = y.dims[0], columns = y.dims[1];
  if (rows == 0 || columns == 0)
    return PLIM_KERNEL_OK;
  uint32_t bytes = plim_dtype_bytes(x.dtype);
  Range panels = taskRange((columns + 31) / 32, launch, first, last);
  Cursor from(x);
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    int64_t width = columns - panel * 32 < 32 ? columns - panel * 32 : 32;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t at = (panel * rows + row) * 32;
      from.seek(row * columns + panel * 32);
      for (int64_t done = 0; done < width;) {
        Run run = from.run();
        int64_t count = run.count < width - done ? run.count : width - done;
        copyRun(launch->buf[1], at + done, 1, launch->buf[0], run.offset, run.stride, count, bytes);
        from.advance(count);
        done += count;
      }
      memset(static_cast<char *>(launch->buf[1]) + (at + width) * bytes, 0, size_t(32 - width) * bytes);
    }
  }
  return PLIM_KERNEL_OK;
}

extern "C" const plim_kernel plim_kernel_pack_panel32 = {
    "pack.panel32", PLIM_KERNEL_ABI, 1, {packPanel32, nullptr, nullptr}};
