//===- ConstantNumbers.h - Which constants of several graphs are the same bytes -----------------===//
#ifndef PLIM_COMPILER_PIPELINES_CONSTANTNUMBERS_H
#define PLIM_COMPILER_PIPELINES_CONSTANTNUMBERS_H

#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace plim {

/// Numbers constants by what they are made of: the same range of a file, equal elements, or the same work in @setup on
/// the same weights. Value numbering (Alpern, Wegman, Zadeck, 1988) over the graphs of one context, which must outlive
/// this and stay as they are.
class ConstantNumbers {
public:
  unsigned numberOf(const lowering::ConstantSource &source);

private:
  unsigned numberOf(mlir::Value value);
  unsigned numberOf(graph::ParameterOp parameter);
  void appendRegions(mlir::Operation *op, std::vector<const void *> &key);

  std::map<std::vector<const void *>, unsigned> numbers; // by all that makes a value
  llvm::DenseMap<mlir::Value, unsigned> known;
};

} // namespace plim

#endif
