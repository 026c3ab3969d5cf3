//===- SplitPass.cpp - --graph-split -------------------------------------------------------------------===//

#include "compiler/Transforms/Graph/Passes.h"
#include "compiler/Transforms/Graph/Split/GraphProblem.h"
#include "compiler/Transforms/Graph/Split/Pieces.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace plim::graph {
#define GEN_PASS_DEF_GRAPHSPLIT
#include "compiler/Transforms/Graph/Passes.h.inc"

namespace {

struct Split : impl::GraphSplitBase<Split> {
  using GraphSplitBase::GraphSplitBase;

  void runOnOperation() override {
    // @setup runs once and frees what it used.
    func::FuncOp function = getOperation();
    if (function.getName() == "setup")
      return;
    std::string why;
    SplitKernels kernels;
    kernels.exactNumerics = exactNumerics;
    FailureOr<GraphProblem> graph = extractSplitProblem(function, kernels, why);
    if (failed(graph)) {
      function.emitError("cannot be split: ") << why;
      return signalPassFailure();
    }
    if (print)
      llvm::outs() << solver::printSplitProblem(graph->problem);
    std::optional<solver::SplitPlan> chosen = solver::parseSplitPlan(plan.getValue(), graph->problem, why);
    if (!chosen) {
      function.emitError("not a plan for this function: ") << why;
      return signalPassFailure();
    }
    if (failed(applySplit(function, *graph, *chosen)))
      signalPassFailure();
  }
};

} // namespace
} // namespace plim::graph
