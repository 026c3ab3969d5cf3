//===- Candidates.h - Which library kernels run a graph op -------------------------------===//
//
// The graph dialect links no kernel; here each family of ops gets its models of CandidatesOpInterface. To add an op:
// one function from the op to its launches in the file of its family, and one line in that file's registration.
//
//===---------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_CANDIDATES_CANDIDATES_H
#define PLIM_COMPILER_LOWERING_CANDIDATES_CANDIDATES_H

#include "dialects/Graph/GraphDialect.h"
#include "plim/kernel.h"

namespace plim::lowering {

using Candidates = llvm::SmallVectorImpl<graph::KernelCandidate>;

/// Attaches the models of all families.
void registerCandidates(mlir::DialectRegistry &registry);

void registerElementwiseCandidates(mlir::DialectRegistry &registry);
void registerReductionCandidates(mlir::DialectRegistry &registry);
void registerLinearAlgebraCandidates(mlir::DialectRegistry &registry);
void registerConvolutionCandidates(mlir::DialectRegistry &registry);
void registerMovementCandidates(mlir::DialectRegistry &registry);

/// The model of one op whose candidates a function gives.
template <typename OpTy, void (*function)(OpTy, Candidates &)>
struct CandidateModel : graph::CandidatesOpInterface::ExternalModel<CandidateModel<OpTy, function>, OpTy> {
  void getCandidates(mlir::Operation *op, Candidates &candidates) const { function(llvm::cast<OpTy>(op), candidates); }
};

/// A tensor type's element type as kernels know it; 0 where they do not.
uint8_t dtypeOf(mlir::Type element);
/// Row-major strides in elements.
llvm::SmallVector<int64_t> rowMajor(llvm::ArrayRef<int64_t> dims);
/// Static dimensions of a tensor.
llvm::ArrayRef<int64_t> staticDims(mlir::Value value);
/// The 8-byte word of a double.
int64_t word(double value);

/// Collects the operands of a launch, then offers kernels for it.
class LaunchBuilder {
public:
  /// The value as it lies.
  LaunchBuilder &read(mlir::Value value) { return add(value, graph::Access::Read); }
  LaunchBuilder &write(mlir::Value value) { return add(value, graph::Access::Write); }
  /// The value under other dims and strides, `offset` elements in.
  LaunchBuilder &readAs(mlir::Value value, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides,
                        int64_t offset = 0);
  LaunchBuilder &writeAs(mlir::Value value, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides);
  /// The value as it lies before transpositions and slices, which become strides; for kernels that take strides. Falls
  /// back to the value itself where its innermost stride would not be 1.
  LaunchBuilder &readThrough(mlir::Value value);
  /// The value written right where its only user, a transposition, would put it.
  LaunchBuilder &writeThrough(mlir::Value value);
  /// The value repeated to `dims` as numpy does.
  LaunchBuilder &readBroadcast(mlir::Value value, llvm::ArrayRef<int64_t> dims);

  /// Appends the kernel with its cost, if the registry has it. `numerics` names the class of equal bits.
  void offer(llvm::StringRef kernel, llvm::ArrayRef<int64_t> attrs, llvm::StringRef numerics,
             Candidates &candidates) const;
  void offer(llvm::StringRef kernel, llvm::ArrayRef<int64_t> attrs, Candidates &candidates) const {
    offer(kernel, attrs, kernel, candidates);
  }

private:
  LaunchBuilder &add(mlir::Value value, graph::Access access);
  llvm::SmallVector<graph::LaunchOperand> operands;
};

/// A tensor as a strided part of another one.
struct StridedView {
  mlir::Value value;
  llvm::SmallVector<int64_t> dims, strides; // in elements
  int64_t offset = 0;
};
/// Walks up through transpositions and slices of positive steps.
StridedView viewThrough(mlir::Value value);

/// The kernels' number of an activation.
int64_t activationCode(graph::Activation activation);

/// The shape that a kernel sees of an operand.
plim_shape shapeOf(const graph::LaunchOperand &operand);

} // namespace plim::lowering

#endif
