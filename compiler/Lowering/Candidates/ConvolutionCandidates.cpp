//===- ConvolutionCandidates.cpp - Convolutions, pooling, resizing -----------------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
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

template <typename ConvLike> SmallVector<int64_t> convAttrs(ConvLike op, int64_t filter) {
  graph::Window w = op.getWindow();
  SmallVector<int64_t> attrs(PLIM_CONV_WORDS, 0);
  attrs[PLIM_CONV_LAYOUT] = op.getLayout() == graph::ImageLayout::NHWC ? PLIM_CONV_NHWC : PLIM_CONV_NCHW;
  attrs[PLIM_CONV_FILTER] = filter;
  attrs[PLIM_CONV_FLAGS] = (op.getBias() ? PLIM_EPILOGUE_BIAS : 0) | (op.getResidual() ? PLIM_EPILOGUE_RESIDUAL : 0);
  attrs[PLIM_CONV_ACTIVATION] = activationCode(op.getActivation());
  attrs[PLIM_CONV_ACT_A] = word(op.getAlpha());
  attrs[PLIM_CONV_ACT_B] = word(op.getBeta());
  attrs[PLIM_CONV_GROUPS] = op.getGroups();
  for (int at : {PLIM_CONV_KERNEL, PLIM_CONV_STRIDE, PLIM_CONV_DILATION})
    setSpatial(attrs, at, {1, 1, 1});
  setSpatial(attrs, PLIM_CONV_KERNEL, w.kernel);
  setSpatial(attrs, PLIM_CONV_STRIDE, w.strides);
  setSpatial(attrs, PLIM_CONV_DILATION, w.dilations);
  setSpatial(attrs, PLIM_CONV_PAD, w.padLow);
  return attrs;
}

template <typename ConvLike> LaunchBuilder convLaunch(ConvLike op, Candidates &candidates) {
  LaunchBuilder launch(candidates);
  launch.read(op.getInput()).read(op.getFilter());
  if (op.getBias())
    launch.read(op.getBias());
  if (op.getResidual())
    launch.read(op.getResidual());
  launch.write(op.getResult());
  return launch;
}

/// What all fast convolutions ask: f32, nhwc, two spatial dimensions, and a bias of one number a channel.
template <typename ConvLike> bool isFastConv(ConvLike op) {
  return op.getLayout() == graph::ImageLayout::NHWC && graph::rankOf(op.getInput()) == 4 &&
         graph::elementTypeOf(op.getInput()).isF32() && graph::elementTypeOf(op.getFilter()).isF32();
}

/// Whether images are columns of one pixel a row: their bytes are those of rows, which kernels work on as fast as on
/// any.
bool isColumn(graph::ConvOp op, Candidates &candidates) {
  graph::Window w = op.getWindow();
  return isOne(candidates.of(op.getInput())[2]) && isOne(candidates.of(op.getResult())[2]) && w.kernel[1] == 1 &&
         w.padLow[1] == 0 && w.padHigh[1] == 0;
}

/// The launch and attributes of a column with height and width swapped.
LaunchBuilder rowLaunch(graph::ConvOp op, SmallVectorImpl<int64_t> &attrs, Candidates &candidates) {
  for (int at : {PLIM_CONV_KERNEL, PLIM_CONV_STRIDE, PLIM_CONV_DILATION, PLIM_CONV_PAD})
    std::swap(attrs[at], attrs[at + 1]);
  auto asRow = [&](Value v) {
    Sizes dims(candidates.of(v));
    std::swap(dims[1], dims[2]);
    return dims;
  };
  LaunchBuilder launch(candidates);
  launch.readAs(op.getInput(), asRow(op.getInput()), rowMajor(asRow(op.getInput()))).read(op.getFilter());
  if (op.getBias())
    launch.read(op.getBias());
  if (op.getResidual())
    launch.readAs(op.getResidual(), asRow(op.getResidual()), rowMajor(asRow(op.getResidual())));
  launch.writeAs(op.getResult(), asRow(op.getResult()), rowMajor(asRow(op.getResult())));
  return launch;
}

void conv(graph::ConvOp op, Candidates &candidates) {
  bool nhwc = op.getLayout() == graph::ImageLayout::NHWC;
  bool depthwise = nhwc && op.isDepthwise();
  bool packed = graph::layoutOf(op.getFilter().getType()).has_value();
  int64_t filter = !nhwc ? PLIM_CONV_FILTER_DIRECT : depthwise ? PLIM_CONV_FILTER_DEPTHWISE : PLIM_CONV_FILTER_TAPS;
  SmallVector<int64_t> attrs = convAttrs(op, filter);
  LaunchBuilder launch = isFastConv(op) && !depthwise && isColumn(op, candidates) ? rowLaunch(op, attrs, candidates)
                                                                                  : convLaunch(op, candidates);
  if (isFastConv(op) && depthwise) {
    launch.offer("conv.nhwc_depthwise", attrs);
  } else if (isFastConv(op) && packed && op.getGroups() == 1) {
    graph::Window w = op.getWindow();
    auto all = [](ArrayRef<int64_t> values, int64_t v) {
      return llvm::all_of(values, [=](int64_t x) { return x == v; });
    };
    if (all(w.kernel, 1) && all(w.strides, 1) && all(w.padLow, 0) && all(w.padHigh, 0))
      launch.offer("conv.nhwc_pointwise", attrs, "conv.nhwc");
    if (candidates.empty()) {
      // The most exact one last: it is what --numerics=exact keeps.
      if (all(w.kernel, 3) && all(w.strides, 1) && all(w.dilations, 1))
        launch.offer("conv.nhwc_winograd", attrs, "conv.nhwc_winograd");
      launch.offer("conv.nhwc_direct", attrs, "conv.nhwc");
    }
  }
  if (candidates.empty())
    launch.offer("conv.reference", attrs);
}

void convTranspose(graph::ConvTransposeOp op, Candidates &candidates) {
  LaunchBuilder launch = convLaunch(op, candidates);
  bool nhwc = op.getLayout() == graph::ImageLayout::NHWC;
  bool packed = graph::layoutOf(op.getFilter().getType()).has_value();
  SmallVector<int64_t> attrs = convAttrs(op, nhwc ? PLIM_CONV_FILTER_COLUMNS : PLIM_CONV_FILTER_DIRECT);
  graph::Window w = op.getWindow();
  auto all = [](ArrayRef<int64_t> values, int64_t v) {
    return llvm::all_of(values, [=](int64_t x) { return x == v; });
  };
  if (isFastConv(op) && packed && w.kernel == w.strides && all(w.dilations, 1) && all(w.padLow, 0) && all(w.padHigh, 0))
    launch.offer("conv_transpose.nhwc", attrs);
  if (candidates.empty())
    launch.offer("conv_transpose.reference", attrs);
}

void pool(graph::PoolOp op, Candidates &candidates) {
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
  LaunchBuilder launch(candidates);
  launch.read(op.getInput()).write(op.getResult());
  if (nhwc && graph::rankOf(op.getInput()) == 4 && graph::elementTypeOf(op.getInput()).isF32())
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
    graph::ConvTransposeOp::attachInterface<CandidateModel<graph::ConvTransposeOp, convTranspose>>(*context);
    graph::ResizeOp::attachInterface<CandidateModel<graph::ResizeOp, resize>>(*context);
    graph::PoolOp::attachInterface<CandidateModel<graph::PoolOp, pool>>(*context);
  });
}

} // namespace plim::lowering
