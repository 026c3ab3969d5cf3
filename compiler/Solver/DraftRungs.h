//===- DraftRungs.h - Plans that run each step once and keep each value in the ram ------------===//
//
// From the fastest draft (candidates, aliases) to the smallest, by another order and by trades of time for memory. No
// budget enters, so what is found does not depend on one: whoever has more gets no slower plan.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_DRAFTRUNGS_H
#define PLIM_SOLVER_DRAFTRUNGS_H

#include "compiler/Solver/Assemble.h"
#include "compiler/Solver/FitOptions.h"
#include <memory>

namespace plim::solver {

using TierBytes = std::array<int64_t, kTierCount>;

inline bool within(const TierBytes &bytes, const TierBytes &capacity) {
  for (int t = 0; t < kTierCount; ++t)
    if (bytes[t] > capacity[t])
      return false;
  return true;
}

class DraftRungs { // what it returns is valid until it goes
public:
  DraftRungs(const Context &context, const FitOptions &options); // both must outlive it

  const Solution &first();                                  // the fastest draft's, whatever it needs
  bool isFastest() const { return provenFastest; }          // no plan of any kind is faster than that
  const Solution *fastestWithin(const TierBytes &capacity); // null where none fits
  const Solution &smallest();                               // in the ram; elsewhere among equals
  const Draft &firstDraft() const;
  const Draft &leanest(); // of least bytes alive at one time

private:
  struct Rung {
    Draft draft;
    bool first = false;
    int64_t ns = 0;
    TierBytes least{};                 // whatever the packing
    std::unique_ptr<Solution> plan{};  // packed when first asked for
    std::unique_ptr<Solution> moved{}; // with moves, where the packing is above `least`
  };
  const Context &context;
  const FitOptions &options;
  std::vector<Rung> rungs; // the first draft's alone until another is asked for; then all, by rising time
  bool complete = false, provenFastest = false;

  void build();
  void add(const Draft &draft);
  void order(Draft &draft) const;
  int64_t mostWorkspace(const Draft &draft) const;
  void descend(const Draft &start);
  int64_t leastNs() const;
  bool followsStrides(const Alias &alias) const;
  int scaled(int rounds) const;
  void pack(Rung &rung);
  std::vector<Rung *> byLeast();
};

} // namespace plim::solver

#endif // PLIM_SOLVER_DRAFTRUNGS_H
