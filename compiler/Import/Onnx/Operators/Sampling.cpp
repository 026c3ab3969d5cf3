// Operators that read images between pixels: grids of coordinates, regions, deformable convolutions.
#include "compiler/Import/Onnx/Operators/CubicKernel.h"
#include "compiler/Import/Onnx/Operators/Window.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// What lies outside an image.
enum class Outside { Zeros, Border, Reflection };

/// Pixels of images [N, P, C] of `spatial` dimensions (P in all), read at coordinates [N, Q] one a dimension.
class Sampler {
public:
  Sampler(Term pixels, ArrayRef<int64_t> spatial, Outside outside, bool alignCorners)
      : n(pixels.importer()), pixels(pixels), spatial(spatial), outside(outside), alignCorners(alignCorners) {}

  /// [N, Q, C], by the weights of the corners around a place.
  Term linear(ArrayRef<Term> places) {
    SmallVector<Term> low, fraction;
    for (auto [axis, place] : llvm::enumerate(places)) {
      Term inside = outside == Outside::Zeros ? place : fold(place, axis);
      low.push_back(inside.apply<graph::FloorOp>());
      fraction.push_back(inside - low.back());
    }
    Term sum(n, {});
    for (unsigned corner = 0; corner < 1u << spatial.size(); ++corner) {
      SmallVector<Term> at;
      Term weight(n, {});
      for (size_t axis = 0; axis < spatial.size(); ++axis) {
        const bool high = corner >> axis & 1;
        at.push_back(high ? low[axis] + 1.0 : low[axis]);
        Term part = high ? fraction[axis] : fraction[axis].number(1) - fraction[axis];
        weight = weight ? weight * part : part;
      }
      Term value = weighted(at, weight);
      sum = sum ? sum + value : value;
    }
    return sum;
  }

  Term nearest(ArrayRef<Term> places) {
    SmallVector<Term> at;
    for (auto [axis, place] : llvm::enumerate(places))
      at.push_back((outside == Outside::Zeros ? place : fold(place, axis)).apply<graph::RoundOp>());
    return weighted(at, Term(n, {}));
  }

  /// Cubic convolution with coefficient -0.75 over the 4 x 4 pixels around a place of an image of two dimensions.
  Term cubic(ArrayRef<Term> places) {
    SmallVector<Term> low;
    SmallVector<SmallVector<Term>> weights;
    for (Term place : places) {
      low.push_back(place.apply<graph::FloorOp>());
      weights.push_back(cubicWeights(place - low.back()));
    }
    Term sum(n, {});
    for (int64_t y = 0; y < 4; ++y)
      for (int64_t x = 0; x < 4; ++x) {
        SmallVector<Term> at{low[0] + double(y - 1), low[1] + double(x - 1)};
        if (outside != Outside::Zeros)
          for (size_t axis = 0; axis < 2; ++axis)
            at[axis] = fold(at[axis], axis);
        Term value = weighted(at, weights[0][y] * weights[1][x]);
        sum = sum ? sum + value : value;
      }
    return sum;
  }

private:
  /// Of the pixels at -1, 0, 1 and 2 for a fraction t.
  static SmallVector<Term> cubicWeights(Term t) {
    constexpr double a = -0.75;
    Term u = t.number(1) - t;
    return {farCubic(t + 1.0, a), nearCubic(t, a), nearCubic(u, a), farCubic(u + 1.0, a)};
  }

  /// A place brought into the image: clamped, or reflected at its edges.
  Term fold(Term place, size_t axis) const {
    const double size = double(spatial[axis]);
    if (outside == Outside::Border)
      return clamp(place, 0, size - 1);
    const double low = alignCorners ? 0 : -0.5, span = alignCorners ? size - 1 : size;
    if (span == 0)
      return place * 0.0;
    // The distance from the low edge, back and forth over the span.
    Term away = (place - low).apply<graph::AbsOp>();
    Term turns = (away / span).apply<graph::FloorOp>();
    Term rest = away - turns * span;
    Term odd = turns - (turns * 0.5).apply<graph::FloorOp>() * 2.0;
    Term isOdd = odd == odd.number(1);
    return clamp(select(isOdd, rest.number(span) - rest, rest) + low, 0, size - 1);
  }

  /// The pixels at whole coordinates times a weight [N, Q] (1 where it is null), 0 outside of the image.
  Term weighted(ArrayRef<Term> at, Term weight) const {
    Term index(n, {}), inside(n, {});
    int64_t stride = llvm::product_of(spatial);
    for (auto [axis, coordinate] : llvm::enumerate(at)) {
      const double last = double(spatial[axis] - 1);
      stride /= spatial[axis];
      if (outside == Outside::Zeros) {
        Term here = both(coordinate.number(0) <= coordinate, coordinate <= coordinate.number(last));
        inside = inside ? both(inside, here) : here;
      }
      Term part = clamp(coordinate, 0, last).cast(n.b.getI64Type()) * double(stride);
      index = index ? index + part : part;
    }
    Term values = gatherRows(pixels, index);
    if (weight)
      values = values * weight.unsqueeze(weight.rank());
    return inside ? select(inside.unsqueeze(inside.rank()), values, values.number(0)) : values;
  }

