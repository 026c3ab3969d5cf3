//===- SharedConstants.h - Which constants several programs keep in memory --------------------===//
#ifndef PLIM_SOLVER_ENTRIES_SHAREDCONSTANTS_H
#define PLIM_SOLVER_ENTRIES_SHAREDCONSTANTS_H

#include "compiler/Solver/Problem.h"
#include <functional>
#include <map>

namespace plim::solver {

// The fixed cost of a program whose arena of constants has what others keep.
inline constexpr char kForeignConstants[] = "constants of other programs";

// Programs of one module. They run one at a time, each with the whole budget; what one of them keeps of the constants
// is in memory for all that have any there.
struct EntryProblems {
  std::vector<Problem> programs; // with the lever stream, without kForeignConstants; equal names, equal constants
  int64_t otherBytes = 0;        // of constants in memory that no program reads
  // What the plan of a program reserves for tables, where so many constants are streamed by any of them. It takes the
  // place of the first fixed cost of the program's problem. Empty: that stands.
  std::function<int64_t(int program, const Solution &plan, int streamed)> tables{};
};

// Constants that may be streamed by all programs that read them, in the order in which they are kept: those that more
// programs read come first, and of these the largest, as a run must hold what it streams anyway.
class SharedConstants {
public:
  explicit SharedConstants(const EntryProblems &entries);

  int count() const { return int(order.size()); }
  // The program's problem where the first `kept` of them are in memory and the others stay in their file. Where all are
  // kept nothing is streamed.
  Problem problem(int program, int kept) const;
  // Bytes of the first `kept`, as the arena of constants has them.
  int64_t bytes(int kept) const { return sums[kept]; }
  // The place of a constant in the order, count() where it has none: it is in memory in any case.
  int rank(const Buffer &buffer) const;

private:
  struct Constant {
    std::string name{};
    int64_t bytes = 0;
    int readers = 0;
  };
  const EntryProblems &entries;
  std::vector<Constant> order;
  std::vector<int64_t> sums; // bytes of the first ones
  std::map<std::string, int> ranks;
  int64_t fixedBytes = 0; // of those that are in memory in any case
};

} // namespace plim::solver

#endif // PLIM_SOLVER_ENTRIES_SHAREDCONSTANTS_H
