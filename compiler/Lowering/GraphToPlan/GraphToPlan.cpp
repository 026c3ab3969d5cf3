//===- GraphToPlan.cpp - From tensors to sized buffers and steps --------------------------===//
#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include "compiler/Lowering/Candidates/Candidates.h"
#include "compiler/Lowering/Generated/FromGraph.h"
#include "compiler/Lowering/GraphToPlan/Liveness.h"
#include "compiler/Lowering/GraphToPlan/SymbolicDims.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "kernels/registry.h"

using namespace mlir;

namespace plim::lowering {

std::string sourceName(Operation *op) {
  Location loc = op->getLoc();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (isa<NameLoc>(part))
        loc = part;
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  return op->getName().getStringRef().str();
}

namespace {

/// Of one worker. Kernels keep arrays in scratch; glibc takes some KiB of a stack for thread-local storage.
constexpr int64_t workerStackBytes = 128 << 10;

class Lowering {
public:
  Lowering(func::FuncOp function, const GraphToPlanOptions &options, const SymbolicDims &sizes)
      : function(function), options(options), sizes(sizes), context(function.getContext()), b(context) {}

  FailureOr<GraphToPlanResult> run() {
    FailureOr<LaunchList> launches = collectLaunches(function, sizes, [&](Operation *op) { return generates(op); });
    if (failed(launches))
      return failure();
    result.module = plan::ModuleOp::create(b, function.getLoc());
    result.module->setWorkers(options.workers);
    result.module->setStackBytes(workerStackBytes);
    b.setInsertionPointToEnd(&result.module->getBody().front());
    addProgram(*launches);
    addConditions();
    for (LaunchList::Entry &entry : launches->entries)
      if (failed(entry.candidates.empty() ? lowerGenerated(entry.op) : lower(entry)))
        return failure();
    copyOutputs();
    plan::ReturnOp::create(b, function.getLoc());
    return std::move(result);
  }

private:
  /// The program with the caller's buffers as arguments. An output is written by its producer where it can be: the
  /// first output of a value that an op of this function computes.
  void addProgram(LaunchList &launches) {
    SmallVector<plan::IOAttr> ios;
    SmallVector<plan::BufferType> types;
    SmallVector<Value> values; // what each io holds; null: an output that is copied at the end
    auto addIO = [&](StringRef name, bool output, Value value, Value holds) {
      auto type = cast<RankedTensorType>(value.getType());
      // A packed tensor (a result of @setup) is plain elements to the caller, padding included.
      graph::LaunchOperand whole = naturalOperand(value);
      plan::ShapeAttr shape = shapeAttr(whole);
      int64_t bytes = sizes.largestBytes(value);
      if (graph::layoutOf(type))
        shape = plan::ShapeAttr::get(context, shape.getDtype(), {bytes / graph::elementBytes(type.getElementType())});
      ios.push_back(plan::IOAttr::get(context, name, output, shape, {}));
      types.push_back(plan::BufferType::get(context, bytes, plan::Tier::Ram));
      values.push_back(holds);
    };
    for (BlockArgument arg : function.getArguments())
      addIO(ioName(function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "graph.name"), "arg", arg.getArgNumber()),
            false, arg, arg);
    if (options.parametersAsInputs)
      for (Operation &op : function.getBody().front())
        if (isa<graph::ParameterOp, graph::ConstantOp>(op) && launches.needed.contains(op.getResult(0))) {
          std::string name = constantName(&op);
          if (!homes.try_emplace(name).second)
            continue;
          addIO(name, false, op.getResult(0), op.getResult(0));
          result.constants.push_back({name, &op});
        }
    auto returned = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    DenseSet<Value> taken;
    for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
      Value root = storageOf(value);
      Operation *producer = root.getDefiningOp();
      bool direct = producer && !isa<graph::ParameterOp, graph::ConstantOp>(producer) && taken.insert(root).second;
      addIO(ioName(function.getResultAttrOfType<StringAttr>(unsigned(i), "graph.name"), "result", i), true, value,
            direct ? root : Value());
    }
    SmallVector<plan::SymbolAttr> symbols;
    for (const SymbolicDims::Symbol &s : sizes.symbols())
      symbols.push_back(plan::SymbolAttr::get(context, s.name, s.bounds.lo, s.bounds.hi));
    auto program =
        plan::ProgramOp::create(b, function.getLoc(), function.getName(), plan::Stage::Virtual, symbols, ios, types);
    symbolValues.assign(program.getSymbolArguments().begin(), program.getSymbolArguments().end());
    b.setInsertionPointToEnd(program.getBlock());
    for (auto [i, value] : llvm::enumerate(values)) {
      if (value) {
        buffers[value] = program.getIOArguments()[i];
        if (auto parameter = value.getDefiningOp<graph::ParameterOp>())
          homes[parameter.getName().str()] = buffers[value];
      } else
        copies.push_back({program.getIOArguments()[i],
                          returned.getOperand(unsigned(i - (values.size() - returned.getNumOperands())))});
    }
  }

