//===- GraphProblem.cpp - From a function to a split problem --------------------------------------===//
#include "compiler/Transforms/Graph/Split/GraphProblem.h"
#include "compiler/Transforms/Graph/Split/Pieces.h"
#include "dialects/Graph/SourceName.h"
#include "kernels/cost.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <map>

using namespace mlir;

namespace plim::graph {
namespace {

/// The sizes of static tensors.
class StaticSizes : public SizeSource {
public:
  ArrayRef<AffineExpr> sizesOf(Value value) const override {
    auto [at, isNew] = sizes.try_emplace(value.getAsOpaquePointer());
    if (isNew)
      for (int64_t size : staticDims(value))
        at->second.push_back(getAffineConstantExpr(size, value.getContext()));
    return at->second;
  }
  SmallVector<AffineExpr> stridesOf(Value value) const override {
    ArrayRef<int64_t> dims = staticDims(value);
    SmallVector<AffineExpr> strides(dims.size());
    int64_t stride = 1;
    for (size_t d = dims.size(); d-- > 0; stride *= std::max<int64_t>(dims[d], 1))
      strides[d] = getAffineConstantExpr(stride, value.getContext());
    return strides;
  }
  SmallVector<AffineExpr> entriesOf(Value) const override { return {}; }
  int64_t largest(AffineExpr size) const override { return cast<AffineConstantExpr>(size).getValue(); }

private:
  // References into it live while more values are asked for.
  mutable std::map<const void *, SmallVector<AffineExpr>> sizes;
};

bool isSource(Operation *op) { return isa<ParameterOp, ConstantOp>(op); }

class Extractor {
public:
  Extractor(func::FuncOp function, const SplitKernels &kernels, std::string &why)
      : function(function), kernels(kernels), why(why) {}

  FailureOr<GraphProblem> run() {
    Block &block = function.getBody().front();
    for (BlockArgument argument : block.getArguments())
      if (!addValue(argument, solver::SplitValue::Kind::Input, "input"))
        return failure();
    for (Operation &op : block.without_terminator())
      if (!addOp(&op))
        return failure();
    for (Value result : block.getTerminator()->getOperands())
      graph.problem.values[size_t(ids.lookup(result))].output = true;
    return std::move(graph);
  }

private:
  func::FuncOp function;
  const SplitKernels &kernels;
  std::string &why;
  GraphProblem graph;
  DenseMap<Value, int> ids;
  std::map<std::string, int> taken;
  StaticSizes sizes;

  bool fail(const Twine &text) {
    why = text.str();
    return false;
  }

  std::string unique(StringRef name) {
    // A plan's text parts names by blanks, commas and semicolons.
    std::string plain = name.str();
    std::replace_if(plain.begin(), plain.end(), [](char c) { return StringRef(" ,;@").contains(c); }, '_');
    int number = ++taken[plain];
    return number == 1 ? plain : unique(plain + "#" + std::to_string(number));
  }

  bool addValue(Value value, solver::SplitValue::Kind kind, StringRef name) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    std::optional<int64_t> bytes = type ? bytesOf(type) : std::nullopt;
    if (!bytes)
      return fail("needs static sizes, has " + toString(dimsOf(value.getType())));
    ids[value] = int(graph.values.size());
    graph.values.push_back(value);
    solver::SplitValue v;
    v.name = kind == solver::SplitValue::Kind::Constant ? std::string() : unique(name);
    v.dims.assign(type.getShape().begin(), type.getShape().end());
    v.bytes = *bytes;
    v.kind = kind;
    v.reused = kind == solver::SplitValue::Kind::Input && kernels.reuseInputs;
    graph.problem.values.push_back(std::move(v));
    return true;
  }

  static std::string nameOf(Operation *op) { return locationName(op).value_or(op->getName().stripDialect()).str(); }

