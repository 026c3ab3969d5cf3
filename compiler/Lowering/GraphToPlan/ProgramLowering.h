//===- ProgramLowering.h - One function to one program of a plan module -------------------===//
//
// A ModuleLowering owns the plan module and what its programs share: a constant has one entry of the weight file,
// whoever reads it. A ProgramLowering turns one function into one program of it; its work is cut by concern:
//
//   ProgramIO.cpp   the caller's buffers, outputs that no op computes
//   ControlFlow.cpp branches and loops
//   RunSizes.cpp    sizes as scalars of a run, what must hold of them
//   Operands.cpp    buffers of values, homes of constants, shapes and ranges of a launch's operands
//   Launches.cpp    candidates and generated kernels of an op
//   Aliases.cpp     which operands may share bytes
//   States.cpp      what lasts from run to run: where it lies, its size, its next value
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

#include "llvm/ADT/StringSet.h"

#include <map>

namespace plim::lowering {

/// The plan module and the constants of all its programs.
class ModuleLowering {
public:
  ModuleLowering(llvm::ArrayRef<mlir::func::FuncOp> functions, const GraphToPlanOptions &options);

  plan::ModuleOp module() { return *result.module; }
  const GraphToPlanOptions &options() const { return choices; }
  /// A parameter's own name; other constants are numbered as they come, equal ones alike.
  std::string nameOf(mlir::Operation *constant);
  /// Declares the constant unless another program has; `bytes` of the weight file are its own.
  void declare(mlir::Operation *constant, llvm::StringRef name, plan::ShapeAttr shape, int64_t bytes);
  /// Declares a state unless another program has; of a size of states, which has no variable, too.
  void declareState(llvm::StringRef name, plan::ShapeAttr shape, int64_t bytes, bool durable);
  /// The name of the state that holds the size of growing states.
  std::string sizeStateName(llvm::StringRef size) const;
  /// An input stands for the constant.
  void bindToInput(mlir::Operation *constant, llvm::StringRef name);
  GraphToPlanResult take() { return std::move(result); }

private:
  /// Goes to where the declaration of a name belongs; false where it has one.
  bool startDeclaration(llvm::StringRef name);

  const GraphToPlanOptions &choices;
  mlir::OpBuilder b;
  GraphToPlanResult result;
  llvm::DenseMap<mlir::Attribute, unsigned> numbers; // of constants, by value
  llvm::StringSet<> declared;                        // names of constants and states
  llvm::StringSet<> taken;                           // names of programs and variables
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
  void copyOutputs();
  void copyValue(mlir::Value value, mlir::Value buffer, mlir::Location loc, llvm::StringRef source);
  /// The same of a value whose bytes are in a buffer that is not its own.
  plan::LaunchOp copyValue(mlir::Value value, mlir::Value from, mlir::Value buffer, mlir::Location loc,
                           llvm::StringRef source);

  // RunSizes.cpp
  void addConditions();
  bool isCheckedAtStart(const SymbolicDims::Condition &condition) const;
  /// What a run reads or computes of sizes before the op, and checks of them.
  void addDefinitions(mlir::Operation *op);
  void addChecks(llvm::ArrayRef<SymbolicDims::Condition> conditions);
  /// The launch of a value that is shape arithmetic: its entries are scalars.
  void lowerSizes(mlir::Operation *op);
  /// Scalars of expressions, at the insertion point.
  llvm::SmallVector<mlir::Value> scalarsOf(SizesRef values, mlir::StringAttr source = {});
  /// A step lists the scalars that the caller gives, then those of `used`: symbols by their place in that list, the
  /// list, and a shape by these places, whose symbols are added to `used`.
  llvm::SmallVector<mlir::AffineExpr> placesIn(llvm::ArrayRef<unsigned> used) const;
  llvm::SmallVector<mlir::Value> valuesOf(llvm::ArrayRef<unsigned> used) const;
  plan::ShapeAttr placedShape(plan::ShapeAttr shape, llvm::SmallVectorImpl<unsigned> &used) const;

