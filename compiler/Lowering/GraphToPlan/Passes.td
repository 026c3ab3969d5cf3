//===- Passes.td - From the graph to the plan dialect -------------------*- tablegen -*-===//
#ifndef PLIM_LOWERING_GRAPH_TO_PLAN_PASSES
#define PLIM_LOWERING_GRAPH_TO_PLAN_PASSES

include "mlir/Pass/PassBase.td"

def GraphToPlanPass : Pass<"graph-to-plan", "::mlir::ModuleOp"> {
  let summary = "Turn public functions into plan programs in stage virtual";
  let description = [{
    Purpose: tensors become sized byte buffers, ops launches with the kernels that can run them.
    Precondition: a public function of graph ops, such as @main; open dimensions of its arguments have upper bounds.
    Postcondition: a plan.module with a program for each public function takes the place of these, of variables and of
    @setup; constants and states are shared. Open dimensions are symbols of a program, candidates are open, kernels that
    plimc would generate are named in the order of their making.
    Before: `%y = graph.relu %x : (tensor<?x4xf32, #graph.bounds<[1 to 8, 4]>>) -> ...`.
    After: `plan.launch "elementwise.apply"<...>(r %x f32[s0 max 8, 4] ..., w %y ...) dims(%N)`.
    Leaves alone: other functions.
  }];
  let options = [
    Option<"workers", "workers", "int64_t", "8", "The largest number of workers">,
    Option<"attention", "attention", "std::string", "\"auto\"", "auto, naive, chunked or flash">,
    Option<"libraryOnly", "library-only", "bool", "false", "Generate no kernels: graph.fused is an error then">,
    Option<"splits", "splits", "bool", "false", "Launches of static sizes say how they can be cut into pieces of rows">,
  ];
}

def GraphResolveSizesPass : Pass<"graph-resolve-sizes", "::mlir::func::FuncOp"> {
  let summary = "Say by types and attributes what shape arithmetic comes to";
  let description = [{
    Purpose: later passes see static dimensions and ops of fixed attributes where an exporter computes shapes.
    Precondition: graph ops; open dimensions of arguments have upper bounds.
    Postcondition: result types have the sizes and bounds that expressions of the open dimensions give; dynamic_reshape,
    dynamic_broadcast and dynamic_slice are reshape, broadcast and slice where at most what these infer is open; shape
    arithmetic that nothing uses any more is gone.
    Before: `%r = graph.dynamic_reshape %x, %s : (tensor<?x?x64xf32, ...>, tensor<4xi64>) -> tensor<?x?x?x16xf32>` where
    %s is [dim 0, dim 1, dim 0 * dim 1 * 64 / (dim 0 * dim 1 * 16), 16].
    After: the same with the type `tensor<?x?x4x16xf32>`.
    Leaves alone: functions without such ops; the insides of regions.
  }];
}

#endif
