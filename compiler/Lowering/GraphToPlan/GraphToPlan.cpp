//===- GraphToPlan.cpp - From tensors to sized buffers and steps --------------------------===//
#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include "compiler/Lowering/Generated/FromGraph.h"
#include "compiler/Lowering/GraphToPlan/ProgramLowering.h"
#include "dialects/Graph/SourceName.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace plim::lowering {

/// Of one worker. Kernels keep arrays in scratch; glibc takes some KiB of a stack for thread-local storage.
static constexpr int64_t workerStackBytes = 128 << 10;

std::string sourceName(Operation *op) { return graph::locationName(op).value_or(op->getName().getStringRef()).str(); }

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

ModuleLowering::ModuleLowering(ArrayRef<func::FuncOp> functions, const GraphToPlanOptions &options)
    : choices(options), b(func::FuncOp(functions.front()).getContext()) {
  func::FuncOp first = functions.front();
  for (func::FuncOp function : functions)
    taken.insert(function.getName());
  if (auto module = first->getParentOfType<mlir::ModuleOp>())
    for (auto variable : module.getOps<graph::VariableOp>())
      taken.insert(variable.getSymName());
  result.module = plan::ModuleOp::create(b, first.getLoc());
  result.module->setWorkers(options.workers);
  result.module->setStackBytes(workerStackBytes);
}

std::string ModuleLowering::nameOf(Operation *constant) {
  if (auto parameter = dyn_cast<graph::ParameterOp>(constant)) {
    std::string name = parameter.getName().str();
    while (taken.contains(name) && !choices.parametersAsInputs)
      name += ".weight";
    return name;
  }
  auto [number, isNew] = numbers.try_emplace(cast<graph::ConstantOp>(constant).getValue(), unsigned(numbers.size()));
  return "constant" + std::to_string(number->second);
}

bool ModuleLowering::startDeclaration(StringRef name) {
  if (!declared.insert(name).second)
    return false;
  Block *body = &module().getBody().front();
  auto programs = body->getOps<plan::ProgramOp>();
  if (programs.empty())
    b.setInsertionPointToEnd(body);
  else
    b.setInsertionPoint(*programs.begin());
  return true;
}

void ModuleLowering::declare(Operation *constant, StringRef name, plan::ShapeAttr shape, int64_t bytes) {
  if (!startDeclaration(name))
    return;
  plan::ConstantOp::create(b, constant->getLoc(), name, weightOffset, bytes, shape, /*hash=*/0, StringAttr());
  weightOffset += (bytes + 63) / 64 * 64;
  result.constants.push_back({name.str(), constant});
}

void ModuleLowering::bindToInput(Operation *constant, StringRef name) {
  result.constants.push_back({name.str(), constant});
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult ProgramLowering::run() {
  FailureOr<LaunchList> collected = collectLaunches(
      function, sizes, [&](Operation *op) { return generates(op); },
      [&](Operation *op, SmallVectorImpl<graph::KernelCandidate> &list) { appendKernels(op, list); });
  if (failed(collected))
    return failure();
  launches = std::move(*collected);
  b.setInsertionPointToEnd(&shared.module().getBody().front());
  addProgram();
  addStates();
  addConditions();
  if (failed(lowerBlock(function.getBody().front())))
    return failure();
  copyOutputs();
  assignStates();
  plan::ReturnOp::create(b, function.getLoc(),
                         llvm::map_to_vector(outputSymbols, [&](unsigned symbol) { return symbolValues[symbol]; }));
  return success();
}

KernelGenerator generatorInto(gen::ObjectBuilder &object) {
  return [&object](Operation *op) -> FailureOr<gen::KernelInfo> {
    FailureOr<SmallVector<gen::Region>> parts = gen::regionsFromOp(op, [op] { return op->emitError(); });
    if (failed(parts))
      return failure();
    return object.addKernel(*parts, op->getLoc());
  };
}

/// Ops that were fused over open sizes run one by one where no loop nest covers them.
static void separateUncovered(func::FuncOp function) {
  SmallVector<graph::FusedOp> uncovered;
  function.walk([&](graph::FusedOp fused) {
    if (gen::isOpen(fused) && failed(gen::regionsFromOp(fused)))
      uncovered.push_back(fused);
  });
  for (graph::FusedOp fused : uncovered) {
    OpBuilder b(fused);
    IRMapping map;
    map.map(fused.getBody().getArguments(), fused.getInputs());
    for (Operation &inner : fused.getBody().front().without_terminator())
      b.clone(inner, map);
    for (auto [result, value] : llvm::zip_equal(fused.getResults(), fused.getYield().getOperands()))
      result.replaceAllUsesWith(map.lookup(value));
    fused.erase();
  }
}

SmallVector<func::FuncOp> entriesOf(mlir::ModuleOp module) {
  return llvm::filter_to_vector(module.getOps<func::FuncOp>(), [](func::FuncOp f) { return !f.isPrivate(); });
}

FailureOr<GraphToPlanResult> graphToPlan(ArrayRef<func::FuncOp> functions, const GraphToPlanOptions &options) {
  ModuleLowering shared(functions, options);
  for (func::FuncOp function : functions) {
    separateUncovered(function);
    copyForStrides(function);
    FailureOr<SymbolicDims> sizes = SymbolicDims::analyse(function);
    if (failed(sizes) || failed(ProgramLowering(shared, function, *sizes).run()))
      return failure();
  }
  return shared.take();
}

} // namespace plim::lowering
