//===- Schedule.cpp - Phases, kept values, units and tasks of a region ----===//
#include "compiler/Lowering/Generated/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
namespace plim::gen {

/// Tasks a launch has at most, and the work (in simple operations on elements) below which a task is not worth it.
constexpr int64_t maxTasks = 256, minTaskWork = 1 << 15;
/// Units aimed at where the outer dimensions alone give fewer.
constexpr int64_t enoughUnits = 64;
/// Longest row kept in scratch: beyond, the value is computed again.
constexpr int64_t maxKeptBytes = 256 << 10;
/// Operations that a function of the math dialect or a division stands for.
constexpr double costlyFlops = 16;

static Type loadedType(plim_dtype dtype, MLIRContext *context) {
  Builder b(context);
  switch (dtype) {
  case PLIM_F32:
  case PLIM_F16:
  case PLIM_BF16:
    return b.getF32Type();
  case PLIM_F64:
    return b.getF64Type();
  case PLIM_BOOL:
    return b.getI1Type();
  default:
    return b.getIntegerType(8 * plim_dtype_bytes(dtype));
  }
}

static bool isCostly(Operation *op) {
  if (isa<arith::DivFOp>(op))
    return true;
  return op->getDialect()->getNamespace() == "math" &&
         !isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FmaOp, math::FloorOp, math::CeilOp, math::RoundEvenOp,
              math::TruncOp>(op);
}

namespace {
struct Analysis {
  Schedule s;
  Location loc;
  SmallVector<char> costly; // costs more than reading it back

  Analysis(const Region &r, Location loc) : s(r), loc(loc) {}

  const Region &r() const { return s.region; }
  int count() const { return int(r().nodes.size()); }
  const Operand &operand(const Node &n) const { return r().operands[n.operand]; }

