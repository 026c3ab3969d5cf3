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
  /// cannot be split, or there are several; of "auto" only those faster than `below`.
  SplitAlternatives(mlir::ModuleOp module, const std::string &text, const graph::SplitKernels &kernels,
                    int64_t below = INT64_MAX);

  /// Whether the module's entry can be split at all.
  static bool arePossible(mlir::ModuleOp module, const graph::SplitKernels &kernels);

  /// Why `text` is no plan for the entry; "" where it is one.
  const std::string &problem() const { return why; }
  size_t size() const { return splits.size(); }
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
  void search(int64_t below);
  void add(std::string text, int64_t bytes, bool always);
  void addRowsOfImages(const std::string &images, int64_t count, int64_t constants, int64_t below);

  mlir::ModuleOp module;
  graph::SplitKernels kernels;
  std::vector<Split> splits;
  std::string why;
};

} // namespace plim

#endif
