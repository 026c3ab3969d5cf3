//===- ConvolutionCandidates.cpp - Convolutions, pooling, resizing -----------------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "dialects/Graph/Windows.h"
#include "kernels/conv/integer.h"
#include "kernels/pool/pool.h"
#include "kernels/resize/apply.h"

using namespace mlir;

namespace plim::lowering {
namespace {

/// Three words from a list of up to three spatial values.
void setSpatial(SmallVectorImpl<int64_t> &attrs, int at, ArrayRef<int64_t> values) {
  for (auto [i, v] : llvm::enumerate(values))
    attrs[at + i] = v;
}

bool all(ArrayRef<int64_t> values, int64_t value) {
  return llvm::all_of(values, [=](int64_t v) { return v == value; });
}

/// Kernels know up to three spatial dimensions.
bool isImage(Value input) { return graph::rankOf(input) <= 5; }

/// Words of a convolution without flags and epilogue.
template <typename ConvLike> SmallVector<int64_t> windowAttrs(ConvLike op, int64_t filter) {
  graph::Window w = op.getWindow();
  SmallVector<int64_t> attrs(PLIM_CONV_WORDS, 0);
  attrs[PLIM_CONV_LAYOUT] = op.getLayout() == graph::ImageLayout::NHWC ? PLIM_CONV_NHWC : PLIM_CONV_NCHW;
  attrs[PLIM_CONV_FILTER] = filter;
  attrs[PLIM_CONV_GROUPS] = op.getGroups();
  for (int at : {PLIM_CONV_KERNEL, PLIM_CONV_STRIDE, PLIM_CONV_DILATION})
    setSpatial(attrs, at, {1, 1, 1});
  setSpatial(attrs, PLIM_CONV_KERNEL, w.kernel);
  setSpatial(attrs, PLIM_CONV_STRIDE, w.strides);
  setSpatial(attrs, PLIM_CONV_DILATION, w.dilations);
  setSpatial(attrs, PLIM_CONV_PAD, w.padLow);
  return attrs;
}

template <typename ConvLike> SmallVector<int64_t> convAttrs(ConvLike op, int64_t filter) {
  SmallVector<int64_t> attrs = windowAttrs(op, filter);
  attrs[PLIM_CONV_FLAGS] = (op.getBias() ? PLIM_EPILOGUE_BIAS : 0) | (op.getResidual() ? PLIM_EPILOGUE_RESIDUAL : 0);
  attrs[PLIM_CONV_ACTIVATION] = activationCode(op.getActivation());
  attrs[PLIM_CONV_ACT_A] = word(op.getAlpha());
  attrs[PLIM_CONV_ACT_B] = word(op.getBeta());
  return attrs;
}

int64_t filterForm(bool nhwc, bool depthwise) {
  return !nhwc ? PLIM_CONV_FILTER_DIRECT : depthwise ? PLIM_CONV_FILTER_DEPTHWISE : PLIM_CONV_FILTER_TAPS;
}

/// How a kernel sees images: as they lie, or as rows of pixels under two spatial dimensions.
enum class Rows { AsTheyLie, OfLines, OfColumns };

/// Images of one spatial dimension are rows of pixels. So are columns of one pixel a row: their bytes are those of
/// rows, which kernels work on as fast as on any.
Rows rowsOf(Operation *op, const graph::Window &w, bool nhwc, Candidates &candidates) {
  Value input = op->getOperand(0), result = op->getResult(0);
  if (!nhwc)
    return Rows::AsTheyLie;
  if (graph::rankOf(input) == 3)
    return Rows::OfLines;
  bool isColumn = graph::rankOf(input) == 4 && isOne(candidates.of(input)[2]) && isOne(candidates.of(result)[2]) &&
                  w.kernel[1] == 1 && w.padLow[1] == 0 && w.padHigh[1] == 0;
  return isColumn ? Rows::OfColumns : Rows::AsTheyLie;
}

Sizes asRows(SizesRef own, Rows rows) {
  Sizes dims(own);
  if (rows == Rows::OfLines)
    dims.insert(dims.begin() + 1, getAffineConstantExpr(1, dims[0].getContext()));
  else if (rows == Rows::OfColumns)
    std::swap(dims[1], dims[2]);
  return dims;
}

/// The same for words of which there is one a spatial dimension; `one` is that of a dimension of size 1.
void wordsAsRows(SmallVectorImpl<int64_t> &attrs, int at, int64_t one, Rows rows) {
  if (rows == Rows::OfLines)
    attrs[at + 1] = attrs[at], attrs[at] = one;
  else if (rows == Rows::OfColumns)
    std::swap(attrs[at], attrs[at + 1]);
}

void convWordsAsRows(SmallVectorImpl<int64_t> &attrs, Rows rows) {
  for (int at : {PLIM_CONV_KERNEL, PLIM_CONV_STRIDE, PLIM_CONV_DILATION})
    wordsAsRows(attrs, at, 1, rows);
  wordsAsRows(attrs, PLIM_CONV_PAD, 0, rows);
}

/// `filterDims`: how the kernel sees the filter; empty for as it lies.
template <typename ConvLike>
LaunchBuilder convLaunch(ConvLike op, Candidates &candidates, Rows rows, SizesRef filterDims = {}) {
  LaunchBuilder launch(candidates);
  auto image = [&](Value v) { return asRows(candidates.of(v), rows); };
  launch.readAs(op.getInput(), image(op.getInput()), rowMajor(image(op.getInput())));
  if (filterDims.empty())
    launch.read(op.getFilter());
  else
    launch.readAs(op.getFilter(), filterDims, rowMajor(filterDims));
  if (op.getBias())
    launch.read(op.getBias());
  if (op.getResidual())
    launch.readAs(op.getResidual(), image(op.getResidual()), rowMajor(image(op.getResidual())));
  launch.writeAs(op.getResult(), image(op.getResult()), rowMajor(image(op.getResult())));
  return launch;
}

/// What all fast convolutions ask: f32, nhwc, one or two spatial dimensions, and a bias of one number a channel.
template <typename ConvLike> bool isFastConv(ConvLike op) {
  int64_t rank = graph::rankOf(op.getInput());
  return op.getLayout() == graph::ImageLayout::NHWC && (rank == 3 || rank == 4) &&
         graph::elementTypeOf(op.getInput()).isF32() && graph::elementTypeOf(op.getFilter()).isF32();
}

void conv(graph::ConvOp op, Candidates &candidates) {
  if (!isImage(op.getInput()))
    return;
  bool nhwc = op.getLayout() == graph::ImageLayout::NHWC;
  bool depthwise = nhwc && op.isDepthwise();
  bool packed = graph::layoutOf(op.getFilter().getType()).has_value();
  SmallVector<int64_t> attrs = convAttrs(op, filterForm(nhwc, depthwise));
  Rows rows = isFastConv(op) ? rowsOf(op, op.getWindow(), nhwc, candidates) : Rows::AsTheyLie;
  if (depthwise && rows == Rows::OfColumns)
    rows = Rows::AsTheyLie;
  convWordsAsRows(attrs, rows);
  Sizes filterDims;
  if (depthwise && rows == Rows::OfLines) {
    // [k, C] as [1, k, C].
    filterDims = Sizes(candidates.of(op.getFilter()));
    filterDims.insert(filterDims.begin(), getAffineConstantExpr(1, filterDims[0].getContext()));
  }
  LaunchBuilder launch = convLaunch(op, candidates, rows, filterDims);
  if (isFastConv(op) && depthwise) {
    launch.offer("conv.nhwc_depthwise", attrs);
  } else if (isFastConv(op) && packed && op.getGroups() == 1) {
    graph::Window w = op.getWindow();
    if (all(w.kernel, 1) && all(w.strides, 1) && all(w.padLow, 0) && all(w.padHigh, 0))
      launch.offer("conv.nhwc_pointwise", attrs, "conv.nhwc");
    if (candidates.empty()) {
      // The most exact one last: it is what --numerics=exact keeps.
      if (w.kernel.size() == 2 && all(w.kernel, 3) && all(w.strides, 1) && all(w.dilations, 1))
        launch.offer("conv.nhwc_winograd", attrs, "conv.nhwc_winograd");
      launch.offer("conv.nhwc_direct", attrs, "conv.nhwc");
    }
  }
  if (candidates.empty())
    launch.offer("conv.reference", attrs);
}

void integerConv(graph::IntegerConvOp op, Candidates &candidates) {
  if (!isImage(op.getInput()))
    return;
  bool nhwc = op.getLayout() == graph::ImageLayout::NHWC;
  graph::Dims input = graph::dimsOf(op.getInput().getType()), output = graph::dimsOf(op.getType());
  int64_t groups = op.getGroups(), channel = graph::channelAxis(op.getLayout(), input.size());
  bool depthwise = nhwc && groups > 1 && input[channel] == graph::Dim(groups) && output[channel] == graph::Dim(groups);
  SmallVector<int64_t> attrs = windowAttrs(op, filterForm(nhwc, depthwise));
  LaunchBuilder launch(candidates);
  launch.read(op.getInput()).read(op.getFilter());
  for (auto [zero, flag] :
       {std::pair<Value, int64_t>(op.getInputZero(), PLIM_INTEGER_X_ZERO), {op.getFilterZero(), PLIM_INTEGER_W_ZERO}}) {
    if (!zero)
      continue;
    attrs[PLIM_CONV_FLAGS] |= flag;
    if (graph::elementsOf(graph::dimsOf(zero.getType())) == graph::Dim(1))
      launch.readAs(zero, {}, {});
    else
      launch.read(zero);
  }
  launch.write(op.getResult());
  if (depthwise)
    launch.offer("conv.integer_nhwc_depthwise", attrs);
  else if (nhwc && graph::layoutOf(op.getFilter().getType()))
    launch.offer("conv.integer_nhwc", attrs);
  if (candidates.empty())
    launch.offer("conv.integer_reference", attrs);
}

void convTranspose(graph::ConvTransposeOp op, Candidates &candidates) {
  if (!isImage(op.getInput()))
    return;
  bool nhwc = op.getLayout() == graph::ImageLayout::NHWC;
  bool packed = graph::layoutOf(op.getFilter().getType()).has_value();
  SmallVector<int64_t> attrs = convAttrs(op, nhwc ? PLIM_CONV_FILTER_COLUMNS : PLIM_CONV_FILTER_DIRECT);
  Rows rows = nhwc && graph::rankOf(op.getInput()) == 3 ? Rows::OfLines : Rows::AsTheyLie;
  convWordsAsRows(attrs, rows);
  LaunchBuilder launch = convLaunch(op, candidates, rows);
  graph::Window w = op.getWindow();
  if (isFastConv(op) && packed && w.kernel == w.strides && all(w.dilations, 1) && all(w.padLow, 0) && all(w.padHigh, 0))
    launch.offer("conv_transpose.nhwc", attrs);
  if (candidates.empty())
    launch.offer("conv_transpose.reference", attrs);
}

void pool(graph::PoolOp op, Candidates &candidates) {
  if (!isImage(op.getInput()))
    return;
  graph::Window w = op.getWindow();
  bool nhwc = op.getLayout() == graph::ImageLayout::NHWC, isMax = op.getKind() == graph::PoolKind::Max;
  SmallVector<int64_t> attrs(PLIM_POOL_WORDS, 0);
  attrs[PLIM_POOL_LAYOUT] = nhwc ? PLIM_CONV_NHWC : PLIM_CONV_NCHW;
  attrs[PLIM_POOL_KIND] = isMax ? PLIM_POOL_MAX : PLIM_POOL_AVERAGE;
  attrs[PLIM_POOL_COUNT_INCLUDE_PAD] = op.getCountIncludePad();
  for (int at : {PLIM_POOL_KERNEL, PLIM_POOL_STRIDE, PLIM_POOL_DILATION})
    setSpatial(attrs, at, {1, 1, 1});
  setSpatial(attrs, PLIM_POOL_KERNEL, w.kernel);
  setSpatial(attrs, PLIM_POOL_STRIDE, w.strides);
  setSpatial(attrs, PLIM_POOL_DILATION, w.dilations);
  setSpatial(attrs, PLIM_POOL_PAD, w.padLow);
  setSpatial(attrs, PLIM_POOL_PAD_END, w.padHigh);
  int64_t rank = graph::rankOf(op.getInput());
  Rows rows = nhwc && rank == 3 ? Rows::OfLines : Rows::AsTheyLie;
  for (int at : {PLIM_POOL_KERNEL, PLIM_POOL_STRIDE, PLIM_POOL_DILATION})
    wordsAsRows(attrs, at, 1, rows);
  for (int at : {PLIM_POOL_PAD, PLIM_POOL_PAD_END})
    wordsAsRows(attrs, at, 0, rows);
  Sizes from = asRows(candidates.of(op.getInput()), rows), to = asRows(candidates.of(op.getResult()), rows);
  LaunchBuilder launch(candidates);
  launch.readAs(op.getInput(), from, rowMajor(from)).writeAs(op.getResult(), to, rowMajor(to));
  if (nhwc && (rank == 3 || rank == 4) && graph::elementTypeOf(op.getInput()).isF32())
    launch.offer(isMax ? "pool.nhwc_max" : "pool.nhwc_average", attrs);
  if (candidates.empty())
    launch.offer("pool.reference", attrs);
}

static_assert(int(graph::ResizeMode::Nearest) == PLIM_RESIZE_NEAREST &&
              int(graph::ResizeMode::Linear) == PLIM_RESIZE_LINEAR &&
              int(graph::ResizeMode::Cubic) == PLIM_RESIZE_CUBIC);
static_assert(int(graph::CoordinateMode::HalfPixel) == PLIM_RESIZE_HALF_PIXEL &&
              int(graph::CoordinateMode::PytorchHalfPixel) == PLIM_RESIZE_PYTORCH_HALF_PIXEL &&
              int(graph::CoordinateMode::AlignCorners) == PLIM_RESIZE_ALIGN_CORNERS &&
              int(graph::CoordinateMode::Asymmetric) == PLIM_RESIZE_ASYMMETRIC &&
              int(graph::CoordinateMode::HalfPixelSymmetric) == PLIM_RESIZE_HALF_PIXEL_SYMMETRIC);
static_assert(int(graph::NearestMode::RoundPreferFloor) == PLIM_RESIZE_ROUND_PREFER_FLOOR &&
              int(graph::NearestMode::RoundPreferCeil) == PLIM_RESIZE_ROUND_PREFER_CEIL &&
              int(graph::NearestMode::Floor) == PLIM_RESIZE_FLOOR && int(graph::NearestMode::Ceil) == PLIM_RESIZE_CEIL);

void resize(graph::ResizeOp op, Candidates &candidates) {
  SmallVector<int64_t> attrs(PLIM_RESIZE_WORDS, 0);
  attrs[PLIM_RESIZE_MODE] = int64_t(op.getMode());
  attrs[PLIM_RESIZE_COORDINATE] = int64_t(op.getCoordinateMode());
  attrs[PLIM_RESIZE_ROUNDING] = int64_t(op.getNearestMode());
  attrs[PLIM_RESIZE_CUBIC_A] = word(op.getCubicCoefficient());
  for (int d = 0; d < PLIM_MAX_RANK; ++d)
    attrs[PLIM_RESIZE_SCALE + d] = word(1.0);
  // Without scales the sizes give them, and must be known.
  if (op.getScales().empty() && !cast<RankedTensorType>(op.getInput().getType()).hasStaticShape())
    return;
  int first = op.getLayout() == graph::ImageLayout::NHWC ? 1 : 2;
  for (auto [i, scale] : llvm::enumerate(op.getSpatialScales()))
    attrs[PLIM_RESIZE_SCALE + first + i] = word(scale);
  LaunchBuilder(candidates).read(op.getInput()).write(op.getResult()).offer("resize.apply", attrs);
}

} // namespace

void registerConvolutionCandidates(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, graph::GraphDialect *) {
    graph::ConvOp::attachInterface<CandidateModel<graph::ConvOp, conv>>(*context);
    graph::IntegerConvOp::attachInterface<CandidateModel<graph::IntegerConvOp, integerConv>>(*context);
    graph::ConvTransposeOp::attachInterface<CandidateModel<graph::ConvTransposeOp, convTranspose>>(*context);
    graph::ResizeOp::attachInterface<CandidateModel<graph::ResizeOp, resize>>(*context);
    graph::PoolOp::attachInterface<CandidateModel<graph::PoolOp, pool>>(*context);
  });
}

} // namespace plim::lowering
