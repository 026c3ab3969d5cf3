// Attention as the operators of ai.onnx and com.microsoft write it: heads inside or in front of the sequence, caches of
// keys and values, masks in several forms.
#pragma once
#include "compiler/Import/Onnx/Operators/Term.h"
#include <functional>

namespace plim::onnx {

/// [B, S, heads * D] as [B, heads, S, D], and back.
Term splitHeads(Term value, int64_t heads);
Term joinHeads(Term value);

/// What is added to scores: 0 where `keep` is true, `hidden` elsewhere.
Term maskOf(Term keep, mlir::Type element, double hidden);
/// The sum of two masks, either of which may be null.
Term joinMasks(Term a, Term b);
/// i1[queries, keys]: true where key j <= query i + offset, and above j - window where a window is given.
Term causalKeep(NodeImporter &n, int64_t queries, int64_t keys, int64_t offset, int64_t window = 0);

/// i1[B, 1, 1, keys]: true for as many of the first keys as `lengths` [B] says.
Term firstKeep(Term lengths, int64_t keys);

struct AttentionParts {
  Term query, key, value; ///< [B, heads, length, size]; the query may have a multiple of the key's heads
  Term mask;              ///< added to the scores, or null
  double scale = 0;       ///< 0: 1 / sqrt(size)
  double softcap = 0;     ///< 0: none
  bool causal = false;    ///< query i sees keys up to i + keys - queries
  /// Functions on the scores and on the weights, of attendInSteps.
  std::function<Term(Term)> changeScores = {}, changeWeights = {};
};

/// Puts past keys and values, inputs `past` and the next one, in front of the new ones where they are there. False
/// after an error, as where one of them is missing.
bool prependPast(NodeImporter &n, AttentionParts &parts, unsigned past);

/// [B, heads, queries, value size].
Term attend(NodeImporter &n, const AttentionParts &parts);

/// The same with what lies between, each [B, heads, queries, keys].
struct AttentionSteps {
  Term scores, masked, weights, result;
};
AttentionSteps attendInSteps(NodeImporter &n, const AttentionParts &parts);

/// Turns pairs of elements by angles: the halves of the first `rotated` of [.., S, D], or neighbours where
/// `interleaved`. cos and sin broadcast to [.., S, rotated / 2].
Term rotate(Term value, Term cos, Term sin, int64_t rotated, bool interleaved);

} // namespace plim::onnx
