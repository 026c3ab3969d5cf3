// Imports an ONNX model as a module of the graph dialect.
//
//   ImportOptions options;
//   options.shapes.push_back(*ShapeFlag::parse("x=1x3x960x960", error));
//   ImportStatus status;
//   OwningOpRef<ModuleOp> module = importModel("det.onnx", options, &context, status);
//   if (!module) return exitCode(status);        // what is wrong was emitted as diagnostics of `context`
//
// The module holds `func.func @main`, or one function for each entry. Arguments and results carry the model's names as
// `graph.name`, and names of open dimensions as `graph.dim_names`. An input that is a state is a graph.variable of its
// name instead, which every entry reads at its start and assigns at its end. Weights above 1 KiB are graph.parameter
// ops that name bytes of the model's file or of its external data; they are neither copied nor read. Locations are node
// names.
#pragma once
#include "compiler/Import/Onnx/ImportOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace plim::onnx {

enum class ImportStatus {
  Done = 0,
  Usage = 1,       ///< a flag names no input or no dimension, or leaves one open
  Model = 2,       ///< the model is damaged, wrong, or uses what is not supported
  Environment = 4, ///< a file cannot be read or written
};

/// The exit code of a tool whose import ended so.
inline int exitCode(ImportStatus status) { return static_cast<int>(status); }

/// Loads the dialects it needs into `context`. A null module goes with a status other than Done.
mlir::OwningOpRef<mlir::ModuleOp> importModel(llvm::StringRef path, const ImportOptions &options,
                                              mlir::MLIRContext *context, ImportStatus &status);

} // namespace plim::onnx
