//===- Loops.h - Loops around graphs in attributes --------------------------===//
#ifndef PLIM_COMPILER_IMPORT_ONNX_OPERATORS_LOOPS_H
#define PLIM_COMPILER_IMPORT_ONNX_OPERATORS_LOOPS_H

#include "compiler/Import/Onnx/NodeImporter.h"

namespace plim::onnx {

/// "2x3 of f32": dimensions and elements, for messages.
std::string typeText(mlir::Value value);

/// Ends a region that gives the values.
void yieldAll(NodeImporter &n, mlir::Block *block, mlir::ValueRange values);

/// Builds the body of a loop in its block, of which the arguments are made: gives the condition, what is carried on,
/// and what is stacked.
using BodyBuilder =
    llvm::function_ref<llvm::LogicalResult(mlir::Block *block, llvm::SmallVectorImpl<mlir::Value> &yields)>;

struct LoopHeader {
  mlir::Value trips, condition; // scalars
  int64_t maxTrips;
};

/// A loop whose body is built with the types of what it carries; again, with wider types, where a trip changes them.
/// None with an error where that has no end, or a trip cannot be built.
llvm::SmallVector<mlir::Value> makeLoop(NodeImporter &n, const LoopHeader &header, mlir::ValueRange initial,
                                        BodyBuilder build);

} // namespace plim::onnx

#endif
