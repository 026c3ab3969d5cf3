//===- Lend.cpp - Storages in the caller's buffers while those are free -------------------------===//
#include "compiler/Solver/Lend.h"
#include <algorithm>
#include <numeric>

namespace plim::solver {
namespace {

struct Block {
  int64_t offset, bytes;
  int birth, death;
};

// The lowest place for the storage beside those that are alive with it, or -1.
int64_t placeBeside(std::vector<Block> others, const StorageLife &life, int64_t room) {
  std::erase_if(others, [&](const Block &b) { return b.birth >= life.death || b.death <= life.birth; });
  std::sort(others.begin(), others.end(), [](const Block &a, const Block &b) { return a.offset < b.offset; });
  int64_t at = 0;
  for (const Block &b : others) {
    if (at + life.bytes <= b.offset)
      break;
    at = std::max(at, alignUp(b.offset + b.bytes, life.align));
  }
  return at + life.bytes <= room ? at : -1;
}

} // namespace

void lendBuffers(const Problem &problem, const std::vector<int> &written, const std::vector<int> &lastRead,
                 Layout &layout) {
  const int storages = int(layout.storages.size());
  std::vector<int> bySize(size_t(storages), 0), forInputs;
  std::iota(bySize.begin(), bySize.end(), 0);
  // Of equals the one nearest to what the lender is for: it is alive with what is needed there.
  forInputs = bySize;
  auto largest = [&](bool nearEnd) {
    return [&layout, nearEnd](int a, int b) {
      const StorageLife &x = layout.storages[size_t(a)], &y = layout.storages[size_t(b)];
      return x.bytes != y.bytes ? x.bytes > y.bytes : nearEnd ? x.death > y.death : x.birth < y.birth;
    };
  };
  std::stable_sort(bySize.begin(), bySize.end(), largest(true));
  std::stable_sort(forInputs.begin(), forInputs.end(), largest(false));
  std::vector<int> lentTo(size_t(storages), -1);
  std::vector<int64_t> offset(size_t(storages), 0);
  for (size_t lender = 0; lender < problem.buffers.size(); ++lender) {
    const Buffer &buffer = problem.buffers[lender];
    const bool output = buffer.kind == BufferKind::Output && problem.levers.lend;
    if ((!output && !buffer.reused) || buffer.tier != Tier::Ram)
      continue;
    const int home = layout.members[lender].storage;
    int from = 0, until = INT32_MAX; // free at these positions
    for (size_t b = 0; b < layout.members.size(); ++b)
      if (layout.members[b].storage == home)
        (output ? until : from) = output ? std::min(until, written[b]) : std::max(from, lastRead[b] + 1);
    std::vector<Block> blocks;
    for (int s : output ? bySize : forInputs) {
      const StorageLife &life = layout.storages[size_t(s)];
      if (life.region != Region::Transient || life.tier != Tier::Ram || life.align != kAlign || life.bytes == 0 ||
          life.birth < from || life.death > until || lentTo[size_t(s)] >= 0)
        continue;
      const int64_t at = placeBeside(blocks, life, layout.storages[size_t(home)].bytes);
      if (at < 0)
        continue;
      blocks.push_back({at, life.bytes, life.birth, life.death});
      lentTo[size_t(s)] = home, offset[size_t(s)] = at;
    }
  }
  // What is lent is a storage no longer.
  std::vector<int> number(size_t(storages), -1);
  std::vector<StorageLife> kept;
  for (int s = 0; s < storages; ++s)
    if (lentTo[size_t(s)] < 0)
      number[size_t(s)] = int(kept.size()), kept.push_back(layout.storages[size_t(s)]);
  for (Member &member : layout.members) {
    if (member.storage < 0)
      continue;
    const size_t s = size_t(member.storage);
    member.offset += offset[s];
    member.storage = number[size_t(lentTo[s] < 0 ? int(s) : lentTo[s])];
  }
  layout.storages = std::move(kept);
}

} // namespace plim::solver
