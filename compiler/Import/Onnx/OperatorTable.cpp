#include "compiler/Import/Onnx/OperatorTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <tuple>
#include <vector>

using namespace plim::onnx;

static auto keyOf(const OperatorRow &row) {
  return std::make_tuple(llvm::StringRef(row.domain), llvm::StringRef(row.name));
}

llvm::ArrayRef<OperatorRow> plim::onnx::allOperators() {
  static const std::vector<OperatorRow> rows = [] {
    std::vector<OperatorRow> all;
    for (auto family : {arithmeticOperators(),
                        activationOperators(),
                        logicOperators(),
                        constantOperators(),
                        shapeOperators(),
                        movementOperators(),
                        slicingOperators(),
                        selectionOperators(),
                        indexingOperators(),
                        matrixOperators(),
                        convolutionOperators(),
                        poolingOperators(),
                        resizeOperators(),
                        normalizationOperators(),
                        reductionOperators(),
                        quantizationOperators(),
                        quantizedArithmeticOperators(),
                        quantizedProductOperators(),
                        recurrentOperators(),
                        einsumOperators(),
                        controlFlowOperators(),
                        scanOperators(),
                        attentionOperators(),
                        featureOperators(),
                        linearAttentionOperators(),
                        lossOperators(),
                        samplingOperators(),
                        signalOperators(),
                        windowOperators(),
                        sequencingOperators(),
                        sequenceOperators(),
                        microsoftAttentionOperators(),
                        microsoftFusedOperators(),
                        microsoftNormOperators()})
      all.insert(all.end(), family.begin(), family.end());
    llvm::sort(all, [](const OperatorRow &a, const OperatorRow &b) { return keyOf(a) < keyOf(b); });
    return all;
  }();
  return rows;
}

const OperatorRow *plim::onnx::findOperator(llvm::StringRef domain, llvm::StringRef name) {
  const auto key = std::make_tuple(ownDomain(domain), name);
  const auto rows = allOperators();
  const auto found = llvm::lower_bound(rows, key, [](const OperatorRow &row, const auto &k) { return keyOf(row) < k; });
  return found != rows.end() && keyOf(*found) == key ? &*found : nullptr;
}
