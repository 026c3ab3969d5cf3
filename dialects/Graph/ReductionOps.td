//===- ReductionOps.td - Reductions, softmax, scans, selections ----------------------------------===//
#ifndef PLIM_GRAPH_REDUCTION_OPS
#define PLIM_GRAPH_REDUCTION_OPS

include "dialects/Graph/GraphBase.td"

// Axes are counted from 0 and ascend. No axes: nothing is reduced (l1, sum_square, ... still apply their function).
def Graph_ReduceOp : Graph_PureOp<"reduce", [DeclareOpInterfaceMethods<Graph_Decompose>,
    DeclareOpInterfaceMethods<Graph_Layout, ["permuteAttributes"]>]> {
  let arguments = (ins Graph_ReduceKindAttr:$kind, Graph_NumberTensor:$input, DenseI64ArrayAttr:$axes,
    DefaultValuedAttr<BoolAttr, "true">:$keep_dims);
  let results = (outs Graph_NumberTensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

// Index (i64) of the largest or smallest element along an axis: the first one, or with `last_index` the last.
def Graph_ArgReduceOp : Graph_PureOp<"arg_reduce"> {
  let arguments = (ins Graph_ArgReduceKindAttr:$kind, Graph_NumberTensor:$input, Graph_Int64:$axis,
    DefaultValuedAttr<BoolAttr, "true">:$keep_dims, DefaultValuedAttr<BoolAttr, "false">:$last_index);
  let results = (outs Graph_IndexTensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` functional-type(operands, results)";
}

def Graph_SoftmaxOp : Graph_PureOp<"softmax", [DeclareOpInterfaceMethods<Graph_Decompose>,
    DeclareOpInterfaceMethods<Graph_Alias>, DeclareOpInterfaceMethods<Graph_Layout, ["permuteAttributes"]>]> {
  let arguments = (ins Graph_FloatTensor:$input, Graph_Int64:$axis, DefaultValuedAttr<BoolAttr, "false">:$log);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def Graph_CumsumOp : Graph_PureOp<"cumsum"> {
  let arguments = (ins Graph_NumberTensor:$input, Graph_Int64:$axis, DefaultValuedAttr<BoolAttr, "false">:$exclusive,
    DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Graph_NumberTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

// The k largest (smallest) along an axis, in order, and their indices (i64); of equals the lower index comes first.
def Graph_TopKOp : Graph_PureOp<"top_k"> {
  let arguments = (ins Graph_NumberTensor:$input, Graph_Int64:$k, Graph_Int64:$axis,
    DefaultValuedAttr<BoolAttr, "true">:$largest, DefaultValuedAttr<BoolAttr, "true">:$sorted);
  let results = (outs Graph_NumberTensor:$values, Graph_IndexTensor:$indices);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

#endif
