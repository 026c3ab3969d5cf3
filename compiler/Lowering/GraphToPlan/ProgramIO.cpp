//===- ProgramIO.cpp - The caller's buffers and sizes ---------------------------------------===//
#include "compiler/Lowering/GraphToPlan/ProgramLowering.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"

using namespace mlir;

namespace plim::lowering {

static std::string ioName(StringAttr name, StringRef prefix, size_t number) {
  return name ? name.str() : (prefix + std::to_string(number)).str();
}

/// The program with the caller's buffers as arguments. An output is written by its producer where it can be: the first
/// output of a value that an op of this function computes.
void ProgramLowering::addProgram() {
  SmallVector<plan::IOAttr> ios;
  SmallVector<plan::BufferType> types;
  SmallVector<Value> values; // what each io holds; null: an output that is copied at the end
  auto addIO = [&](StringRef name, bool output, Value value, Value holds) {
    auto type = cast<RankedTensorType>(value.getType());
    // A packed tensor (a result of @setup) is plain elements to the caller, padding included.
    graph::LaunchOperand whole = naturalOperand(value);
    whole.strides = rowMajor(whole.dims);
    plan::ShapeAttr shape = placedShape(shapeAttr(whole), outputSymbols);
    int64_t bytes = sizes.largestBytes(value);
    if (graph::layoutOf(type))
      shape = plan::ShapeAttr::get(context, shape.getDtype(), {bytes / graph::elementBytes(type.getElementType())});
    ios.push_back(plan::IOAttr::get(context, name, output, shape, {}, !output && options.reuseInputs));
    types.push_back(plan::BufferType::get(context, bytes, plan::Tier::Ram));
    values.push_back(holds);
  };
  for (BlockArgument arg : function.getArguments())
    addIO(ioName(function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "graph.name"), "arg", arg.getArgNumber()),
          false, arg, arg);
  if (options.parametersAsInputs)
    function.walk([&](Operation *op) {
      if (!isa<graph::ParameterOp, graph::ConstantOp>(op) || !launches.needed.contains(op->getResult(0)))
        return;
      std::string name = shared.nameOf(op);
      if (!homes.try_emplace(name).second)
        return;
      addIO(name, false, op->getResult(0), op->getResult(0));
      shared.bindToInput(op, name);
    });
  auto returned = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  DenseSet<Value> taken;
  for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
    Value root = storageOf(value);
    Operation *producer = root.getDefiningOp();
    bool direct = producer && !isa<graph::ParameterOp, graph::ConstantOp, graph::ReadOp>(producer) &&
                  !sizes.growingStates().heldIn.contains(root) && taken.insert(root).second;
    addIO(ioName(function.getResultAttrOfType<StringAttr>(unsigned(i), "graph.name"), "result", i), true, value,
          direct ? root : Value());
  }
  SmallVector<plan::SymbolAttr> symbols;
  for (const SymbolicDims::Symbol &s : sizes.callerSymbols())
    symbols.push_back(plan::SymbolAttr::get(context, s.name, s.bounds.lo, s.bounds.hi));
  program =
      plan::ProgramOp::create(b, function.getLoc(), function.getName(), plan::Stage::Virtual, symbols, ios, types);
  symbolValues.assign(program.getSymbolArguments().begin(), program.getSymbolArguments().end());
  symbolValues.resize(sizes.symbolCount());
  b.setInsertionPointToEnd(program.getBlock());
  size_t inputs = values.size() - returned.getNumOperands();
  for (auto [i, value] : llvm::enumerate(values)) {
    Value buffer = program.getIOArguments()[i];
    if (!value) {
      copies.push_back({buffer, returned.getOperand(unsigned(i - inputs))});
      continue;
    }
    buffers[value] = buffer;
    if (Operation *op = value.getDefiningOp(); isa_and_present<graph::ParameterOp, graph::ConstantOp>(op))
      homes[shared.nameOf(op)] = buffer;
  }
}

/// Outputs that no op of the function computes: an input or a constant handed through, or a value returned twice.
void ProgramLowering::copyOutputs() {
  for (auto &[io, value] : copies)
    copyValue(value, io, function.getLoc(), "output");
}

/// A launch that copies a value's elements into a buffer of their own.
void ProgramLowering::copyValue(Value value, Value buffer, Location loc, StringRef source) {
  copyValue(value, bufferOf(value, source), buffer, loc, source);
}

plan::LaunchOp ProgramLowering::copyValue(Value value, Value from, Value buffer, Location loc, StringRef source) {
  SmallVector<graph::KernelCandidate, 1> list;
  Candidates candidates{sizes, list};
  SizesRef dims = sizes.sizesOf(value);
  LaunchBuilder(candidates).read(value).writeAs(value, dims, rowMajor(dims)).offer("copy.strided", {});
  return createLaunch(loc, list.front(), ValueRange{from, buffer}, source);
}

} // namespace plim::lowering
