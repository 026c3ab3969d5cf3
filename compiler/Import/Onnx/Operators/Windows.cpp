// Operators around sliding windows that are no convolution: indices of maxima, their inverse, columns to images.
#include "compiler/Import/Onnx/Operators/MaxIndices.h"
#include "compiler/Import/Onnx/Operators/Term.h"
#include "compiler/Import/Onnx/Operators/Window.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

/// Kernel positions in row-major order.
static SmallVector<Ints> positionsOf(ArrayRef<int64_t> kernel) {
  SmallVector<Ints> all{Ints(kernel.size(), 0)};
  for (int64_t i = 1; i < llvm::product_of(kernel); ++i) {
    Ints next = all.back();
    for (size_t axis = kernel.size(); axis-- > 0;) {
      if (++next[axis] < kernel[axis])
        break;
      next[axis] = 0;
    }
    all.push_back(next);
  }
  return all;
}

Value plim::onnx::maxIndices(NodeImporter &n, const WindowAttributes &window, ArrayRef<int64_t> output,
                             bool columnMajor) {
  constexpr int64_t mostPositions = 1024;
  if (!n.needStatic(n[0], "the indices of a MaxPool"))
    return {};
  const auto shape = n.type(0).getShape();
  const size_t spatial = window.kernel.size();
  const Type element = n.type(0).getElementType(), index = n.b.getI64Type();
  if (llvm::product_of(window.kernel) > mostPositions) {
    (void)n.error("indices of a window of more than " + Twine(mostPositions) + " elements are not supported");
    return {};
  }
  // The input between pads that are never the largest, as far as the last window reaches.
  Term padded(n, n[0]);
  const double least = isa<FloatType>(element)       ? -std::numeric_limits<double>::infinity()
                       : element.isUnsignedInteger() ? 0
                                                     : -std::pow(2.0, element.getIntOrFloatBitWidth() - 1);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t reach = (output[i + 2] - 1) * window.strides[i] + (window.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t after = reach - shape[i + 2] - window.pads[i];
    padded = padded.pad(i + 2, window.pads[i], std::max<int64_t>(after, 0), least);
  }
  // The elements of all windows at one kernel position, position by position.
  SmallVector<Term> layers, places;
  for (const Ints &position : positionsOf(window.kernel)) {
    if (n.hasFailed())
      return {};
    Ints starts{0, 0}, sizes{shape[0], shape[1]}, steps{1, 1};
    Term place(n, {});
    int64_t stride = columnMajor ? 1 : llvm::product_of(shape.drop_front(2));
    for (size_t i = 0; i < spatial; ++i) {
      starts.push_back(position[i] * window.dilations[i]);
      sizes.push_back(output[i + 2]);
      steps.push_back(output[i + 2] > 1 ? window.strides[i] : 1);
      stride /= columnMajor ? 1 : shape[i + 2];
      Term along = positions(n, output[i + 2], i, spatial, index) * double(window.strides[i]) +
                   double(position[i] * window.dilations[i] - window.pads[i]);
      along = along * double(stride);
      place = place ? place + along : along;
      stride *= columnMajor ? shape[i + 2] : 1;
    }
    layers.push_back(padded.apply<graph::SliceOp>(starts, sizes, steps).unsqueeze(0));
    places.push_back(place.broadcast(output.drop_front(2)).reshape({1, llvm::product_of(output.drop_front(2))}));
  }
  Term winners =
      Term(n, n.make<graph::ArgReduceOp>(graph::ArgReduceKind::Max, concat(n, layers, 0), uint64_t(0), false));
  if (n.hasFailed())
    return {};
  // Where the winning position lies in its plane, and the plane in the tensor.
  const int64_t planes = shape[0] * shape[1], size = llvm::product_of(output.drop_front(2));
  // The table of places is [kernel position, window]; each plane chooses in it.
  Term table = concat(n, places, 0).reshape({int64_t(places.size()) * size});
  Term chosen = winners.reshape({planes, size}) * double(size) + positions(n, size, 1, 2, index);
  Term within = table.gather(chosen, 0);
  Term offset = positions(n, planes, 0, 2, index) * double(llvm::product_of(shape.drop_front(2)));
  return (within + offset).reshape(output);
}

