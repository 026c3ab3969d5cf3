#include "compiler/Import/Onnx/Operators/ResizeMatrix.h"
#include "compiler/Import/Onnx/Operators/CubicKernel.h"
#include <cmath>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// Where output o of an axis lies in its input, as a column [outputs, 1].
Term placesOf(NodeImporter &n, const MatrixResize &how, const AxisResize &axis, int64_t inputs, Type element) {
  Term at = positions(n, axis.outputs, 0, 2, element);
  const double in = double(inputs), out = double(axis.outputs), exact = axis.scale * in;
  if (how.crops) {
    const double start = axis.cropStart * (in - 1), span = (axis.cropEnd - axis.cropStart) * (in - 1);
    return axis.outputs > 1 ? at * (span / (out - 1)) + start : at * 0.0 + (start + span / 2);
  }
  switch (how.coordinates) {
  case graph::CoordinateMode::Asymmetric:
    return at / axis.scale;
  case graph::CoordinateMode::AlignCorners:
    return exact > 1 ? at * ((in - 1) / (exact - 1)) : at * 0.0;
  case graph::CoordinateMode::PytorchHalfPixel:
    return exact > 1 ? (at + 0.5) / axis.scale - 0.5 : at * 0.0 - 0.5;
  case graph::CoordinateMode::HalfPixelSymmetric: {
    const double adjusted = in / 2 * (1 - out / exact);
    return (at + 0.5) / axis.scale - 0.5 + adjusted;
  }
  case graph::CoordinateMode::HalfPixel:
    break;
  }
  return (at + 0.5) / axis.scale - 0.5;
}

/// The weight of an input at distance d.
Term linearKernel(Term d) { return max(d.number(1) - d.apply<graph::AbsOp>(), d.number(0)); }
Term cubicKernel(Term d, double a) {
  Term x = d.apply<graph::AbsOp>();
  Term near = nearCubic(x, a), far = farCubic(x, a);
  return select(x <= x.number(1), near, select(x < x.number(2), far, x.number(0)));
}

Term nearestIndex(Term place, graph::NearestMode mode) {
  switch (mode) {
  case graph::NearestMode::Floor:
    return place.apply<graph::FloorOp>();
  case graph::NearestMode::Ceil:
    return place.apply<graph::CeilOp>();
  case graph::NearestMode::RoundPreferFloor:
    return (place - 0.5).apply<graph::CeilOp>();
  case graph::NearestMode::RoundPreferCeil:
    return (place + 0.5).apply<graph::FloorOp>();
  }
  return place;
}

/// [outputs, inputs]
Term weightsOf(Term places, const MatrixResize &how, const AxisResize &axis, int64_t inputs) {
  NodeImporter &n = places.importer();
  if (!places)
    return places;
  const Type element = places.element();
  if (how.mode == graph::ResizeMode::Nearest) {
    Term index = clamp(nearestIndex(places, how.nearest), 0, double(inputs - 1));
    return (positions(n, inputs, 1, 2, element) == index).cast(element);
  }
  // A wider kernel where an image shrinks.
  const double narrow = how.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const bool cubic = how.mode == graph::ResizeMode::Cubic;
  const int64_t around = how.excludeOutside ? 0 : int64_t(std::ceil((cubic ? 2 : 1) / narrow)) + 1;
  Term distance = (positions(n, inputs + 2 * around, 1, 2, element) - double(around) - places) * narrow;
  Term weights = cubic ? cubicKernel(distance, how.cubic) : linearKernel(distance);
  weights = weights / weights.reduce(graph::ReduceKind::Sum, {1});
  if (around == 0)
    return weights;
  // Beyond an edge lies the edge again.
  Term left = weights.slice(1, 0, around).reduce(graph::ReduceKind::Sum, {1});
  Term right = weights.slice(1, around + inputs, around).reduce(graph::ReduceKind::Sum, {1});
  return weights.slice(1, around, inputs) + left.pad(1, 0, inputs - 1, 0) + right.pad(1, inputs - 1, 0, 0);
}

} // namespace

Term plim::onnx::resizeByMatrices(Term image, const MatrixResize &how, ArrayRef<AxisResize> axes) {
  NodeImporter &n = image.importer();
  if (!image)
    return image;
  const int64_t rank = image.rank();
  const Type element = image.element(), wide = element.isF64() ? element : Type(n.b.getF32Type());
  Term inside(n, {});
  for (const AxisResize &axis : axes) {
    if (!image)
      return image;
    const int64_t inputs = image.shape()[axis.axis];
    Term places = placesOf(n, how, axis, inputs, wide);
    Term weights = weightsOf(places, how, axis, inputs).cast(element);
    Ints order;
    for (int64_t i = 0; i < rank; ++i)
      order.push_back(i);
    std::swap(order[axis.axis], order[rank - 1]);
    image = matmul(image.transpose(order), weights, false, true).transpose(order);
    if (how.crops && places) {
      Term here = both(places.number(0) <= places, places <= places.number(double(inputs - 1)));
      Ints shape(rank, 1);
      shape[axis.axis] = axis.outputs;
      here = here.reshape(shape);
      inside = inside ? both(inside, here) : here;
    }
  }
  return inside ? select(inside, image, image.number(how.extrapolation)) : image;
}
