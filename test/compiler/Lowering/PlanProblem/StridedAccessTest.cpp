// A strided access names, element by element, the bytes that the alias says.
#include "compiler/Lowering/PlanProblem/PlanProblem.h"

#include "gtest/gtest.h"

#include <random>

using namespace plim::plan;

namespace {

/// Byte offsets of all elements in row-major order of the indices.
std::vector<int64_t> offsetsOf(AccessAttr access) {
  ShapeAttr shape = access.getShape();
  std::vector<int64_t> offsets = {access.getOffset()};
  for (auto [bound, stride] : llvm::zip_equal(shape.getBounds(), shape.getStridesAtBounds())) {
    std::vector<int64_t> next;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < bound; ++i)
        next.push_back(offset + i * stride * shape.getElementBytes());
    offsets = std::move(next);
  }
  return offsets;
}

TEST(StridedAccess, NamesTheBytesOfTheAliasOrNone) {
  mlir::MLIRContext context;
  context.loadDialect<PlanDialect>();
  std::mt19937 random(1);
  auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  int followed = 0;
  for (int round = 0; round < 2000; ++round) {
    llvm::SmallVector<int64_t> dims;
    int64_t elements = 1;
    for (int64_t rank = pick(1, 4), i = 0; i < rank; ++i)
      elements *= dims.emplace_back(pick(1, 4));
    auto access =
        AccessAttr::get(&context, AccessMode::Read, 4 * pick(0, 3), 0, ShapeAttr::get(&context, DType::F32, dims));
    int64_t run = 4 * pick(1, 12), stride = run + 4 * pick(1, 5);
    std::optional<AccessAttr> moved = stridedAccess(access, 4 * elements + access.getOffset(), run, stride);
    if (!moved)
      continue;
    ++followed;
    std::vector<int64_t> expected = offsetsOf(access);
    for (int64_t &byte : expected)
      byte = byte / run * stride + byte % run;
    EXPECT_EQ(offsetsOf(*moved), expected);
  }
  EXPECT_GT(followed, 200);
}

} // namespace
