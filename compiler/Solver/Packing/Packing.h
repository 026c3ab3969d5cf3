//===- Packing.h - Offsets for buffers with fixed live intervals ------------------------------===//
//
// Dynamic storage allocation: NP-hard. No packing is lower than maxLive; `pack` says how close it came.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_PACKING_PACKING_H
#define PLIM_SOLVER_PACKING_PACKING_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plim::solver {

// Lives in [lower, upper) and needs bytes [offset, offset + size), offset a multiple of align.
struct Item {
  int64_t lower = 0, upper = 0, size = 0, align = 1, offset = -1;
};

struct PackOptions {
  int passes = 40;            // greedy passes, seeds included
  int64_t exactNodes = 20000; // search nodes of each exact part of up to 200 items, fewer for larger ones; 0: none
  int exactItems = 2000;      // no exact part is larger
  int64_t capacity = -1;      // where >= 0: a packing of this height is good enough; the search then aims at it
  bool lowest = true;         // where the capacity is not met, go on to lower the height by exact search
  uint64_t seed = 1;
};

struct PackReport {
  int64_t height = 0;  // largest offset + size
  int64_t maxLive = 0; // largest sum alive at one instant
};

// Sets every offset. Stops as soon as the height is maxLive, or the capacity where one is given. Deterministic.
PackReport pack(std::vector<Item> &items, const PackOptions &options = {});

int64_t maxLive(const std::vector<Item> &items);

// Instances as MiniMalloc has them: a header line, then id,lower,upper,size[,offset]; half-open [lower, upper).
struct Instance {
  std::vector<std::string> ids;
  std::vector<Item> items;
};
std::optional<Instance> parseCsv(std::string_view text, std::vector<std::string> &errors);
std::string printCsv(const Instance &instance); // with offsets

} // namespace plim::solver

#endif // PLIM_SOLVER_PACKING_PACKING_H
