//===- ModelObject.cpp - The step table and what it calls in an object file ---------------===//
#include "compiler/Emit/ModelObject.h"
#include "compiler/Lowering/PlanToLLVM/PlanToLLVM.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Linker/Linker.h"

using namespace mlir;

namespace plim::emit {

LogicalResult addModel(gen::ObjectBuilder &object, StringRef prefix, const plan::EncodedTable &table, Location loc) {
  FailureOr<OwningOpRef<ModuleOp>> lowered = lowering::planToLLVM(loc.getContext(), table, prefix);
  if (failed(lowered))
    return failure();
  llvm::Module &whole = object.llvmModule();
  std::unique_ptr<llvm::Module> model = translateModuleToLLVMIR(**lowered, whole.getContext(), prefix);
  if (!model)
    return emitError(loc, "no machine code for the step table of '") << prefix << "'";
  model->setTargetTriple(whole.getTargetTriple());
  model->setDataLayout(whole.getDataLayout());
  if (llvm::Linker::linkModules(whole, std::move(model)))
    return emitError(loc, "the step table of '") << prefix << "' does not link with its kernels";
  return success();
}

} // namespace plim::emit