  bool isAllowed(Operation *op, const KernelCandidate &c, const KernelCandidate &last) const {
    StringRef variant = StringRef(c.kernel).split('.').second;
    if (auto attention = dyn_cast<AttentionOp>(op); attention && variant != "reference") {
      std::string wanted = kernels.attention;
      if (attention.getAlgorithm() != AttentionAlgorithm::Auto)
        wanted = stringifyAttentionAlgorithm(attention.getAlgorithm()).str();
      if (wanted != "auto" && wanted != variant)
        return false;
    }
    return !kernels.exactNumerics || c.numericsClass == last.numericsClass;
  }

  static std::vector<solver::SplitWay> waysOf(Operation *op, StringRef kernel) {
    SmallVector<solver::SplitWay> ways;
    if (auto pieces = dyn_cast<PiecesOpInterface>(op); pieces && op->getNumResults() == 1)
      pieces.getSplitWays(kernel, ways);
    return {ways.begin(), ways.end()};
  }

  /// The largest tile by which a kernel computes its result along an axis.
  static int64_t tileOf(Operation *op, StringRef kernel) {
    int64_t tile = 1;
    for (const solver::SplitWay &way : waysOf(op, kernel))
      tile = std::max(tile, way.align);
    return tile;
  }

  bool addOp(Operation *op) {
    if (isSource(op))
      return addValue(op->getResult(0), solver::SplitValue::Kind::Constant, "");
    if (!isPure(op) || (op->getNumRegions() > 0 && !isa<FusedOp>(op)))
      return fail("needs a function without states, branches and loops, has " + op->getName().getStringRef());
    std::string name = nameOf(op);
    solver::SplitStep step;
    for (Value operand : op->getOperands())
      step.reads.push_back(ids.lookup(operand));
    for (Value result : op->getResults())
      if (!addValue(result, solver::SplitValue::Kind::Made, name))
        return false;
    SmallVector<KernelCandidate, 1> candidates;
    if (auto open = dyn_cast<CandidatesOpInterface>(op))
      open.getCandidates(sizes, candidates);
    const KernelCandidate *best = nullptr, *fine = nullptr;
    for (const KernelCandidate &c : candidates)
      if (isAllowed(op, c, candidates.back()) && (!best || c.nanoseconds < best->nanoseconds))
        best = &c;
    for (const KernelCandidate &c : candidates)
      if (best && !StringRef(c.kernel).ends_with(".reference") && isAllowed(op, c, candidates.back()) &&
          tileOf(op, c.kernel) < tileOf(op, best->kernel) && (!fine || c.nanoseconds < fine->nanoseconds))
        fine = &c;
    // A generated kernel moves its operands once.
    int64_t moved = 0;
    for (int read : step.reads)
      moved += graph.problem.values[size_t(read)].bytes;
    for (Value result : op->getResults())
      moved += *bytesOf(result.getType());
    step.ns = best ? best->nanoseconds : int64_t(double(moved) / plim_default_machine.bytes_per_ns);
    step.workspace = best ? best->sharedBytes + best->scratchBytes : 0;
    if (isa<ReshapeOp>(op))
      step.ns = 0;
    step.inPlace = isa<ReshapeOp, FusedOp, ScalarBodyOpInterface>(op);
    step.ways = waysOf(op, best ? StringRef(best->kernel) : "");
    if (fine)
      step.fine =
          solver::SplitKernel{fine->nanoseconds, fine->sharedBytes + fine->scratchBytes, waysOf(op, fine->kernel)};
    for (Value result : op->getResults()) {
      step.write = ids.lookup(result);
      step.name = graph.problem.values[size_t(step.write)].name;
      graph.problem.steps.push_back(step);
      graph.steps.push_back(op);
      graph.numerics.push_back(best ? best->numericsClass : "");
      graph.fineNumerics.push_back(fine ? fine->numericsClass : "");
      step.ns = 0;
    }
    return true;
  }
};

} // namespace

FailureOr<GraphProblem> extractSplitProblem(func::FuncOp function, const SplitKernels &kernels, std::string &why) {
  return Extractor(function, kernels, why).run();
}

} // namespace plim::graph
