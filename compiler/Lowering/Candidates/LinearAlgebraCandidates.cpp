//===- LinearAlgebraCandidates.cpp - Matrix products, packing, attention -----------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "dialects/Graph/PartialOps.h"
#include "kernels/attention/decode_cost.h"
#include "kernels/matmul/dot_cost.h"

using namespace mlir;

namespace plim::lowering {
namespace {

/// Dims and strides of a matmul operand: batch dims repeated to `batch`, then the matrix, transposed by strides.
struct MatrixView {
  Sizes dims, strides;
};

MatrixView matrixView(SizesRef own, SizesRef batch, bool transpose, bool isLhs) {
  Sizes dims(own), strides = rowMajor(own);
  MLIRContext *context = own.front().getContext();
  AffineExpr one = getAffineConstantExpr(1, context);
  if (own.size() == 1) {
    // A vector is a row on the left and a column on the right.
    dims.insert(isLhs ? dims.begin() : dims.end(), one);
    strides.insert(isLhs ? strides.begin() : strides.end(), isLhs ? own[0] : one);
  }
  size_t rank = dims.size();
  if (transpose && own.size() > 1) {
    std::swap(dims[rank - 1], dims[rank - 2]);
    std::swap(strides[rank - 1], strides[rank - 2]);
  }
  MatrixView view;
  size_t ownBatch = rank - 2;
  for (size_t b = 0; b < batch.size(); ++b) {
    view.dims.push_back(batch[b]);
    size_t missing = batch.size() - ownBatch;
    bool repeats = b < missing || (isOne(dims[b - missing]) && !isOne(batch[b]));
    view.strides.push_back(repeats ? getAffineConstantExpr(0, context) : strides[b - missing]);
  }
  view.dims.append(dims.end() - 2, dims.end());
  view.strides.append(strides.end() - 2, strides.end());
  return view;
}

void matmul(graph::MatmulOp op, Candidates &candidates) {
  Value result = op.getResult();
  SizesRef lhs = candidates.of(op.getLhs()), rhs = candidates.of(op.getRhs());
  bool rowVector = lhs.size() == 1, columnVector = rhs.size() == 1;
  Sizes batch(candidates.of(result));
  batch.truncate(batch.size() - (rowVector ? 0 : 1) - (columnVector ? 0 : 1));
  MatrixView a = matrixView(lhs, batch, op.getTransposeLhs(), true);
  bool packed = graph::layoutOf(op.getRhs().getType()).has_value();
  MatrixView b = matrixView(rhs, packed ? SizesRef() : SizesRef(batch), op.getTransposeRhs(), false);
  AffineExpr m = a.dims[a.dims.size() - 2], n = b.dims.back(), one = getAffineConstantExpr(1, m.getContext());
  // One matrix for all batches: rows of all batches are rows of one product, where they lie evenly.
  Sizes outDims(batch);
  outDims.append({m, n});
  if (packed && !batch.empty() && !op.getTransposeLhs() && isOne(a.strides.back())) {
    AffineExpr rows = m, expected = a.strides[a.strides.size() - 2] * m;
    bool even = true;
    for (size_t d = batch.size(); d-- > 0;) {
      even &= a.strides[d] == expected;
      expected = expected * batch[d], rows = rows * batch[d];
    }
    if (even) {
      a.dims = {rows, a.dims.back()}, a.strides = {a.strides[a.strides.size() - 2], one};
      outDims = {rows, n};
    }
  }
  Sizes outStrides = rowMajor(outDims);
  int64_t flags = 0;
  LaunchBuilder launch(candidates);
  launch.readAs(op.getLhs(), a.dims, a.strides).readAs(op.getRhs(), b.dims, b.strides);
  if (Value bias = op.getBias()) {
    // The kernels take a bias of [N].
    SizesRef dims = candidates.of(bias);
    if (dims.empty() || dims.back() != n || !llvm::all_of(dims.drop_back(), isOne))
      return;
    flags |= PLIM_EPILOGUE_BIAS;
    launch.readAs(bias, {n}, {one});
  }
  if (Value residual = op.getResidual()) {
    flags |= PLIM_EPILOGUE_RESIDUAL;
    launch.readAs(residual, outDims, outStrides);
  }
  launch.writeAs(result, outDims, outStrides);
  SmallVector<int64_t> attrs = {flags, activationCode(op.getActivation()), word(op.getAlpha()), word(op.getBeta())};
  bool f32 = graph::elementTypeOf(op.getLhs()).isF32() && graph::elementTypeOf(op.getRhs()).isF32();
  if (f32 && packed && isOne(a.strides.back()))
    launch.offer("matmul.panel32", attrs, "matmul.panel32");
  else if (f32 && !packed) {
    int64_t rows = 1;
    for (AffineExpr size : ArrayRef(outDims).drop_back())
      rows *= std::min<int64_t>(candidates.sizes.largest(size), PLIM_DOT_ROWS_MAX + 1);
    auto isZero = [](AffineExpr stride) { return constantOf(stride) == 0; };
    bool oneMatrix = llvm::all_of(ArrayRef(b.strides).drop_back(2), isZero);
    // A piece of a product keeps the order of the whole one's sums.
    auto whole = op->getAttrOfType<StringAttr>(graph::kNumericsAttr);
    bool mayDot = !whole || whole == "matmul.dot";
    if (mayDot && rows <= PLIM_DOT_ROWS_MAX && oneMatrix && isOne(a.strides.back()) &&
        isOne(b.strides[b.strides.size() - 2]))
      launch.offer("matmul.dot", attrs, "matmul.dot");
    // Only one of the two, as their sums are in other orders: a plan for another budget has the same bits.
    if (candidates.empty())
      launch.offer("matmul.batched", attrs, "matmul.batched");
  }
  if (candidates.empty())
    launch.offer("matmul.reference", attrs);
}

void pack(graph::PackOp op, Candidates &candidates) {
  LaunchBuilder(candidates).read(op.getInput()).write(op.getResult()).offer("pack.panel32", {});
}

void attention(graph::AttentionOp op, Candidates &candidates) {
  SizesRef q = candidates.of(op.getQuery()), k = candidates.of(op.getKey());
  int64_t flags =
      (op.getMask() ? PLIM_ATTENTION_MASK : 0) | (op.getCausal() ? PLIM_ATTENTION_CAUSAL | PLIM_ATTENTION_FROM_END : 0);
  LaunchBuilder launch(candidates);
  launch.readThrough(op.getQuery()).readThrough(op.getKey()).readThrough(op.getValue());
  if (op.getMask())
    launch.readBroadcast(op.getMask(), {q[0], q[1], q[2], k[2]});
  launch.writeThrough(op.getResult());
  SmallVector<int64_t> attrs = {flags, word(op.getEffectiveScale()), 0, op.getChunk()};
  auto isMask = [](Type type) { return type.isF32() || type.isInteger(1); };
  bool fast =
      graph::elementTypeOf(op.getQuery()).isF32() && (!op.getMask() || isMask(graph::elementTypeOf(op.getMask())));
  if (fast) {
    if (candidates.sizes.largest(q[2]) <= PLIM_DECODE_QUERIES_MAX)
      launch.offer("attention.decode", attrs, "attention.decode");
    launch.offer("attention.flash", attrs, "attention.flash");
    launch.offer("attention.chunked", attrs, "attention.naive");
    launch.offer("attention.naive", attrs, "attention.naive");
  }
  if (candidates.empty())
    launch.offer("attention.reference", attrs);
}

} // namespace

void registerLinearAlgebraCandidates(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, graph::GraphDialect *) {
    graph::MatmulOp::attachInterface<CandidateModel<graph::MatmulOp, matmul>>(*context);
    graph::PackOp::attachInterface<CandidateModel<graph::PackOp, pack>>(*context);
    graph::AttentionOp::attachInterface<CandidateModel<graph::AttentionOp, attention>>(*context);
  });
}

} // namespace plim::lowering
