// Operators along a sequence: its end reversed, its cache written, running products, products of matrices along it.
#include "compiler/Import/Onnx/Operators/Term.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// `first` and `second` in front, the other dimensions behind, and the way back.
std::pair<Ints, Ints> orderWithFront(int64_t rank, int64_t first, int64_t second) {
  Ints order{first, second};
  for (int64_t i = 0; i < rank; ++i)
    if (i != first && i != second)
      order.push_back(i);
  return {order, invertPermutationVector(order)};
}

/// The first elements of each sequence in reverse, as many as its length says.
LogicalResult reverseSequence(NodeImporter &n) {
  const int64_t rank = n.type(0).getRank(), batch = n.integer("batch_axis", 1), time = n.integer("time_axis", 0);
  if (rank < 2 || batch == time || batch < 0 || batch > 1 || time < 0 || time > 1)
    return n.error("need at least 2 dimensions and batch_axis and time_axis 0 and 1, have " + Twine(rank) + ", " +
                   Twine(batch) + " and " + Twine(time));
  if (!n.needStatic(n[0], "ReverseSequence"))
    return failure();
  const int64_t count = n.type(0).getDimSize(batch), length = n.type(0).getDimSize(time);
  const auto [order, back] = orderWithFront(rank, batch, time);
  const Type index = n.b.getI64Type();
  Term lengths = Term(n, n[1]).cast(index).reshape({count, 1});
  Term at = positions(n, length, 1, 2, index);
  Term from = select(at < lengths, lengths - 1.0 - at, at);
  return n.finish(gatherRows(Term(n, n[0]).transpose(order), from).transpose(back));
}

/// A cache [batch, ...] with new elements along an axis, from an index of each batch entry on.
LogicalResult tensorScatter(NodeImporter &n) {
  const int64_t rank = n.type(0).getRank();
  const StringRef mode = n.string("mode", "linear");
  const auto axis = n.axisOf(n.integer("axis", -2), rank);
  if (mode != "linear" && mode != "circular")
    return n.error("attribute 'mode' must be linear or circular, have '" + mode + "'");
  if (!axis || !n.needStatic(n[0], "TensorScatter") || !n.needStatic(n[1], "TensorScatter"))
    return failure();
  if (*axis == 0)
    return n.error("the axis must not be that of the batch, 0");
  const auto shape = n.type(0).getShape(), update = n.type(1).getShape();
  const int64_t size = shape[*axis], count = update.size() == shape.size() ? update[*axis] : -1;
  Ints expected(shape);
  expected[*axis] = count;
  if (count < 1 || count > size || ArrayRef(expected) != update)
    return n.error("need an update of at most " + Twine(size) + " along axis " + Twine(*axis) + " of " +
                   graph::toString(graph::dimsOf(n.type(0))) + ", have " + graph::toString(graph::dimsOf(n.type(1))));
  const Type index = n.b.getI64Type();
  const auto [order, back] = orderWithFront(rank, 0, *axis);
  Term start = n[2] ? Term(n, n[2]).cast(index).reshape({shape[0], 1}) : Term(n, n.fill({shape[0], 1}, 0, index));
  // How far each place of the cache lies behind the start, around the end of a circular one.
  Term behind = positions(n, size, 1, 2, index) - start;
  if (mode == "circular" && behind)
    behind = Term(n, n.make<graph::ModOp>(behind, behind.number(double(size)), false));
  Term isNew = both(behind.number(0) <= behind, behind < behind.number(double(count)));
  Term old = Term(n, n[0]).transpose(order);
  Term fresh = gatherRows(Term(n, n[1]).transpose(order), clamp(behind, 0, double(count - 1)));
  Ints mask{shape[0], size};
  mask.resize(rank, 1);
  return n.finish(select(isNew.reshape(mask), fresh, old).transpose(back));
}

