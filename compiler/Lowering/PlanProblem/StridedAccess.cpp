//===- StridedAccess.cpp - Shapes of buffers that lie strided in others -------------------------------===//

#include "compiler/Lowering/PlanProblem/PlanProblem.h"

using namespace mlir;
using namespace plim::plan;

std::optional<AccessAttr> plim::plan::stridedAccess(AccessAttr access, int64_t bufferBytes, int64_t run,
                                                    int64_t stride) {
  if (run == 0 || stride == run)
    return access;
  ShapeAttr shape = access.getShape();
  int64_t element = shape.getElementBytes();
  if (!shape.isStatic() || shape.getLayout() != Layout::Row || run % element || stride % element)
    return std::nullopt;
  auto moved = [&](int64_t byte) { return byte / run * stride + byte % run; };
  SmallVector<int64_t> strides = shape.getStridesAtBounds();
  int64_t inRun = access.getOffset() % run + element; // how far elements reach that stay in the first one's run
  for (auto [bound, s] : llvm::zip_equal(shape.getBounds(), strides)) {
    int64_t bytes = s * element;
    if (bound <= 1)
      continue;
    if (bytes % run == 0)
      s = bytes / run * stride / element;
    else
      inRun += (bound - 1) * bytes;
  }
  if (inRun > run)
    return std::nullopt;
  auto strided = ShapeAttr::get(access.getContext(), shape.getDtype(), shape.getBounds(), Layout::Row, strides);
  return AccessAttr::get(access.getContext(), access.getMode(), moved(access.getOffset()), strided.getExtentBytes(),
                         strided);
}
