//===- MovementCandidates.cpp - Ops that move elements by position -----------------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "dialects/Graph/PartialOps.h"
#include "kernels/copy/concat.h"
#include "kernels/fill/fill.h"
#include "kernels/gather/gather.h"
#include "kernels/pad/apply.h"
#include "kernels/scatter/scatter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace plim::lowering {
namespace {

/// Transpositions and slices are strided copies of what they start from.
template <typename OpTy> void stridedCopy(OpTy op, Candidates &candidates) {
  StridedView view = viewThrough(candidates.sizes, op.getResult());
  // Nothing to read through: a slice of negative steps.
  if (view.value == op.getResult())
    return;
  LaunchBuilder(candidates)
      .readAs(view.value, view.dims, view.strides, view.offset)
      .write(op.getResult())
      .offer("copy.strided", {});
}

template <typename OpTy> void broadcast(OpTy op, Candidates &candidates) {
  LaunchBuilder(candidates)
      .readBroadcast(op.getInput(), candidates.of(op.getResult()))
      .write(op.getResult())
      .offer("copy.strided", {});
}

void concat(graph::ConcatOp op, Candidates &candidates) {
  LaunchBuilder launch(candidates);
  for (Value v : op.getInputs())
    launch.read(v);
  launch.write(op.getResult()).offer("copy.concat", {int64_t(op.getAxis())});
}

void pad(graph::PadOp op, Candidates &candidates) {
  SmallVector<int64_t> attrs(PLIM_PAD_WORDS, 0);
  switch (op.getMode()) {
  case graph::PadMode::Constant:
    attrs[PLIM_PAD_MODE] = PLIM_PAD_CONSTANT;
    break;
  case graph::PadMode::Edge:
    attrs[PLIM_PAD_MODE] = PLIM_PAD_EDGE;
    break;
  case graph::PadMode::Reflect:
    attrs[PLIM_PAD_MODE] = PLIM_PAD_REFLECT;
    break;
  case graph::PadMode::Wrap:
    attrs[PLIM_PAD_MODE] = PLIM_PAD_WRAP;
    break;
  }
  attrs[PLIM_PAD_VALUE] = word(op.getValue());
  for (auto [d, low] : llvm::enumerate(op.getLow()))
    attrs[PLIM_PAD_BEGIN + d] = low;
  LaunchBuilder(candidates).read(op.getInput()).write(op.getResult()).offer("pad.apply", attrs);
}

/// Every element START + 0 * coordinate.
template <typename OpTy> void fill(OpTy op, Candidates &candidates) {
  bool isFloat = isa<FloatType>(graph::elementTypeOf(op.getResult()));
  double value = op.getValue();
  LaunchBuilder(candidates).write(op.getResult()).offer("fill.iota", {-1, isFloat ? word(value) : int64_t(value), 0});
}

/// The number that a constant of one element is, as the word of a kernel's attribute.
std::optional<int64_t> constantWord(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  Type element = elements.getElementType();
  if (isa<FloatType>(element)) {
    APFloat number = elements.getSplatValue<APFloat>();
    bool lost;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return word(number.convertToDouble());
  }
  APInt number = elements.getSplatValue<APInt>();
  return cast<IntegerType>(element).isUnsigned() ? int64_t(number.getZExtValue()) : number.getSExtValue();
}

/// A range too long to fold, between known ends.
void range(graph::RangeOp op, Candidates &candidates) {
  std::optional<int64_t> start = constantWord(op.getStart()), step = constantWord(op.getStep());
  if (start && step)
    LaunchBuilder(candidates).write(op.getResult()).offer("fill.iota", {0, *start, *step});
}

template <typename OpTy> void gather(OpTy op, StringRef kernel, int64_t axis, Candidates &candidates) {
  LaunchBuilder(candidates).read(op.getInput()).read(op.getIndices()).write(op.getResult()).offer(kernel, {axis});
}
void gatherAxis(graph::GatherOp op, Candidates &candidates) {
  gather(op, "gather.axis", int64_t(op.getAxis()), candidates);
}
void gatherElements(graph::GatherElementsOp op, Candidates &candidates) {
  gather(op, "gather.elements", int64_t(op.getAxis()), candidates);
}
void gatherPartial(graph::PartialGatherOp op, Candidates &candidates) {
  LaunchBuilder launch(candidates);
  launch.read(op.getPiece()).read(op.getIndices());
  if (op.getSoFar())
    launch.read(op.getSoFar());
  launch.write(op.getResult()).offer("gather.partial", {int64_t(op.getFirst()), int64_t(op.getRows())});
}
void gatherNd(graph::GatherNdOp op, Candidates &candidates) {
  gather(op, "gather.nd", int64_t(op.getBatchDims()), candidates);
}

template <typename OpTy> void scatter(OpTy op, StringRef kernel, int64_t axis, Candidates &candidates) {
  LaunchBuilder(candidates)
      .read(op.getInput())
      .read(op.getIndices())
      .read(op.getUpdates())
      .write(op.getResult())
      .offer(kernel, {axis, int64_t(op.getReduction())});
}
void scatterElements(graph::ScatterElementsOp op, Candidates &candidates) {
  scatter(op, "scatter.elements", int64_t(op.getAxis()), candidates);
}
void scatterNd(graph::ScatterNdOp op, Candidates &candidates) { scatter(op, "scatter.nd", 0, candidates); }

/// ON and OFF are words of the launch: values that are known now.
void oneHot(graph::OneHotOp op, Candidates &candidates) {
  DenseElementsAttr values;
  if (!matchPattern(op.getValues(), m_Constant(&values)) || values.getNumElements() != 2)
    return;
  SmallVector<double> offOn;
  if (isa<FloatType>(values.getElementType()))
    for (const APFloat &v : values.getValues<APFloat>())
      offOn.push_back(v.convertToDouble());
  else
    for (const APInt &v : values.getValues<APInt>())
      offOn.push_back(double(v.getSExtValue()));
  LaunchBuilder(candidates)
      .read(op.getIndices())
      .write(op.getResult())
      .offer("fill.one_hot", {int64_t(op.getAxis()), word(offOn[1]), word(offOn[0])});
}

/// A kernel of the user's, linked by its symbol.
void custom(graph::CustomOp op, Candidates &candidates) {
  LaunchBuilder launch(candidates);
  for (Value v : op.getInputs())
    launch.read(v);
  for (Value v : op.getOutputs())
    launch.write(v);
  graph::KernelCandidate c;
  c.kernel = op.getKernel().str();
  c.attrs.assign(op.getWords().begin(), op.getWords().end());
  c.tasks = uint32_t(op.getTasks());
  c.sharedBytes = op.getSharedBytes();
  c.scratchBytes = op.getScratchBytes();
  c.nanoseconds = 1;
  c.numericsClass = c.kernel;
  launch.offer(std::move(c));
}

} // namespace