  NodeImporter &n;
  Term pixels;
  const Ints spatial;
  const Outside outside;
  const bool alignCorners;
};

/// [N, C, spatial...] as rows of pixels [N, P, C].
Term pixelsOf(Term image) {
  if (!image)
    return image;
  const auto shape = image.shape();
  return image.reshape({shape[0], shape[1], llvm::product_of(shape.drop_front(2))}).transpose({0, 2, 1});
}

bool needImage(NodeImporter &n, Value value, StringRef what) {
  if (!n.needStatic(value, what))
    return false;
  const auto shape = NodeImporter::typeOf(value).getShape();
  if (shape.size() >= 3 && !llvm::is_contained(shape.drop_front(2), 0))
    return true;
  (void)n.error(what + " needs an image [N, C, spatial...] that is not empty, have " +
                graph::toString(graph::dimsOf(value.getType())));
  return false;
}

LogicalResult gridSample(NodeImporter &n) {
  const bool align = n.integer("align_corners", 0) != 0;
  const StringRef mode = n.string("mode", n.version < 20 ? "bilinear" : "linear");
  const StringRef padding = n.string("padding_mode", "zeros");
  const bool linear = mode == "linear" || mode == "bilinear", cubic = mode == "cubic" || mode == "bicubic";
  if (!linear && !cubic && mode != "nearest")
    return n.error("attribute 'mode' must be linear, nearest or cubic, have '" + mode + "'");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return n.error("attribute 'padding_mode' must be zeros, border or reflection, have '" + padding + "'");
  if (!needImage(n, n[0], "GridSample") || !n.needStatic(n[1], "the grid"))
    return failure();
  const auto image = n.type(0).getShape(), grid = n.type(1).getShape();
  const int64_t spatial = image.size() - 2;
  if (grid.size() != image.size() || grid.back() != spatial || grid[0] != image[0])
    return n.error("need a grid [" + Twine(image[0]) + ", ..., " + Twine(spatial) + "] for an image " +
                   graph::toString(graph::dimsOf(n.type(0))) + ", have " + graph::toString(graph::dimsOf(n.type(1))));
  if (cubic && spatial != 2)
    return n.error("cubic interpolation needs 2 spatial dimensions, have " + Twine(spatial));
  const Ints output(grid.drop_front().drop_back());
  Term points = Term(n, n[1]).reshape({grid[0], llvm::product_of(output), spatial});
  // The last coordinate is that of the first spatial dimension; -1 and 1 are the edges, or the middles of edge pixels.
  SmallVector<Term> places;
  for (int64_t axis = 0; axis < spatial; ++axis) {
    const double size = double(image[axis + 2]);
    Term g = points.slice(2, spatial - 1 - axis, 1).reshape({grid[0], llvm::product_of(output)});
    places.push_back(align ? (g + 1.0) * ((size - 1) / 2) : ((g + 1.0) * size - 1.0) * 0.5);
  }
  const Outside outside = padding == "zeros"    ? Outside::Zeros
                          : padding == "border" ? Outside::Border
                                                : Outside::Reflection;
  Sampler sampler(pixelsOf(Term(n, n[0])), image.drop_front(2), outside, align);
  if (n.hasFailed())
    return failure();
  Term result = linear ? sampler.linear(places) : cubic ? sampler.cubic(places) : sampler.nearest(places);
  Ints shape{image[0], image[1]};
  llvm::append_range(shape, output);
  return n.finish(result.transpose({0, 2, 1}).reshape(shape));
}

