//===- RandomPlan.cpp - Plans in stage virtual with the structure of real models -------------===//
#include "test/compiler/Contract/RandomPlan.h"
#include "test/compiler/Contract/PlanMaker.h"

using namespace mlir;

namespace plim::test {
namespace {

Matrix layered(PlanMaker &m) {
  SmallVector<Matrix> before = {m.input};
  for (int64_t layers = m.pick(2, 5), l = 0; l < layers; ++l) {
    SmallVector<Matrix> layer;
    for (int64_t width = m.pick(1, 4), i = 0; i < width; ++i) {
      SmallVector<Matrix> reads;
      for (int64_t n = m.pick(1, 3); n > 0; --n) {
        Matrix read =
            before[size_t(m.pick(std::max<int64_t>(0, int64_t(before.size()) - 5), int64_t(before.size()) - 1))];
        if (llvm::none_of(reads, [&](Matrix other) { return other.buffer == read.buffer; }))
          reads.push_back(read);
      }
      layer.push_back(m.chance(40) ? m.anything(reads[0]) : m.mix(reads));
    }
    before.append(layer);
  }
  SmallVector<Matrix> last(before.end() - std::min<ptrdiff_t>(3, ptrdiff_t(before.size())), before.end());
  return m.mix(last);
}

Matrix seriesParallel(PlanMaker &m, Matrix x, int depth) {
  if (depth == 0)
    return m.anything(x);
  if (m.chance(40))
    return seriesParallel(m, seriesParallel(m, x, depth - 1), depth - 1);
  Matrix a = seriesParallel(m, x, depth - 1), b = seriesParallel(m, m.chance(50) ? m.mix(x) : x, depth - 1);
  if (m.chance(50))
    return m.mix({a, b});
  Matrix both = m.join({m.mix(a), m.mix(b)}, m.pick(0, 1));
  return m.mix(both, x.rows, x.columns);
}

Matrix transformer(PlanMaker &m) {
  Matrix x = m.mix({m.input, m.weight()});
  for (int64_t blocks = m.pick(1, 3), i = 0; i < blocks; ++i) {
    Matrix normed = m.reduced(x);
    Matrix q = m.mix({normed, m.weight()}), k = m.withState(normed), v = m.mix({normed, m.weight()});
    Matrix scores = m.mix({q, k}, x.rows, 2 * x.columns);
    Matrix attended = m.mix({m.mix(scores), v}, x.rows, x.columns);
    x = m.mix({x, m.mix({attended, m.weight()})});
    Matrix wide = m.mix({x, m.weight()}, x.rows, 2 * x.columns);
    x = m.mix({x, m.mix({m.anything(wide), m.weight()}, x.rows, x.columns)});
  }
  return x;
}

Matrix uNet(PlanMaker &m) {
  Matrix x = m.image(m.input);
  SmallVector<Matrix> skips;
  for (int64_t levels = m.pick(1, 3), l = 0; l < levels && x.rows % 2 == 0; ++l) {
    x = m.anything(m.image(x));
    skips.push_back(x);
    x = m.mix(x, x.rows / 2, x.columns);
  }
  x = m.anything(x);
  for (Matrix skip : llvm::reverse(skips)) {
    Matrix up = m.mix(x, skip.rows, skip.columns);
    x = m.mix({m.join({skip, up}, 1), m.weight()}, skip.rows, skip.columns);
    x = m.image(x);
  }
  return x;
}

Matrix resNet(PlanMaker &m) {
  Matrix x = m.image(m.input);
  for (int64_t blocks = m.pick(2, 4), i = 0; i < blocks; ++i) {
    Matrix y = m.image(m.mix({x, m.weight()}));
    y = m.chance(60) ? m.reduced(y) : m.anything(y);
    x = m.mix({x, m.chance(30) ? m.anything(y) : y});
  }
  return x;
}

Matrix body(PlanMaker &m, PlanFamily family) {
  switch (family) {
  case PlanFamily::Layered:
    return layered(m);
  case PlanFamily::SeriesParallel:
    return seriesParallel(m, m.mix(m.input), 3);
  case PlanFamily::Transformer:
    return transformer(m);
  case PlanFamily::UNet:
    return uNet(m);
  case PlanFamily::ResNet:
    return resNet(m);
  }
}

} // namespace

RandomPlan makeRandomPlan(MLIRContext &context, unsigned seed, PlanStyle style) {
  PlanMaker m(context, seed, style);
  Matrix early = m.chance(50) ? m.mix(m.input, 1, 8) : m.withState(m.input);
  Matrix last = m.withRest(m.anything(body(m, PlanFamily(seed % kPlanFamilies))));
  m.writeOutput(last, 0);
  m.writeOutput({early, m.withState(last)}, 1);
  return m.finish();
}

} // namespace plim::test