/// Running products: in step k each element takes in the one 2^k before it.
LogicalResult cumProd(NodeImporter &n) {
  const auto given = n.needInt(1, "axis");
  if (!given || !n.needStatic(n[0], "CumProd"))
    return failure();
  const auto axis = n.axisOf(*given, n.type(0).getRank());
  const bool exclusive = n.integer("exclusive", 0) != 0, reverse = n.integer("reverse", 0) != 0;
  if (!axis)
    return failure();
  const int64_t size = n.type(0).getDimSize(*axis);
  // `distance` elements further along the axis, ones where there was none.
  const auto moved = [&](Term x, int64_t distance) {
    return reverse ? x.slice(*axis, distance, size - distance).pad(*axis, 0, distance, 1)
                   : x.slice(*axis, 0, size - distance).pad(*axis, distance, 0, 1);
  };
  Term x(n, n[0]);
  if (exclusive && size > 0)
    x = moved(x, 1);
  for (int64_t distance = 1; distance < size; distance *= 2)
    x = x * moved(x, distance);
  return n.finish(x);
}

/// Determinants of matrices of up to 4 rows, by cofactors.
Term determinant(Term matrix, ArrayRef<int64_t> rows, ArrayRef<int64_t> columns) {
  const int64_t rank = matrix.rank();
  const auto at = [&](int64_t row, int64_t column) {
    return matrix.slice(rank - 2, row, 1).slice(rank - 1, column, 1);
  };
  if (rows.size() == 1)
    return at(rows[0], columns[0]);
  Term sum(matrix.importer(), {});
  for (size_t i = 0; i < columns.size(); ++i) {
    Ints others(columns);
    others.erase(others.begin() + i);
    Term part = at(rows[0], columns[i]) * determinant(matrix, rows.drop_front(), others);
    sum = !sum ? part : i % 2 ? sum - part : sum + part;
  }
  return sum;
}

LogicalResult det(NodeImporter &n) {
  if (!n.needStatic(n[0], "Det"))
    return failure();
  const auto shape = n.type(0).getShape();
  const int64_t size = shape.empty() ? 0 : shape.back();
  if (shape.size() < 2 || size < 1 || shape[shape.size() - 2] != size)
    return n.error("need square matrices, have " + graph::toString(graph::dimsOf(n.type(0))));
  if (size > 4)
    return n.error("need matrices of at most 4 rows, have " + Twine(size));
  const Ints all{0, 1, 2, 3};
  Term result = determinant(Term(n, n[0]), ArrayRef(all).take_front(size), ArrayRef(all).take_front(size));
  return n.finish(result.reshape(shape.drop_back(2)));
}

/// The middle of each axis, cut or padded with zeros to a size.
LogicalResult centerCropPad(NodeImporter &n) {
  const auto target = n.needInts(1, "shape");
  if (!target || !n.needStatic(n[0], "CenterCropPad"))
    return failure();
  const auto shape = n.type(0).getShape();
  Ints axes;
  if (const auto given = n.integers("axes"))
    axes = *given;
  else
    for (size_t i = 0; i < shape.size(); ++i)
      axes.push_back(i);
  if (!n.axesOf(axes, shape.size()))
    return failure();
  if (target->size() != axes.size())
    return n.error("need " + Twine(axes.size()) + " sizes, have " + Twine(target->size()));
  Term x(n, n[0]);
  for (auto [axis, size] : llvm::zip_equal(axes, *target)) {
    const int64_t at = *n.axisOf(axis, shape.size()), have = shape[at];
    if (size < 0 || size > INT32_MAX)
      return n.error("a size is " + Twine(size));
    if (size < have)
      x = x.slice(at, (have - size) / 2, size);
    else
      x = x.pad(at, (size - have) / 2, size - have - (size - have) / 2, 0);
  }
  return n.finish(x);
}

constexpr OperatorRow rows[] = {
    {"CenterCropPad", 2, 2, centerCropPad, 18, noVersion, "", "a static shape; the new one known at compile time"},
    {"CumProd", 2, 2, cumProd, 26, noVersion, "", "a static shape; the axis must be known at compile time"},
    {"Det", 1, 1, det, 11, noVersion, "", "static shapes, at most 4 rows"},
    {"ReverseSequence", 2, 2, reverseSequence, 10, noVersion, "", "a static shape"},
    {"TensorScatter", 2, 3, tensorScatter, 24, noVersion, "", "static shapes"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::sequencingOperators() { return rows; }
