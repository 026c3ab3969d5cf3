//===- Segments.h - Bytes that values have in common -------------------------------------------===//
//
// Values that views and pieces may join share bytes: each value is a set of segments, which others may have too. A set
// of values takes no fewer bytes than the segments that any of them has.
//
//===-------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_BOUND_SEGMENTS_H
#define PLIM_SOLVER_BOUND_SEGMENTS_H

#include "compiler/Solver/Problem.h"

namespace plim::solver {

struct Segments {
  struct Segment {
    int64_t bytes = 0;
    std::vector<int> buffers{}; // that have it
    bool linked = true;         // any two of these are joined through others of these
  };
  std::vector<Segment> all{};
  std::vector<std::vector<int>> of{}; // by buffer; empty where it does not count
};

/// `bytes` and `counts`, whether it takes bytes of its own, by buffer.
Segments segmentsOf(const Problem &problem, const std::vector<int64_t> &bytes, const std::vector<char> &counts);

} // namespace plim::solver

#endif // PLIM_SOLVER_BOUND_SEGMENTS_H
