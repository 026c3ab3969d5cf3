//===- HoistSetup.cpp - --graph-hoist-setup ----------------------------------------------------------------------===//

#include "compiler/Transforms/Graph/Matchers.h"
#include "compiler/Transforms/Graph/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace plim::graph {
#define GEN_PASS_DEF_GRAPHHOISTSETUP
#include "compiler/Transforms/Graph/Passes.h.inc"

namespace {

bool isLeaf(Operation *op) { return isa<ParameterOp, ConstantOp, FillOp>(op); }

/// The largest parameter that a value depends on; of equal ones the first that is found.
ParameterOp mainParameter(Value value) {
  ParameterOp best;
  int64_t most = 0;
  SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!seen.insert(op).second)
      continue;
    llvm::append_range(open, llvm::reverse(op->getOperands()));
    auto parameter = dyn_cast<ParameterOp>(op);
    int64_t bytes = parameter ? bytesOf(parameter.getType()).value_or(0) : 0;
    if (parameter && (!best || bytes > most)) {
      best = parameter;
      most = bytes;
    }
  }
  return best;
}

struct HoistSetup : impl::GraphHoistSetupBase<HoistSetup> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module.lookupSymbol("setup")) {
      module.emitError("graph-hoist-setup needs a module without a symbol named setup, has one");
      return signalPassFailure();
    }
    SmallVector<Value> frontier;
    for (auto function : module.getOps<func::FuncOp>())
      function.walk([&](Operation *op) { collect(op, frontier); });
    if (!frontier.empty())
      build(module, frontier);
  }

  /// Operands of ops that run that are results of ops that need not.
  void collect(Operation *op, SmallVectorImpl<Value> &frontier) {
    // An op of @setup has no operands that run, and hands its own on.
    if (op->getNumResults() == 1 && isKnown(op->getResult(0)))
      return;
    for (Value operand : op->getOperands()) {
      // Views cost nothing where they are.
      Value source = operand;
      while (auto view = source.getDefiningOp<ReshapeOp>())
        source = view.getInput();
      if (isWork(source) && !llvm::is_contained(frontier, source))
        frontier.push_back(source);
    }
  }

  /// Whether a value is known before a run.
  bool isKnown(Value value) {
    auto it = known.find(value);
    if (it == known.end())
      it = known.try_emplace(value, isHoistable(value)).first;
    return it->second;
  }

  /// Whether it is known, and takes work to compute.
  bool isWork(Value value) {
    Operation *op = value.getDefiningOp();
    return op && !isLeaf(op) && !isa<ReshapeOp>(op) && isKnown(value);
  }

  void build(ModuleOp module, ArrayRef<Value> frontier) {
    OpBuilder b(module.getContext());
    b.setInsertionPointToEnd(module.getBody());
    auto setup = func::FuncOp::create(b, module.getLoc(), "setup", b.getFunctionType({}, {}));
    setup.setPrivate();
    Block *body = setup.addEntryBlock();
    b.setInsertionPointToStart(body);
    IRMapping map;
    SmallVector<Value> results;
    for (Value value : frontier)
      results.push_back(cloneInto(b, value, map));
    auto end = func::ReturnOp::create(b, setup.getLoc(), results);
    // Equal work of several functions is done once.
    IRRewriter rewriter(b);
    DominanceInfo dominance(setup);
    eliminateCommonSubExpressions(rewriter, dominance, setup);

    llvm::StringSet<> taken;
    module.walk([&](ParameterOp op) { taken.insert(op.getName()); });
    SmallVector<Value> distinct;
    SmallVector<std::string> names;
    DenseMap<Value, unsigned> index;
    for (auto [i, value] : llvm::enumerate(frontier)) {
      Value result = end.getOperand(i);
      auto [it, isNew] = index.try_emplace(result, distinct.size());
      if (isNew) {
        distinct.push_back(result);
        names.push_back(freshName(value, taken));
      }
    }
    for (auto [i, value] : llvm::enumerate(frontier)) {
      Value old = value;
      OpBuilder at(old.getDefiningOp());
      const std::string &name = names[index[end.getOperand(i)]];
      old.replaceAllUsesWith(ParameterOp::create(at, old.getLoc(), old.getType(), name));
    }
    end.getOperandsMutable().assign(distinct);
    setup.setFunctionType(b.getFunctionType({}, ValueRange(distinct).getTypes()));
    for (auto [i, name] : llvm::enumerate(names))
      setup.setResultAttr(i, "graph.name", b.getStringAttr(name));
    for (auto function : module.getOps<func::FuncOp>())
      if (function != setup)
        eraseDead(function);
  }

  /// The value in @setup, after what it depends on.
  Value cloneInto(OpBuilder &b, Value value, IRMapping &map) {
    if (Value done = map.lookupOrNull(value))
      return done;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      cloneInto(b, operand, map);
    b.clone(*op, map);
    return map.lookup(value);
  }

  /// The name of the weight that a value is made of, then what is done to it last.
  static std::string freshName(Value value, llvm::StringSet<> &taken) {
    ParameterOp parameter = mainParameter(value);
    std::string base = parameter ? parameter.getName().str() : "constant";
    base += "." + value.getDefiningOp()->getName().stripDialect().str();
    std::string name = base;
    for (unsigned i = 2; !taken.insert(name).second; ++i)
      name = base + "." + std::to_string(i);
    return name;
  }

  static void eraseDead(func::FuncOp function) {
    function.walk([](Block *block) {
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
        if (isOpTriviallyDead(&op))
          op.erase();
    });
  }

  DenseMap<Value, bool> known;
};

} // namespace
} // namespace plim::graph
