//===- WeightPieces.h - Rows of weights as weights of their own ----------------------------------===//
#ifndef PLIM_COMPILER_TRANSFORMS_GRAPH_SPLIT_WEIGHTPIECES_H
#define PLIM_COMPILER_TRANSFORMS_GRAPH_SPLIT_WEIGHTPIECES_H

#include "compiler/Solver/Split/Split.h"
#include "dialects/Graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace plim::graph {

/// Makes parameters of pieces of other ones, each once for a module: a part of the file where the piece lies in one
/// stretch of it, else a result of @setup, where the work on a weight is done on its pieces as far as ops can be cut.
class WeightPieces {
public:
  explicit WeightPieces(mlir::ModuleOp module);

  /// Indices `range` of one dimension of a weight, of static shape, read at the insertion point.
  mlir::Value piece(mlir::OpBuilder &b, ParameterOp weight, int64_t axis, solver::RowRange range);
  /// Takes results out of @setup that no function reads any more.
  void finish();

private:
  std::string nameOf(ParameterOp weight, solver::RowRange range);
  mlir::Value valueInSetup(ParameterOp weight);
  mlir::Value cutInSetup(mlir::OpBuilder &b, mlir::Value value, int64_t axis, solver::RowRange range);
  void addResult(mlir::Value value, llvm::StringRef name);
  void setResults(llvm::ArrayRef<mlir::Value> values, llvm::ArrayRef<mlir::Attribute> names);

  mlir::ModuleOp module;
  mlir::func::FuncOp setup; // null until something needs it
  llvm::StringSet<> taken;
  std::map<std::tuple<std::string, int64_t, int64_t>, std::string> names;
  std::map<std::tuple<const void *, int64_t, int64_t>, mlir::Value> cuts; // in @setup
};

} // namespace plim::graph

#endif
