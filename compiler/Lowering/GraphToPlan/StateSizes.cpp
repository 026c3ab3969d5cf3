//===- StateSizes.cpp - States that grow: their sizes, and the values that lie in them -------===//
#include "compiler/Lowering/GraphToPlan/StateSizes.h"
#include "compiler/Lowering/GraphToPlan/SymbolicDims.h"

using namespace mlir;

namespace plim::lowering {

graph::VariableOp variableOf(Operation *op) {
  return SymbolTable::lookupNearestSymbolFrom<graph::VariableOp>(op, op->getAttrOfType<FlatSymbolRefAttr>("variable"));
}

SmallVector<int64_t> largestDims(graph::VariableOp variable) {
  return llvm::map_to_vector(graph::dimsOf(variable.getTensorType()), [](graph::Dim dim) { return dim.hi; });
}

Sizes stridesOfState(graph::VariableOp variable) {
  return rowMajor(llvm::map_to_vector(
      largestDims(variable), [&](int64_t size) { return getAffineConstantExpr(size, variable.getContext()); }));
}

/// The concatenation that appends to the assigned variable, or null.
static graph::ConcatOp appendOf(graph::AssignOp assign) {
  auto concat = assign.getValue().getDefiningOp<graph::ConcatOp>();
  auto read =
      concat && concat.getInputs().size() == 2 ? concat.getInputs()[0].getDefiningOp<graph::ReadOp>() : graph::ReadOp();
  bool appends = read && read.getVariableAttr() == assign.getVariableAttr() &&
                 int64_t(concat.getAxis()) == variableOf(assign).getOpenDim();
  return appends ? concat : graph::ConcatOp();
}

/// The kernels of these operands take any strides but the innermost, or the op is lowered with the state in mind.
static bool followsStrides(OpOperand &use, const DenseSet<Operation *> &appends) {
  Operation *user = use.getOwner();
  return isa<graph::SliceOp, graph::TransposeOp, graph::AssignOp, func::ReturnOp>(user) ||
         (isa<graph::AttentionOp>(user) && use.getOperandNumber() < 3) ||
         (appends.contains(user) && use.getOperandNumber() == 0);
}

void copyForStrides(func::FuncOp function) {
  DenseSet<Operation *> appends;
  SmallVector<Value> held;
  function.walk([&](Operation *op) {
    if (auto read = dyn_cast<graph::ReadOp>(op); read && variableOf(read).getSize())
      held.push_back(read.getResult());
    if (auto assign = dyn_cast<graph::AssignOp>(op); assign && variableOf(assign).getSize())
      if (graph::ConcatOp concat = appendOf(assign); concat && appends.insert(concat).second)
        held.push_back(concat.getResult());
  });
  for (Value value : held) {
    auto follows = [&](OpOperand &use) { return followsStrides(use, appends); };
    if (llvm::all_of(value.getUses(), follows))
      continue;
    OpBuilder b(value.getContext());
    b.setInsertionPointAfterValue(value);
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    SmallVector<int64_t> starts(shape.size(), 0);
    auto sizes = llvm::map_to_vector(shape, [](int64_t size) { return ShapedType::isDynamic(size) ? -1 : size; });
    Value copy = graph::SliceOp::create(b, value.getLoc(), value, starts, sizes);
    value.replaceUsesWithIf(copy,
                            [&](OpOperand &use) { return use.getOwner() != copy.getDefiningOp() && !follows(use); });
  }
}

void SymbolicDims::addStates(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (!isa<graph::ReadOp, graph::AssignOp>(op))
      return;
    graph::VariableOp variable = variableOf(op);
    AffineExpr size;
    if (int64_t open = variable.getOpenDim(); open >= 0)
      size = symbol(*variable.getSize(), graph::dimsOf(variable.getTensorType())[open], /*isState=*/true);
    if (auto read = dyn_cast<graph::ReadOp>(op)) {
      for (graph::Dim dim : graph::dimsOf(read.getType()))
        sizes[read].push_back(dim.isStatic() ? getAffineConstantExpr(dim.lo, context) : size);
      if (size)
        states.heldIn[read] = variable;
      return;
    }
    if (!size)
      return;
    auto assign = cast<graph::AssignOp>(op);
    states.growing[assign.getValue()] = assign;
    if (graph::ConcatOp concat = appendOf(assign)) {
      states.heldIn[concat.getResult()] = variable;
      states.appends.insert(concat);
    }
  });
  for (Value argument : function.getArguments())
    limitGrowth(argument);
  // An input may have a dimension of the same name: it is the same size.
  for (auto [i, own] : llvm::enumerate(allSymbols))
    for (auto [j, other] : llvm::enumerate(allSymbols))
      if (own.isState && !other.isState && own.name == other.name)
        allConditions.push_back({getAffineSymbolExpr(j, context) - getAffineSymbolExpr(i, context), 0, 0, function,
                                 "an input's dimension '" + own.name + "' differs from the size of the state"});
}

