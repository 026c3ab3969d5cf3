//===- IndexingOps.td - Ops that read or write by index tensors -----------------------------------===//
#ifndef PLIM_GRAPH_INDEXING_OPS
#define PLIM_GRAPH_INDEXING_OPS

include "dialects/Graph/GraphBase.td"

// Indices lie in [-n, n); a negative one counts from the end.

// result = input[:axis] x indices x input[axis + 1:]
def Graph_GatherOp : Graph_PureOp<"gather"> {
  let arguments = (ins Graph_Tensor:$input, Graph_IndexTensor:$indices, DefaultValuedAttr<Graph_Int64, "0">:$axis);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $indices attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

// The result has the shape of the indices: input[i, ..., indices[i, ..., k], ..., k].
def Graph_GatherElementsOp : Graph_PureOp<"gather_elements"> {
  let arguments = (ins Graph_Tensor:$input, Graph_IndexTensor:$indices, DefaultValuedAttr<Graph_Int64, "0">:$axis);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $indices attr-dict `:` functional-type(operands, results)";
}

// The last dimension of the indices holds coordinates of dimensions batch_dims, batch_dims + 1, ... of the input.
def Graph_GatherNdOp : Graph_PureOp<"gather_nd"> {
  let arguments = (ins Graph_Tensor:$input, Graph_IndexTensor:$indices, DefaultValuedAttr<Graph_Int64, "0">:$batch_dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Graph_ScatterElementsOp : Graph_PureOp<"scatter_elements", [DeclareOpInterfaceMethods<Graph_Alias>]> {
  let arguments = (ins Graph_Tensor:$input, Graph_IndexTensor:$indices, Graph_Tensor:$updates,
    DefaultValuedAttr<Graph_Int64, "0">:$axis,
    DefaultValuedAttr<Graph_ScatterReductionAttr, "::plim::graph::ScatterReduction::None">:$reduction);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
}

def Graph_ScatterNdOp : Graph_PureOp<"scatter_nd", [DeclareOpInterfaceMethods<Graph_Alias>]> {
  let arguments = (ins Graph_Tensor:$input, Graph_IndexTensor:$indices, Graph_Tensor:$updates,
    DefaultValuedAttr<Graph_ScatterReductionAttr, "::plim::graph::ScatterReduction::None">:$reduction);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
}

// start, start + step, ... below limit (above it for a negative step); scalars. Static where all three are constants.
def Graph_RangeOp : Graph_PureOp<"range", [SameOperandsAndResultElementType]> {
  let arguments = (ins Graph_NumberTensor:$start, Graph_NumberTensor:$limit, Graph_NumberTensor:$step);
  let results = (outs Graph_NumberTensor:$result);
  let assemblyFormat = "$start `,` $limit `,` $step attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

// A new dimension of size `depth` at `axis`: values[1] where its coordinate is the index, values[0] elsewhere.
def Graph_OneHotOp : Graph_PureOp<"one_hot"> {
  let arguments = (ins Graph_NumberTensor:$indices, Graph_Tensor:$values, Graph_Int64:$depth, Graph_Int64:$axis);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$indices `,` $values attr-dict `:` functional-type(operands, results)";
}

// The dimensions of the input, as i64[rank].
def Graph_ShapeOfOp : Graph_PureOp<"shape_of"> {
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_IndexTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

#endif
