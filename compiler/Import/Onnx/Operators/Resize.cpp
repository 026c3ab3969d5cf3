// Resize and its predecessor Upsample. The graph op resizes the spatial dimensions of [N, C, spatial...]: dimensions
// are moved there and back where a model resizes others.
#include "compiler/Import/Onnx/Operators/ResizeMatrix.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include <cmath>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

struct Settings {
  graph::ResizeMode mode = graph::ResizeMode::Nearest;
  graph::CoordinateMode coordinates = graph::CoordinateMode::Asymmetric;
  graph::NearestMode nearest = graph::NearestMode::Floor;
  double cubic = -0.75;
};

/// Resizes `n[0]` to `sizes` where they are given (one a dimension), by `scales` otherwise.
LogicalResult resizeTo(NodeImporter &n, const Settings &settings, ArrayRef<int64_t> sizes, ArrayRef<double> scales) {
  const auto shape = n.type(0).getShape();
  const int64_t rank = shape.size();
  const auto changes = [&](int64_t i) {
    return sizes.empty() ? scales[i] != 1.0 : sizes[i] != shape[i] || (!scales.empty() && scales[i] != 1.0);
  };
  Ints order, moved;
  for (int64_t i = 0; i < rank; ++i)
    (changes(i) ? moved : order).push_back(i);
  if (moved.empty())
    return n.finish(n[0]);
  // At least two dimensions stay in front: missing ones are put there with size 1; more than two are resized by 1.
  const int64_t added = std::max<int64_t>(2 - int64_t(order.size()), 0);
  const size_t front = std::min<size_t>(order.size(), 2);
  order.append(moved);
  const bool inPlace = llvm::is_sorted(order);
  Value input = n[0];
  if (!inPlace)
    input = n.transpose(input, order);
  if (n.hasFailed())
    return failure();
  if (added) {
    if (!n.needStatic(input, "a resize of all dimensions"))
      return failure();
    Ints expanded(added, 1);
    llvm::append_range(expanded, NodeImporter::typeOf(input).getShape());
    input = n.reshape(input, expanded);
  }
  Ints newSizes;
  SmallVector<double> newScales;
  for (int64_t axis : ArrayRef(order).drop_front(front)) {
    if (!sizes.empty())
      newSizes.push_back(sizes[axis]);
    if (!scales.empty())
      newScales.push_back(scales[axis]);
  }
  Value result = n.make<graph::ResizeOp>(settings.mode, input, newSizes, newScales, settings.coordinates,
                                         settings.nearest, settings.cubic);
  if (n.hasFailed())
    return failure();
  if (added)
    result = n.reshape(result, NodeImporter::typeOf(result).getShape().drop_front(added));
  if (!inPlace)
    result = n.transpose(result, invertPermutationVector(order));
  return n.finish(result);
}

bool readMode(NodeImporter &n, Settings &settings) {
  const StringRef mode = n.string("mode", "nearest");
  // "bilinear" is what Upsample called it before operator set 9.
  const auto known = graph::symbolizeResizeMode(mode == "bilinear" ? "linear" : mode);
  if (!known) {
    (void)n.error("attribute 'mode' must be nearest, linear or cubic, have '" + mode + "'");
    return false;
  }
  settings.mode = *known;
  return true;
}

bool checkScales(NodeImporter &n, ArrayRef<double> scales, size_t need) {
  if (scales.size() != need) {
    (void)n.error("need " + Twine(need) + " scales, have " + Twine(scales.size()));
    return false;
  }
  for (double scale : scales)
    if (!(scale > 0) || !std::isfinite(scale)) {
      (void)n.error("a scale is not positive");
      return false;
    }
  return true;
}

/// Upsample, and Resize of operator set 10: scales only, coordinates without any offset.
LogicalResult upsample(NodeImporter &n) {
  Settings settings;
  std::optional<SmallVector<double>> scales;
  if (n.numInputs() > 1)
    scales = n.needReals(1, "scales");
  else
    scales = n.reals("scales");
  if (!scales && !n.hasFailed())
    return n.error("scales are missing");
  if (n.hasFailed() || !readMode(n, settings) || !checkScales(n, *scales, n.type(0).getRank()))
    return failure();
  return resizeTo(n, settings, {}, *scales);
}

/// Keeps the aspect ratio: one scale for all resized axes, the least or the greatest of theirs.
void keepAspect(bool larger, ArrayRef<int64_t> axes, ArrayRef<int64_t> shape, MutableArrayRef<int64_t> sizes,
                SmallVectorImpl<double> &scales) {
  std::optional<double> scale;
  for (int64_t axis : axes) {
    const double own = double(sizes[axis]) / double(shape[axis]);
    scale = !scale ? own : larger ? std::max(*scale, own) : std::min(*scale, own);
  }
  scales.assign(shape.size(), 1.0);
  for (int64_t axis : axes) {
    scales[axis] = *scale;
    sizes[axis] = int64_t(std::floor(*scale * double(shape[axis]) + 0.5));
  }
}

