//===- Alternative.h - A graph in one way of being cut, ready to be planned ---------------------===//
#ifndef PLIM_COMPILER_PIPELINES_ALTERNATIVE_H
#define PLIM_COMPILER_PIPELINES_ALTERNATIVE_H

#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "compiler/Pipelines/CompileOptions.h"
#include "compiler/Pipelines/SplitAlternatives.h"

namespace plim {

/// The graph whole, or in pieces of rows, of weights, or of both.
struct Alternative {
  bool rows = false;                       // maps are in pieces of rows
  int64_t weights = 0;                     // bytes of the largest piece of a weight; 0 where weights are whole
  mlir::OwningOpRef<mlir::ModuleOp> graph; // which the sources of constants are in
  lowering::GraphToPlanResult lowered;     // stage virtual, which stays

  /// What is in pieces: "none", "rows", "weights" or "rows, weights".
  std::string pieces() const;
};

/// What a plan of it is asked for. `store` may be null.
plan::FitRequest requestFor(const CompileOptions &options, const Alternative &alternative, std::optional<int64_t> ram,
                            solver::PlanStore *store);

/// The alternatives of a graph whose weights are as they are: whole maps, and pieces of rows. Each is lowered when it
/// is asked for first.
class Alternatives {
public:
  /// `graph` is after all graph passes; `rows`: it is in pieces of rows already. `maySplit`: more may be made. Options
  /// and object, which gets the generated kernels, must outlive this.
  Alternatives(mlir::OwningOpRef<mlir::ModuleOp> graph, bool rows, bool maySplit, int64_t weights,
               const CompileOptions &options, gen::ObjectBuilder &object);

  /// What all of them are made from.
  mlir::ModuleOp base() { return *graph; }
  /// Null, with a diagnostic, where it cannot be lowered.
  const Alternative *asItIs();
  const Alternative *inRows(size_t index);
  /// The splits that inRows takes; null where none may be made.
  SplitAlternatives *splits() { return split ? &*split : nullptr; }

private:
  std::unique_ptr<Alternative> lower(mlir::OwningOpRef<mlir::ModuleOp> cut, bool rows);

  const CompileOptions &options;
  gen::ObjectBuilder &object;
  mlir::OwningOpRef<mlir::ModuleOp> graph; // which is not lowered, but copies of it
  bool rows;
  int64_t weights;
  std::optional<SplitAlternatives> split;
  std::unique_ptr<Alternative> whole;
  std::map<size_t, std::unique_ptr<Alternative>> pieces;
};

} // namespace plim

#endif
