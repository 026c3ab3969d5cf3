//===- GraphBuilder.h - Forward steps, and the backward pass that they ask for -------------------===//
//
// Each operation appends its forward steps and puts its backward steps on a tape; backward() plays the tape from its
// end. Buffers are numbers, -1 stands for none.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_GENERATE_GRAPHBUILDER_H
#define PLIM_SOLVER_GENERATE_GRAPHBUILDER_H

#include "compiler/Solver/Problem.h"
#include <functional>

namespace plim::solver {

class GraphBuilder {
public:
  GraphBuilder(bool training, bool parameters) : training(training), parameters(parameters) {}

  Problem problem;
  std::string scope; // names where the next steps come from ("layer 3")

  int buffer(int64_t bytes, BufferKind kind = BufferKind::Transient);
  int64_t bytes(int buffer) const { return problem.buffers[buffer].bytes; }
  int step(const char *name, double seconds, std::vector<int> reads, std::vector<int> writes, int64_t workspace = 0);
  // A step bound by memory: it reads and writes its operands once.
  int light(const char *name, std::vector<int> reads, std::vector<int> writes);
  int parameter(int64_t bytes);
  int group(const char *name, std::vector<std::string> choices);

  // What the backward step of a unary operation y = f(x) reads beside the gradient.
  struct Saves {
    bool input = false, output = false;
    int64_t extraBytes = 0;     // statistics or a mask, made by the forward step
    int64_t parameterBytes = 0; // of its scale and shift
  };
  int unary(const char *name, int x, int64_t outBytes, const Saves &saves);
  int dense(const char *name, int x, int64_t outBytes, int64_t weightBytes, double flops, int64_t workspace = 0);
  int bias(int x, int64_t biasBytes);
  int add(int a, int b);
  int concat(int a, int b);
  // Saves probabilities (naive) or their log-sum-exp (chunked and flash), as one choice of a group.
  int attention(int q, int k, int v, double flops, int64_t probabilityBytes, int64_t logSumExpBytes);

  void backward(int loss); // `loss` is its own gradient

private:
  const bool training, parameters;
  std::vector<std::function<void()>> tape;
  std::vector<int> gradients; // by buffer

  int gradient(int buffer) const { return buffer < int(gradients.size()) ? gradients[buffer] : -1; }
  void addGradient(int buffer, int part);
  void update(int parameter, int gradient);
  void record(std::function<void()> backward);
};

} // namespace plim::solver

#endif // PLIM_SOLVER_GENERATE_GRAPHBUILDER_H
