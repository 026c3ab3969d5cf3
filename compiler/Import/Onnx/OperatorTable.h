// The table of ONNX operators: one line an operator, in the file of its family (the .cpp files of Operators/).
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <cstdint>

namespace plim::onnx {

class NodeImporter;

/// Builds the ops of one node and sets its results. The number of inputs is checked before, attributes that were not
/// asked for are refused after.
using ImportFunction = llvm::LogicalResult (*)(NodeImporter &node);

constexpr unsigned anyNumber = ~0u;       ///< none of them left out
constexpr unsigned anyOptional = ~0u - 1; ///< some perhaps left out
constexpr int64_t noVersion = INT64_MAX;

struct OperatorRow {
  const char *name;
  unsigned leastInputs, mostInputs;
  ImportFunction import;
  /// The operator set that brought it in (7 stands for all before), and the one that took it out.
  int64_t since = 7, removed = noVersion;
  const char *domain = "";
  /// What is not covered, for the reference page.
  const char *limits = "";
  bool takesSequences = false; ///< Other operators take tensors alone.
};

/// The operator sets of the default domain whose semantics are known.
constexpr int64_t leastOperatorSet = 7, mostOperatorSet = 27;
constexpr const char *microsoftDomain = "com.microsoft";

/// Domains "" and "ai.onnx" are one: the former.
inline llvm::StringRef ownDomain(llvm::StringRef domain) { return domain == "ai.onnx" ? llvm::StringRef() : domain; }

/// The row of an operator, whatever the version.
const OperatorRow *findOperator(llvm::StringRef domain, llvm::StringRef name);

/// Why an operator without a row is refused, where that is known; null otherwise.
const char *refusalOf(llvm::StringRef domain, llvm::StringRef name);

/// All rows, by domain and name.
llvm::ArrayRef<OperatorRow> allOperators();

// One table a family.
llvm::ArrayRef<OperatorRow> arithmeticOperators();
llvm::ArrayRef<OperatorRow> activationOperators();
llvm::ArrayRef<OperatorRow> logicOperators();
llvm::ArrayRef<OperatorRow> constantOperators();
llvm::ArrayRef<OperatorRow> shapeOperators();
llvm::ArrayRef<OperatorRow> movementOperators();
llvm::ArrayRef<OperatorRow> slicingOperators();
llvm::ArrayRef<OperatorRow> selectionOperators();
llvm::ArrayRef<OperatorRow> indexingOperators();
llvm::ArrayRef<OperatorRow> matrixOperators();
llvm::ArrayRef<OperatorRow> convolutionOperators();
llvm::ArrayRef<OperatorRow> poolingOperators();
llvm::ArrayRef<OperatorRow> resizeOperators();
llvm::ArrayRef<OperatorRow> normalizationOperators();
llvm::ArrayRef<OperatorRow> recurrentOperators();
llvm::ArrayRef<OperatorRow> reductionOperators();
llvm::ArrayRef<OperatorRow> quantizationOperators();
llvm::ArrayRef<OperatorRow> quantizedArithmeticOperators();
llvm::ArrayRef<OperatorRow> quantizedProductOperators();
llvm::ArrayRef<OperatorRow> einsumOperators();
llvm::ArrayRef<OperatorRow> controlFlowOperators();
llvm::ArrayRef<OperatorRow> scanOperators();
llvm::ArrayRef<OperatorRow> attentionOperators();
llvm::ArrayRef<OperatorRow> featureOperators();
llvm::ArrayRef<OperatorRow> linearAttentionOperators();
llvm::ArrayRef<OperatorRow> lossOperators();
llvm::ArrayRef<OperatorRow> samplingOperators();
llvm::ArrayRef<OperatorRow> signalOperators();
llvm::ArrayRef<OperatorRow> windowOperators();
llvm::ArrayRef<OperatorRow> sequencingOperators();
llvm::ArrayRef<OperatorRow> sequenceOperators();
llvm::ArrayRef<OperatorRow> microsoftAttentionOperators();
llvm::ArrayRef<OperatorRow> microsoftFusedOperators();
llvm::ArrayRef<OperatorRow> microsoftNormOperators();

} // namespace plim::onnx
