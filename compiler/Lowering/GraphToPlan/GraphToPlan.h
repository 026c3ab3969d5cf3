//===- GraphToPlan.h - From tensors to sized buffers and steps ---------------------------===//
//
// Every tensor of a function becomes a byte buffer, every op a launch with the kernels that can run it. Nothing is
// decided here: candidates stay open, offsets and order are the planner's. Data movement that a kernel can follow by
// strides (a transposed operand, a slice) makes no launch; a reshape is another name for a buffer.
//
// Open dimensions of arguments are symbols of the program (SymbolicDims.h). Buffers and workspaces have their largest
// sizes; a kernel sees those of the run, and takes no more workspace for them.
//
//===---------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_GRAPHTOPLAN_GRAPHTOPLAN_H
#define PLIM_COMPILER_LOWERING_GRAPHTOPLAN_GRAPHTOPLAN_H

#include "compiler/Lowering/Generated/ObjectBuilder.h"
#include "dialects/Graph/GraphDialect.h"
#include "dialects/Plan/PlanDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace plim::lowering {

/// What a user fixes about the choice of kernels.
struct KernelChoice {
  /// "auto" leaves the algorithms of attention open; "naive", "chunked" or "flash" bars the others.
  std::string attention = "auto";
  /// Only kernels of the first numerics class of each op.
  bool exactNumerics = false;
};

/// Where the bytes of a plan.constant (or of the input that stands for it) come from: a parameter of the graph (a
/// file's bytes, or a result of @setup) or a small constant.
struct ConstantSource {
  std::string name;
  mlir::Operation *op = nullptr; // graph.parameter or graph.constant
};

/// Makes the kernel of an op, or gives the one that an equal op has already.
using KernelGenerator = std::function<mlir::FailureOr<gen::KernelInfo>(mlir::Operation *)>;

/// A generator whose kernels go into this object.
KernelGenerator generatorInto(gen::ObjectBuilder &object);

struct GraphToPlanOptions {
  int64_t workers = 8;
  KernelChoice choice;
  /// Inputs may hold other buffers after their last read.
  bool reuseInputs = false;
  /// Parameters and constants become inputs of the program: how @setup reads the model's own file.
  bool parametersAsInputs = false;
  /// Launches say how they can be cut into pieces of rows, for the planner's lower bound.
  bool splits = false;
  /// Makes the kernels of fused ops, and of single ops for which the library has a reference kernel only. Without it
  /// the library runs everything.
  KernelGenerator generate;
};

struct GraphToPlanResult {
  mlir::OwningOpRef<plan::ModuleOp> module;
  std::vector<ConstantSource> constants; // in the order of the plan's constants
};

/// The functions of a module that become programs: the public ones.
llvm::SmallVector<mlir::func::FuncOp> entriesOf(mlir::ModuleOp module);

/// A plan module with a program in stage virtual for each function, named as the function. Constants are shared: those
/// of parameters by name, others by value. Fails with a diagnostic at each op that no kernel can run.
mlir::FailureOr<GraphToPlanResult> graphToPlan(llvm::ArrayRef<mlir::func::FuncOp> functions,
                                               const GraphToPlanOptions &options);

/// The name of a node for messages: its location's name, else the op's.
std::string sourceName(mlir::Operation *op);

} // namespace plim::lowering

#endif
