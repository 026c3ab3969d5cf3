//===- RandomGraph.h - Functions of the graph dialect made at random ------------------------===//
//
//   RandomGraph graph = makeRandomGraph(context, seed);
//   ... graph.function is @main in *graph.module, all shapes static and small
//
// A seed decides the skeleton (layers, series-parallel, residual, U-Net, transformer) and the ops that fill it. Values
// stay of moderate size, so that a wrong byte is seen in an output instead of drowning in infinities.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_TEST_COMPILER_PIPELINES_RANDOMGRAPH_H
#define PLIM_TEST_COMPILER_PIPELINES_RANDOMGRAPH_H

#include "dialects/Graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <random>

namespace plim::test {

struct RandomGraph {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  /// By argument: its elements are indices in [-limit, limit); 0 where they are no indices.
  std::vector<int64_t> indexLimits;
};

RandomGraph makeRandomGraph(mlir::MLIRContext &context, unsigned seed);

/// Makes ops at random.
class OpMaker {
public:
  OpMaker(mlir::MLIRContext &context, unsigned seed);

  int64_t pick(int64_t low, int64_t high) { return low + int64_t(random() % uint64_t(high - low + 1)); }
  bool chance(int64_t percent) { return pick(1, 100) <= percent; }
  template <typename T> T oneOf(std::initializer_list<T> values) {
    return values.begin()[pick(0, int64_t(values.size()) - 1)];
  }

  /// A new argument of the function.
  mlir::Value parameter(llvm::ArrayRef<int64_t> dims);
  mlir::Value indices(llvm::ArrayRef<int64_t> dims, int64_t limit);
  mlir::Value maskParameter(llvm::ArrayRef<int64_t> dims);
  static llvm::ArrayRef<int64_t> dimsOf(mlir::Value v);

  // All of these take f32. Those with one operand keep the shape unless they say otherwise.
  mlir::Value unary(mlir::Value x);
  mlir::Value binary(mlir::Value x, mlir::Value y);
  mlir::Value withParameter(mlir::Value x); // a binary op with a broadcast argument
  mlir::Value join(mlir::Value x, mlir::Value y);
  mlir::Value logic(mlir::Value x);
  mlir::Value integers(mlir::Value x);
  mlir::Value indexing(mlir::Value x);
  mlir::Value normalize(mlir::Value x);
  mlir::Value reduceAndSpread(mlir::Value x);
  mlir::Value permuted(mlir::Value x);                 // transposed, worked on, transposed back
  mlir::Value reshaped(mlir::Value x);                 // under another shape, worked on, and back
  mlir::Value inPieces(mlir::Value x);                 // sliced, pieces worked on, concatenated
  mlir::Value padded(mlir::Value x);                   // padded and cut out again
  mlir::Value repeated(mlir::Value x);                 // broadcast, reduced
  mlir::Value anywhere(mlir::Value x);                 // one of the above
  mlir::Value project(mlir::Value x, int64_t columns); // matmul with an argument: the last dimension becomes `columns`

  // Sequences [batch, time, channels].
  mlir::Value attention(mlir::Value x);
  mlir::Value transformerBlock(mlir::Value x);

  // Images [batch, channels, rows, columns], or channels last.
  void setChannelsLast(bool last) { channelsLast = last; }
  int64_t channelAxis() const { return channelsLast ? 3 : 1; }
  mlir::Value conv(mlir::Value x, int64_t channels, int64_t stride = 1); // a stride halves rows and columns
  mlir::Value depthwise(mlir::Value x);
  mlir::Value pool(mlir::Value x, bool halves);
  mlir::Value resize(mlir::Value x, int64_t rows, int64_t columns);
  mlir::Value image(mlir::Value x); // one of the above, of the same shape

protected:
  mlir::Value keep(mlir::Value v) {
    made.push_back(v);
    return v;
  }
  mlir::Value scaled(mlir::Value x, double factor);
  mlir::Value packed(mlir::Value matrix);
  llvm::ArrayRef<int64_t> spatial(mlir::Value x) const { return dimsOf(x).slice(channelsLast ? 1 : 2, 2); }
  plim::graph::ImageLayout layout() const {
    return channelsLast ? plim::graph::ImageLayout::NHWC : plim::graph::ImageLayout::NCHW;
  }

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::func::FuncOp function;
  mlir::Block *block = nullptr;
  std::vector<int64_t> indexLimits;
  std::vector<mlir::Value> made; // what may be returned
  bool channelsLast = false;

private:
  mlir::Value argument(llvm::ArrayRef<int64_t> dims, mlir::Type element, int64_t limit);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> dims);

  std::mt19937 random;
};

} // namespace plim::test

#endif
