//===- PartialOps.td - Ops that go on from piece to piece -----------------------------------------===//
#ifndef PLIM_GRAPH_PARTIAL_OPS
#define PLIM_GRAPH_PARTIAL_OPS

include "dialects/Graph/GraphBase.td"

// The mean over H and W of an image [N, rows, W, C] that comes in pieces of rows: `input` is rows [first, first + h) of it.
// The sums so far, [N, 5, C], are an operand of all pieces but the first and the result of all but the last, whose result
// is the mean, [N, 1, 1, C] or [N, C]. Additions are in the order of the mean of the whole image: its bits are the same.
def Graph_PartialMeanOp : Graph_PureOp<"partial_mean"> {
  let arguments = (ins RankedTensorOf<[F32]>:$input, Optional<RankedTensorOf<[F32]>>:$sums, Graph_Int64:$first,
    Graph_Int64:$rows, DefaultValuedAttr<BoolAttr, "true">:$keep_dims);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = "$input (`sums` $sums^)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    bool isLast();
  }];
}

// graph.gather along the first axis of a table of `rows` rows, of which `piece` holds [first, first + h): the rows of the
// result whose index lies there. The others are those of `so_far`, what the pieces before it gave, or zeros without it.
// Indices lie in [-rows, rows), whichever the piece. Once all pieces have run, the result is that of the whole table.
def Graph_PartialGatherOp : Graph_PureOp<"partial_gather", [DeclareOpInterfaceMethods<Graph_Alias>]> {
  let arguments = (ins Graph_Tensor:$piece, Graph_IndexTensor:$indices, Optional<Graph_Tensor>:$so_far,
    Graph_Int64:$first, Graph_Int64:$rows);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$piece `,` $indices (`so_far` $so_far^)? attr-dict `:` functional-type(operands, results)";
}

#endif
