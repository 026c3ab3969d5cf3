//===- ControlOps.td - Branches, loops, fused regions, kernels of users ---------------------------===//
#ifndef PLIM_GRAPH_CONTROL_OPS
#define PLIM_GRAPH_CONTROL_OPS

include "dialects/Graph/GraphBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Graph_YieldOp : Graph_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["FusedOp", "IfOp", "LoopOp"]>]> {
  let arguments = (ins Variadic<Graph_Tensor>:$operands);
  let assemblyFormat = "($operands^)? attr-dict (`:` type($operands)^)?";
}

// A region that becomes one generated kernel: elementwise, broadcast, reduce, softmax and normalisation ops on tensors. Block
// arguments stand for the operands; nothing else of the outside is used.
//   %r = graph.fused(%x = %a : tensor<4x8xf32>, %y = %b : tensor<8xf32>) -> (tensor<4x8xf32>) { ... graph.yield %s : ... }
def Graph_FusedOp : Graph_Op<"fused", [Pure, IsolatedFromAbove, SingleBlock, DeclareOpInterfaceMethods<Graph_Alias>]> {
  let arguments = (ins Variadic<Graph_Tensor>:$inputs);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    YieldOp getYield();
  }];
}

// One branch runs. Regions have no arguments and may use values from outside.
def Graph_IfOp : Graph_Op<"if", [RecursiveMemoryEffects, SingleBlock]> {
  let arguments = (ins Graph_BoolTensor:$condition);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let assemblyFormat = [{
    $condition attr-dict `:` functional-type(operands, results) $then_region `else` $else_region
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

// Runs while the iteration is below `trips` and the condition holds; a run with more than `max_trips` trips is an error.
// Block arguments: iteration (i64 scalar), condition (i1 scalar), carried values, whose types cover those of the initial
// and of the yielded values. Yields: condition, carried values, then values to be stacked along a new first dimension.
// Results: the last carried values, then the stacks, as long as trips were run. Values from outside may be used.
def Graph_LoopOp : Graph_Op<"loop", [RecursiveMemoryEffects, SingleBlock]> {
  let arguments = (ins RankedTensorOf<[I64]>:$trips, Graph_BoolTensor:$condition, Variadic<Graph_Tensor>:$initial,
    Graph_Int64:$max_trips);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $trips `while` $condition (`carry` $initial^)? attr-dict `:` functional-type(operands, results) $body
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
    ::mlir::Operation *getYield() { return getBlock()->getTerminator(); }
    unsigned getCarriedCount() { return getInitial().size(); }
    ::mlir::BlockArgument getIteration() { return getBlock()->getArgument(0); }
    ::mlir::BlockArgument getCarried(unsigned index) { return getBlock()->getArgument(2 + index); }
    ::mlir::Value getNextCondition() { return getYield()->getOperand(0); }
    /// What the body gives for the result of this number, carried or stacked.
    ::mlir::Value getYielded(unsigned result) { return getYield()->getOperand(1 + result); }
  }];
}

// A kernel of the user's: the C symbol of a plim_kernel. Operands and results become its buffers, in that order.
def Graph_CustomOp : Graph_Op<"custom", [Pure]> {
  let arguments = (ins StrAttr:$kernel, Variadic<Graph_Tensor>:$inputs,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$words, DefaultValuedAttr<Graph_Int64, "1">:$tasks,
    DefaultValuedAttr<Graph_Int64, "0">:$shared_bytes, DefaultValuedAttr<Graph_Int64, "0">:$scratch_bytes);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let assemblyFormat = "$kernel `(` ($inputs^)? `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
