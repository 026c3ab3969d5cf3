//===- Generate.h - Generated problems: training graphs, random layers, streamed inference ------===//
//
// Problems of any size with the memory profile of real ones, to test and to time the planner. Training graphs hold what
// frameworks save for the backward pass (inputs of matrix products and normalisations, statistics, dropout masks,
// attention probabilities or log-sum-exp) and update parameters with AdamW as soon as their gradient is there.
// Attention is one choice of three: naive, chunked, flash. Costs: 200 GFLOP/s in products, 30 GB/s in steps bound by
// memory.
//
//   Problem p = generateProblem({.shape = GraphShape::Gpt, .ops = 2822});   // 2,822 steps
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_GENERATE_GENERATE_H
#define PLIM_SOLVER_GENERATE_GENERATE_H

#include "compiler/Solver/Problem.h"
#include <optional>
#include <string_view>

namespace plim::solver {

enum class GraphShape : uint8_t {
  Gpt,     // a transformer's training step: 16,384 tokens, width 512
  ResNet,  // bottleneck blocks in four stages, batch 32 at 224 x 224
  UNet,    // five levels with skip connections, batch 8 at 256 x 256
  Layered, // random: mostly edges from one layer to the next, some from anywhere; takes the seed
  Stream,  // a transformer's inference at 128 tokens, most bytes are weights
};

struct GenerateOptions {
  GraphShape shape = GraphShape::Gpt;
  int ops = 400; // steps aimed at; met within one block of the shape
  uint64_t seed = 1;
  bool parameters = true; // false: none, and one output a step, the form that exact programs take; Gpt and UNet only
  // Links between ram and ssd, and leave to use them; 0: none.
  int64_t readBytesPerSecond = 0, writeBytesPerSecond = 0;
};

// A sound problem without aliases, unbounded in all tiers. Equal options, equal problems.
Problem generateProblem(const GenerateOptions &options);

// "gpt", "resnet", "unet", "layered", "stream"
const char *graphShapeName(GraphShape shape);
std::optional<GraphShape> graphShapeNamed(std::string_view name);

} // namespace plim::solver

#endif // PLIM_SOLVER_GENERATE_GENERATE_H
