//===- SlotTree.cpp - Sums over slots: add to a range, the largest of a range --------------------===//
#include "compiler/Solver/Joint/SlotTree.h"
#include <algorithm>

namespace plim::solver {
namespace {

constexpr int64_t kNone = INT64_MIN / 4;

} // namespace

SlotTree::SlotTree(const std::vector<int64_t> &values) : count(int(values.size())) {
  while (leaves < count)
    leaves *= 2;
  top.assign(2 * size_t(leaves), kNone), addend.assign(2 * size_t(leaves), 0);
  std::copy(values.begin(), values.end(), top.begin() + leaves);
  for (int node = leaves - 1; node > 0; --node)
    top[node] = std::max(top[2 * node], top[2 * node + 1]);
}

void SlotTree::add(int first, int end, int64_t delta) {
  if (first >= end || delta == 0)
    return;
  int left = first + leaves, right = end + leaves;
  for (; left < right; left >>= 1, right >>= 1) {
    if (left & 1)
      top[left] += delta, addend[left] += delta, ++left;
    if (right & 1)
      --right, top[right] += delta, addend[right] += delta;
  }
  auto renew = [&](int node) { top[node] = std::max(top[2 * node], top[2 * node + 1]) + addend[node]; };
  for (int a = (first + leaves) >> 1, b = (end - 1 + leaves) >> 1; a > 0; a >>= 1, b >>= 1) {
    renew(a);
    if (a != b)
      renew(b);
  }
}

int64_t SlotTree::max(int first, int end) const {
  if (first >= end)
    return kNone;
  int left = first + leaves, right = end - 1 + leaves;
  int64_t a = top[left], b = top[right];
  while (left >> 1 != right >> 1) {
    if (!(left & 1))
      a = std::max(a, top[left + 1]);
    if (right & 1)
      b = std::max(b, top[right - 1]);
    left >>= 1, right >>= 1;
    a += addend[left], b += addend[right];
  }
  int64_t best = std::max(a, b);
  while (left >>= 1)
    best += addend[left];
  return best;
}

int SlotTree::argmax() const {
  int node = 1;
  while (node < leaves)
    node = top[2 * node] >= top[2 * node + 1] ? 2 * node : 2 * node + 1;
  return node - leaves;
}

void SlotTree::values(std::vector<int64_t> &out) const {
  std::vector<int64_t> above(size_t(leaves) * 2, 0); // addends of the ancestors
  for (int node = 2; node < 2 * leaves; ++node)
    above[node] = above[node / 2] + addend[node / 2];
  out.resize(count);
  for (int i = 0; i < count; ++i)
    out[i] = top[i + leaves] + above[i + leaves];
}

} // namespace plim::solver