/// A resize of `axes` by matrices of weights, to `sizes` or, where they are empty, by `scales`.
LogicalResult resizeByMatrix(NodeImporter &n, const Settings &settings, MatrixResize matrix, ArrayRef<int64_t> axes,
                             ArrayRef<int64_t> sizes, ArrayRef<double> scales) {
  if (!n.needStatic(n[0], "a resize with antialias, exclude_outside or crops"))
    return failure();
  if (!isa<FloatType>(n.type(0).getElementType()))
    return n.error("antialias, exclude_outside and crops need floats");
  matrix.mode = settings.mode;
  matrix.coordinates = settings.coordinates;
  matrix.nearest = settings.nearest;
  matrix.cubic = settings.cubic;
  const auto shape = n.type(0).getShape();
  std::optional<SmallVector<double>> crop;
  if (matrix.crops) {
    crop = n.needReals(1, "roi");
    if (!crop)
      return failure();
    if (crop->size() != 2 * axes.size())
      return n.error("need " + Twine(2 * axes.size()) + " entries of input 1 'roi', have " + Twine(crop->size()));
  }
  SmallVector<AxisResize> changes;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    AxisResize change{axis, 0, 1};
    if (crop) {
      change.cropStart = (*crop)[i];
      change.cropEnd = (*crop)[i + axes.size()];
    }
    change.scale = scales.empty() ? double(sizes[axis]) / double(shape[axis]) : scales[axis];
    change.outputs = sizes.empty()
                         ? int64_t(std::floor(double(shape[axis]) * (change.cropEnd - change.cropStart) * change.scale))
                         : sizes[axis];
    if (change.outputs < 1 || change.outputs > INT32_MAX || shape[axis] < 1)
      return n.error("axis " + Twine(axis) + " cannot be resized from " + Twine(shape[axis]) + " to " +
                     Twine(change.outputs));
    const bool whole = change.cropStart == 0 && change.cropEnd == 1;
    if (change.outputs != shape[axis] || change.scale != 1 || !whole)
      changes.push_back(change);
  }
  return n.finish(resizeByMatrices(Term(n, n[0]), matrix, changes));
}

LogicalResult resize(NodeImporter &n) {
  if (n.version < 11)
    return upsample(n);
  const auto shape = n.type(0).getShape();
  const int64_t rank = shape.size();
  Settings settings;
  MatrixResize matrix;
  matrix.extrapolation = n.real("extrapolation_value", 0);
  const StringRef coordinates = n.string("coordinate_transformation_mode", "half_pixel");
  matrix.crops = coordinates == "tf_crop_and_resize";
  const auto coordinateMode = graph::symbolizeCoordinateMode(matrix.crops ? "half_pixel" : coordinates);
  if (!coordinateMode)
    return n.error("coordinate_transformation_mode '" + coordinates + "' is not known");
  settings.coordinates = *coordinateMode;
  const StringRef nearest = n.string("nearest_mode", "round_prefer_floor");
  const auto nearestMode = graph::symbolizeNearestMode(nearest);
  if (!nearestMode)
    return n.error("nearest_mode '" + nearest + "' is not known");
  settings.nearest = *nearestMode;
  settings.cubic = n.real("cubic_coeff_a", -0.75);
  matrix.antialias = n.integer("antialias", 0) != 0;
  matrix.excludeOutside = n.integer("exclude_outside", 0) != 0;
  const StringRef policy = n.string("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    return n.error("keep_aspect_ratio_policy '" + policy + "' is not known");
  if (!readMode(n, settings))
    return failure();

  Ints axes;
  if (const auto given = n.integers("axes"))
    for (int64_t axis : *given) {
      const auto one = n.axisOf(axis, rank);
      if (!one)
        return failure();
      axes.push_back(*one);
    }
  else
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  if (!n.axesOf(axes, rank))
    return failure();

  const auto isGiven = [&](unsigned i) {
    return n[i] && !(n.type(i).hasStaticShape() && n.type(i).getNumElements() == 0);
  };
  if (isGiven(2) == isGiven(3))
    return n.error("need either scales or sizes");
  // Nearest samples are pixels as they are.
  if (settings.mode == graph::ResizeMode::Nearest)
    matrix.antialias = matrix.excludeOutside = false;
  const bool byMatrix = matrix.antialias || matrix.excludeOutside || matrix.crops;
  if (isGiven(2)) {
    const auto given = n.needReals(2, "scales");
    if (!given || !checkScales(n, *given, axes.size()))
      return failure();
    SmallVector<double> scales(rank, 1.0);
    for (auto [axis, scale] : llvm::zip_equal(axes, *given))
      scales[axis] = scale;
    if (byMatrix)
      return resizeByMatrix(n, settings, matrix, axes, {}, scales);
    return resizeTo(n, settings, {}, scales);
  }
  const auto given = n.needInts(3, "sizes");
  if (!given)
    return failure();
  if (given->size() != axes.size())
    return n.error("need " + Twine(axes.size()) + " sizes, have " + Twine(given->size()));
  if (!n.needStatic(n[0], "a resize by sizes"))
    return failure();
  Ints sizes(shape.begin(), shape.end());
  for (auto [axis, size] : llvm::zip_equal(axes, *given)) {
    if (size < 1)
      return n.error("a size is " + Twine(size));
    if (shape[axis] == 0)
      return n.error("dimension " + Twine(axis) + " is empty");
    sizes[axis] = size;
  }
  SmallVector<double> scales;
  if (policy != "stretch")
    keepAspect(policy == "not_smaller", axes, shape, sizes, scales);
  if (byMatrix)
    return resizeByMatrix(n, settings, matrix, axes, sizes, scales);
  return resizeTo(n, settings, sizes, scales);
}

constexpr OperatorRow rows[] = {
    {"Resize", 1, 4, resize, 10, noVersion, "", "static shapes for antialias, exclude_outside, tf_crop_and_resize"},
    {"Upsample", 1, 2, upsample, 7, 10},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::resizeOperators() { return rows; }