  /// What the ops need of the sizes of a run, before its first launch.
  void addConditions() {
    ArrayRef<SymbolicDims::Condition> conditions = sizes.conditions();
    if (conditions.empty())
      return;
    Sizes values = llvm::map_to_vector(conditions, [](const SymbolicDims::Condition &c) { return c.value; });
    ValueRange scalars = plan::evalExpressions(b, function.getLoc(), values, symbolValues, b.getStringAttr("sizes"));
    for (auto [condition, scalar] : llvm::zip_equal(conditions, scalars))
      plan::CheckOp::create(b, condition.op->getLoc(), scalar, condition.lower, condition.upper, condition.message,
                            b.getStringAttr(sourceName(condition.op)));
  }

  static std::string ioName(StringAttr name, StringRef prefix, size_t number) {
    return name ? name.str() : (prefix + std::to_string(number)).str();
  }

  graph::LaunchOperand naturalOperand(Value value) {
    graph::LaunchOperand o;
    o.value = value;
    o.dims = Sizes(sizes.sizesOf(value));
    o.strides = rowMajor(o.dims);
    return o;
  }

  plan::ShapeAttr shapeAttr(const graph::LaunchOperand &operand) {
    plim_shape s = largestShape(sizes, operand);
    ArrayRef<int64_t> bounds(s.dims, s.rank), strideBounds(s.strides, s.rank);
    // Products of sizes that a contiguous tensor has for strides need no saying.
    bool open = !llvm::all_of(operand.dims, [](AffineExpr e) { return constantOf(e).has_value(); });
    SizesRef strides = operand.strides;
    if (open && strides == SizesRef(rowMajor(operand.dims)))
      strides = {}, strideBounds = {};
    return plan::ShapeAttr::getNormalized(context, plan::DType(s.dtype), plan::Layout(s.layout), operand.dims, bounds,
                                          strides, strideBounds);
  }

  /// Bytes into the value at which an operand starts, where that is no matter of the run.
  static std::optional<int64_t> fixedOffset(const graph::LaunchOperand &operand) {
    if (!operand.offset)
      return 0;
    std::optional<int64_t> elements = constantOf(operand.offset);
    return elements ? std::optional(*elements * graph::elementBytes(graph::elementTypeOf(operand.value)))
                    : std::nullopt;
  }

  plan::AccessAttr accessAttr(const graph::LaunchOperand &operand) {
    plan::ShapeAttr shape = shapeAttr(operand);
    int64_t offset = fixedOffset(operand).value_or(0);
    int64_t whole = sizes.largestBytes(operand.value), extent = shape.getExtentBytes();
    // What starts at a place of the run goes to the end of its value as far as a plan can say.
    bool all = !fixedOffset(operand) || (offset == 0 && (extent == whole || shape.getLayout() != plan::Layout::Row));
    auto mode = operand.access == graph::Access::Read    ? plan::AccessMode::Read
                : operand.access == graph::Access::Write ? plan::AccessMode::Write
                                                         : plan::AccessMode::ReadWrite;
    return plan::AccessAttr::get(context, mode, offset, all ? 0 : extent, shape);
  }

  /// The buffer that holds a value; a constant's home and an op's result are made when first asked for.
  Value bufferOf(Value value, StringRef source) {
    Value root = storageOf(value);
    if (Value known = buffers.lookup(root))
      return known;
    int64_t bytes = sizes.largestBytes(root);
    Operation *op = root.getDefiningOp();
    if (isa<graph::ParameterOp, graph::ConstantOp>(op))
      return residentOf(op, bytes);
    return buffers[root] = plan::AllocOp::create(b, op->getLoc(), plan::BufferType::get(context, bytes), source);
  }

