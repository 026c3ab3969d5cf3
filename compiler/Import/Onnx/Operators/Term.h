// Arithmetic on values, for operators that become several graph ops.
//
//   Term x(n, n[0]);
//   return n.finish((x - x.reduce(Mean, {1})) * 0.5);
//
// Operands broadcast as in numpy. After an error of the node every term is null, and nothing more is built.
#pragma once
#include "compiler/Import/Onnx/NodeImporter.h"

namespace plim::onnx {

class Term {
public:
  Term(NodeImporter &n, mlir::Value value) : n(&n), value(n.hasFailed() ? mlir::Value() : value) {}
  operator mlir::Value() const { return value; }

  mlir::RankedTensorType type() const { return NodeImporter::typeOf(value); }
  mlir::Type element() const { return type().getElementType(); }
  /// Null terms have no dimensions.
  llvm::ArrayRef<int64_t> shape() const { return value ? type().getShape() : llvm::ArrayRef<int64_t>(); }
  int64_t rank() const { return shape().size(); }
  explicit operator bool() const { return bool(value); }

  template <typename Op, typename... Args> Term apply(Args &&...args) const {
    return Term(*n, value ? n->make<Op>(value, std::forward<Args>(args)...) : mlir::Value());
  }
  template <typename Op> Term with(Term other) const { return other ? apply<Op>(other.value) : Term(*n, {}); }
  /// A number of this term's element type.
  Term number(double x) const { return Term(*n, value ? n->scalar(x, element()) : mlir::Value()); }

  Term cast(mlir::Type to) const { return Term(*n, value ? n->cast(value, to) : mlir::Value()); }
  Term reshape(llvm::ArrayRef<int64_t> to) const { return Term(*n, value ? n->reshape(value, to) : mlir::Value()); }
  /// A new dimension of size 1; at most one of the others may be open.
  Term unsqueeze(int64_t axis) const;
  Term transpose(llvm::ArrayRef<int64_t> order) const {
    return Term(*n, value ? n->transpose(value, order) : mlir::Value());
  }
  Term broadcast(llvm::ArrayRef<int64_t> to) const { return apply<graph::BroadcastOp>(to); }
  Term reduce(graph::ReduceKind kind, llvm::ArrayRef<int64_t> axes, bool keep = true) const {
    return Term(*n, value ? n->make<graph::ReduceOp>(kind, value, axes, keep) : mlir::Value());
  }
  /// Elements [start, start + size) of one axis.
  Term slice(int64_t axis, int64_t start, int64_t size) const;
  /// `low` and `high` elements of `x` around one axis.
  Term pad(int64_t axis, int64_t low, int64_t high, double x) const;
  Term gather(Term indices, int64_t axis) const {
    return indices ? apply<graph::GatherOp>(indices.value, axis) : Term(*n, {});
  }

  NodeImporter &importer() const { return *n; }

private:
  NodeImporter *n;
  mlir::Value value;
};

inline Term operator+(Term a, Term b) { return a.with<graph::AddOp>(b); }
inline Term operator-(Term a, Term b) { return a.with<graph::SubOp>(b); }
inline Term operator*(Term a, Term b) { return a.with<graph::MulOp>(b); }
inline Term operator/(Term a, Term b) { return a.with<graph::DivOp>(b); }
inline Term operator+(Term a, double x) { return x == 0 ? a : a + a.number(x); }
inline Term operator-(Term a, double x) { return x == 0 ? a : a - a.number(x); }
inline Term operator*(Term a, double x) { return x == 1 ? a : a * a.number(x); }
inline Term operator/(Term a, double x) { return x == 1 ? a : a / a.number(x); }
inline Term operator-(Term a) { return a.apply<graph::NegOp>(); }
inline Term operator<(Term a, Term b) { return a.with<graph::LessOp>(b); }
inline Term operator<=(Term a, Term b) { return a.with<graph::LessEqualOp>(b); }
inline Term operator==(Term a, Term b) { return a.with<graph::EqualOp>(b); }
inline Term both(Term a, Term b) { return a.with<graph::AndOp>(b); }
inline Term min(Term a, Term b) { return a.with<graph::MinOp>(b); }
inline Term max(Term a, Term b) { return a.with<graph::MaxOp>(b); }
inline Term clamp(Term a, double low, double high) { return min(max(a, a.number(low)), a.number(high)); }
inline Term select(Term condition, Term a, Term b) {
  NodeImporter &n = condition.importer();
  return condition && a && b ? Term(n, n.make<graph::SelectOp>(condition, a, b)) : Term(n, {});
}
inline Term matmul(Term a, Term b, bool transposeA = false, bool transposeB = false) {
  NodeImporter &n = a.importer();
  return a && b ? Term(n, n.make<graph::MatmulOp>(a, b, mlir::Value(), mlir::Value(), transposeA, transposeB))
                : Term(n, {});
}
Term concat(NodeImporter &n, llvm::ArrayRef<Term> terms, int64_t axis);

/// 0, 1, ... along dimension `axis` of `rank`, the others of size 1.
Term positions(NodeImporter &n, int64_t size, int64_t axis, int64_t rank, mlir::Type element);
/// A constant of these numbers, in a shape of as many elements; they are few.
Term numbers(NodeImporter &n, llvm::ArrayRef<double> values, llvm::ArrayRef<int64_t> shape, mlir::Type element);
/// Rows of `data` [batch, rows, ...] at `indices` [batch, count]: [batch, count, ...].
Term gatherRows(Term data, Term indices);

} // namespace plim::onnx
