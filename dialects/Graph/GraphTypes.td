//===- GraphTypes.td - Type constraints, enumerations and attributes of the graph dialect -----------------===//
#ifndef PLIM_GRAPH_TYPES
#define PLIM_GRAPH_TYPES

include "dialects/Graph/GraphDialect.td"
include "mlir/IR/TensorEncoding.td"

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

defvar Graph_Floats = [F16, BF16, F32, F64];
defvar Graph_Integers = [I8, I16, I32, I64, UI8, UI16, UI32, UI64];
def Graph_Tensor : RankedTensorOf<!listconcat(Graph_Floats, Graph_Integers, [I1])>;
def Graph_FloatTensor : RankedTensorOf<Graph_Floats>;
def Graph_NumberTensor : RankedTensorOf<!listconcat(Graph_Floats, Graph_Integers)>;
def Graph_IntegerTensor : RankedTensorOf<Graph_Integers>;
def Graph_IndexTensor : RankedTensorOf<[I32, I64]>;
def Graph_ByteTensor : RankedTensorOf<[I8, UI8]>;
def Graph_BoolTensor : RankedTensorOf<[I1]>;

// A 64-bit float attribute that reads and builds as a C++ double.
def Graph_Double : Attr<CPred<"::llvm::isa<::mlir::FloatAttr>($_self) && "
                              "::llvm::cast<::mlir::FloatAttr>($_self).getType().isF64()">, "64-bit float"> {
  let storageType = "::mlir::FloatAttr";
  let returnType = "double";
  let convertFromStorage = "$_self.getValueAsDouble()";
  let constBuilderCall = "$_builder.getF64FloatAttr($0)";
  let valueType = F64;
}

// A 64-bit integer attribute that reads and builds as int64_t.
def Graph_Int64 : Attr<CPred<"::llvm::isa<::mlir::IntegerAttr>($_self) && "
                             "::llvm::cast<::mlir::IntegerAttr>($_self).getType().isSignlessInteger(64)">,
                       "64-bit integer"> {
  let storageType = "::mlir::IntegerAttr";
  let returnType = "int64_t";
  let convertFromStorage = "$_self.getInt()";
  let constBuilderCall = "$_builder.getI64IntegerAttr($0)";
  let valueType = I64;
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Graph_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::plim::graph";
  let genSpecializedAttr = 0;
}
// Printed as a bare word in the assembly of an op.
class Graph_WordAttr<EnumAttrInfo enum, string mnemonic> : EnumAttr<Graph_Dialect, enum, mnemonic>;
// Printed as #graph.mnemonic<word> in an attribute dictionary.
class Graph_EnumAttr<EnumAttrInfo enum, string mnemonic> : EnumAttr<Graph_Dialect, enum, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Graph_ImageLayout : Graph_Enum<"ImageLayout", "order of the dimensions of an activation", [
  I32EnumAttrCase<"NCHW", 0, "nchw">, I32EnumAttrCase<"NHWC", 1, "nhwc">]>;
def Graph_ImageLayoutAttr : Graph_EnumAttr<Graph_ImageLayout, "image_layout">;

def Graph_Activation : Graph_Enum<"Activation", "function applied to the result of a matmul or convolution", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Relu", 1, "relu">,
  I32EnumAttrCase<"LeakyRelu", 2, "leaky_relu">, I32EnumAttrCase<"Clip", 3, "clip">,
  I32EnumAttrCase<"HardSigmoid", 4, "hard_sigmoid">, I32EnumAttrCase<"HardSwish", 5, "hard_swish">,
  I32EnumAttrCase<"Sigmoid", 6, "sigmoid">, I32EnumAttrCase<"Silu", 7, "silu">,
  I32EnumAttrCase<"Tanh", 8, "tanh">, I32EnumAttrCase<"Gelu", 9, "gelu">,
  I32EnumAttrCase<"GeluTanh", 10, "gelu_tanh">]>;
def Graph_ActivationAttr : Graph_EnumAttr<Graph_Activation, "activation">;

def Graph_ReduceKind : Graph_Enum<"ReduceKind", "what a reduction computes", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">, I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"Prod", 4, "prod">, I32EnumAttrCase<"L1", 5, "l1">,
  I32EnumAttrCase<"L2", 6, "l2">, I32EnumAttrCase<"SumSquare", 7, "sum_square">,
  I32EnumAttrCase<"LogSum", 8, "log_sum">, I32EnumAttrCase<"LogSumExp", 9, "log_sum_exp">]>;
def Graph_ReduceKindAttr : Graph_WordAttr<Graph_ReduceKind, "reduce_kind">;