  // Operands.cpp
  graph::LaunchOperand naturalOperand(mlir::Value value) const;
  plan::ShapeAttr shapeAttr(const graph::LaunchOperand &operand) const;
  /// Bytes into the value at which an operand starts, where that is no matter of the run.
  static std::optional<int64_t> fixedOffset(const graph::LaunchOperand &operand);
  plan::AccessAttr accessAttr(const graph::LaunchOperand &operand) const;
  /// The buffer that holds a value; a constant's home and an op's result are made when first asked for.
  mlir::Value bufferOf(mlir::Value value, llvm::StringRef source);
  mlir::Value residentOf(mlir::Operation *op, int64_t bytes);
  /// The home of what a name declares, at the head of the program.
  mlir::Value addResident(llvm::StringRef name, int64_t bytes, mlir::Location loc);
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
  void offerFewerTasks(llvm::SmallVectorImpl<plan::CandidateAttr> &candidates) const;
  plan::CandidateAttr candidateAttr(const graph::KernelCandidate &candidate, mlir::Operation *op,
                                    llvm::StringRef lastNumerics) const;
  void launch(mlir::Operation *op, llvm::ArrayRef<graph::LaunchOperand> operands,
              llvm::ArrayRef<plan::CandidateAttr> candidates, llvm::ArrayRef<plan::AliasAttr> aliases);
  plan::LaunchOp createLaunch(mlir::Location loc, llvm::ArrayRef<plan::CandidateAttr> candidates,
                              mlir::ValueRange buffers, llvm::ArrayRef<plan::AccessAttr> accesses,
                              llvm::StringRef source, mlir::ValueRange scalars = {});
  /// The same of a kernel that no op has asked for.
  plan::LaunchOp createLaunch(mlir::Location loc, const graph::KernelCandidate &kernel, mlir::ValueRange buffers,
                              llvm::StringRef source, mlir::ValueRange scalars = {});

  // ControlFlow.cpp
  mlir::LogicalResult lowerIf(graph::IfOp branch);
  mlir::LogicalResult lowerLoop(graph::LoopOp loop);
  void enterLoop(graph::LoopOp loop, llvm::StringRef source);
  void materialiseHeader(graph::LoopOp loop, mlir::Value iteration, llvm::StringRef source);
  void placeYields(graph::LoopOp loop, llvm::SmallVectorImpl<unsigned> &copied,
                   llvm::SmallVectorImpl<mlir::Value> &places);
  void copyYields(graph::LoopOp loop, llvm::ArrayRef<unsigned> copied, llvm::ArrayRef<mlir::Value> places,
                  llvm::StringRef source);
  mlir::Value loadScalar(mlir::Value value, int64_t lower, int64_t upper, llvm::StringRef source);
  bool isWithin(mlir::Value value, llvm::ArrayRef<graph::Dim> limits) const;
  void copyYield(mlir::Value value, mlir::Value from, mlir::Value buffer, llvm::ArrayRef<graph::Dim> limits,
                 mlir::Location loc, llvm::StringRef source);
  mlir::Value headOf(mlir::Value buffer, int64_t bytes);
  void clear(mlir::Value buffer, llvm::StringRef source);
  /// The op of the block whose launch writes the bytes, if one does.
  mlir::Operation *writerOf(mlir::Value root, mlir::Block &block) const;
  bool readsInPlace(mlir::Operation *op, mlir::Value carried);
  bool mayOverwrite(mlir::BlockArgument carried, mlir::Operation *writer);

  // States.cpp
  /// Homes of states, and sizes of those that grow, before the first launch.
  void addStates();
  mlir::Value stateResident(llvm::StringRef name, plan::ShapeAttr shape, int64_t bytes, bool durable,
                            mlir::Location loc);
  /// States whose next value its producer may write in place.
  void placeNextValues();
  bool isReadFrom(graph::AssignOp assign, mlir::Operation *producer) const;
  /// The launch that writes what is new behind a state that grows.
  void appendKernels(mlir::Operation *op, llvm::SmallVectorImpl<graph::KernelCandidate> &list) const;
  /// Next values that are not in place, then sizes.
  void assignStates();
  void copyIntoState(mlir::Value value, mlir::Value from, graph::VariableOp variable, mlir::Location loc);

  // SplitAxes.cpp
  /// How the launch of an op with these kernels can be cut, by axis of its result; empty where that is not asked for.
  llvm::SmallVector<plan::SplitAttr> splitsOf(mlir::Operation *op, llvm::ArrayRef<graph::LaunchOperand> operands,
                                              llvm::ArrayRef<plan::CandidateAttr> candidates) const;

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
  llvm::SmallVector<mlir::Value> symbolValues;                 // by symbol of `sizes`; null before its definition
  llvm::SmallVector<unsigned> outputSymbols;                   // of no caller, in the sizes of outputs
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;            // storage of a value -> its buffer
  std::map<std::string, mlir::Value> homes;                    // of constants, by name
  std::vector<std::pair<mlir::Value, mlir::Value>> copies;     // output buffer, value
  llvm::DenseMap<mlir::Operation *, mlir::Value> stateBuffers; // by variable
  llvm::SmallVector<mlir::Value> sizeBuffers;                  // by symbol of a state
};

} // namespace plim::lowering

#endif