  /// A parameter's own name; constants are numbered as they come.
  std::string constantName(Operation *op) {
    if (auto parameter = dyn_cast<graph::ParameterOp>(op))
      return parameter.getName().str();
    return "constant" + std::to_string(constantCount++);
  }

  Value residentOf(Operation *op, int64_t bytes) {
    std::string name = constantName(op);
    Value &home = buffers[op->getResult(0)];
    home = homes[name];
    if (home)
      return home;
    OpBuilder::InsertionGuard guard(b);
    auto program = cast<plan::ProgramOp>(b.getInsertionBlock()->getParentOp());
    b.setInsertionPoint(program);
    plan::ConstantOp::create(b, op->getLoc(), name, weightOffset, bytes, shapeAttr(naturalOperand(op->getResult(0))),
                             /*hash=*/0, StringAttr());
    weightOffset += (bytes + 63) / 64 * 64;
    result.constants.push_back({name, op});
    b.setInsertionPointToStart(program.getBlock());
    return home = homes[name] =
               plan::ResidentOp::create(b, op->getLoc(), plan::BufferType::get(context, bytes),
                                        FlatSymbolRefAttr::get(context, name), FlatSymbolRefAttr(), IntegerAttr());
  }

  LogicalResult lower(LaunchList::Entry &entry) {
    SmallVector<plan::CandidateAttr> candidates;
    for (const graph::KernelCandidate &c : entry.candidates)
      candidates.push_back(candidateAttr(c, entry));
    return launch(entry.op, entry.candidates.front().operands, candidates, aliasesOf(entry));
  }

  plan::CandidateAttr candidateAttr(const graph::KernelCandidate &c, const LaunchList::Entry &entry) {
    plan::CandidateSpec spec;
    spec.kernel = c.kernel;
    spec.tasks = c.tasks;
    spec.attrs = c.attrs;
    spec.shared = c.sharedBytes, spec.scratch = c.scratchBytes;
    spec.flops = c.flops, spec.bytes = c.bytes, spec.ns = c.nanoseconds;
    spec.numerics = c.numericsClass;
    if (const plim_kernel_entry *kernel = plim_find_kernel_entry(c.kernel.c_str()))
      spec.phases = kernel->kernel->phases;
    StringRef family = StringRef(c.kernel).split('.').first, variant = StringRef(c.kernel).split('.').second;
    // Kernels of these families touch each element of an output only after the same element of the inputs.
    spec.inPlace = family == "elementwise";
    // These follow any strides but the innermost (see their headers); what is left out packs or indexes by its own
    // rules.
    spec.strided = llvm::is_contained({"elementwise", "copy", "resize", "pad", "pool", "norm", "softmax", "scan",
                                       "fill", "matmul", "conv", "conv_transpose", "attention"},
                                      family) ||
                   c.kernel == "reduce.apply";
    std::string label, barredBy;
    if (auto attention = dyn_cast<graph::AttentionOp>(entry.op); attention && variant != "reference") {
      label = ("attention=" + variant).str();
      std::string wanted = options.choice.attention;
      if (attention.getAlgorithm() != graph::AttentionAlgorithm::Auto)
        wanted = stringifyAttentionAlgorithm(attention.getAlgorithm()).str();
      if (wanted != "auto" && wanted != variant)
        barredBy = "--attention=" + wanted;
    }
    if (barredBy.empty() && options.choice.exactNumerics && c.numericsClass != entry.candidates.back().numericsClass)
      barredBy = "--numerics=exact";
    spec.label = label, spec.barredBy = barredBy;
    return plan::CandidateAttr::get(context, spec);
  }

