//===- Passes.td - From the graph to the plan dialect -------------------*- tablegen -*-===//
#ifndef PLIM_LOWERING_GRAPH_TO_PLAN_PASSES
#define PLIM_LOWERING_GRAPH_TO_PLAN_PASSES

include "mlir/Pass/PassBase.td"

def GraphToPlanPass : Pass<"graph-to-plan", "::mlir::ModuleOp"> {
  let summary = "Turn the function @main into a plan program in stage virtual";
  let description = [{
    Purpose: tensors become sized byte buffers, ops launches with the kernels that can run them.
    Precondition: a function @main of graph ops; open dimensions of its arguments have upper bounds.
    Postcondition: a plan.module with the program @main takes the place of @main and @setup. Open dimensions are its symbols,
    candidates are open, kernels that plimc would generate are named in the order of their making.
    Before: `%y = graph.relu %x : (tensor<?x4xf32, #graph.bounds<[1 to 8, 4]>>) -> ...`.
    After: `plan.launch "elementwise.apply"<...>(r %x f32[s0 max 8, 4] ..., w %y ...) dims(%N)`.
    Leaves alone: other functions.
  }];
  let options = [
    Option<"workers", "workers", "int64_t", "8", "The largest number of workers">,
    Option<"attention", "attention", "std::string", "\"auto\"", "auto, naive, chunked or flash">,
    Option<"libraryOnly", "library-only", "bool", "false", "Generate no kernels: graph.fused is an error then">,
  ];
}

#endif
