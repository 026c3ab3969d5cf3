//===- AttentionOps.td - Scaled dot-product attention ---------------------------------------------===//
#ifndef PLIM_GRAPH_ATTENTION_OPS
#define PLIM_GRAPH_ATTENTION_OPS

include "dialects/Graph/GraphBase.td"

// softmax(query key^T * scale + mask) value. query [B, H, S, D], key [B, Hk, T, D], value [B, Hk, T, Dv], H a multiple of
// Hk; the result is [B, H, S, Dv]. mask broadcasts to [B, H, S, T]: floats are added, i1 keeps where true. `causal`: row i
// sees columns up to i + T - S. `chunk`: query rows at a time of the chunked algorithm. scale 0 stands for 1 / sqrt(D).
def Graph_AttentionOp : Graph_PureOp<"attention"> {
  let arguments = (ins Graph_FloatTensor:$query, Graph_FloatTensor:$key, Graph_FloatTensor:$value,
    Optional<Graph_Tensor>:$mask, DefaultValuedAttr<Graph_Double, "0.0">:$scale,
    DefaultValuedAttr<BoolAttr, "false">:$causal,
    DefaultValuedAttr<Graph_AttentionAlgorithmAttr, "::plim::graph::AttentionAlgorithm::Auto">:$algorithm,
    DefaultValuedAttr<Graph_Int64, "1024">:$chunk);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$query `,` $key `,` $value (`mask` $mask^)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// `scale`, or 1 / sqrt(D) where it is 0.
    double getEffectiveScale();
  }];
  let hasVerifier = 1;
}

#endif