  LogicalResult findTypes();
  void findPhases();
  void findForm();
  void keepOneValue();
  void cutIntoUnits();
  void findInPlace();
  bool readsInput(int node) const;
  bool reads(int node, unsigned arg) const;
};
} // namespace

/// The types follow from emitting every node once on scalars, as do the costs.
LogicalResult Analysis::findTypes() {
  MLIRContext *context = loc.getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  ImplicitLocOpBuilder b(loc, context);
  s.type.assign(count(), Type());
  costly.assign(count(), 0);
  double elements = 1;
  for (int64_t n : r().space)
    elements *= double(n);
  for (auto [i, n] : llvm::enumerate(r().nodes)) {
    if (n.operand >= 0) {
      double walked = plim_dtype_bytes(operand(n).dtype);
      for (auto [size, stride] : llvm::zip(r().space, operand(n).strides))
        walked *= stride ? double(size) : 1;
      s.bytes += walked;
    }
    if (n.kind == NodeKind::Load) {
      s.type[i] = loadedType(operand(n).dtype, context);
    } else if (n.kind == NodeKind::Store) {
      if (s.type[n.inputs[0]] != loadedType(operand(n).dtype, context))
        return emitError(loc, "a generated kernel would store ")
               << s.type[n.inputs[0]] << " as element type " << int(operand(n).dtype);
    } else if (n.kind == NodeKind::Reduce) {
      if (!s.type[n.inputs[0]].isF32())
        return emitError(loc, "a generated kernel reduces f32 values only, not ") << s.type[n.inputs[0]];
      s.type[i] = b.getF32Type();
      s.flops += elements;
    } else {
      Block block;
      SmallVector<Value> in;
      for (int k : n.inputs)
        in.push_back(block.addArgument(s.type[k], loc));
      b.setInsertionPointToStart(&block);
      Value result = n.apply(b, in);
      if (!result)
        return emitError(loc, "an operation has no scalar body");
      s.type[i] = result.getType();
      if (!isa<FloatType, IntegerType>(s.type[i]))
        return emitError(loc, "a scalar body gives ") << s.type[i];
      for (Operation &op : block) {
        costly[i] |= isCostly(&op);
        s.flops += isa<arith::ConstantOp>(op) ? 0 : isCostly(&op) ? costlyFlops * elements : elements;
      }
    }
  }
  return success();
}

void Analysis::findPhases() {
  int n = count();
  s.phase.assign(n, 0);
  s.isVector.assign(n, 0);
  s.perRow.assign(n, 0);
  s.transposed.assign(n, 0);
  for (int i = 0; i < n; ++i) {
    const Node &node = r().nodes[i];
    if (node.operand >= 0) {
      s.isVector[i] = operand(node).strides.back() != 0;
      s.perRow[i] = r().space.size() > 1 && operand(node).strides[r().space.size() - 2] != 0;
    }
    for (int in : node.inputs) {
      s.phase[i] = std::max(s.phase[i], s.phase[in] + (r().nodes[in].kind == NodeKind::Reduce ? 1 : 0));
      if (node.kind != NodeKind::Store) {
        s.isVector[i] |= s.isVector[in];
        costly[i] |= costly[in] && s.isVector[in];
      }
      s.perRow[i] |= s.perRow[in];
    }
    if (node.kind == NodeKind::Reduce && !r().reduceRows)
      s.isVector[i] = costly[i] = 0;
    if (node.kind == NodeKind::Reduce && r().reduceRows)
      s.isVector[i] = 1, s.perRow[i] = costly[i] = 0;
    s.phases = std::max(s.phases, s.phase[i] + 1);
  }
}

void Analysis::findForm() {
  s.form = r().reduceRows && r().hasReduction() ? LoopForm::Columns : LoopForm::Rows;
  bool tiles = !r().hasReduction() && r().space.size() > (r().open ? 2 : 1);
  for (auto [i, n] : llvm::enumerate(r().nodes)) {
    if (n.operand < 0 || isDense(operand(n).strides.back()))
      continue;
    s.strided = true;
    // Tiles are of f32; the other side of the tile must be contiguous.
    tiles = tiles && n.kind == NodeKind::Load && s.type[i].isF32() && operand(n).strides[r().space.size() - 2] == 1;
    s.transposed[i] = 1;
  }
  if (s.strided && tiles)
    s.form = LoopForm::Transposed, s.strided = false;
  else
    s.transposed.assign(count(), 0);
}

/// Whether computing `node` after its kept input loads a vector.
bool Analysis::readsInput(int node) const {
  const Node &n = r().nodes[node];
  if (node == s.kept || (n.kind == NodeKind::Reduce && s.phase[node] <= s.keptPhase))
    return false;
  return (n.kind == NodeKind::Load && s.isVector[node]) || llvm::any_of(n.inputs, [&](int k) { return readsInput(k); });
}

void Analysis::keepOneValue() {
  if (s.form != LoopForm::Rows || s.strided)
    return;
  int n = count();
  SmallVector<int> first(n, s.phases), last(n, -1);
  for (int i = n - 1; i >= 0; --i) {
    const Node &node = r().nodes[i];
    if (node.kind == NodeKind::Reduce || node.kind == NodeKind::Store)
      first[i] = last[i] = s.phase[i];
    else if (s.isVector[i] && costly[i] && s.type[i].isF32() && first[i] < last[i] && s.kept < 0)
      s.kept = i, s.keptPhase = first[i];
    for (int in : node.inputs) {
      first[in] = std::min(first[in], first[i]);
      last[in] = std::max(last[in], last[i]);
    }
  }
  if (s.kept < 0)
    return;
  for (int i = 0; i < n; ++i) {
    const Node &node = r().nodes[i];
    if (node.kind != NodeKind::Store || s.phase[i] + 1 != s.phases || s.keptOperand >= 0)
      continue;
    if (operand(node).dtype == PLIM_F32 && operand(node).strides.back() == 1)
      s.keptOperand = node.operand;
  }
  // The output may share the memory of an input that a later phase reads.
  for (int i = 0; i < n; ++i)
    if (s.phase[i] > s.keptPhase && readsInput(i))
      s.keptOperand = -1;
  if (s.keptOperand >= 0)
    return;
  if (r().space.back() * 4 > maxKeptBytes)
    s.kept = -1;
  else
    s.scratchBytes = llvm::alignTo(r().space.back() * 4, 64);
}

void Analysis::cutIntoUnits() {
  ArrayRef<int64_t> space = r().space;
  const int64_t rank = space.size(), columns = space.back();
  double elements = 1;
  for (int64_t n : space)
    elements *= double(n);
  // Dimensions inside a unit that are not cut: columns, and rows but for the form Rows.
  int64_t outer = rank - (s.form == LoopForm::Rows ? 1 : 2), units = 1;
  if (s.form == LoopForm::Rows) {
    while (s.parallelDims < outer && units < enoughUnits)
      units *= space[s.parallelDims++];
  } else {
    for (; s.parallelDims < outer; ++s.parallelDims)
      units *= space[s.parallelDims];
  }
  s.chunk = std::max<int64_t>(columns, 1);
  if (s.form == LoopForm::Transposed)
    units *= llvm::divideCeil(space[rank - 2], stripRows);
  if (s.form == LoopForm::Columns)
    s.chunk = std::min(s.chunk, blockColumns);
  else if (!r().hasReduction() && units < enoughUnits)
    // Pieces start on a cache line of every type.
    s.chunk = std::min<int64_t>(s.chunk, llvm::alignTo(std::max<int64_t>(columns * units / maxTasks, 1), 1024));
  s.chunks = std::max<int64_t>(1, llvm::divideCeil(columns, s.chunk));
  s.units = units * s.chunks;
  if (s.form == LoopForm::Columns) {
    int64_t slots = llvm::count_if(r().nodes, [](const Node &n) { return n.kind == NodeKind::Reduce; });
    // Each reduction has its totals, and sums of a block of rows beside them.
    s.scratchBytes = llvm::alignTo(2 * slots * s.chunk * 4, 64);
  }
  double work = (s.flops + elements) / double(std::max<int64_t>(s.units, 1));
  int64_t worth = int64_t(std::ceil(double(minTaskWork) / std::max(work, 1.0)));
  s.unitsPerTask =
      std::max<int64_t>(1, std::min(s.units, std::max<int64_t>(llvm::divideCeil(s.units, maxTasks), worth)));
}

/// Whether computing `node`, reductions apart, loads from buffer `arg`.
bool Analysis::reads(int node, unsigned arg) const {
  const Node &n = r().nodes[node];
  if (n.kind == NodeKind::Load)
    return operand(n).arg == arg;
  return n.kind != NodeKind::Reduce && llvm::any_of(n.inputs, [&](int k) { return reads(k, arg); });
}

/// An output may take the place of an input where both are walked alike, the output is stored once, and no phase
/// after the store reads the input.
void Analysis::findInPlace() {
  llvm::SmallSet<std::pair<unsigned, unsigned>, 4> seen;
  for (auto [i, store] : llvm::enumerate(r().nodes)) {
    if (store.kind != NodeKind::Store)
      continue;
    const Operand &out = operand(store);
    auto sameArg = [&](const Operand &o) { return o.arg == out.arg; };
    if (llvm::count_if(r().operands, sameArg) != 1)
      continue;
    for (const Node &load : r().nodes) {
      if (load.kind != NodeKind::Load || s.form == LoopForm::Transposed)
        continue;
      unsigned arg = operand(load).arg;
      bool fits = true;
      for (auto [j, user] : llvm::enumerate(r().nodes)) {
        if (user.kind == NodeKind::Load && operand(user).arg == arg)
          fits &= operand(user).strides == out.strides && operand(user).offset == out.offset &&
                  plim_dtype_bytes(operand(user).dtype) == plim_dtype_bytes(out.dtype);
        if (s.phase[j] <= s.phase[i] || user.kind == NodeKind::Load)
          continue;
        // A value used after the store's phase is computed again there.
        fits &= llvm::none_of(user.inputs, [&](int in) { return reads(in, arg); });
      }
      if (fits && seen.insert({arg, out.arg}).second)
        s.inPlace.push_back({arg, out.arg});
    }
  }
}

FailureOr<Schedule> scheduleRegion(const Region &region, Location loc) {
  if (std::string problem = region.problem(); !problem.empty())
    return emitError(loc, problem);
  Analysis a(region, loc);
  a.s.region.normalize();
  if (failed(a.findTypes()))
    return failure();
  a.findPhases();
  a.findForm();
  a.keepOneValue();
  a.cutIntoUnits();
  a.findInPlace();
  return std::move(a.s);
}

KernelInfo describeKernel(ArrayRef<Schedule> parts) {
  KernelInfo info;
  int64_t tasks = 0;
  for (const Schedule &s : parts) {
    tasks += s.tasks();
    info.scratchBytes = std::max<uint64_t>(info.scratchBytes, s.scratchBytes);
    info.flops += s.flops;
    info.bytes += s.bytes;
  }
  info.tasks = uint32_t(std::max<int64_t>(tasks, 1));
  // Another part may read what one overwrites.
  if (parts.size() == 1)
    info.inPlace = parts[0].inPlace;
  return info;
}

FailureOr<KernelInfo> describeKernel(ArrayRef<Region> parts, Location loc) {
  std::vector<Schedule> schedules;
  for (const Region &part : parts) {
    FailureOr<Schedule> s = scheduleRegion(part, loc);
    if (failed(s))
      return failure();
    schedules.push_back(std::move(*s));
  }
  return describeKernel(schedules);
}

} // namespace plim::gen
