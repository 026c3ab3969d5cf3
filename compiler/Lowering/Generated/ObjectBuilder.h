//===- ObjectBuilder.h - Generated kernels in one object file ---*- C++ -*-===//
//
//   DialectRegistry registry;
//   gen::ObjectBuilder::registerDialects(registry);       // before the context is made from it
//   gen::ObjectBuilder object(context, "det");
//   FailureOr<gen::KernelInfo> k = object.addKernel(region, loc);   // k->symbol is "det_gen_0"
//   if (failed(object.compileKernel(k->symbol))) ...       // now it is in the module
//   new llvm::GlobalVariable(object.llvmModule(), ...);    // tables that refer to object.kernel(k->symbol)
//   if (failed(object.writeObject("out/model.o", loc))) ...
//
// Every kernel has a body for x86-64-v3 and one for x86-64-v4 of the same IR, hence the same bits. Equal regions become
// one kernel. Code is made of those that are asked for: planning looks at many that no plan takes. Same calls, same
// bytes.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Lowering/Generated/Schedule.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace llvm {
class TargetMachine;
}

namespace plim::gen {

class ObjectBuilder {
public:
  /// `prefix` starts every symbol. `context`, which must outlive the builder, knows the dialects of registerDialects.
  ObjectBuilder(mlir::MLIRContext &context, llvm::StringRef prefix);
  ~ObjectBuilder();
  static void registerDialects(mlir::DialectRegistry &registry);

  /// One kernel that computes all `parts`, whose buffer numbers are operand numbers of the launch. Parts run in any
  /// order: none may read what another writes.
  mlir::FailureOr<KernelInfo> addKernel(llvm::ArrayRef<Region> parts, mlir::Location loc);

  /// Lowers and optimizes an added kernel, once; does nothing for symbols of other kernels. On failure, which is
  /// reported at the kernel's location, the builder is no longer of use.
  mlir::LogicalResult compileKernel(llvm::StringRef symbol);

  /// The plim_kernel of this symbol, to be referred to by other globals; null where none is compiled.
  llvm::GlobalVariable *kernel(llvm::StringRef symbol);
  llvm::Module &llvmModule() { return *module; }

  /// Generates code for the module as it stands, once; the file appears whole or not at all.
  mlir::LogicalResult writeObject(llvm::StringRef path, mlir::Location loc);

private:
  struct Uncompiled;
  mlir::LogicalResult compile(const Uncompiled &kernel, llvm::StringRef symbol);

  mlir::MLIRContext &context;
  std::string prefix;
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  mlir::PassManager lowering;
  llvm::StringMap<KernelInfo> known;                       // by hash of the loops
  llvm::StringMap<std::unique_ptr<Uncompiled>> uncompiled; // by symbol
};

} // namespace plim::gen
