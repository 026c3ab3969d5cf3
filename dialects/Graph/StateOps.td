//===- StateOps.td - Weights, constants and state that outlives a run -----------------------------===//
#ifndef PLIM_GRAPH_STATE_OPS
#define PLIM_GRAPH_STATE_OPS

include "dialects/Graph/GraphBase.td"
include "mlir/IR/SymbolInterfaces.td"

// A weight. With a file: `bytes` bytes at `offset` of it, elements in row-major order, little-endian. Without one (empty):
// the result of @setup that carries this name (result attribute `graph.name`). Equal names are the same weight.
def Graph_ParameterOp : Graph_Op<"parameter", [Pure]> {
  let arguments = (ins StrAttr:$name, DefaultValuedAttr<StrAttr, "\"\"">:$file, DefaultValuedAttr<Graph_Int64, "0">:$offset,
    DefaultValuedAttr<Graph_Int64, "0">:$bytes);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_ConstantOp : Graph_PureOp<"constant", [ConstantLike]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let extraClassDeclaration = [{
    /// The most that a constant may hold; more goes into a file as a parameter.
    static constexpr int64_t kMaxBytes = 1024;
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

// State between runs: KV caches, moments, trained weights, batch-norm statistics. Starts as zeros, or as the bytes of a file.
// One dimension may be open within an upper bound; `size` names it then. Its value is a state too, one for all variables
// of that name: what was assigned last says how large it is, and it starts at 0.
def Graph_VariableOp : Graph_Op<"variable", [Symbol]> {
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Graph_Tensor>:$type,
    DefaultValuedAttr<StrAttr, "\"\"">:$file, DefaultValuedAttr<Graph_Int64, "0">:$offset,
    DefaultValuedAttr<Graph_Int64, "0">:$bytes, DefaultValuedAttr<BoolAttr, "true">:$durable,
    OptionalAttr<StrAttr>:$size);
  let assemblyFormat = "$sym_name `:` $type (`grows` $size^)? attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
    /// The dimension that is open, or -1.
    int64_t getOpenDim();
  }];
}
// The variable as it was when the run began, whatever is assigned in the run.
def Graph_ReadOp : Graph_Op<"read", [MemoryEffects<[MemRead]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}
// What the variable holds when the run has ended; one a function. The open dimension of a variable may be of any size of the
// run here: a run in which it would pass the bound fails before anything is written.
def Graph_AssignOp : Graph_Op<"assign", [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins FlatSymbolRefAttr:$variable, Graph_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

#endif