void SymbolicDims::limitGrowth(Value value) {
  auto found = states.growing.find(value);
  if (found == states.growing.end())
    return;
  graph::AssignOp assign = found->second;
  graph::VariableOp variable = variableOf(assign);
  AffineExpr &size = sizes[value][variable.getOpenDim()];
  size = simplified(size);
  int64_t bound = graph::dimsOf(variable.getTensorType())[variable.getOpenDim()].hi;
  if (rangeOf(size).hi <= bound)
    return;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(size)) {
    // No run may have it larger.
    allSymbols[symbol.getPosition()].bounds.hi = bound;
    return;
  }
  allConditions.push_back(
      {size, 0, bound, assign, "state '" + variable.getSize()->str() + "' would grow beyond its bound"});
  states.limits[size] = bound;
}

LogicalResult SymbolicDims::addAssigned(func::FuncOp function) {
  llvm::MapVector<unsigned, SmallVector<std::pair<graph::VariableOp, AffineExpr>>> bySymbol;
  DenseSet<Operation *> assigned;
  auto add = [&](graph::VariableOp variable, AffineExpr size) {
    AffineExpr own = symbol(*variable.getSize(), graph::dimsOf(variable.getTensorType())[variable.getOpenDim()], true);
    bySymbol[cast<AffineSymbolExpr>(own).getPosition()].push_back({variable, size ? size : own});
  };
  function.walk([&](graph::AssignOp assign) {
    graph::VariableOp variable = variableOf(assign);
    assigned.insert(variable);
    SizesRef value = sizesOf(assign.getValue());
    for (auto [d, dim] : llvm::enumerate(graph::dimsOf(variable.getTensorType())))
      if (int64_t(d) != variable.getOpenDim() && value[d] != getAffineConstantExpr(dim.lo, context))
        allConditions.push_back(
            {value[d], dim.lo, dim.lo, assign,
             "state '" + variable.getSymName().str() + "' has dimension " + std::to_string(d) + " of another size"});
    if (variable.getSize())
      add(variable, value[variable.getOpenDim()]);
  });
  function.walk([&](graph::ReadOp read) {
    if (graph::VariableOp variable = variableOf(read); variable.getSize() && !assigned.contains(variable))
      add(variable, {});
  });
  bool ok = true;
  for (auto &[number, all] : bySymbol) {
    states.next.push_back({number, all.front().second});
    if (llvm::all_of(all, [&](const auto &one) { return one.second == all.front().second; }))
      continue;
    ok = false;
    InFlightDiagnostic diagnostic = function.emitError("states of size '")
                                    << allSymbols[number].name << "' need one size when a run has ended, have several";
    for (auto &[variable, size] : all)
      diagnostic.attachNote() << "state '" << variable.getSymName() << "': " << describe(size);
  }
  return success(ok);
}

/// An expression with the names of its symbols.
std::string SymbolicDims::describe(AffineExpr size) const {
  std::string text;
  llvm::raw_string_ostream(text) << size;
  for (size_t i = allSymbols.size(); i-- > 0;) {
    std::string symbol = "s" + std::to_string(i);
    for (size_t at = text.find(symbol); at != std::string::npos; at = text.find(symbol, at + allSymbols[i].name.size()))
      text.replace(at, symbol.size(), allSymbols[i].name);
  }
  return text;
}

} // namespace plim::lowering
