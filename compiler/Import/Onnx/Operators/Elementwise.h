//===- Elementwise.h - Operators that are one graph op --------------------===//
#ifndef PLIM_COMPILER_IMPORT_ONNX_OPERATORS_ELEMENTWISE_H
#define PLIM_COMPILER_IMPORT_ONNX_OPERATORS_ELEMENTWISE_H

#include "compiler/Import/Onnx/NodeImporter.h"

namespace plim::onnx {

template <typename Op> llvm::LogicalResult unary(NodeImporter &n) { return n.finish(n.make<Op>(n[0])); }

template <typename Op> llvm::LogicalResult binary(NodeImporter &n) { return n.finish(n.make<Op>(n[0], n[1])); }

} // namespace plim::onnx

#endif
