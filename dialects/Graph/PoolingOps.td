//===- PoolingOps.td - Pooling and resizing ------------------------------------------------------===//
#ifndef PLIM_GRAPH_POOLING_OPS
#define PLIM_GRAPH_POOLING_OPS

include "dialects/Graph/GraphBase.td"

// Attributes as for conv. `ceil`: a last window that starts inside the input or its low padding counts. An average is over
// the elements that lie in the input, with `count_include_pad` also over padding.
def Graph_PoolOp : Graph_PureOp<"pool", [DeclareOpInterfaceMethods<Graph_Layout>]> {
  let arguments = (ins Graph_PoolKindAttr:$kind, Graph_NumberTensor:$input, DenseI64ArrayAttr:$kernel,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$strides, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dilations, DefaultValuedAttr<BoolAttr, "false">:$ceil,
    DefaultValuedAttr<BoolAttr, "false">:$count_include_pad,
    DefaultValuedAttr<Graph_ImageLayoutAttr, "::plim::graph::ImageLayout::NCHW">:$layout);
  let results = (outs Graph_NumberTensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::plim::graph::Window getWindow();
  }];
}

// Resizes the spatial dimensions: `sizes` are the new ones; `scales` (new / old) are what coordinates are computed with, and
// default to the quotient of the sizes. With empty `sizes` a new size is floor(old * scale).
def Graph_ResizeOp : Graph_PureOp<"resize", [DeclareOpInterfaceMethods<Graph_Layout>]> {
  let arguments = (ins Graph_ResizeModeAttr:$mode, Graph_NumberTensor:$input,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$sizes, DefaultValuedAttr<DenseF64ArrayAttr, "{}">:$scales,
    DefaultValuedAttr<Graph_CoordinateModeAttr, "::plim::graph::CoordinateMode::HalfPixel">:$coordinate_mode,
    DefaultValuedAttr<Graph_NearestModeAttr, "::plim::graph::NearestMode::RoundPreferFloor">:$nearest_mode,
    DefaultValuedAttr<Graph_Double, "-0.75">:$cubic_coefficient,
    DefaultValuedAttr<Graph_ImageLayoutAttr, "::plim::graph::ImageLayout::NCHW">:$layout);
  let results = (outs Graph_NumberTensor:$result);
  let assemblyFormat = "$mode $input attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// One scale a spatial dimension; static shapes only.
    ::llvm::SmallVector<double> getSpatialScales();
    /// Where the result repeats each element of the input a whole number of times: that number for each dimension. A
    /// nearest resize up does; such a resize is a broadcast over split dimensions.
    std::optional<::llvm::SmallVector<int64_t>> getRepeats();
  }];
}

#endif
