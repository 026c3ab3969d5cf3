//===- LinearAlgebraOps.td - Matrix multiplication and packing -----------------------------------===//
#ifndef PLIM_GRAPH_LINEAR_ALGEBRA_OPS
#define PLIM_GRAPH_LINEAR_ALGEBRA_OPS

include "dialects/Graph/GraphBase.td"

// activation(a b + bias + residual), on the last two dimensions; leading ones broadcast as in numpy, a rank-1 operand is a
// row (a) or a column (b) whose dimension the result lacks. bias: broadcasts to the result, usually [N]. residual: has
// the shape of the result; with an activation other than none it is added before it.
def Graph_MatmulOp : Graph_PureOp<"matmul", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<Graph_Alias>]> {
  let arguments = (ins Graph_NumberTensor:$lhs, Graph_NumberTensor:$rhs, Optional<Graph_NumberTensor>:$bias,
    Optional<Graph_NumberTensor>:$residual, DefaultValuedAttr<BoolAttr, "false">:$transpose_lhs,
    DefaultValuedAttr<BoolAttr, "false">:$transpose_rhs,
    DefaultValuedAttr<Graph_ActivationAttr, "::plim::graph::Activation::None">:$activation,
    DefaultValuedAttr<Graph_Double, "0.0">:$alpha, DefaultValuedAttr<Graph_Double, "0.0">:$beta);
  let results = (outs Graph_NumberTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`bias` $bias^)? (`residual` $residual^)? attr-dict `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{
    build($_builder, $_state, lhs, rhs, ::mlir::Value(), ::mlir::Value());
  }]>, OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{
    build($_builder, $_state, result, lhs, rhs, ::mlir::Value(), ::mlir::Value());
  }]>];
  let hasVerifier = 1;
}

// A [K, N] matrix in the layout that a kernel reads; runs once, in @setup, where its operand is a weight.
def Graph_PackOp : Graph_PureOp<"pack"> {
  let arguments = (ins Graph_NumberTensor:$input, Graph_LayoutAttr:$layout);
  let results = (outs Graph_NumberTensor:$result);
  let assemblyFormat = "$input $layout attr-dict `:` functional-type(operands, results)";
}

#endif
