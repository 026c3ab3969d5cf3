//===- Launches.cpp - The kernels that can run an op -----------------------------------------===//
#include "compiler/Lowering/Generated/FromGraph.h"
#include "compiler/Lowering/GraphToPlan/ProgramLowering.h"
#include "compiler/Transforms/Graph/Split/Pieces.h"
#include "dialects/Graph/PartialOps.h"
#include "dialects/Plan/PlanSteps.h"
#include "kernels/registry.h"

using namespace mlir;

namespace plim::lowering {

LogicalResult ProgramLowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    addDefinitions(&op);
    if (launches.contains(&op) && failed(lowerOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult ProgramLowering::lowerOp(Operation *op) {
  if (op->getNumResults() == 1 && sizes.isMadeOfSizes(op->getResult(0))) {
    lowerSizes(op);
    return success();
  }
  if (auto branch = dyn_cast<graph::IfOp>(op))
    return lowerIf(branch);
  if (auto loop = dyn_cast<graph::LoopOp>(op))
    return lowerLoop(loop);
  ArrayRef<graph::KernelCandidate> candidates = launches.candidatesOf(op);
  return candidates.empty() ? lowerGenerated(op) : lowerCandidates(op, candidates);
}

LogicalResult ProgramLowering::lowerCandidates(Operation *op, ArrayRef<graph::KernelCandidate> candidates) {
  SmallVector<plan::CandidateAttr> attrs;
  auto numerics = op->getAttrOfType<StringAttr>(graph::kNumericsAttr);
  for (const graph::KernelCandidate &c : candidates)
    if (!numerics || numerics == c.numericsClass)
      attrs.push_back(candidateAttr(c, op, candidates.back().numericsClass));
  if (attrs.empty())
    return op->emitError("needs a kernel of class ") << numerics << ", has none";
  offerFewerTasks(attrs);
  launch(op, candidates.front().operands, attrs, aliasesOf(op, candidates.front()));
  return success();
}

/// Where scratch is large, the same kernels for fewer workers at once, which have less of it. Times are those of one
/// worker, so that what others lose by waiting is put as a part of it: enough to take this for memory only.
void ProgramLowering::offerFewerTasks(SmallVectorImpl<plan::CandidateAttr> &candidates) const {
  constexpr int64_t large = 1 << 20; // bytes
  constexpr int64_t part = 50;       // for half of the workers
  for (plan::CandidateAttr candidate : llvm::to_vector(candidates)) {
    plan::CandidateSpec spec = candidate.getSpec();
    const int64_t ns = spec.ns;
    // With phases, tasks share what they wrote before.
    for (int64_t tasks = std::min<int64_t>(spec.tasks, options.workers), halved = 1;
         tasks > 1 && tasks * spec.scratch >= large && spec.phases <= 1; ++halved) {
      spec.tasks = tasks /= 2;
      spec.ns = ns + ns * halved / part;
      candidates.push_back(plan::CandidateAttr::get(context, spec));
    }
  }
}

plan::CandidateAttr ProgramLowering::candidateAttr(const graph::KernelCandidate &c, Operation *op,
                                                   StringRef lastNumerics) const {
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
  // Kernels of these families touch each element of an output only after the same element of the inputs (of a
  // recurrence: of the states; of a partial gather: of the rows so far).
  spec.inPlace = family == "elementwise" || family == "recurrent" || c.kernel == "gather.partial";
  // These follow any strides but the innermost (see their headers); what is left out packs or indexes by its own rules.
  spec.strided = llvm::is_contained({"elementwise", "copy", "resize", "pad", "pool", "norm", "softmax", "scan", "fill",
                                     "matmul", "conv", "conv_transpose", "attention", "recurrent"},
                                    family) ||
                 c.kernel == "reduce.apply";
  std::string label, barredBy;
  if (auto attention = dyn_cast_or_null<graph::AttentionOp>(op); attention && variant != "reference") {
    label = ("attention=" + variant).str();
    std::string wanted = options.choice.attention;
    if (attention.getAlgorithm() != graph::AttentionAlgorithm::Auto)
      wanted = stringifyAttentionAlgorithm(attention.getAlgorithm()).str();
    if (wanted != "auto" && wanted != variant)
      barredBy = "--attention=" + wanted;
  }
  if (barredBy.empty() && options.choice.exactNumerics && c.numericsClass != lastNumerics)
    barredBy = "--numerics=exact";
  spec.label = label, spec.barredBy = barredBy;
  return plan::CandidateAttr::get(context, spec);
}

/// Whether it is a piece that lies in several runs of the whole.
static bool isScatteredPiece(Operation *op) {
  auto concat = op->hasAttr(graph::kPieceAttr) && op->hasOneUse() ? dyn_cast<graph::ConcatOp>(*op->user_begin())
                                                                  : graph::ConcatOp();
  return concat && llvm::any_of(graph::staticDims(concat.getResult()).take_front(size_t(concat.getAxis())),
                                [](int64_t size) { return size > 1; });
}

/// A slice stays a copy that the planner can turn into a view, a piece one that it can write in place.
bool ProgramLowering::generates(Operation *op) const {
  if (!options.generate || isa<graph::SliceOp, graph::ConcatOp>(op) ||
      (isa<graph::TransposeOp>(op) && isScatteredPiece(op)))
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

LogicalResult ProgramLowering::lowerGenerated(Operation *op) {
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
    if (sizes.largestBytes(operands[read].value) == sizes.largestBytes(operands[write].value))
      aliases.push_back(plan::AliasAttr::get(context, plan::AliasKind::InPlace, write, read, 0, 0, 0, 0));
  launch(op, operands, {plan::CandidateAttr::get(context, spec)}, aliases);
  return success();
}

void ProgramLowering::launch(Operation *op, ArrayRef<graph::LaunchOperand> operands,
                             ArrayRef<plan::CandidateAttr> candidates, ArrayRef<plan::AliasAttr> aliases) {
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
  if (Attribute piece = op->getAttr(graph::kPieceAttr))
    step->setAttr(graph::kPieceAttr, piece);
  if (SmallVector<plan::SplitAttr> splits = splitsOf(op, operands, candidates); !splits.empty())
    step.setSplitsAttr(b.getArrayAttr(SmallVector<Attribute>(splits.begin(), splits.end())));
}

plan::LaunchOp ProgramLowering::createLaunch(Location loc, ArrayRef<plan::CandidateAttr> candidates,
                                             ValueRange launchBuffers, ArrayRef<plan::AccessAttr> accesses,
                                             StringRef source, ValueRange scalars) {
  bool open = false;
  SmallVector<unsigned> used;
  SmallVector<plan::AccessAttr> placed;
  for (plan::AccessAttr access : accesses) {
    open |= !access.getShape().isStatic();
    placed.push_back(plan::AccessAttr::get(context, access.getMode(), access.getOffset(), access.getSpan(),
                                           placedShape(access.getShape(), used)));
  }
  bool pure = true; // what writes a state cannot run again
  for (auto [buffer, access] : llvm::zip_equal(launchBuffers, accesses))
    pure &= !access.writes() || !plan::stateOf(plan::rootBuffer(buffer));
  return plan::LaunchOp::create(b, loc, candidates, launchBuffers, placed, source, pure, scalars,
                                open ? ValueRange(valuesOf(used)) : ValueRange());
}

plan::LaunchOp ProgramLowering::createLaunch(Location loc, const graph::KernelCandidate &kernel,
                                             ValueRange launchBuffers, StringRef source, ValueRange scalars) {
  auto accesses = llvm::map_to_vector(kernel.operands, [&](const graph::LaunchOperand &o) { return accessAttr(o); });
  return createLaunch(loc, {candidateAttr(kernel, nullptr, kernel.numericsClass)}, launchBuffers, accesses, source,
                      scalars);
}

} // namespace plim::lowering
