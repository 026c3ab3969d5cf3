//===- SlotTree.h - Sums over slots: add to a range, the largest of a range ----------------------===//
#ifndef PLIM_SOLVER_JOINT_SLOTTREE_H
#define PLIM_SOLVER_JOINT_SLOTTREE_H

#include <cstdint>
#include <vector>

namespace plim::solver {

// A segment tree that never pushes down: a node's top is the maximum of its subtree with its own addend, but without
// those of its ancestors. All ranges are half-open; add and max take O(log n).
class SlotTree {
public:
  explicit SlotTree(const std::vector<int64_t> &values = {});
  void add(int first, int end, int64_t delta);
  int64_t max(int first, int end) const; // far below zero where the range is empty
  int64_t max() const { return top[1]; }
  int argmax() const; // the first slot that has the maximum
  void values(std::vector<int64_t> &out) const;

private:
  int count = 0, leaves = 1;
  std::vector<int64_t> top, addend;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_JOINT_SLOTTREE_H
