// Einsum of one or two operands without repeated indices in one operand: transposes, sums and one matrix product.
#include "compiler/Import/Onnx/NodeImporter.h"
#include <cctype>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// Letters of each operand and of the result; ellipses become the letters 0, 1, ... of their dimensions.
struct Equation {
  SmallVector<std::string> operands;
  std::string result;
};

std::optional<Equation> parse(NodeImporter &n) {
  std::string text;
  for (char c : n.string("equation", ""))
    if (c != ' ')
      text.push_back(c);
  const auto refuse = [&](const Twine &why) -> std::optional<Equation> {
    (void)n.error("equation '" + Twine(text) + "': " + why);
    return std::nullopt;
  };
  Equation equation;
  const bool explicitResult = StringRef(text).contains("->");
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != n.numInputs())
    return refuse("need a term for each of the " + Twine(n.numInputs()) + " inputs, have " + Twine(terms.size()));
  std::string ellipsis;
  const auto expand = [&](StringRef term, std::optional<int64_t> rank) -> std::optional<std::string> {
    std::string letters;
    auto [before, after] = term.split("...");
    if (term.contains("...")) {
      if (rank) {
        const int64_t dims = *rank - int64_t(before.size() + after.size());
        if (dims < 0 || dims > 9)
          return std::nullopt;
        std::string own;
        for (int64_t i = 0; i < dims; ++i)
          own.push_back(char('0' + i));
        if (!ellipsis.empty() && own != ellipsis)
          return std::nullopt;
        ellipsis = own;
      }
      letters = (before + ellipsis + after).str();
    } else {
      letters = term.str();
    }
    if (rank && int64_t(letters.size()) != *rank)
      return std::nullopt;
    for (char c : letters)
      if (!std::isalnum(static_cast<unsigned char>(c)) || llvm::count(letters, c) > 1)
        return std::nullopt;
    return letters;
  };
  for (auto [i, term] : llvm::enumerate(terms)) {
    auto letters = expand(term, n.type(i).getRank());
    if (!letters)
      return refuse("term " + Twine(i) + " does not fit its input, or repeats an index, or has another ellipsis");
    equation.operands.push_back(*letters);
  }
  if (explicitResult) {
    auto letters = expand(right, std::nullopt);
    if (!letters)
      return refuse("the result repeats an index");
    equation.result = *letters;
  } else {
    // Without an arrow: the ellipsis, then indices that occur once, by letter.
    std::string once;
    for (const std::string &operand : equation.operands)
      for (char c : operand) {
        unsigned uses = 0;
        for (const std::string &other : equation.operands)
          uses += llvm::is_contained(other, c);
        if (std::isalpha(static_cast<unsigned char>(c)) && uses == 1)
          once.push_back(c);
      }
    llvm::sort(once);
    equation.result = ellipsis + once;
  }
  for (char c : equation.result)
    if (llvm::none_of(equation.operands, [&](const std::string &operand) { return llvm::is_contained(operand, c); }))
      return refuse("index '" + Twine(c) + "' of the result is in no term");
  return equation;
}

/// Dimensions of `value` (named by `from`) in the order of `to`, which has the same letters.
Value permute(NodeImporter &n, Value value, StringRef from, StringRef to) {
  Ints permutation;
  for (char c : to)
    permutation.push_back(int64_t(from.find(c)));
  return from == to ? value : n.transpose(value, permutation);
}

/// Sums over the letters of `letters` that are not in `kept`.
Value sumOthers(NodeImporter &n, Value value, std::string &letters, StringRef kept) {
  Ints axes;
  std::string left;
  for (auto [i, c] : llvm::enumerate(letters)) {
    if (kept.contains(c))
      left.push_back(c);
    else
      axes.push_back(i);
  }
  letters = left;
  return axes.empty() ? value : n.make<graph::ReduceOp>(graph::ReduceKind::Sum, value, axes, false);
}

LogicalResult einsum(NodeImporter &n) {
  if (n.numInputs() > 2)
    return n.error("more than 2 inputs are not supported, have " + Twine(n.numInputs()));
  for (Value input : n.inputs)
    if (!n.needStatic(input, "Einsum"))
      return failure();
  auto equation = parse(n);
  if (!equation)
    return failure();
  std::string a = equation->operands[0];
  if (n.numInputs() == 1) {
    Value summed = sumOthers(n, n[0], a, equation->result);
    return n.finish(permute(n, summed, a, equation->result));
  }
  std::string b = equation->operands[1];
  Value left = sumOthers(n, n[0], a, equation->result + b);
  Value right = sumOthers(n, n[1], b, equation->result + a);
  if (n.hasFailed())
    return failure();
  // Batch indices are in both and in the result, contracted ones in both only, free ones in one.
  std::string batch, contracted, rows, columns;
  for (char c : a)
    (!StringRef(b).contains(c) ? rows : StringRef(equation->result).contains(c) ? batch : contracted).push_back(c);
  for (char c : b)
    if (!StringRef(a).contains(c))
      columns.push_back(c);
  llvm::StringMap<int64_t> sizes;
  const auto record = [&](Value value, StringRef letters) {
    for (auto [i, c] : llvm::enumerate(letters)) {
      const int64_t size = NodeImporter::typeOf(value).getDimSize(i);
      auto [known, isNew] = sizes.try_emplace(letters.substr(i, 1), size);
      if (!isNew && known->second != size)
        (void)n.error("index '" + Twine(c) + "' has sizes " + Twine(known->second) + " and " + Twine(size));
    }
  };
  record(left, a);
  record(right, b);
  if (n.hasFailed())
    return failure();
  const auto extent = [&](StringRef letters) {
    int64_t product = 1;
    for (size_t i = 0; i < letters.size(); ++i)
      product *= sizes[letters.substr(i, 1)];
    return product;
  };
  left = n.reshape(permute(n, left, a, batch + rows + contracted), {extent(batch), extent(rows), extent(contracted)});
  right = n.reshape(permute(n, right, b, batch + contracted + columns),
                    {extent(batch), extent(contracted), extent(columns)});
  Value product = n.make<graph::MatmulOp>(left, right, Value(), Value());
  const std::string order = batch + rows + columns;
  Ints shape;
  for (size_t i = 0; i < order.size(); ++i)
    shape.push_back(sizes[StringRef(order).substr(i, 1)]);
  return n.finish(permute(n, n.reshape(product, shape), order, equation->result));
}

constexpr OperatorRow rows[] = {
    {"Einsum", 1, anyNumber, einsum, 12, noVersion, "",
     "at most 2 inputs with static shapes, no index twice in one term"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::einsumOperators() { return rows; }
