//===- DataMovementOps.td - Ops that move elements by position ------------------------------------===//
#ifndef PLIM_GRAPH_DATA_MOVEMENT_OPS
#define PLIM_GRAPH_DATA_MOVEMENT_OPS

include "dialects/Graph/GraphBase.td"

class Graph_Move<string mnemonic, list<Trait> traits = []> : Graph_PureOp<mnemonic, traits> {
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

// Dimension i of the result is dimension permutation[i] of the input.
def Graph_TransposeOp : Graph_Move<"transpose"> {
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

// At most one entry of `shape` is -1: that dimension follows from the number of elements.
def Graph_ReshapeOp : Graph_Move<"reshape", [DeclareOpInterfaceMethods<Graph_Alias>]> {
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$shape);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

// Repeats along missing and 1 dimensions, as in numpy. -1 in `shape` keeps the dimension of the input.
def Graph_BroadcastOp : Graph_Move<"broadcast"> {
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$shape);
  let hasFolder = 1;
}

// Element i of an axis is element start + i * step of the input. A step may be negative, not 0. Size -1 (step 1 only):
// all from start on.
def Graph_SliceOp : Graph_Move<"slice", [DeclareOpInterfaceMethods<Graph_Alias>]> {
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$steps);
  let extraClassDeclaration = [{
    /// `steps`, or 1 for each dimension where none are given.
    ::llvm::SmallVector<int64_t> getFullSteps();
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_ConcatOp : Graph_Move<"concat", [SameOperandsAndResultElementType, DeclareOpInterfaceMethods<Graph_Alias>,
    DeclareOpInterfaceMethods<Graph_Layout, ["permuteAttributes"]>]> {
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, Graph_Int64:$axis);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

// `value` fills in mode constant.
def Graph_PadOp : Graph_Move<"pad", [DeclareOpInterfaceMethods<Graph_Layout, ["permuteAttributes"]>]> {
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
    DefaultValuedAttr<Graph_PadModeAttr, "::plim::graph::PadMode::Constant">:$mode,
    DefaultValuedAttr<Graph_Double, "0.0">:$value);
  let hasFolder = 1;
}

// Zeros of a type, ones, an arbitrary number: `value` everywhere. Static shape.
def Graph_FillOp : Graph_Op<"fill", [Pure]> {
  let arguments = (ins Graph_Double:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif
