//===- SplitAlternatives.h - Modules that compute the same in pieces of rows -------------------===//
#ifndef PLIM_COMPILER_PIPELINES_SPLITALTERNATIVES_H
#define PLIM_COMPILER_PIPELINES_SPLITALTERNATIVES_H

#include "compiler/Transforms/Graph/Split/GraphProblem.h"
#include "mlir/IR/BuiltinOps.h"

namespace plim {

/// Splits of a module's one entry that are worth planning, the fastest first. They do not depend on a budget.
class SplitAlternatives {
public:
  /// `module`, which must outlive this and stay as it is, is after all graph passes.
  SplitAlternatives(mlir::ModuleOp module, const graph::SplitKernels &kernels);

  /// Whether the module has one entry and that can be split at all; why not.
  bool arePossible() const { return mlir::succeeded(graph); }
  const std::string &problem() const { return why; }

  /// A copy of the module that runs by plans parted by '|', each of the pieces that the one before it made
  /// (docs/concepts/splitting.md). Null, with a diagnostic, where the text is no plan of this entry or an op cannot be
  /// built in pieces.
  mlir::OwningOpRef<mlir::ModuleOp> apply(llvm::StringRef text) const;

  /// Whether there is a split of this number, which may rise by one. They are searched for as far as there may be one
  /// faster than `below`: first for those with the bits of the whole and one way of cutting, then for those of less
  /// memory with finer kernels, and of rows inside of images.
  bool reaches(size_t index, int64_t below);
  /// About what the plan of one will reserve, and take.
  int64_t estimatedBytes(size_t index) const { return splits[index].bytes; }
  int64_t estimatedNs(size_t index) const { return splits[index].ns; }
  mlir::OwningOpRef<mlir::ModuleOp> apply(size_t index) const { return apply(splits[index].text); }

private:
  struct Split {
    std::string text;
    int64_t bytes, ns;
  };
  void search(solver::SplitSearch::Kernels which);
  void searchFurther();
  void add(std::string text, int64_t bytes, int64_t ns, bool always);
  void addRowsOfImages();

  mlir::ModuleOp module;
  graph::SplitKernels kernels;
  std::string why;
  mlir::FailureOr<graph::GraphProblem> graph;
  int64_t constants = 0; // bytes
  int64_t fastestNs = 0; // pieces take no less time than the whole maps at their fastest
  std::vector<Split> splits;
  std::pair<std::string, int64_t> images; // the least plan that runs the images of a batch in pieces, and how many
  enum class Searched { Nothing, OwnKernels, All } searched = Searched::Nothing;
};

} // namespace plim

#endif