def Graph_ArgReduceKind : Graph_Enum<"ArgReduceKind", "which element's index is taken", [
  I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Min", 1, "min">]>;
def Graph_ArgReduceKindAttr : Graph_WordAttr<Graph_ArgReduceKind, "arg_reduce_kind">;

def Graph_PoolKind : Graph_Enum<"PoolKind", "what a pooling window computes", [
  I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">]>;
def Graph_PoolKindAttr : Graph_WordAttr<Graph_PoolKind, "pool_kind">;

def Graph_AttentionAlgorithm : Graph_Enum<"AttentionAlgorithm", "how attention is computed", [
  I32EnumAttrCase<"Auto", 0, "auto">, I32EnumAttrCase<"Naive", 1, "naive">,
  I32EnumAttrCase<"Chunked", 2, "chunked">, I32EnumAttrCase<"Flash", 3, "flash">]>;
def Graph_AttentionAlgorithmAttr : Graph_EnumAttr<Graph_AttentionAlgorithm, "attention_algorithm">;

def Graph_PadMode : Graph_Enum<"PadMode", "what padding is filled with", [
  I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Reflect", 1, "reflect">,
  I32EnumAttrCase<"Edge", 2, "edge">, I32EnumAttrCase<"Wrap", 3, "wrap">]>;
def Graph_PadModeAttr : Graph_EnumAttr<Graph_PadMode, "pad_mode">;

def Graph_ScatterReduction : Graph_Enum<"ScatterReduction", "how an update joins the element it hits", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Mul", 2, "mul">,
  I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Min", 4, "min">]>;
def Graph_ScatterReductionAttr : Graph_EnumAttr<Graph_ScatterReduction, "scatter_reduction">;

def Graph_ResizeMode : Graph_Enum<"ResizeMode", "interpolation of a resize", [
  I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Linear", 1, "linear">,
  I32EnumAttrCase<"Cubic", 2, "cubic">]>;
def Graph_ResizeModeAttr : Graph_WordAttr<Graph_ResizeMode, "resize_mode">;

def Graph_CoordinateMode : Graph_Enum<"CoordinateMode", "how an output coordinate maps to an input coordinate", [
  I32EnumAttrCase<"HalfPixel", 0, "half_pixel">, I32EnumAttrCase<"PytorchHalfPixel", 1, "pytorch_half_pixel">,
  I32EnumAttrCase<"AlignCorners", 2, "align_corners">, I32EnumAttrCase<"Asymmetric", 3, "asymmetric">,
  I32EnumAttrCase<"HalfPixelSymmetric", 4, "half_pixel_symmetric">]>;
def Graph_CoordinateModeAttr : Graph_EnumAttr<Graph_CoordinateMode, "coordinate_mode">;

def Graph_NearestMode : Graph_Enum<"NearestMode", "which neighbour nearest interpolation takes", [
  I32EnumAttrCase<"RoundPreferFloor", 0, "round_prefer_floor">,
  I32EnumAttrCase<"RoundPreferCeil", 1, "round_prefer_ceil">,
  I32EnumAttrCase<"Floor", 2, "floor">, I32EnumAttrCase<"Ceil", 3, "ceil">]>;
def Graph_NearestModeAttr : Graph_EnumAttr<Graph_NearestMode, "nearest_mode">;

def Graph_RecurrenceKind : Graph_Enum<"RecurrenceKind", "cell of a recurrent net", [
  I32EnumAttrCase<"LSTM", 0, "lstm">, I32EnumAttrCase<"GRU", 1, "gru">, I32EnumAttrCase<"RNN", 2, "rnn">]>;
def Graph_RecurrenceKindAttr : Graph_WordAttr<Graph_RecurrenceKind, "recurrence_kind">;

def Graph_Direction : Graph_Enum<"Direction", "in which order a recurrent net takes the steps", [
  I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Reverse", 1, "reverse">,
  I32EnumAttrCase<"Bidirectional", 2, "bidirectional">]>;
def Graph_DirectionAttr : Graph_WordAttr<Graph_Direction, "direction">;

def Graph_GateFunction : Graph_Enum<"GateFunction", "function of a gate or state of a recurrent net", [
  I32EnumAttrCase<"Sigmoid", 0, "sigmoid">, I32EnumAttrCase<"Tanh", 1, "tanh">, I32EnumAttrCase<"Relu", 2, "relu">,
  I32EnumAttrCase<"Affine", 3, "affine">, I32EnumAttrCase<"LeakyRelu", 4, "leaky_relu">,
  I32EnumAttrCase<"ThresholdedRelu", 5, "thresholded_relu">, I32EnumAttrCase<"ScaledTanh", 6, "scaled_tanh">,
  I32EnumAttrCase<"HardSigmoid", 7, "hard_sigmoid">, I32EnumAttrCase<"Elu", 8, "elu">,
  I32EnumAttrCase<"Softsign", 9, "softsign">, I32EnumAttrCase<"Softplus", 10, "softplus">]>;
def Graph_GateFunctionAttr : Graph_EnumAttr<Graph_GateFunction, "gate_function">;

def Graph_StorageLayout : Graph_Enum<"StorageLayout", "how the elements of a packed operand lie in memory", [
  I32EnumAttrCase<"Panel32", 1, "panel32">]>;
// Encoding of a packed tensor type: `tensor<64x256xf32, #graph.layout<panel32>>`, see plim_layout in plim/kernel.h.
def Graph_LayoutAttr : Graph_EnumAttr<Graph_StorageLayout, "layout"> {
  let cppClassName = "LayoutAttr";
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

def Graph_BoundsAttr : AttrDef<Graph_Dialect, "Bounds", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "bounds";
  let summary = "bounds of the dimensions of a tensor type";
  let description = [{
    One closed interval a dimension: `#graph.bounds<[1 to 32, 3, 1 to ?]>`. A static dimension is written as one number;
    `?` is unbounded above. Kept only on types that have a dynamic dimension with some bound.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$lower, ArrayRefParameter<"int64_t">:$upper);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif
