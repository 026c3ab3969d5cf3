//===- ProgramLowering.h - One function to one program of a plan module -------------------===//
//
// A ModuleLowering owns the plan module and what its programs share: a constant has one entry of the weight file,
// whoever reads it. A ProgramLowering turns one function into one program of it; its work is cut by concern:
//
//   ProgramIO.cpp   the caller's buffers, sizes that a run must have, outputs that no op computes
//   Operands.cpp    buffers of values, homes of constants, shapes and ranges of a launch's operands
//   Launches.cpp    candidates and generated kernels of an op
//   Aliases.cpp     which operands may share bytes
//
// A value has one buffer, seen from every region inside of its own. Ops of a region are lowered where the region's
// steps go: at the builder's insertion point.
//
//===---------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_GRAPHTOPLAN_PROGRAMLOWERING_H
#define PLIM_COMPILER_LOWERING_GRAPHTOPLAN_PROGRAMLOWERING_H

#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include "compiler/Lowering/GraphToPlan/Liveness.h"
#include "compiler/Lowering/GraphToPlan/SymbolicDims.h"

#include <map>

namespace plim::lowering {

/// The plan module and the constants of all its programs.
class ModuleLowering {
public:
  ModuleLowering(mlir::MLIRContext *context, mlir::Location loc, const GraphToPlanOptions &options);

  plan::ModuleOp module() { return *result.module; }
  const GraphToPlanOptions &options() const { return choices; }
  /// A parameter's own name; other constants are numbered as they come, equal ones alike.
  std::string nameOf(mlir::Operation *constant);
  /// Declares the constant unless another program has; `bytes` of the weight file are its own.
  void declare(mlir::Operation *constant, llvm::StringRef name, plan::ShapeAttr shape, int64_t bytes);
  /// An input stands for the constant.
  void bindToInput(mlir::Operation *constant, llvm::StringRef name);
  GraphToPlanResult take() { return std::move(result); }

private:
  const GraphToPlanOptions &choices;
  mlir::OpBuilder b;
  GraphToPlanResult result;
  llvm::DenseMap<mlir::Attribute, unsigned> numbers; // of constants, by value
  llvm::DenseMap<mlir::Attribute, bool> declared;    // by name
  int64_t weightOffset = 0;
};

class ProgramLowering {
public:
  ProgramLowering(ModuleLowering &shared, mlir::func::FuncOp function, const SymbolicDims &sizes)
      : shared(shared), options(shared.options()), function(function), sizes(sizes), context(function.getContext()),
        b(context) {}

  mlir::LogicalResult run();

private:
  // ProgramIO.cpp
  void addProgram();
  void addConditions();
  void copyOutputs();
  void copyValue(mlir::Value value, mlir::Value buffer, mlir::Location loc, llvm::StringRef source);

  // Operands.cpp
  graph::LaunchOperand naturalOperand(mlir::Value value) const;
  plan::ShapeAttr shapeAttr(const graph::LaunchOperand &operand) const;
  /// Bytes into the value at which an operand starts, where that is no matter of the run.
  static std::optional<int64_t> fixedOffset(const graph::LaunchOperand &operand);
  plan::AccessAttr accessAttr(const graph::LaunchOperand &operand) const;
  /// The buffer that holds a value; a constant's home and an op's result are made when first asked for.
  mlir::Value bufferOf(mlir::Value value, llvm::StringRef source);
  mlir::Value residentOf(mlir::Operation *op, int64_t bytes);
  /// The buffer from where an operand starts.
  mlir::Value startOf(const graph::LaunchOperand &operand, mlir::Value buffer);

  // Launches.cpp
  /// Whether the op gets a kernel of its own: fused ops, and those that the library runs by reference kernels only.
  bool generates(mlir::Operation *op) const;
  /// The steps of all ops of a block, at the insertion point.
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerCandidates(mlir::Operation *op, llvm::ArrayRef<graph::KernelCandidate> candidates);
  mlir::LogicalResult lowerGenerated(mlir::Operation *op);
  plan::CandidateAttr candidateAttr(const graph::KernelCandidate &candidate, mlir::Operation *op,
                                    llvm::StringRef lastNumerics) const;
  void launch(mlir::Operation *op, llvm::ArrayRef<graph::LaunchOperand> operands,
              llvm::ArrayRef<plan::CandidateAttr> candidates, llvm::ArrayRef<plan::AliasAttr> aliases);
  plan::LaunchOp createLaunch(mlir::Location loc, llvm::ArrayRef<plan::CandidateAttr> candidates,
                              mlir::ValueRange buffers, llvm::ArrayRef<plan::AccessAttr> accesses,
                              llvm::StringRef source);

  // Aliases.cpp
  /// Where results may lie in the bytes of operands, or operands be written right into results.
  llvm::SmallVector<plan::AliasAttr> aliasesOf(mlir::Operation *op, const graph::KernelCandidate &candidate) const;
  llvm::SmallVector<plan::AliasAttr> concatAliases(graph::ConcatOp concat,
                                                   const graph::KernelCandidate &candidate) const;

  ModuleLowering &shared;
  const GraphToPlanOptions &options;
  mlir::func::FuncOp function;
  const SymbolicDims &sizes;
  mlir::MLIRContext *context;
  mlir::OpBuilder b;
  plan::ProgramOp program;
  LaunchList launches;
  llvm::SmallVector<mlir::Value> symbolValues;             // by symbol of `sizes`
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;        // storage of a value -> its buffer
  std::map<std::string, mlir::Value> homes;                // of constants, by name
  std::vector<std::pair<mlir::Value, mlir::Value>> copies; // output buffer, value
};

} // namespace plim::lowering

#endif
