//===- DynamicOps.td - Ops whose sizes are values of the run --------------------------------------===//
#ifndef PLIM_GRAPH_DYNAMIC_OPS
#define PLIM_GRAPH_DYNAMIC_OPS

include "dialects/Graph/GraphBase.td"

// Sizes come in i64 tensors of a static number of entries, all of them at least 0. Where those entries are arithmetic
// over open dimensions, lowering works with the expressions and never computes the tensors; else it reads them while
// the model runs, before the first step that needs them. Ops of static attributes (reshape, slice, ...) say the same
// where sizes are known.

def Graph_SizeTensor : RankedTensorOf<[I64]>;

class Graph_Sized<string mnemonic, list<Trait> traits = []> : Graph_PureOp<mnemonic, traits> {
  let results = (outs Graph_Tensor:$result);
}

// The elements of the input, in order, under the sizes in `shape`: [rank of the result].
def Graph_DynamicReshapeOp : Graph_Sized<"dynamic_reshape", [DeclareOpInterfaceMethods<Graph_Alias>]> {
  let arguments = (ins Graph_Tensor:$input, Graph_SizeTensor:$shape);
  let assemblyFormat = "$input `,` $shape attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
}

// Repeats along missing and 1 dimensions to the sizes in `shape`, as in numpy.
def Graph_DynamicBroadcastOp : Graph_Sized<"dynamic_broadcast"> {
  let arguments = (ins Graph_Tensor:$input, Graph_SizeTensor:$shape);
  let assemblyFormat = "$input `,` $shape attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
}

// Element i of an axis is element starts + i * steps of the input; starts and sizes have one entry an axis. Steps are at
// least 1.
def Graph_DynamicSliceOp : Graph_Sized<"dynamic_slice"> {
  let arguments = (ins Graph_Tensor:$input, Graph_SizeTensor:$starts, Graph_SizeTensor:$sizes,
    DenseI64ArrayAttr:$steps);
  let assemblyFormat = "$input `,` $starts `,` $sizes attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
}

// `value` everywhere.
def Graph_DynamicFillOp : Graph_Sized<"dynamic_fill"> {
  let arguments = (ins Graph_SizeTensor:$shape, Graph_Double:$value, TypeAttr:$element);
  let assemblyFormat = "$shape `,` $value attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
}

// start, start + step, ...: `size` elements. All three are scalars.
def Graph_DynamicRangeOp : Graph_Sized<"dynamic_range"> {
  let arguments = (ins Graph_NumberTensor:$start, Graph_NumberTensor:$step, Graph_SizeTensor:$size);
  let assemblyFormat = "$start `,` $step `,` $size attr-dict `:` functional-type(operands, results)";
}

// i64[count, rank]: the coordinates of the elements that are not 0, in row-major order. `count`, a scalar, is how many
// there are.
def Graph_NonzeroOp : Graph_PureOp<"nonzero"> {
  let arguments = (ins Graph_Tensor:$input, Graph_SizeTensor:$count);
  let results = (outs Graph_SizeTensor:$result);
  let assemblyFormat = "$input `,` $count attr-dict `:` functional-type(operands, results)";
}

// The distinct slices along an axis (with axis -1: the distinct elements of the flattened input): for each of them where
// it is first and how often it is there, for each slice which of them it is, and how many there are. They are in
// ascending order, or with `sorted` false in the order in which they come. `first` and `counts` have room for all slices
// to be distinct; entries from `count` on are 0.
def Graph_UniqueOp : Graph_PureOp<"unique"> {
  let arguments = (ins Graph_NumberTensor:$input, DefaultValuedAttr<Graph_Int64, "-1">:$axis,
    DefaultValuedAttr<BoolAttr, "true">:$sorted);
  let results = (outs Graph_SizeTensor:$first, Graph_SizeTensor:$inverse, Graph_SizeTensor:$counts,
    Graph_SizeTensor:$count);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

// boxes [batches, n, 4], scores [batches, classes, n]: (batch, class, box) of boxes that score above `score_threshold`
// and overlap no better one of their class by more than `iou_threshold`, at most `most` a batch and class; and how many
// there are. `limit` (at most n) bounds `most`: `selected` has room for batches * classes * limit rows, those from
// `count` on are 0. Boxes are (y1, x1, y2, x2), or centre and size with `center`.
def Graph_NonMaxSuppressionOp : Graph_PureOp<"non_max_suppression"> {
  let arguments = (ins RankedTensorOf<[F32]>:$boxes, RankedTensorOf<[F32]>:$scores, Graph_SizeTensor:$most,
    RankedTensorOf<[F32]>:$iou_threshold, RankedTensorOf<[F32]>:$score_threshold, Graph_Int64:$limit,
    DefaultValuedAttr<BoolAttr, "false">:$center);
  let results = (outs Graph_SizeTensor:$selected, Graph_SizeTensor:$count);
  let assemblyFormat = [{
    $boxes `,` $scores `,` $most `,` $iou_threshold `,` $score_threshold attr-dict `:` functional-type(operands, results)
  }];
}

#endif
