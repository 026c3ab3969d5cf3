//===- ConvolutionOps.td - Convolutions in any number of spatial dimensions -----------------------===//
#ifndef PLIM_GRAPH_CONVOLUTION_OPS
#define PLIM_GRAPH_CONVOLUTION_OPS

include "dialects/Graph/GraphBase.td"

// activation(conv(input, filter) + bias + residual). Spatial attributes have one entry a spatial dimension, pads two:
// all low ends, then all high ends; empty means 1 (strides, dilations) or 0 (pads).
//   nchw: input [N, C, spatial...], filter [O, C / groups, kernel...]; `kernel` may be empty.
//   nhwc: input [N, spatial..., C]; `kernel` is given, as the filter is a matrix [kernel... * C / groups, O] (k runs over
//         kernel positions, then input channels), or [kernel..., C] for a depthwise convolution (groups = C = O).
def Graph_ConvOp : Graph_PureOp<"conv", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<Graph_Alias>,
    DeclareOpInterfaceMethods<Graph_Layout>]> {
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$filter, Optional<Graph_FloatTensor>:$bias,
    Optional<Graph_FloatTensor>:$residual, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dilations,
    DefaultValuedAttr<Graph_Int64, "1">:$groups, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$kernel,
    DefaultValuedAttr<Graph_ImageLayoutAttr, "::plim::graph::ImageLayout::NCHW">:$layout,
    DefaultValuedAttr<Graph_ActivationAttr, "::plim::graph::Activation::None">:$activation,
    DefaultValuedAttr<Graph_Double, "0.0">:$alpha, DefaultValuedAttr<Graph_Double, "0.0">:$beta);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $filter (`bias` $bias^)? (`residual` $residual^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The spatial attributes with defaults filled in.
    ::plim::graph::Window getWindow();
    /// groups = input channels = output channels, and one filter plane a channel.
    bool isDepthwise();
  }];
  let hasVerifier = 1;
}

// Transposed convolution. result = (input - 1) * stride - pads + dilation * (kernel - 1) + 1 + output_padding.
//   nchw: filter [C, O / groups, kernel...].   nhwc (groups = 1): filter [C, kernel... * O], `kernel` is given.
def Graph_ConvTransposeOp : Graph_PureOp<"conv_transpose", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Graph_Layout>]> {
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$filter, Optional<Graph_FloatTensor>:$bias,
    Optional<Graph_FloatTensor>:$residual, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dilations,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$output_padding, DefaultValuedAttr<Graph_Int64, "1">:$groups,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$kernel,
    DefaultValuedAttr<Graph_ImageLayoutAttr, "::plim::graph::ImageLayout::NCHW">:$layout,
    DefaultValuedAttr<Graph_ActivationAttr, "::plim::graph::Activation::None">:$activation,
    DefaultValuedAttr<Graph_Double, "0.0">:$alpha, DefaultValuedAttr<Graph_Double, "0.0">:$beta);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $filter (`bias` $bias^)? (`residual` $residual^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::plim::graph::Window getWindow();
  }];
  let hasVerifier = 1;
}

// conv(input - input_zero, filter - filter_zero), exact but for the wrap of i32; padding counts as input_zero. Shapes and
// spatial attributes are those of conv. A zero has the element type of its operand and is left out for 0; input_zero is
// one number, filter_zero one or [O].
def Graph_IntegerConvOp : Graph_PureOp<"integer_conv", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Graph_Layout>]> {
  let arguments = (ins Graph_ByteTensor:$input, Graph_ByteTensor:$filter, Optional<Graph_ByteTensor>:$input_zero,
    Optional<Graph_ByteTensor>:$filter_zero, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dilations,
    DefaultValuedAttr<Graph_Int64, "1">:$groups, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$kernel,
    DefaultValuedAttr<Graph_ImageLayoutAttr, "::plim::graph::ImageLayout::NCHW">:$layout);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = [{
    $input `,` $filter (`input_zero` $input_zero^)? (`filter_zero` $filter_zero^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::plim::graph::Window getWindow();
  }];
  let hasVerifier = 1;
}

#endif
