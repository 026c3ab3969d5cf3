//===- RandomGraph.h - Small problems with the structure of real models --------------------------===//
#ifndef PLIM_TEST_SOLVER_RANDOMGRAPH_H
#define PLIM_TEST_SOLVER_RANDOMGRAPH_H

#include "compiler/Solver/Problem.h"

namespace plim::solver {

enum class GraphFamily : uint8_t { Layered, SeriesParallel, Transformer, UNet, ResNet };
inline constexpr GraphFamily kGraphFamilies[] = {GraphFamily::Layered, GraphFamily::SeriesParallel,
                                                 GraphFamily::Transformer, GraphFamily::UNet, GraphFamily::ResNet};
const char *familyName(GraphFamily family);

// About `steps` steps over buffers of mixed sizes, with weights that may be streamed, in-place steps, views, pieces of
// concats, states, impure steps, candidates that trade workspace for time, groups that choose the size of a buffer, and
// buffers that must stay; with links between ram and ssd. Equal arguments, equal problems.
Problem randomGraph(GraphFamily family, int steps, uint64_t seed);

} // namespace plim::solver

#endif // PLIM_TEST_SOLVER_RANDOMGRAPH_H
