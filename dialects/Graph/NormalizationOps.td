//===- NormalizationOps.td - Normalisations -------------------------------------------------------===//
#ifndef PLIM_GRAPH_NORMALIZATION_OPS
#define PLIM_GRAPH_NORMALIZATION_OPS

include "dialects/Graph/GraphBase.td"

class Graph_Norm<string mnemonic, list<Trait> traits = []> : Graph_PureOp<mnemonic, !listconcat([
    DeclareOpInterfaceMethods<Graph_Decompose>, DeclareOpInterfaceMethods<Graph_Alias>], traits)> {
  let results = (outs Graph_FloatTensor:$result);
}

// (x - mean) / sqrt(variance + epsilon) * scale + bias over dimensions axis ... rank - 1; scale and bias broadcast to those.
def Graph_LayerNormOp : Graph_Norm<"layer_norm", [AttrSizedOperandSegments]> {
  let arguments = (ins Graph_FloatTensor:$input, Optional<Graph_FloatTensor>:$scale, Optional<Graph_FloatTensor>:$bias,
    Graph_Int64:$axis, DefaultValuedAttr<Graph_Double, "1e-5">:$epsilon);
  let assemblyFormat = [{
    $input (`scale` $scale^)? (`bias` $bias^)? attr-dict `:` functional-type(operands, results)
  }];
}

// x / sqrt(mean(x^2) + epsilon) * scale over dimensions axis ... rank - 1.
def Graph_RmsNormOp : Graph_Norm<"rms_norm"> {
  let arguments = (ins Graph_FloatTensor:$input, Optional<Graph_FloatTensor>:$scale, Graph_Int64:$axis,
    DefaultValuedAttr<Graph_Double, "1e-5">:$epsilon);
  let assemblyFormat = "$input (`scale` $scale^)? attr-dict `:` functional-type(operands, results)";
}

// (x - mean) / sqrt(variance + epsilon) * scale + bias with given statistics, all of shape [C].
def Graph_BatchNormOp : Graph_Norm<"batch_norm", [DeclareOpInterfaceMethods<Graph_Layout, ["permuteAttributes"]>]> {
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$scale, Graph_FloatTensor:$bias,
    Graph_FloatTensor:$mean, Graph_FloatTensor:$variance, DefaultValuedAttr<Graph_Double, "1e-5">:$epsilon,
    DefaultValuedAttr<Graph_ImageLayoutAttr, "::plim::graph::ImageLayout::NCHW">:$layout);
  let assemblyFormat = [{
    $input `,` $scale `,` $bias `,` $mean `,` $variance attr-dict `:` functional-type(operands, results)
  }];
}

// Statistics over the channels of a group (C / groups of them) and all spatial dimensions of an image; scale, bias: [C].
def Graph_GroupNormOp : Graph_Norm<"group_norm"> {
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$scale, Graph_FloatTensor:$bias, Graph_Int64:$groups,
    DefaultValuedAttr<Graph_Double, "1e-5">:$epsilon);
  let assemblyFormat = "$input `,` $scale `,` $bias attr-dict `:` functional-type(operands, results)";
}

// A group norm with one channel a group.
def Graph_InstanceNormOp : Graph_Norm<"instance_norm"> {
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$scale, Graph_FloatTensor:$bias,
    DefaultValuedAttr<Graph_Double, "1e-5">:$epsilon);
  let assemblyFormat = "$input `,` $scale `,` $bias attr-dict `:` functional-type(operands, results)";
}

#endif
