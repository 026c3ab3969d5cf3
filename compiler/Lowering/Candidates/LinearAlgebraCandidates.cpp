//===- LinearAlgebraCandidates.cpp - Matrix products, packing, attention -----------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "kernels/attention/attention.h"
#include "kernels/matmul/matmul.h"

using namespace mlir;

namespace plim::lowering {
namespace {

/// Dims and strides of a matmul operand: batch dims repeated to `batch`, then the matrix, transposed by strides.
struct MatrixView {
  SmallVector<int64_t> dims, strides;
};

MatrixView matrixView(Value value, ArrayRef<int64_t> batch, bool transpose, bool isLhs) {
  ArrayRef<int64_t> own = staticDims(value);
  SmallVector<int64_t> dims(own), strides = rowMajor(own);
  if (own.size() == 1) {
    // A vector is a row on the left and a column on the right.
    dims.insert(isLhs ? dims.begin() : dims.end(), 1);
    strides.insert(isLhs ? strides.begin() : strides.end(), isLhs ? own[0] : 1);
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
    bool repeats = b < missing || (dims[b - missing] == 1 && batch[b] != 1);
    view.strides.push_back(repeats ? 0 : strides[b - missing]);
  }
  view.dims.append(dims.end() - 2, dims.end());
  view.strides.append(strides.end() - 2, strides.end());
  return view;
}

void matmul(graph::MatmulOp op, Candidates &candidates) {
  Value result = op.getResult();
  bool rowVector = staticDims(op.getLhs()).size() == 1, columnVector = staticDims(op.getRhs()).size() == 1;
  SmallVector<int64_t> batch(staticDims(result));
  batch.truncate(batch.size() - (rowVector ? 0 : 1) - (columnVector ? 0 : 1));
  MatrixView a = matrixView(op.getLhs(), batch, op.getTransposeLhs(), true);
  bool packed = graph::layoutOf(op.getRhs().getType()).has_value();
  MatrixView b =
      matrixView(op.getRhs(), packed ? ArrayRef<int64_t>() : ArrayRef<int64_t>(batch), op.getTransposeRhs(), false);
  int64_t m = a.dims[a.dims.size() - 2], n = b.dims.back();
  // One matrix for all batches: rows of all batches are rows of one product, where they lie evenly.
  SmallVector<int64_t> outDims(batch);
  outDims.append({m, n});
  if (packed && !batch.empty() && !op.getTransposeLhs() && a.strides.back() == 1) {
    int64_t rows = m;
    bool even = true;
    int64_t expected = a.strides[a.strides.size() - 2] * m;
    for (size_t d = batch.size(); d-- > 0;) {
      even &= a.strides[d] == expected;
      expected *= batch[d], rows *= batch[d];
    }
    if (even) {
      a.dims = {rows, a.dims.back()}, a.strides = {a.strides[a.strides.size() - 2], 1};
      outDims = {rows, n};
    }
  }
  SmallVector<int64_t> outStrides = rowMajor(outDims);
  int64_t flags = 0;
  LaunchBuilder launch;
  launch.readAs(op.getLhs(), a.dims, a.strides).readAs(op.getRhs(), b.dims, b.strides);
  if (Value bias = op.getBias()) {
    // The kernels take a bias of [N].
    ArrayRef<int64_t> dims = staticDims(bias);
    if (graph::elementsOf(graph::dimsOf(bias.getType())).lo != n || dims.empty() || dims.back() != n)
      return;
    flags |= PLIM_EPILOGUE_BIAS;
    launch.readAs(bias, {n}, {1});
  }
  if (Value residual = op.getResidual()) {
    flags |= PLIM_EPILOGUE_RESIDUAL;
    launch.readAs(residual, outDims, outStrides);
  }
  launch.writeAs(result, outDims, outStrides);
  SmallVector<int64_t> attrs = {flags, activationCode(op.getActivation()), word(op.getAlpha()), word(op.getBeta())};
  bool f32 = graph::elementTypeOf(op.getLhs()).isF32() && graph::elementTypeOf(op.getRhs()).isF32();
  if (f32 && packed && a.strides.back() == 1)
    launch.offer("matmul.panel32", attrs, "matmul.panel32", candidates);
  else if (f32 && !packed)
    launch.offer("matmul.batched", attrs, "matmul.batched", candidates);
  if (candidates.empty())
    launch.offer("matmul.reference", attrs, candidates);
}

void pack(graph::PackOp op, Candidates &candidates) {
  LaunchBuilder().read(op.getInput()).write(op.getResult()).offer("pack.panel32", {}, candidates);
}

void attention(graph::AttentionOp op, Candidates &candidates) {
  ArrayRef<int64_t> q = staticDims(op.getQuery()), k = staticDims(op.getKey());
  int64_t flags = (op.getMask() ? PLIM_ATTENTION_MASK : 0) | (op.getCausal() ? PLIM_ATTENTION_CAUSAL : 0);
  LaunchBuilder launch;
  launch.readThrough(op.getQuery()).readThrough(op.getKey()).readThrough(op.getValue());
  if (op.getMask())
    launch.readBroadcast(op.getMask(), {q[0], q[1], q[2], k[2]});
  launch.writeThrough(op.getResult());
  SmallVector<int64_t> attrs = {flags, word(op.getEffectiveScale()), k[2] - q[2], op.getChunk()};
  bool fast =
      graph::elementTypeOf(op.getQuery()).isF32() && (!op.getMask() || graph::elementTypeOf(op.getMask()).isF32());
  if (fast) {
    launch.offer("attention.flash", attrs, "attention.flash", candidates);
    launch.offer("attention.chunked", attrs, "attention.naive", candidates);
    launch.offer("attention.naive", attrs, "attention.naive", candidates);
  }
  if (candidates.empty())
    launch.offer("attention.reference", attrs, candidates);
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
