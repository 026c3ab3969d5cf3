/* All public headers of the kernels compile as C99, and a plain C program finds and runs a kernel. */

#include "kernels/attention/attention.h"
#include "kernels/attention/reference_cost.h"
#include "kernels/attrs.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/integer.h"
#include "kernels/conv/integer_cost.h"
#include "kernels/conv/reference_cost.h"
#include "kernels/copy/strided.h"
#include "kernels/copy/strided_cost.h"
#include "kernels/cost.h"
#include "kernels/elementwise/apply.h"
#include "kernels/elementwise/apply_cost.h"
#include "kernels/epilogue/epilogue.h"
#include "kernels/fill/fill.h"
#include "kernels/fill/fill_cost.h"
#include "kernels/gather/gather.h"
#include "kernels/gather/gather_cost.h"
#include "kernels/matmul/integer.h"
#include "kernels/matmul/integer_cost.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/quantized.h"
#include "kernels/matmul/quantized_cost.h"
#include "kernels/matmul/reference_cost.h"
#include "kernels/norm/norm.h"
#include "kernels/norm/norm_cost.h"
#include "kernels/pack/panel32.h"
#include "kernels/pack/panel32_cost.h"
#include "kernels/pad/apply.h"
#include "kernels/pad/apply_cost.h"
#include "kernels/pool/pool.h"
#include "kernels/pool/reference_cost.h"
#include "kernels/recurrent/recurrent.h"
#include "kernels/recurrent/recurrent_cost.h"
#include "kernels/reduce/reduce.h"
#include "kernels/reduce/reduce_cost.h"
#include "kernels/registry.h"
#include "kernels/resize/apply.h"
#include "kernels/resize/apply_cost.h"
#include "kernels/scan/cumsum.h"
#include "kernels/scan/cumsum_cost.h"
#include "kernels/scatter/scatter.h"
#include "kernels/scatter/scatter_cost.h"
#include "kernels/softmax/rows.h"
#include "kernels/softmax/rows_cost.h"
#include "kernels/sort/top_k.h"
#include "kernels/sort/top_k_cost.h"
#include "kernels/status.h"

#include <stdio.h>

int main(void) {
  const plim_kernel_entry *entry = plim_find_kernel_entry("softmax.rows");
  if (!entry)
    return 1;
  float x[4] = {1.0f, 1.0f, 1.0f, 1.0f}, y[4] = {0};
  const plim_shape shape = {PLIM_F32, PLIM_ROW, 1, 0, 0, {4}, {1}};
  const plim_shape *const shapes[2] = {&shape, &shape};
  void *const bufs[2] = {x, y};
  const int64_t attrs[PLIM_SOFTMAX_ROWS_WORDS] = {0, 0};
  plim_cost cost = entry->cost(shapes, 2, attrs, &plim_default_machine);
  plim_launch launch = {attrs, bufs, shapes, NULL, NULL, NULL, 0, cost.tasks, 2, PLIM_SOFTMAX_ROWS_WORDS};
  if (entry->kernel->fn[PLIM_ISA_BASE](&launch, NULL, 0, cost.tasks) != PLIM_KERNEL_OK)
    return 1;
  for (int i = 0; i < 4; ++i)
    if (y[i] != 0.25f) {
      fprintf(stderr, "element %d is %g, not 0.25\n", i, (double)y[i]);
      return 1;
    }
  return 0;
}
