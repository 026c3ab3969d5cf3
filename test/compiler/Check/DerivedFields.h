//===- DerivedFields.h - What follows from a solution's actions, places and offsets -------------===//
#ifndef PLIM_TEST_CHECK_DERIVEDFIELDS_H
#define PLIM_TEST_CHECK_DERIVEDFIELDS_H

#include "compiler/Solver/Problem.h"

namespace plim::check {

class DerivedFields {
public:
  DerivedFields(const solver::Problem &problem, solver::Solution &solution)
      : p(problem), s(solution), align(s.storages.size(), solver::kAlign), slidOut(s.storages.size(), -1) {}

  // Each writes its fields of the solution; they rely on each other in this order.
  void lives(); // births, deaths and bytes of storages
  void sums();
  void time();

  int64_t workspace(const solver::Action &action) const;
  int64_t alignOf(int storage) const { return align[storage]; }
  // When its bytes are free for others: what slides is gone when its target comes.
  int endOf(int storage) const;

private:
  const solver::Problem &p;
  solver::Solution &s;
  std::vector<int64_t> align; // by storage
  std::vector<int> slidOut;   // by storage: the move that ends it, or -1

  int64_t sizeOf(int buffer) const;
  int64_t saved(const solver::Action &action) const;
  int64_t liveAt(int tier, int action) const;
};

// All of them: what is mutated can so be all of a piece.
void derive(const solver::Problem &problem, solver::Solution &solution);

} // namespace plim::check

#endif // PLIM_TEST_CHECK_DERIVEDFIELDS_H
