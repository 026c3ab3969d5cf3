//===- SharedConstants.cpp - Which constants several programs keep in memory ------------------===//
#include "compiler/Solver/Entries/SharedConstants.h"
#include <algorithm>
#include <tuple>

namespace plim::solver {

SharedConstants::SharedConstants(const EntryProblems &given) : entries(given) {
  std::map<std::string, Constant> all;
  std::map<std::string, bool> streamable;
  std::vector<std::string> names; // in the order in which they are met
  for (const Problem &p : entries.programs)
    for (const Buffer &b : p.buffers) {
      if (b.kind != BufferKind::Constant)
        continue;
      Constant &constant = all[b.name];
      if (constant.readers++ == 0)
        names.push_back(b.name), constant.name = b.name, constant.bytes = alignUp(b.bytes, kAlign);
      const bool free = b.movable && b.group < 0 && b.tier == Tier::Ram;
      const bool before = streamable.try_emplace(b.name, true).first->second;
      streamable[b.name] = before && free;
    }
  fixedBytes = entries.otherBytes;
  for (const std::string &name : names)
    if (streamable[name])
      order.push_back(all[name]);
    else
      fixedBytes += all[name].bytes;
  std::stable_sort(order.begin(), order.end(), [](const Constant &a, const Constant &b) {
    return std::tie(b.readers, b.bytes) < std::tie(a.readers, a.bytes);
  });
  sums = {0};
  for (const Constant &constant : order) {
    ranks.emplace(constant.name, int(sums.size()) - 1);
    sums.push_back(sums.back() + constant.bytes);
  }
}

int SharedConstants::rank(const Buffer &buffer) const {
  const auto at = buffer.kind == BufferKind::Constant ? ranks.find(buffer.name) : ranks.end();
  return at == ranks.end() ? count() : at->second;
}

Problem SharedConstants::problem(int program, int kept) const {
  Problem p = entries.programs[program];
  int64_t own = 0;
  for (Buffer &b : p.buffers) {
    if (b.kind != BufferKind::Constant)
      continue;
    const int at = rank(b);
    if (at < count() && at >= kept) {
      b.tier = Tier::Ssd;
      continue;
    }
    b.movable = false;
    own += alignUp(b.bytes, kAlign);
  }
  p.levers.stream = kept < count();
  const int64_t all = fixedBytes + sums[kept], granule = p.granule;
  if (own > 0 && alignUp(all, granule) > alignUp(own, granule))
    p.fixed.push_back({kForeignConstants, Tier::Ram, alignUp(all, granule) - alignUp(own, granule)});
  return p;
}

} // namespace plim::solver
