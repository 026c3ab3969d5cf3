//===- GraphDialect.td - The graph dialect and the base class of its ops -------------------------===//
#ifndef PLIM_GRAPH_DIALECT
#define PLIM_GRAPH_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::plim::graph";
  let summary = "Model graphs: ops on whole tensors with value semantics";
  let description = [{
    Values are ranked tensors whose logical order of dimensions is their order in memory (row-major). A dynamic dimension
    may carry bounds in the encoding of its type (`#graph.bounds<[1 to 32, 768]>`); an operand packed for a kernel has the
    encoding `#graph.layout<panel32>`. Weights are `graph.parameter` ops that name bytes of a file, never attributes;
    `graph.constant` holds at most 1 KiB. Functions are `func.func`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

#endif