/// Points of a regular grid over [-1, 1], transformed by theta [N, D, D + 1].
LogicalResult affineGrid(NodeImporter &n) {
  const bool align = n.integer("align_corners", 0) != 0;
  const auto size = n.needInts(1, "size");
  if (!size)
    return failure();
  const int64_t spatial = int64_t(size->size()) - 2;
  if (spatial != 2 && spatial != 3)
    return n.error("need a size of 4 or 5 entries, have " + Twine(size->size()));
  for (int64_t entry : *size)
    if (entry < 1 || entry > INT32_MAX)
      return n.error("a size is " + Twine(entry) + ": need at least 1");
  const auto theta = n.type(0).getShape();
  if (theta.size() != 3 || theta[0] != (*size)[0] || theta[1] != spatial || theta[2] != spatial + 1)
    return n.error("need theta [" + Twine((*size)[0]) + ", " + Twine(spatial) + ", " + Twine(spatial + 1) + "], have " +
                   graph::toString(graph::dimsOf(n.type(0))));
  const Type element = n.type(0).getElementType();
  const ArrayRef<int64_t> extents = ArrayRef(*size).drop_front(2);
  SmallVector<Term> columns;
  for (int64_t axis = spatial - 1; axis >= 0; --axis) {
    const double extent = double(extents[axis]);
    Term at = positions(n, extents[axis], axis, spatial, element);
    Term place = align && extent > 1 ? at * (2 / (extent - 1)) - 1.0
                 : align             ? at * 0.0
                                     : (at * 2.0 + 1.0) / extent - 1.0;
    columns.push_back(place.broadcast(extents).reshape({llvm::product_of(extents), 1}));
  }
  columns.push_back(Term(n, n.fill({llvm::product_of(extents), 1}, 1, element)));
  Term points = concat(n, columns, 1).unsqueeze(0);
  Ints shape{theta[0]};
  llvm::append_range(shape, extents);
  shape.push_back(spatial);
  return n.finish(matmul(points, Term(n, n[0]), false, true).reshape(shape));
}

/// Averages or largest of samples in each bin of regions [R, 4]: x1, y1, x2, y2.
LogicalResult roiAlign(NodeImporter &n) {
  const StringRef mode = n.string("mode", "avg");
  const StringRef coordinates =
      n.string("coordinate_transformation_mode", n.version < 16 ? "output_half_pixel" : "half_pixel");
  const int64_t samples = n.integer("sampling_ratio", 0), height = n.integer("output_height", 1),
                width = n.integer("output_width", 1);
  const double scale = n.real("spatial_scale", 1);
  const bool halfPixel = coordinates == "half_pixel";
  if (mode != "avg" && mode != "max")
    return n.error("attribute 'mode' must be avg or max, have '" + mode + "'");
  if (!halfPixel && coordinates != "output_half_pixel")
    return n.error("attribute 'coordinate_transformation_mode' must be half_pixel or output_half_pixel, have '" +
                   coordinates + "'");
  if (samples < 1 || samples > 64)
    return n.error("attribute 'sampling_ratio' is " + Twine(samples) +
                   ": need 1 to 64, as a number that depends on the regions is not known at compile time");
  if (height < 1 || width < 1 || height > INT16_MAX || width > INT16_MAX)
    return n.error("need an output of at least 1 x 1, have " + Twine(height) + " x " + Twine(width));
  if (!needImage(n, n[0], "RoiAlign") || !n.needStatic(n[1], "RoiAlign"))
    return failure();
  const auto image = n.type(0).getShape(), regions = n.type(1).getShape();
  if (image.size() != 4 || regions.size() != 2 || regions[1] != 4)
    return n.error("need an image of 4 dimensions and regions [R, 4]");
  const int64_t count = regions[0];
  Term boxes = Term(n, n[1]) * scale - (halfPixel ? 0.5 : 0.0);
  const Type element = n.type(1).getElementType();
  // Places of the samples of one axis, [R, bins * samples].
  const auto places = [&](int64_t from, int64_t to, int64_t bins) {
    Term low = boxes.slice(1, from, 1), extent = boxes.slice(1, to, 1) - low;
    if (!halfPixel)
      extent = max(extent, extent.number(1));
    Term at = (positions(n, bins * samples, 1, 2, element) + 0.5) / double(samples);
    return low + at * (extent / double(bins));
  };
  Term y = places(1, 3, height), x = places(0, 2, width);
  // Along each axis: the two pixels around a place and their weights; beyond one pixel outside there is nothing.
  struct Axis {
    Term low, high, lowWeight, highWeight, inside;
  };
  const auto split = [&](Term place, int64_t size) {
    Term inside = both(place.number(-1) <= place, place <= place.number(double(size)));
    Term at = clamp(place, 0, double(size - 1)), low = at.apply<graph::FloorOp>(), fraction = at - low;
    return Axis{low, clamp(low + 1.0, 0, double(size - 1)), fraction.number(1) - fraction, fraction, inside};
  };
  if (n.hasFailed())
    return failure();
  const Axis rows = split(y, image[2]), columns = split(x, image[3]);
  // Every pair of a row and a column of samples, of the image that the region lies in.
  const int64_t down = height * samples, across = width * samples;
  Term images = Term(n, n[2]).cast(n.b.getI64Type()).reshape({count, 1, 1}) * double(image[2] * image[3]);
  Term pixels = Term(n, n[0]).transpose({0, 2, 3, 1}).reshape({image[0] * image[2] * image[3], image[1]});
  Term inside = both(rows.inside.reshape({count, down, 1}), columns.inside.reshape({count, 1, across}));
  Term sum(n, {});
  const bool average = mode == "avg";
  for (unsigned corner = 0; corner < 4; ++corner) {
    Term row = (corner & 2 ? rows.high : rows.low).reshape({count, down, 1});
    Term column = (corner & 1 ? columns.high : columns.low).reshape({count, 1, across});
    Term weight = (corner & 2 ? rows.highWeight : rows.lowWeight).reshape({count, down, 1}) *
                  (corner & 1 ? columns.highWeight : columns.lowWeight).reshape({count, 1, across});
    Term index = (row * double(image[3]) + column).cast(n.b.getI64Type()) + images;
    Term values = pixels.gather(index, 0);
    values = values * select(inside, weight, weight.number(0)).unsqueeze(3);
    sum = !sum ? values : average ? sum + values : max(sum, values);
  }
  Term bins = sum.reshape({count, height, samples, width, samples, image[1]});
  bins = bins.reduce(average ? graph::ReduceKind::Mean : graph::ReduceKind::Max, {2, 4}, false);
  return n.finish(bins.transpose({0, 3, 1, 2}));
}