void registerMovementCandidates(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, graph::GraphDialect *) {
    using namespace graph;
    TransposeOp::attachInterface<CandidateModel<TransposeOp, stridedCopy<TransposeOp>>>(*context);
    SliceOp::attachInterface<CandidateModel<SliceOp, stridedCopy<SliceOp>>>(*context);
    DynamicSliceOp::attachInterface<CandidateModel<DynamicSliceOp, stridedCopy<DynamicSliceOp>>>(*context);
    BroadcastOp::attachInterface<CandidateModel<BroadcastOp, broadcast<BroadcastOp>>>(*context);
    DynamicBroadcastOp::attachInterface<CandidateModel<DynamicBroadcastOp, broadcast<DynamicBroadcastOp>>>(*context);
    PadOp::attachInterface<CandidateModel<PadOp, pad>>(*context);
    RangeOp::attachInterface<CandidateModel<RangeOp, range>>(*context);
    FillOp::attachInterface<CandidateModel<FillOp, fill<FillOp>>>(*context);
    DynamicFillOp::attachInterface<CandidateModel<DynamicFillOp, fill<DynamicFillOp>>>(*context);
    GatherOp::attachInterface<CandidateModel<GatherOp, gatherAxis>>(*context);
    GatherElementsOp::attachInterface<CandidateModel<GatherElementsOp, gatherElements>>(*context);
    PartialGatherOp::attachInterface<CandidateModel<PartialGatherOp, gatherPartial>>(*context);
    GatherNdOp::attachInterface<CandidateModel<GatherNdOp, gatherNd>>(*context);
    ScatterElementsOp::attachInterface<CandidateModel<ScatterElementsOp, scatterElements>>(*context);
    ScatterNdOp::attachInterface<CandidateModel<ScatterNdOp, scatterNd>>(*context);
    ConcatOp::attachInterface<CandidateModel<ConcatOp, concat>>(*context);
    OneHotOp::attachInterface<CandidateModel<OneHotOp, oneHot>>(*context);
    CustomOp::attachInterface<CandidateModel<CustomOp, custom>>(*context);
  });
}

} // namespace plim::lowering
