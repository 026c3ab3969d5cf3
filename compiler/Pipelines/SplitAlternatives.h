//===- SplitAlternatives.h - Modules that compute the same in pieces of rows -------------------===//
#ifndef PLIM_COMPILER_PIPELINES_SPLITALTERNATIVES_H
#define PLIM_COMPILER_PIPELINES_SPLITALTERNATIVES_H

#include "compiler/Transforms/Graph/Split/GraphProblem.h"
#include "mlir/IR/BuiltinOps.h"

namespace plim {

/// Splits of a module's one entry that are worth planning, the fastest first. They do not depend on a budget.
class SplitAlternatives {
public:
  /// `text` is "auto", or plans parted by '|', each of the pieces that the one before it made
  /// (docs/concepts/splitting.md). `module`, which must outlive this, is after all graph passes. None where the entry
  /// cannot be split, or there are several; of "auto" only those faster than `below`, and at first only those with the
  /// bits of the whole and one way of cutting.
  SplitAlternatives(mlir::ModuleOp module, const std::string &text, const graph::SplitKernels &kernels,
                    int64_t below = INT64_MAX);

  /// Whether the module's entry can be split at all.
  static bool arePossible(mlir::ModuleOp module, const graph::SplitKernels &kernels);

  /// Why `text` is no plan for the entry; "" where it is one.
  const std::string &problem() const { return why; }
  size_t size() const { return splits.size(); }
  /// Looks further: for plans of less memory with finer kernels, and of rows inside of images. Whether there are any.
  bool more();
  /// About what the plan of one will reserve.
  int64_t estimatedBytes(size_t index) const { return splits[index].bytes; }
  /// A copy of the module that runs so; null, with a diagnostic, where an op cannot be built in pieces.
  mlir::OwningOpRef<mlir::ModuleOp> apply(size_t index) const { return apply(splits[index].text); }

private:
  struct Split {
    std::string text;
    int64_t bytes;
  };
  mlir::OwningOpRef<mlir::ModuleOp> apply(llvm::StringRef text) const;
  void search(solver::SplitSearch::Kernels which);
  void add(std::string text, int64_t bytes, bool always);
  void addRowsOfImages(const std::string &images, int64_t count);

  mlir::ModuleOp module;
  graph::SplitKernels kernels;
  std::vector<Split> splits;
  std::pair<std::string, int64_t> images; // the least plan that runs the images of a batch in pieces, and how many
  int64_t below;
  int64_t constants = 0; // bytes
  bool mayBeMore = false;
  std::string why;
};

} // namespace plim

#endif
