//===- LinkTime.h - Free time of a link, by slot -------------------------------------------------===//
#ifndef PLIM_SOLVER_JOINT_LINKTIME_H
#define PLIM_SOLVER_JOINT_LINKTIME_H

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace plim::solver {

// A busy link has free time in few slots, so those are found a word of 64 slots at a time.
class LinkTime {
public:
  LinkTime() = default;
  explicit LinkTime(std::vector<int64_t> free) : ns(std::move(free)), some((ns.size() + 63) / 64, 0) {
    for (int slot = 0; slot < int(ns.size()); ++slot)
      set(slot, ns[slot]);
  }

  int64_t operator[](int slot) const { return ns[slot]; }
  void set(int slot, int64_t free) {
    ns[slot] = free;
    const uint64_t bit = uint64_t(1) << (slot % 64);
    some[slot / 64] = free > 0 ? some[slot / 64] | bit : some[slot / 64] & ~bit;
  }
  // The first slot in [first, end) with free time; else `end`.
  int next(int first, int end) const {
    for (int slot = first; slot < end; slot = slot / 64 * 64 + 64)
      if (const uint64_t word = some[slot / 64] >> (slot % 64))
        return std::min(end, slot + std::countr_zero(word));
    return end;
  }
  // The last slot in [first, end) with free time; else first - 1.
  int last(int first, int end) const {
    for (int slot = end - 1; slot >= first; slot = slot / 64 * 64 - 1)
      if (const uint64_t word = some[slot / 64] << (63 - slot % 64))
        return std::max(first - 1, slot - std::countl_zero(word));
    return first - 1;
  }

private:
  std::vector<int64_t> ns;
  std::vector<uint64_t> some; // a bit for each slot: has free time
};

} // namespace plim::solver

#endif // PLIM_SOLVER_JOINT_LINKTIME_H
