//===- GraphBase.td - Base classes that the op families share ------------------------------------===//
#ifndef PLIM_GRAPH_BASE
#define PLIM_GRAPH_BASE

include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Graph/GraphInterfaces.td"
include "dialects/Graph/GraphTypes.td"

class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, traits>;

// An op without side effects whose result types are inferred: its family's .cpp defines inferReturnTypes.
class Graph_PureOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([Pure, Graph_Shape], traits)> {
  code definitions = "";
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange declared) {
      return ::plim::graph::areCompatible(inferred, declared);
    }
  }] # definitions;
}

#endif
