//===- ResolveSizes.cpp - --graph-resolve-sizes ------------------------------------------===//
#include "compiler/Lowering/GraphToPlan/Passes.h"
#include "compiler/Lowering/GraphToPlan/SymbolicDims.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace plim::lowering {
#define GEN_PASS_DEF_GRAPHRESOLVESIZESPASS
#include "compiler/Lowering/GraphToPlan/Passes.h.inc"

namespace {

class Resolver {
public:
  Resolver(func::FuncOp function, const SymbolicDims &sizes) : function(function), sizes(sizes), b(function) {}

  void run() {
    Block &block = function.getBody().front();
    SmallVector<std::pair<Operation *, Value>> simpler;
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      if (op.getNumRegions() || isa<graph::ReadOp>(op))
        continue;
      for (Value result : op.getResults())
        refine(result);
      b.setInsertionPoint(&op);
      if (Value simple = simplerForm(&op))
        simpler.push_back({&op, simple});
    }
    // Only now: sizes are known of the values as they were.
    for (auto [op, value] : simpler) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
    function.setFunctionType(b.getFunctionType(block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
  }

private:
  /// What the expressions say of a value's type.
  void refine(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.hasStaticShape())
      return;
    graph::Dims dims = graph::dimsOf(type);
    for (auto [dim, size] : llvm::zip_equal(dims, sizes.sizesOf(value)))
      dim = graph::meet(dim, sizes.rangeOf(size));
    value.setType(graph::tensorOf(dims, type.getElementType()));
  }

  /// The op by fixed attributes, where these say the same.
  Value simplerForm(Operation *op) {
    if (auto reshape = dyn_cast<graph::DynamicReshapeOp>(op))
      return simplerReshape(reshape);
    if (auto broadcast = dyn_cast<graph::DynamicBroadcastOp>(op))
      return simplerBroadcast(broadcast);
    if (auto slice = dyn_cast<graph::DynamicSliceOp>(op))
      return simplerSlice(slice);
    return {};
  }

  /// One size may be open: it follows from the others.
  Value simplerReshape(graph::DynamicReshapeOp op) {
    SmallVector<int64_t> shape;
    for (AffineExpr size : sizes.sizesOf(op.getResult()))
      shape.push_back(constantOf(size).value_or(-1));
    int64_t open = llvm::count(shape, -1);
    if (open > 1 || (open == 1 && llvm::is_contained(shape, 0)))
      return {};
    return graph::ReshapeOp::create(b, op.getLoc(), op.getType(), op.getInput(), shape);
  }

  /// Sizes that are numbers or those of the input.
  Value simplerBroadcast(graph::DynamicBroadcastOp op) {
    SizesRef from = sizes.sizesOf(op.getInput()), to = sizes.sizesOf(op.getResult());
    SmallVector<int64_t> shape;
    for (auto [d, size] : llvm::enumerate(to)) {
      size_t missing = to.size() - from.size();
      if (std::optional<int64_t> number = constantOf(size))
        shape.push_back(*number);
      else if (d >= missing && size == from[d - missing])
        shape.push_back(-1);
      else
        return {};
    }
    return graph::BroadcastOp::create(b, op.getLoc(), op.getType(), op.getInput(), shape);
  }

  /// Numbers, or all from a fixed start on.
  Value simplerSlice(graph::DynamicSliceOp op) {
    SizesRef from = sizes.sizesOf(op.getInput()), to = sizes.sizesOf(op.getResult());
    graph::Dims dims = graph::dimsOf(op.getInput().getType());
    SmallVector<int64_t> starts, lengths;
    for (auto [d, start] : llvm::enumerate(sizes.entriesOf(op.getStarts()))) {
      std::optional<int64_t> first = constantOf(start), size = constantOf(to[d]);
      if (!first)
        return {};
      int64_t step = op.getSteps()[d];
      if (size && *first + (*size - 1) * step < dims[d].hi)
        lengths.push_back(*size);
      else if (step == 1 && to[d] == from[d] - *first)
        lengths.push_back(-1);
      else
        return {};
      starts.push_back(*first);
    }
    return graph::SliceOp::create(b, op.getLoc(), op.getType(), op.getInput(), starts, lengths,
                                  SmallVector<int64_t>(op.getSteps()));
  }

  func::FuncOp function;
  const SymbolicDims &sizes;
  OpBuilder b;
};

struct GraphResolveSizesPass : impl::GraphResolveSizesPassBase<GraphResolveSizesPass> {
  using GraphResolveSizesPassBase::GraphResolveSizesPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.getBody().front().without_terminator().empty())
      return;
    bool open = false;
    function.walk([&](Operation *op) { open |= llvm::any_of(op->getOpOperands(), graph::isSizeOperand); });
    if (!open)
      return;
    FailureOr<SymbolicDims> sizes = SymbolicDims::analyse(function);
    if (failed(sizes))
      return signalPassFailure();
    Resolver(function, *sizes).run();
  }
};

} // namespace
} // namespace plim::lowering
