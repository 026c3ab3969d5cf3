//===- GraphTraits.h - Plain types in the signatures of graph interfaces --------------------------===//
#ifndef PLIM_DIALECTS_GRAPH_GRAPHTRAITS_H
#define PLIM_DIALECTS_GRAPH_GRAPHTRAITS_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace plim::graph {

/// How the bytes of a result may relate to those of an operand.
enum class AliasKind {
  View,    ///< The result is the operand's bytes, under another shape.
  Part,    ///< The result is some of the operand's bytes (a slice).
  Into,    ///< The operand may be written right into its place in the result (a concatenation).
  InPlace, ///< The result may overwrite the operand, if that dies here.
};

struct Alias {
  unsigned result, operand;
  AliasKind kind;
};

enum class LayoutBehaviour { Transparent, Wants, Blocks };

/// The spatial attributes of a convolution or pooling, one entry a spatial dimension.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations, padLow, padHigh;
};

} // namespace plim::graph

#endif