namespace {

/// Puts each element where its index in the flattened result says.
LogicalResult maxUnpool(NodeImporter &n) {
  auto window = readWindow(n, std::nullopt);
  if (!window || !n.needStatic(n[0], "MaxUnpool") || !n.needStatic(n[1], "MaxUnpool"))
    return failure();
  const auto shape = n.type(0).getShape();
  const size_t spatial = window->kernel.size();
  if (n.type(1).getShape() != shape)
    return n.error("need as many indices as elements");
  Ints inferred{shape[0], shape[1]};
  for (size_t i = 0; i < spatial; ++i)
    inferred.push_back((shape[i + 2] - 1) * window->strides[i] + window->kernel[i] - window->pads[i] -
                       window->pads[i + spatial]);
  Ints output = inferred;
  if (n[2]) {
    const auto given = n.needInts(2, "output_shape");
    if (!given)
      return failure();
    output = *given;
  }
  if (output.size() != shape.size() || llvm::any_of(output, [](int64_t d) { return d < 1 || d > INT32_MAX; }))
    return n.error("the output shape has " + Twine(output.size()) + " dimensions of at least 1: need " +
                   Twine(shape.size()));
  // Indices count in the result that the attributes give, also where the shape asked for is larger.
  const Type index = n.b.getI64Type();
  Term at = Term(n, n[1]).cast(index);
  if (output != inferred) {
    Term place(n, {}), rest = at;
    int64_t stride = llvm::product_of(inferred), target = llvm::product_of(output);
    for (size_t i = 0; i < inferred.size(); ++i) {
      stride /= inferred[i];
      target /= output[i];
      Term coordinate = rest / double(stride);
      rest = rest - coordinate * double(stride);
      Term part = coordinate * double(target);
      place = place ? place + part : part;
    }
    at = place;
  }
  const int64_t count = llvm::product_of(shape);
  Value zeros = n.fill({llvm::product_of(output)}, 0, n.type(0).getElementType());
  Value result = n.make<graph::ScatterElementsOp>(zeros, at.reshape({count}), Term(n, n[0]).reshape({count}),
                                                  int64_t(0), graph::ScatterReduction::None);
  return n.finish(Term(n, result).reshape(output));
}

/// [N, C * kernel, windows] added up at the places of an image that its windows cover.
LogicalResult columnsToImage(NodeImporter &n) {
  const auto image = n.needInts(1, "image_shape"), block = n.needInts(2, "block_shape");
  if (!image || !block || !n.needStatic(n[0], "Col2Im"))
    return failure();
  const size_t spatial = image->size();
  const auto strides = n.integers("strides").value_or(Ints(spatial, 1));
  const auto dilations = n.integers("dilations").value_or(Ints(spatial, 1));
  const auto pads = n.integers("pads").value_or(Ints(2 * spatial, 0));
  const auto shape = n.type(0).getShape();
  const auto within = [](ArrayRef<int64_t> list, int64_t least) {
    return llvm::all_of(list, [&](int64_t x) { return x >= least && x <= INT32_MAX; });
  };
  if (spatial < 1 || block->size() != spatial || strides.size() != spatial || dilations.size() != spatial ||
      pads.size() != 2 * spatial || !within(*image, 1) || !within(*block, 1) || !within(strides, 1) ||
      !within(dilations, 1) || !within(pads, 0))
    return n.error("need sizes, strides and dilations of at least 1 and pads of at least 0 for each of " +
                   Twine(spatial) + " dimensions");
  Ints padded, windows;
  for (size_t i = 0; i < spatial; ++i) {
    padded.push_back((*image)[i] + pads[i] + pads[i + spatial]);
    windows.push_back((padded[i] - (dilations[i] * ((*block)[i] - 1) + 1)) / strides[i] + 1);
  }
  const int64_t kernel = llvm::product_of(*block);
  if (shape.size() != 3 || shape[1] % kernel || !within(windows, 1) || shape[2] != llvm::product_of(windows))
    return n.error("need [N, C * " + Twine(kernel) + ", " + Twine(llvm::product_of(windows)) + "], have " +
                   graph::toString(graph::dimsOf(n.type(0))));
  const int64_t planes = shape[0] * (shape[1] / kernel), count = kernel * shape[2];
  const Type index = n.b.getI64Type();
  // Where element [kernel position, window] lies in the padded image.
  Term place(n, {});
  int64_t stride = llvm::product_of(padded);
  Ints grid(*block);
  llvm::append_range(grid, windows);
  for (size_t i = 0; i < spatial; ++i) {
    stride /= padded[i];
    Term along = positions(n, (*block)[i], i, 2 * spatial, index) * double(dilations[i]) +
                 positions(n, windows[i], spatial + i, 2 * spatial, index) * double(strides[i]);
    along = along * double(stride);
    place = place ? place + along : along;
  }
  Term at = place.broadcast(grid).reshape({1, count}).broadcast({planes, count});
  Value zeros = n.fill({planes, llvm::product_of(padded)}, 0, n.type(0).getElementType());
  Value sums = n.make<graph::ScatterElementsOp>(zeros, at, Term(n, n[0]).reshape({planes, count}), int64_t(1),
                                                graph::ScatterReduction::Add);
  Ints full{shape[0], shape[1] / kernel};
  llvm::append_range(full, padded);
  Term result = Term(n, sums).reshape(full);
  for (size_t i = 0; i < spatial; ++i)
    if (pads[i] || pads[i + spatial])
      result = result.slice(i + 2, pads[i], (*image)[i]);
  return n.finish(result);
}

constexpr OperatorRow rows[] = {
    {"Col2Im", 3, 3, columnsToImage, 18, noVersion, "",
     "a static shape; shapes of image and block known at compile time"},
    {"MaxUnpool", 2, 3, maxUnpool, 9, noVersion, "", "static shapes; the output shape must be known at compile time"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::windowOperators() { return rows; }
