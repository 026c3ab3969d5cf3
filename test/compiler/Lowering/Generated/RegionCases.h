//===- RegionCases.h - Regions that the tests compile, with references ----===//
#pragma once
#include "compiler/Lowering/Generated/Region.h"
#include <string>
#include <vector>

namespace plim::gen {

/// A region over f32 buffers 0 ... inputs - 1, whose one result is the buffer after them.
struct RegionCase {
  std::string name;
  Region region;
  std::vector<size_t> inputs; // elements
  size_t output;
  /// Fills `want` from the inputs, in double.
  void (*reference)(const RegionCase &, const std::vector<std::vector<float>> &in, std::vector<double> &want);
  int64_t rows, columns;
  double tolerance; // |got - want| <= tolerance * max(1, |want|)
};

RegionCase softmax(int64_t rows, int64_t columns);
RegionCase layerNorm(int64_t rows, int64_t columns);
RegionCase geluBiasResidual(int64_t rows, int64_t columns);
RegionCase sigmoidScaled(int64_t rows, int64_t columns); // one flat loop
RegionCase rowSum(int64_t rows, int64_t columns);
RegionCase rowMaximum(int64_t rows, int64_t columns);
RegionCase columnMean(int64_t rows, int64_t columns);
RegionCase columnNormalized(int64_t rows, int64_t columns); // (x - mean) over rows, stored row by row
RegionCase transposed(int64_t rows, int64_t columns);       // plus a bias along the rows
RegionCase everySecond(int64_t rows, int64_t columns);      // loads with stride 2
RegionCase stridedRowSum(int64_t rows, int64_t columns);    // sums of columns, read with the rows' stride

std::vector<RegionCase> allCases(int64_t rows, int64_t columns);

} // namespace plim::gen
