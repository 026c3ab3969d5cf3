//===- Candidates.h - Which library kernels run a graph op -------------------------------===//
//
// The graph dialect links no kernel; here each family of ops gets its models of CandidatesOpInterface. To add an op:
// one function from the op to its launches in the file of its family, and one line in that file's registration. Sizes
// are expressions: equal sizes are equal expressions, and a rule that needs a number asks constantOf().
//
//===---------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_CANDIDATES_CANDIDATES_H
#define PLIM_COMPILER_LOWERING_CANDIDATES_CANDIDATES_H

#include "dialects/Graph/GraphDialect.h"
#include "plim/kernel.h"

namespace plim::lowering {

using Sizes = llvm::SmallVector<mlir::AffineExpr>;
using SizesRef = llvm::ArrayRef<mlir::AffineExpr>;

/// Where the kernels of an op go, and the sizes of what it works on.
struct Candidates {
  const graph::SizeSource &sizes;
  llvm::SmallVectorImpl<graph::KernelCandidate> &list;

  bool empty() const { return list.empty(); }
  SizesRef of(mlir::Value value) const { return sizes.sizesOf(value); }
};

/// Attaches the models of all families.
void registerCandidates(mlir::DialectRegistry &registry);

void registerElementwiseCandidates(mlir::DialectRegistry &registry);
void registerRecurrentCandidates(mlir::DialectRegistry &registry);
void registerReductionCandidates(mlir::DialectRegistry &registry);
void registerLinearAlgebraCandidates(mlir::DialectRegistry &registry);
void registerConvolutionCandidates(mlir::DialectRegistry &registry);
void registerMovementCandidates(mlir::DialectRegistry &registry);
void registerDynamicCandidates(mlir::DialectRegistry &registry);
void registerQuantizedCandidates(mlir::DialectRegistry &registry);

/// The model of one op whose candidates a function gives.
template <typename OpTy, void (*function)(OpTy, Candidates &)>
struct CandidateModel : graph::CandidatesOpInterface::ExternalModel<CandidateModel<OpTy, function>, OpTy> {
  void getCandidates(mlir::Operation *op, const graph::SizeSource &sizes,
                     llvm::SmallVectorImpl<graph::KernelCandidate> &list) const {
    Candidates candidates{sizes, list};
    function(llvm::cast<OpTy>(op), candidates);
  }
};

/// Row-major strides in elements.
Sizes rowMajor(SizesRef dims);
/// The number that an expression is, if it is one.
std::optional<int64_t> constantOf(mlir::AffineExpr size);
inline bool isOne(mlir::AffineExpr size) { return constantOf(size) == 1; }
/// Whether strides are those of a tensor without gaps.
bool isContiguous(SizesRef dims, SizesRef strides);
/// The 8-byte word of a double.
int64_t word(double value);

/// Collects the operands of a launch, then offers kernels for it.
class LaunchBuilder {
public:
  explicit LaunchBuilder(Candidates &candidates) : candidates(candidates) {}

  /// The value as it lies.
  LaunchBuilder &read(mlir::Value value) { return add(value, graph::Access::Read); }
  LaunchBuilder &write(mlir::Value value) { return add(value, graph::Access::Write); }
  /// The value under other dims and strides, `offset` elements in.
  LaunchBuilder &readAs(mlir::Value value, SizesRef dims, SizesRef strides, mlir::AffineExpr offset = {});
  LaunchBuilder &writeAs(mlir::Value value, SizesRef dims, SizesRef strides, mlir::AffineExpr offset = {});
  /// The value as it lies before transpositions and slices, which become strides; for kernels that take strides. Falls
  /// back to the value itself where its innermost stride would not be 1.
  LaunchBuilder &readThrough(mlir::Value value);
  /// The value written right where its only user, a transposition, would put it.
  LaunchBuilder &writeThrough(mlir::Value value);
  /// The value repeated to `dims` as numpy does.
  LaunchBuilder &readBroadcast(mlir::Value value, SizesRef dims);

  /// Appends the kernel with its cost at the largest sizes, if the registry has it. `numerics` names the class of equal
  /// bits.
  void offer(llvm::StringRef kernel, llvm::ArrayRef<int64_t> attrs, llvm::StringRef numerics) const;
  void offer(llvm::StringRef kernel, llvm::ArrayRef<int64_t> attrs) const { offer(kernel, attrs, kernel); }
  /// Appends a kernel that no registry knows.
  void offer(graph::KernelCandidate kernel) const;

private:
  LaunchBuilder &add(mlir::Value value, graph::Access access);
  Candidates &candidates;
  llvm::SmallVector<graph::LaunchOperand> operands;
};

/// A tensor as a strided part of another one.
struct StridedView {
  mlir::Value value;
  Sizes dims, strides; // in elements
  mlir::AffineExpr offset;
};
/// Walks up through transpositions and slices of positive steps.
StridedView viewThrough(const graph::SizeSource &sizes, mlir::Value value);

/// The kernels' number of an activation.
int64_t activationCode(graph::Activation activation);

/// The shape that a kernel sees of an operand at the largest sizes.
plim_shape largestShape(const graph::SizeSource &sizes, const graph::LaunchOperand &operand);

} // namespace plim::lowering

#endif
