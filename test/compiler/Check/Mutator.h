//===- Mutator.h - All single faults of a sound solution ----------------------------------------===//
#ifndef PLIM_TEST_CHECK_MUTATOR_H
#define PLIM_TEST_CHECK_MUTATOR_H

#include "compiler/Solver/Problem.h"
#include <functional>
#include <map>
#include <string>

namespace plim::check {

// Changes a solution in one place at a time and counts the changes that the checker does not see.
class Mutator {
public:
  Mutator(const solver::Problem &problem, const solver::Solution &solution) : p(problem), s(solution) {}
  void tryAll();

  int missed = 0;
  std::string firstMissed;          // what was changed, and the two files
  std::map<std::string, int> tried; // by kind

private:
  const solver::Problem &p;
  const solver::Solution &s;

  using Change = std::function<void(solver::Solution &)>;
  void mutate(const char *kind, const Change &change);
  // With lives, sums and time made right afterwards, so that only the change itself is left to be seen.
  void mutateSound(const char *kind, const Change &change);
  void judge(const char *kind, const solver::Solution &mutant);

  bool groupUsed(int group) const;
  int64_t workspace(int action) const;
  bool transient(int storage) const { return s.storages[storage].region == solver::Region::Transient; }
  void totals();
  void storage(int i);
  void place(int i);
  void action(int k);
  void step(int k);
  void copy(int k);
  void wait(int k);
  void order(int k);
};

} // namespace plim::check

#endif // PLIM_TEST_CHECK_MUTATOR_H