/// A convolution whose kernel positions each move by an offset [N, groups * positions * 2, OH, OW], y before x.
LogicalResult deformConv(NodeImporter &n) {
  if (!needImage(n, n[0], "DeformConv") || !n.needStatic(n[1], "DeformConv") || !n.needStatic(n[2], "DeformConv"))
    return failure();
  const auto image = n.type(0).getShape(), filter = n.type(1).getShape(), offsets = n.type(2).getShape();
  const int64_t groups = n.integer("group", 1), offsetGroups = n.integer("offset_group", 1);
  if (image.size() != 4 || filter.size() != 4 || offsets.size() != 4)
    return n.error("need an image, weights and offsets of 4 dimensions");
  auto window = readWindow(n, Ints(filter.drop_front(2)));
  if (!window)
    return failure();
  const int64_t batch = image[0], channels = image[1], outputs = filter[0], kernel = filter[2] * filter[3];
  const int64_t height = offsets[2], width = offsets[3], places = height * width;
  if (groups < 1 || offsetGroups < 1 || channels % groups || outputs % groups || channels % offsetGroups ||
      filter[1] != channels / groups || offsets[0] != batch || offsets[1] != offsetGroups * kernel * 2)
    return n.error("need weights [O, C / group, h, w] and offsets [N, offset_group * h * w * 2, ...], have " +
                   graph::toString(graph::dimsOf(n.type(1))) + " and " + graph::toString(graph::dimsOf(n.type(2))));
  const Type element = n.type(0).getElementType();
  // Coordinates [N * offset groups, kernel * places].
  Term moves = Term(n, n[2]).reshape({batch * offsetGroups, filter[2], filter[3], 2, height, width});
  const auto coordinate = [&](int64_t axis) {
    Term base = positions(n, filter[2 + axis], axis, 4, element) * double(window->dilations[axis]) +
                positions(n, axis ? width : height, 2 + axis, 4, element) * double(window->strides[axis]) -
                double(window->pads[axis]);
    Term move = moves.slice(3, axis, 1).reshape({batch * offsetGroups, filter[2], filter[3], height, width});
    return (move + base).reshape({batch * offsetGroups, kernel * places});
  };
  const int64_t share = channels / offsetGroups;
  Term pixels = pixelsOf(Term(n, n[0]).reshape({batch * offsetGroups, share, image[2], image[3]}));
  Sampler sampler(pixels, image.drop_front(2), Outside::Zeros, false);
  if (n.hasFailed())
    return failure();
  Term samples = sampler.linear({coordinate(0), coordinate(1)});
  if (n[4])
    samples = samples * Term(n, n[4]).reshape({batch * offsetGroups, kernel * places, 1});
  // [N, groups, C / groups * kernel, places]: the columns of a product with the weights.
  Term columns = samples.transpose({0, 2, 1}).reshape({batch, groups, channels / groups * kernel, places});
  Term weights = Term(n, n[1]).reshape({groups, outputs / groups, channels / groups * kernel});
  Term result = matmul(weights, columns).reshape({batch, outputs, height, width});
  if (n[3])
    result = result + Term(n, n[3]).reshape({outputs, 1, 1});
  return n.finish(result);
}

constexpr OperatorRow rows[] = {
    {"AffineGrid", 2, 2, affineGrid, 20, noVersion, "", "the size must be known at compile time"},
    {"DeformConv", 3, 5, deformConv, 19, noVersion, "", "2 spatial dimensions, static shapes"},
    {"GridSample", 2, 2, gridSample, 16, noVersion, "", "static shapes; cubic in 2 spatial dimensions"},
    {"RoiAlign", 3, 3, roiAlign, 10, noVersion, "", "static shapes, sampling_ratio of at least 1"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::samplingOperators() { return rows; }
