//===- SplitAlternatives.h - Modules that compute the same in pieces of rows -------------------===//
#ifndef PLIM_COMPILER_PIPELINES_SPLITALTERNATIVES_H
#define PLIM_COMPILER_PIPELINES_SPLITALTERNATIVES_H

#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include "compiler/Solver/Split/Split.h"

namespace plim {

/// Splits of a module's one entry that are worth planning, the fastest first. They do not depend on a budget.
class SplitAlternatives {
public:
  /// `text` is "auto", or plans parted by '|', each of the pieces that the one before it made
  /// (docs/concepts/splitting.md). `module`, which must outlive this, is after all graph passes. None where the entry
  /// cannot be split, or there are several; of "auto" only those faster than `below`.
  SplitAlternatives(mlir::ModuleOp module, const std::string &text, const lowering::KernelChoice &choice,
                    int64_t below = INT64_MAX);

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

  mlir::ModuleOp module;
  lowering::KernelChoice choice;
  std::vector<Split> splits;
  std::string why;
};

} // namespace plim

#endif
