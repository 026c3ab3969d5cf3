//===- QuantizedOps.td - Products of operands that are stored in few bits ------------------------===//
#ifndef PLIM_GRAPH_QUANTIZED_OPS
#define PLIM_GRAPH_QUANTIZED_OPS

include "dialects/Graph/GraphBase.td"

// activation(sum over k of lhs[..., m, k] * weight[k, n] + bias + residual), computed in f32, where
//   weight[k, n] = (rhs[k, n] - zero[g, n]) * scale[g, n],  g = k * G / K.
// rhs is one matrix [K, N], row-major or packed. scale and zero are [G, N] in groups of K / G rows that G divides; left
// out they are 1 and 0. The zero has the element type of rhs, and is left out where that is a float.
def Graph_QuantizedMatmulOp : Graph_PureOp<"quantized_matmul", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Graph_Alias>]> {
  let arguments = (ins RankedTensorOf<[F32]>:$lhs, RankedTensorOf<[I8, UI8, F16, BF16]>:$rhs,
    Optional<RankedTensorOf<[F32]>>:$scale, Optional<Graph_ByteTensor>:$zero, Optional<RankedTensorOf<[F32]>>:$bias,
    Optional<RankedTensorOf<[F32]>>:$residual,
    DefaultValuedAttr<Graph_ActivationAttr, "::plim::graph::Activation::None">:$activation,
    DefaultValuedAttr<Graph_Double, "0.0">:$alpha, DefaultValuedAttr<Graph_Double, "0.0">:$beta);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`scale` $scale^)? (`zero` $zero^)? (`bias` $bias^)? (`residual` $residual^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

// sum over k of (lhs[..., m, k] - lhs_zero) * (rhs[..., k, n] - rhs_zero), exact but for the wrap of i32. Leading dimensions
// broadcast as in numpy. A zero has the element type of its operand, is left out for 0, and broadcasts to the operand
// with the size of the summed dimension 1: so lhs_zero is a scalar or one number a row, rhs_zero one a column.
def Graph_IntegerMatmulOp : Graph_PureOp<"integer_matmul", [AttrSizedOperandSegments]> {
  let arguments = (ins Graph_ByteTensor:$lhs, Graph_ByteTensor:$rhs, Optional<Graph_ByteTensor>:$lhs_zero,
    Optional<Graph_ByteTensor>:$rhs_zero);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`lhs_zero` $lhs_zero^)? (`rhs_zero` $rhs_zero^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif
