//===- ConvolutionOps.cpp - Convolutions -----------------------------------------------------------------------===//

#include "dialects/Graph/Windows.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/ConvolutionOps.cpp.inc"

/// The spatial sizes of a filter: the attribute, or what follows two channel dimensions in the nchw forms.
static SmallVector<int64_t> kernelOf(ArrayRef<int64_t> attribute, Type filter) {
  if (!attribute.empty())
    return SmallVector<int64_t>(attribute);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(filter).getShape();
  return SmallVector<int64_t>(shape.drop_front(std::min<size_t>(2, shape.size())));
}

static int64_t product(ArrayRef<int64_t> values) {
  int64_t result = 1;
  for (int64_t value : values)
    result *= value;
  return result;
}

/// What both convolutions need before their filters differ.
static LogicalResult checkOperands(std::optional<Location> loc, StringRef op, Type input, Type filter,
                                   ArrayRef<int64_t> kernelAttr, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                                   ArrayRef<int64_t> pads, ArrayRef<int64_t> dilations, ImageLayout layout,
                                   int64_t groups) {
  int64_t rank = cast<RankedTensorType>(input).getRank();
  if (rank < 3)
    return shapeError(loc, op, "needs an input of rank 3 or more, has " + Twine(toString(dimsOf(input))));
  auto filterType = cast<RankedTensorType>(filter);
  if (!filterType.hasStaticShape())
    return shapeError(loc, op, "needs a filter of static shape, has " + Twine(toString(dimsOf(filter))));
  if (layout == ImageLayout::NHWC && kernelAttr.empty())
    return shapeError(loc, op, "needs kernel sizes in layout nhwc, has none");
  if (layout == ImageLayout::NCHW && filterType.getRank() != rank)
    return shapeError(
        loc, op, "needs a filter of the input's rank " + Twine(rank) + ", has rank " + Twine(filterType.getRank()));
  if (layout == ImageLayout::NCHW && ArrayRef(kernel) != filterType.getShape().drop_front(2))
    return shapeError(loc, op,
                      "needs kernel sizes of the filter " + Twine(toString(dimsOf(filter))) + ", has " +
                          toString(Dims(kernel.begin(), kernel.end())));
  if (groups < 1)
    return shapeError(loc, op, "needs at least 1 group, has " + Twine(groups));
  return checkWindow(loc, op, rank - 2, kernel, strides, pads, dilations);
}

static Dims resultDims(ImageLayout layout, Dim batch, Dim channels, ArrayRef<Dim> spatial) {
  Dims dims{batch};
  if (layout == ImageLayout::NCHW)
    dims.push_back(channels);
  dims.append(spatial.begin(), spatial.end());
  if (layout == ImageLayout::NHWC)
    dims.push_back(channels);
  return dims;
}

//===----------------------------------------------------------------------===//
// conv
//===----------------------------------------------------------------------===//

/// Output channels of a convolution, after checking its filter.
template <typename Adaptor>
static FailureOr<int64_t> outputChannels(std::optional<Location> loc, StringRef name, Adaptor adaptor, Dim channels,
                                         ArrayRef<int64_t> kernel) {
  ArrayRef<int64_t> filter = cast<RankedTensorType>(adaptor.getFilter().getType()).getShape();
  int64_t groups = adaptor.getGroups(), outputs, inputs;
  if (adaptor.getLayout() == ImageLayout::NCHW) {
    outputs = filter[0];
    inputs = filter[1] * groups;
  } else if (filter.size() == 2) {
    outputs = filter[1];
    inputs = filter[0] / product(kernel) * groups;
    if (filter[0] % product(kernel) != 0)
      inputs = -1;
  } else {
    outputs = inputs = filter.back();
    if (filter.drop_back() != kernel || groups != filter.back())
      return shapeError(loc, name,
                        "needs a filter [kernel * channels, outputs], or [kernel..., channels] with a group a channel, "
                        "has " +
                            Twine(toString(dimsOf(adaptor.getFilter().getType()))) + " and " + Twine(groups) +
                            " groups");
  }
  if (inputs < 0 || !canBeEqual(channels, inputs) || outputs % groups != 0)
    return shapeError(loc, name,
                      "needs a filter for " + Twine(toString(channels)) + " input channels and outputs that " +
                          Twine(groups) + " groups divide, has " + toString(dimsOf(adaptor.getFilter().getType())));
  return outputs;
}

/// The result type of conv and integer_conv.
template <typename Adaptor>
static FailureOr<Type> inferConvolution(std::optional<Location> loc, StringRef name, Adaptor adaptor, Type element) {
  Type input = adaptor.getInput().getType();
  ImageLayout layout = adaptor.getLayout();
  SmallVector<int64_t> kernel = kernelOf(adaptor.getKernel(), adaptor.getFilter().getType());
  if (failed(checkOperands(loc, name, input, adaptor.getFilter().getType(), adaptor.getKernel(), kernel,
                           adaptor.getStrides(), adaptor.getPads(), adaptor.getDilations(), layout,
                           adaptor.getGroups())))
    return failure();
  Dims dims = dimsOf(input), spatial;
  Dim channels = dims[channelAxis(layout, dims.size())];
  FailureOr<int64_t> outputs = outputChannels(loc, name, adaptor, channels, kernel);
  if (failed(outputs))
    return failure();
  Window window = makeWindow(kernel, adaptor.getStrides(), adaptor.getPads(), adaptor.getDilations());
  for (size_t i = 0; i < kernel.size(); ++i) {
    FailureOr<Dim> positions = windowPositions(loc, name, dims[firstSpatialAxis(layout) + i], window, i, false);
    if (failed(positions))
      return failure();
    spatial.push_back(*positions);
  }
  return Type(tensorOf(resultDims(layout, dims[0], *outputs, spatial), element));
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  FailureOr<Type> type = inferConvolution(loc, "graph.conv", adaptor, elementTypeOf(adaptor.getInput()));
  if (succeeded(type))
    types.push_back(*type);
  return type;
}

LogicalResult ConvOp::verify() {
  return verifyEpilogue(*this, getBias(), getResidual(),
                        dimsOf(getType())[channelAxis(getLayout(), rankOf(getResult()))]);
}

Window ConvOp::getWindow() {
  return makeWindow(kernelOf(getKernel(), getFilter().getType()), getStrides(), getPads(), getDilations());
}

bool ConvOp::isDepthwise() {
  Dims in = dimsOf(getInput().getType()), out = dimsOf(getType());
  int64_t axis = channelAxis(getLayout(), in.size());
  return getGroups() > 1 && in[axis] == Dim(getGroups()) && out[axis] == Dim(getGroups());
}

/// The residual is read where its result element is written.
SmallVector<plim::graph::Alias> ConvOp::getAliases() {
  if (!getResidual())
    return {};
  return {{0, getODSOperandIndexAndLength(3).first, AliasKind::InPlace}};
}

LayoutBehaviour ConvOp::getLayoutBehaviour() { return LayoutBehaviour::Wants; }

//===----------------------------------------------------------------------===//
// conv_transpose
//===----------------------------------------------------------------------===//

LogicalResult ConvTransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  StringRef name = "graph.conv_transpose";
  Type input = adaptor.getInput().getType();
  ImageLayout layout = adaptor.getLayout();
  SmallVector<int64_t> kernel = kernelOf(adaptor.getKernel(), adaptor.getFilter().getType());
  int64_t groups = adaptor.getGroups();
  if (failed(checkOperands(loc, name, input, adaptor.getFilter().getType(), adaptor.getKernel(), kernel,
                           adaptor.getStrides(), adaptor.getPads(), adaptor.getDilations(), layout, groups)))
    return failure();
  Dims dims = dimsOf(input), spatial;
  Dim channels = dims[channelAxis(layout, dims.size())];
  ArrayRef<int64_t> filter = cast<RankedTensorType>(adaptor.getFilter().getType()).getShape();
  bool isMatrix = layout == ImageLayout::NHWC;
  bool fits = canBeEqual(channels, filter[0]) && filter[0] % groups == 0;
  if (isMatrix)
    fits &= filter.size() == 2 && groups == 1 && filter[1] % product(kernel) == 0;
  if (!fits)
    return shapeError(loc, name,
                      "needs a filter " +
                          Twine(isMatrix ? "[channels, kernel * outputs] of one group" : "[channels, ...]") + " for " +
                          toString(channels) + " input channels in " + Twine(groups) + " groups, has " +
                          toString(dimsOf(adaptor.getFilter().getType())));
  int64_t outputs = isMatrix ? filter[1] / product(kernel) : filter[1] * groups;
  Window window = makeWindow(kernel, adaptor.getStrides(), adaptor.getPads(), adaptor.getDilations());
  ArrayRef<int64_t> extra = adaptor.getOutputPadding();
  if (!extra.empty() && extra.size() != kernel.size())
    return shapeError(loc, name, "needs " + Twine(kernel.size()) + " output paddings, has " + Twine(extra.size()));
  for (size_t i = 0; i < kernel.size(); ++i) {
    Dim size = dims[firstSpatialAxis(layout) + i];
    Dim full = subtract(size, 1) * Dim(window.strides[i]) + Dim((kernel[i] - 1) * window.dilations[i] + 1) +
               Dim(extra.empty() ? 0 : extra[i]);
    Dim cropped = subtract(full, window.padLow[i] + window.padHigh[i]);
    if (cropped.hi < 1)
      return shapeError(loc, name,
                        "needs pads below " + Twine(full.hi) + " in spatial dimension " + Twine(i) + ", has " +
                            Twine(window.padLow[i] + window.padHigh[i]));
    spatial.push_back(cropped);
  }
  types.push_back(tensorOf(resultDims(layout, dims[0], outputs, spatial), elementTypeOf(input)));
  return success();
}

LogicalResult ConvTransposeOp::verify() {
  return verifyEpilogue(*this, getBias(), getResidual(),
                        dimsOf(getType())[channelAxis(getLayout(), rankOf(getResult()))]);
}

Window ConvTransposeOp::getWindow() {
  return makeWindow(kernelOf(getKernel(), getFilter().getType()), getStrides(), getPads(), getDilations());
}

LayoutBehaviour ConvTransposeOp::getLayoutBehaviour() {
  return getGroups() == 1 ? LayoutBehaviour::Wants : LayoutBehaviour::Blocks;
}

//===----------------------------------------------------------------------===//
// integer_conv
//===----------------------------------------------------------------------===//

LogicalResult IntegerConvOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  FailureOr<Type> type = inferConvolution(loc, "graph.integer_conv", adaptor, IntegerType::get(context, 32));
  if (succeeded(type))
    types.push_back(*type);
  return type;
}

LogicalResult IntegerConvOp::verify() {
  Dim channels = dimsOf(getType())[channelAxis(getLayout(), rankOf(getResult()))];
  auto check = [&](StringRef name, Value zero, Value operand, bool perChannel) -> LogicalResult {
    if (!zero)
      return success();
    Dims dims = dimsOf(zero.getType());
    if (elementTypeOf(zero) != elementTypeOf(operand))
      return emitOpError("needs ") << name << " of its operand's element type " << elementTypeOf(operand) << ", has "
                                   << elementTypeOf(zero);
    if (elementsOf(dims) != Dim(1) && !(perChannel && dims == Dims{channels}))
      return emitOpError("needs ") << name << " of one number" << (perChannel ? " or one an output channel" : "")
                                   << ", has " << toString(dims);
    return success();
  };
  return failure(failed(check("an input_zero", getInputZero(), getInput(), false)) ||
                 failed(check("a filter_zero", getFilterZero(), getFilter(), true)));
}

Window IntegerConvOp::getWindow() {
  return makeWindow(kernelOf(getKernel(), getFilter().getType()), getStrides(), getPads(), getDilations());
}

LayoutBehaviour IntegerConvOp::getLayoutBehaviour() { return LayoutBehaviour::Wants; }
