//===- RegionBuffers.cpp - Buffers that live within one branch or loop ---------------------------------===//

#include "compiler/Lowering/PlanProblem/RegionBuffers.h"
#include "compiler/Solver/Packing/Packing.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

namespace {

/// What needs bytes in a block: an allocation, or a branch or loop with all of its own.
struct Need {
  Value buffer;
  llvm::DenseMap<Value, int64_t> inside; // of a branch or loop
};

} // namespace

/// Extends the item's life to all that uses a buffer, also through views.
static void coverUses(Value buffer, Block &block, const llvm::DenseMap<Operation *, int64_t> &positions,
                      solver::Item &item) {
  for (Operation *user : buffer.getUsers()) {
    if (auto view = dyn_cast<ViewOp>(user)) {
      coverUses(view.getBuffer(), block, positions, item);
      continue;
    }
    int64_t at = positions.at(block.findAncestorOpInBlock(*user));
    item.lower = std::min(item.lower, at);
    item.upper = std::max(item.upper, at + 1);
  }
}

static int64_t packBlock(Block &block, llvm::DenseMap<Value, int64_t> &offsets) {
  llvm::DenseMap<Operation *, int64_t> positions;
  for (auto [i, op] : llvm::enumerate(block))
    positions[&op] = int64_t(i);
  std::vector<Need> needs;
  std::vector<solver::Item> items;
  for (Operation &op : block) {
    solver::Item item;
    item.align = kAlign;
    Need need;
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      need.buffer = alloc.getBuffer();
      item.lower = int64_t(positions.size());
      item.size = alloc.getBuffer().getType().getBytes();
      item.align = alloc.getAlign();
      coverUses(alloc.getBuffer(), block, positions, item);
    } else if (isa<IfOp, LoopOp>(op)) {
      item.lower = positions.at(&op), item.upper = item.lower + 1;
      item.size = packRegionBuffers(&op, need.inside);
    }
    if (item.lower >= item.upper)
      continue;
    if (item.size == 0) {
      if (need.buffer)
        offsets[need.buffer] = 0;
      offsets.insert(need.inside.begin(), need.inside.end());
      continue;
    }
    items.push_back(item);
    needs.push_back(std::move(need));
  }
  int64_t height = solver::pack(items).height;
  for (auto [item, need] : llvm::zip_equal(items, needs)) {
    if (need.buffer)
      offsets[need.buffer] = item.offset;
    for (auto [buffer, offset] : need.inside)
      offsets[buffer] = item.offset + offset;
  }
  return height;
}

int64_t plim::plan::packRegionBuffers(Operation *op, llvm::DenseMap<Value, int64_t> &offsets) {
  int64_t bytes = 0; // only one region runs at a time
  for (Region &region : op->getRegions())
    if (!region.empty())
      bytes = std::max(bytes, packBlock(region.front(), offsets));
  return bytes;
}