  /// Where results may lie in the bytes of operands, or operands be written right into results.
  SmallVector<plan::AliasAttr> aliasesOf(const LaunchList::Entry &entry) {
    SmallVector<plan::AliasAttr> aliases;
    ArrayRef<graph::LaunchOperand> operands = entry.candidates.front().operands;
    int64_t last = int64_t(operands.size()) - 1;
    const graph::KernelCandidate &c = entry.candidates.front();
    if (auto concat = dyn_cast<graph::ConcatOp>(entry.op)) {
      // A piece lies in runs at fixed distances, which open sizes do not have.
      if (!cast<RankedTensorType>(concat.getType()).hasStaticShape())
        return aliases;
      int64_t element = graph::elementBytes(graph::elementTypeOf(concat.getResult()));
      ArrayRef<int64_t> whole = cast<RankedTensorType>(concat.getType()).getShape();
      int64_t inner = element, outer = 1, offset = 0;
      for (size_t d = 0; d < whole.size(); ++d)
        (d < size_t(concat.getAxis()) ? outer : inner) *= d == size_t(concat.getAxis()) ? 1 : whole[d];
      for (int64_t i = 0; i < last; ++i) {
        int64_t run = sizes.largest(operands[i].dims[size_t(concat.getAxis())]) * inner;
        if (run > 0)
          aliases.push_back(plan::AliasAttr::get(context, plan::AliasKind::Into, i, last, offset, outer == 1 ? 0 : run,
                                                 outer == 1 ? 0 : whole[size_t(concat.getAxis())] * inner,
                                                 c.nanoseconds / last));
        offset += run;
      }
      return aliases;
    }
    if (c.kernel == "copy.strided") {
      const graph::LaunchOperand &source = operands[0];
      std::optional<int64_t> offset = fixedOffset(source);
      if (offset && isContiguous(source.dims, source.strides) && sizes.largestBytes(operands[1].value) > 0)
        aliases.push_back(plan::AliasAttr::get(context, plan::AliasKind::View, 1, 0, *offset, 0, 0, c.nanoseconds));
      return aliases;
    }
    if (!StringRef(c.kernel).starts_with("elementwise"))
      return aliases;
    for (int64_t i = 0; i < last; ++i)
      if (operands[i].strides == operands[last].strides && fixedOffset(operands[i]) == 0 &&
          graph::elementTypeOf(operands[i].value) == graph::elementTypeOf(operands[last].value) &&
          sizes.largestBytes(operands[i].value) == sizes.largestBytes(operands[last].value))
        aliases.push_back(plan::AliasAttr::get(context, plan::AliasKind::InPlace, last, i, 0, 0, 0, 0));
    return aliases;
  }

  /// Whether the op gets a kernel of its own: fused ops, and those that the library runs by reference kernels only. A
  /// slice stays a copy that the planner can turn into a view.
  bool generates(Operation *op) {
    if (!options.generate || isa<graph::SliceOp, graph::ConcatOp>(op))
      return false;
    // Loops are generated for the sizes that they have.
    auto isOpen = [](Type type) { return !cast<RankedTensorType>(type).hasStaticShape(); };
    if (llvm::any_of(op->getOperandTypes(), isOpen) || llvm::any_of(op->getResultTypes(), isOpen))
      return false;
    if (!isa<graph::FusedOp, graph::TransposeOp, graph::BroadcastOp, graph::PadOp, graph::ReduceOp, graph::FillOp,
             graph::ScalarBodyOpInterface, graph::DecomposeOpInterface>(op))
      return false;
    if (auto open = dyn_cast<graph::CandidatesOpInterface>(op); open && isa<graph::ReduceOp>(op)) {
      SmallVector<graph::KernelCandidate, 1> candidates;
      open.getCandidates(sizes, candidates);
      if (!candidates.empty() && candidates.front().kernel != "reduce.apply")
        return false;
    }
    return succeeded(gen::regionsFromOp(op));
  }

  LogicalResult lowerGenerated(Operation *op) {
    FailureOr<gen::KernelInfo> kernel = options.generate(op);
    if (failed(kernel))
      return failure();
    SmallVector<graph::LaunchOperand> operands;
    for (Value v : op->getOperands())
      operands.push_back(naturalOperand(v));
    for (Value v : op->getResults()) {
      operands.push_back(naturalOperand(v));
      operands.back().access = graph::Access::Write;
    }
    plan::CandidateSpec spec;
    spec.kernel = kernel->symbol;
    spec.tasks = kernel->tasks;
    spec.scratch = int64_t((kernel->scratchBytes + 63) / 64 * 64);
    spec.flops = int64_t(kernel->flops), spec.bytes = int64_t(kernel->bytes);
    spec.ns = std::max<int64_t>(1, int64_t(std::max(kernel->flops / plim_default_machine.flops_per_ns,
                                                    kernel->bytes / plim_default_machine.bytes_per_ns)));
    spec.numerics = "generated";
    spec.inPlace = true;
    SmallVector<plan::AliasAttr> aliases;
    for (auto [read, write] : kernel->inPlace)
      if (graph::bytesOf(operands[read].value.getType()) == graph::bytesOf(operands[write].value.getType()))
        aliases.push_back(plan::AliasAttr::get(context, plan::AliasKind::InPlace, write, read, 0, 0, 0, 0));
    return launch(op, operands, {plan::CandidateAttr::get(context, spec)}, aliases);
  }

