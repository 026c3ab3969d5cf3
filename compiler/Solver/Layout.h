//===- Layout.h - Which buffers share storage, and how long each storage lives ----------------===//
//
// From an order and a choice of candidates to storages with live intervals: takes aliases (in-place, pieces of a
// concat, views) one by one where that is sound. Buffers joined by aliases form a class that lies in one storage, as
// large as its largest member. Two members may share bytes if they hold the same contents there, or one is dead when
// the other is made; at the same step only where an in-place alias allows it.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_LAYOUT_H
#define PLIM_SOLVER_LAYOUT_H

#include "compiler/Solver/Dependencies.h"
#include "compiler/Solver/Problem.h"

namespace plim::solver {

// What a plan decides before offsets.
struct Draft {
  std::vector<int> order;      // steps
  std::vector<int> candidates; // by step
  std::vector<int> choices;    // by group
  std::vector<char> refused;   // by alias: 1 where it must not be taken
  bool operator==(const Draft &) const = default;
};

struct Member {
  int storage = -1;
  int64_t offset = 0, run = 0, stride = 0; // in the storage
  int alias = -1;                          // the alias taken by this buffer, or -1
};

struct StorageLife {
  Region region = Region::Transient;
  Tier tier = Tier::Ram;
  int64_t bytes = 0, align = kAlign;
  int birth = 0, death = 0; // positions in the order, half-open
};

struct Layout {
  std::vector<StorageLife> storages;
  std::vector<Member> members;    // by buffer
  std::vector<char> elided;       // by step
  std::vector<int64_t> workspace; // by step; 0 where elided
  std::vector<int64_t> ns;        // by step: its candidate's less what aliases save; 0 where elided
};

// What does not depend on the draft, computed once for a problem.
struct Context {
  // `onSsd` says by buffer whether the ssd reads or writes it; empty: it meets none. What does lies at the start of a
  // storage of its own size, rounded up to kSsdAlign, that is not the caller's (Problem.h, Place).
  explicit Context(const Problem &problem, std::vector<char> onSsd = {});
  const Problem &problem;
  const std::vector<char> onSsd;
  Dependencies deps;
  Uses uses;
  std::vector<int> aliasOrder; // in which aliases are tried: views, then pieces, then in-place, each by falling size
  std::vector<std::vector<int>> inPlace; // by buffer: its InPlace aliases
};

int64_t bytesOf(const Problem &problem, int buffer, const std::vector<int> &choices);

Layout layOut(const Context &context, const Draft &draft);

// Of all steps, one after the other.
int64_t computeNs(const Layout &layout);

// The given order, the fastest candidate of each step and group that is not barred; of steps, without the lever choose,
// the first that is not barred.
Draft fastestDraft(const Problem &problem);

} // namespace plim::solver

#endif // PLIM_SOLVER_LAYOUT_H
