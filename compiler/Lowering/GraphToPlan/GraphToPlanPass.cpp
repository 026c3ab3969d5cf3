//===- GraphToPlanPass.cpp - --graph-to-plan ----------------------------------------------===//
#include "compiler/Lowering/Generated/FromGraph.h"
#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include "compiler/Lowering/GraphToPlan/Passes.h"

using namespace mlir;

namespace plim::lowering {
#define GEN_PASS_DEF_GRAPHTOPLANPASS
#include "compiler/Lowering/GraphToPlan/Passes.h.inc"

namespace {
struct GraphToPlanPass : impl::GraphToPlanPassBase<GraphToPlanPass> {
  using GraphToPlanPassBase::GraphToPlanPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<plan::PlanDialect>();
    gen::ObjectBuilder::registerDialects(registry);
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> entries = entriesOf(getOperation());
    if (entries.empty()) {
      getOperation().emitError("graph-to-plan needs a function @main, has none");
      return signalPassFailure();
    }
    // The kernels' code is dropped; their costs and names stay.
    gen::ObjectBuilder object(getContext(), "model");
    GraphToPlanOptions options;
    options.workers = workers;
    options.choice.attention = attention;
    options.splits = splits;
    if (!libraryOnly)
      options.generate = generatorInto(object);
    FailureOr<GraphToPlanResult> lowered = graphToPlan(entries, options);
    if (failed(lowered))
      return signalPassFailure();
    for (func::FuncOp entry : entries)
      entry.erase();
    for (auto variable : llvm::make_early_inc_range(getOperation().getOps<graph::VariableOp>()))
      variable.erase();
    if (auto setup = getOperation().lookupSymbol<func::FuncOp>("setup"))
      setup.erase();
    getOperation().push_back(lowered->module.release());
  }
};
} // namespace

} // namespace plim::lowering
