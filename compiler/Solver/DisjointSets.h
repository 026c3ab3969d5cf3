//===- DisjointSets.h - Which of some numbers have been joined ---------------------------------===//
#ifndef PLIM_SOLVER_DISJOINTSETS_H
#define PLIM_SOLVER_DISJOINTSETS_H

#include <numeric>
#include <vector>

namespace plim::solver {

class DisjointSets {
public:
  explicit DisjointSets(int count) : owner(count) { std::iota(owner.begin(), owner.end(), 0); }

  /// The number that stands for the set of this one.
  int find(int number) {
    while (owner[number] != number)
      number = owner[number] = owner[owner[number]];
    return number;
  }
  void join(int a, int b) { owner[find(a)] = find(b); }

private:
  std::vector<int> owner;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_DISJOINTSETS_H