  LogicalResult launch(Operation *op, ArrayRef<graph::LaunchOperand> operands, ArrayRef<plan::CandidateAttr> candidates,
                       ArrayRef<plan::AliasAttr> aliases) {
    std::string source = sourceName(op);
    SmallVector<Value> launchBuffers;
    SmallVector<plan::AccessAttr> accesses;
    for (const graph::LaunchOperand &o : operands) {
      launchBuffers.push_back(startOf(o, bufferOf(o.value, source)));
      accesses.push_back(accessAttr(o));
    }
    auto step = createLaunch(op->getLoc(), candidates, launchBuffers, accesses, source);
    if (!aliases.empty())
      step.setAliasesAttr(b.getArrayAttr(SmallVector<Attribute>(aliases.begin(), aliases.end())));
    return success();
  }

  /// The buffer from where an operand starts.
  Value startOf(const graph::LaunchOperand &operand, Value buffer) {
    if (fixedOffset(operand))
      return buffer;
    AffineExpr bytes = operand.offset * graph::elementBytes(graph::elementTypeOf(operand.value));
    Value scalar = plan::evalExpressions(b, function.getLoc(), {bytes}, symbolValues)[0];
    return plan::ViewOp::create(b, function.getLoc(), buffer, 0, sizes.largestBytes(operand.value), scalar);
  }

  plan::LaunchOp createLaunch(Location loc, ArrayRef<plan::CandidateAttr> candidates, ValueRange launchBuffers,
                              ArrayRef<plan::AccessAttr> accesses, StringRef source) {
    bool open = llvm::any_of(accesses, [](plan::AccessAttr a) { return !a.getShape().isStatic(); });
    return plan::LaunchOp::create(b, loc, candidates, launchBuffers, accesses, source, /*pure=*/true, ValueRange(),
                                  open ? ValueRange(symbolValues) : ValueRange());
  }

  /// Outputs that no op of the function computes: an input or a constant handed through, or a value returned twice.
  void copyOutputs() {
    for (auto &[io, value] : copies) {
      SmallVector<graph::KernelCandidate, 1> list;
      Candidates candidates{sizes, list};
      LaunchBuilder(candidates).read(value).write(value).offer("copy.strided", {});
      LaunchList::Entry entry{function, std::move(list)};
      SmallVector<plan::AccessAttr> accesses;
      for (const graph::LaunchOperand &o : entry.candidates.front().operands)
        accesses.push_back(accessAttr(o));
      createLaunch(function.getLoc(), {candidateAttr(entry.candidates.front(), entry)},
                   ValueRange{bufferOf(value, "output"), io}, accesses, "output");
    }
  }

  func::FuncOp function;
  const GraphToPlanOptions &options;
  const SymbolicDims &sizes;
  MLIRContext *context;
  OpBuilder b;
  GraphToPlanResult result;
  SmallVector<Value> symbolValues;
  DenseMap<Value, Value> buffers; // storage of a value -> its buffer
  std::map<std::string, Value> homes;
  std::vector<std::pair<Value, Value>> copies; // output buffer, value
  int64_t weightOffset = 0, constantCount = 0;
};

} // namespace

KernelGenerator generatorInto(gen::ObjectBuilder &object) {
  return [&object](Operation *op) -> FailureOr<gen::KernelInfo> {
    FailureOr<SmallVector<gen::Region>> parts = gen::regionsFromOp(op, [op] { return op->emitError(); });
    if (failed(parts))
      return failure();
    return object.addKernel(*parts, op->getLoc());
  };
}

FailureOr<GraphToPlanResult> graphToPlan(func::FuncOp function, const GraphToPlanOptions &options) {
  FailureOr<SymbolicDims> sizes = SymbolicDims::analyse(function);
  if (failed(sizes))
    return failure();
  return Lowering(function, options, *sizes).run();
}

} // namespace plim::lowering
