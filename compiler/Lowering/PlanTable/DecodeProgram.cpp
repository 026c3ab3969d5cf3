//===- DecodeProgram.cpp - One program of a step table back to IR -------------------------------------===//
//
// Scalar slots become values again: a slot that a loop's body writes and that had a value before is carried, a slot
// that both regions of a branch write is a result of the plan.if.
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Lowering/PlanTable/DecodeProgram.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace plim::plan;

namespace {

class ProgramDecoder {
public:
  ProgramDecoder(const TableReader &table, const DecodedShared &shared, const plim_t_program &record,
                 OpBuilder &builder)
      : table(table), shared(shared), record(record), builder(builder), context(builder.getContext()),
        loc(builder.getUnknownLoc()), steps(table.steps(record)) {}

  LogicalResult run();

private:
  using Slots = llvm::MapVector<uint32_t, Value>;

  void decodeViews();
  BufferType typeOf(const plim_t_view &view) const;
  Value createPart(uint32_t number, const DecodedView &view);
  Value buffer(uint32_t view);
  Value slot(uint32_t number);
  SmallVector<Value> slotList(uint32_t first, uint32_t count) {
    return llvm::map_to_vector(table.indices(first, count), [&](uint32_t s) { return slot(s); });
  }
  void define(uint32_t number, Value value) { slots[number] = value; }
  StringAttr source(uint32_t string) {
    return string == PLIM_NONE ? StringAttr() : builder.getStringAttr(table.string(string));
  }
  std::optional<QueueAttr> queue(uint8_t byte) const {
    return QueueAttr::get(context, static_cast<QueueKind>(byte & 15), byte >> 4);
  }
  /// The queue of a step; none where it is the cpu's first.
  QueueAttr queueOf(const plim_t_step &step) const { return step.queue ? *queue(step.queue) : QueueAttr(); }
  Type tokenType(const plim_t_step &step) const { return step.token == PLIM_NONE ? Type() : TokenType::get(context); }
  void defineToken(const plim_t_step &step, Value token) {
    if (token)
      tokens[step.token] = token;
  }

  void decodeSteps(uint32_t first, uint32_t end);
  uint32_t decodeStep(uint32_t number);
  void decodeLaunch(const plim_t_step &step);
  void decodeEval(const plim_t_step &step);
  uint32_t decodeBranch(uint32_t number);
  uint32_t decodeLoop(uint32_t number);
  /// Slots that steps in [first, end) write, in ascending order.
  SmallVector<uint32_t> writtenSlots(uint32_t first, uint32_t end) const;

  const TableReader &table;
  const DecodedShared &shared;
  const plim_t_program &record;
  OpBuilder &builder;
  MLIRContext *context;
  Location loc;
  ArrayRef<plim_t_step> steps;
  ProgramOp program;
  SmallVector<uint32_t> outputSizes; // slots of scalars of the run that outputs name
  std::map<uint32_t, DecodedView> views;
  DenseMap<uint32_t, Value> bufferValues; // by view record
  DenseMap<uint32_t, Value> tokens;
  Slots slots;
  bool hasUnsetScalar = false; // a step reads a scalar that no step before it sets
};

} // namespace

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

BufferType ProgramDecoder::typeOf(const plim_t_view &view) const {
  Tier tier = Tier::Ram;
  if (view.base == PLIM_BASE_ARENA)
    tier = static_cast<Tier>(table.all<plim_t_arena>(PLIM_SEC_ARENAS)[view.index].tier);
  else if (view.base == PLIM_BASE_CONSTANT_FILE)
    tier = Tier::Ssd;
  return BufferType::get(context, view.bytes, tier);
}

Value ProgramDecoder::createPart(uint32_t number, const DecodedView &view) {
  auto records = table.all<plim_t_view>(PLIM_SEC_VIEWS);
  const plim_t_view &part = records[number];
  Value base =
      view.parent == PLIM_NONE ? Value(program.getIOArguments()[view.number]) : bufferValues.lookup(view.parent);
  uint64_t baseOffset = view.parent == PLIM_NONE ? 0 : records[view.parent].offset;
  Value dynamic = part.offset_scalar == PLIM_NONE ? Value() : slot(part.offset_scalar);
  return ViewOp::create(builder, loc, base, part.offset - baseOffset, part.bytes, dynamic);
}

void ProgramDecoder::decodeViews() {
  auto records = table.all<plim_t_view>(PLIM_SEC_VIEWS);
  auto residents = table.all<plim_t_resident>(PLIM_SEC_RESIDENTS).slice(record.first_resident, record.residents);
  for (const plim_t_resident &resident : residents) {
    const plim_t_view &view = records[resident.view];
    bool inArena = view.base == PLIM_BASE_ARENA;
    FlatSymbolRefAttr symbol = (resident.is_state ? shared.states : shared.constants)[resident.index];
    bufferValues[resident.view] = ResidentOp::create(
        builder, loc, typeOf(view), symbol, inArena ? shared.arenas[view.index] : FlatSymbolRefAttr(),
        inArena ? builder.getI64IntegerAttr(view.offset) : IntegerAttr(), inArena ? UnitAttr() : builder.getUnitAttr());
  }
  for (auto &[number, view] : views) {
    const plim_t_view &entry = records[number];
    if (view.kind == DecodedView::IO)
      bufferValues[number] = program.getIOArguments()[view.number];
    else if (view.kind == DecodedView::Buffer)
      bufferValues[number] = ViewOp::create(builder, loc, shared.arenas[entry.index], entry.offset, typeOf(entry),
                                            source(table.all<plim_t_buffer>(PLIM_SEC_BUFFERS)[view.number].source));
    else if (view.kind == DecodedView::Part && entry.offset_scalar == PLIM_NONE)
      bufferValues[number] = createPart(number, view);
  }
}

/// A scalar that is read before it is set stands for nothing that IR can say: decoding ends with an error, and goes on
/// until then with a value that will not be seen.
Value ProgramDecoder::slot(uint32_t number) {
  if (Value value = slots.lookup(number))
    return value;
  hasUnsetScalar = true;
  auto none = EvalOp::create(builder, loc, TypeRange(builder.getIndexType()), ValueRange(),
                             builder.getI64IntegerAttr(0), StringAttr());
  return none.getResult(0);
}

/// Views at a scalar's offset are made where a step first names them.
Value ProgramDecoder::buffer(uint32_t view) {
  Value &value = bufferValues[view];
  if (!value)
    value = createPart(view, views.at(view));
  return value;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void ProgramDecoder::decodeLaunch(const plim_t_step &step) {
  const plim_t_launch &launch = table.all<plim_t_launch>(PLIM_SEC_LAUNCHES)[step.record];
  const plim_t_kernel &kernel = table.all<plim_t_kernel>(PLIM_SEC_KERNELS)[launch.kernel];
  SmallVector<Value> buffers;
  SmallVector<Attribute> accesses;
  SmallVector<uint32_t> dims;
  SmallVector<uint32_t> dynamicViews;
  auto operands = table.all<plim_t_operand>(PLIM_SEC_OPERANDS).slice(launch.first_operand, launch.operands);
  for (const plim_t_operand &operand : operands)
    if (!bufferValues.lookup(operand.view) && !llvm::is_contained(dynamicViews, operand.view))
      dynamicViews.push_back(operand.view);
  llvm::sort(dynamicViews);
  for (uint32_t view : dynamicViews)
    buffer(view);
  for (const plim_t_operand &operand : operands) {
    buffers.push_back(buffer(operand.view));
    ShapeAttr shape = decodeShape(context, table.all<plim_t_shape>(PLIM_SEC_SHAPES)[operand.shape], dims, false);
    accesses.push_back(AccessAttr::get(static_cast<AccessMode>(operand.access), shape));
  }
  auto candidate = CandidateAttr::get(context, CandidateSpec{.kernel = table.string(kernel.name),
                                                             .tasks = launch.tasks,
                                                             .attrs = table.words(launch.first_attr, launch.attr_words),
                                                             .shared = int64_t(launch.shared_bytes),
                                                             .scratch = int64_t(launch.scratch_bytes),
                                                             .phases = kernel.phases});
  SmallVector<Type> results(launch.results, builder.getIndexType());
  auto dimValues = llvm::map_to_vector(dims, [&](uint32_t s) { return slot(s); });
  auto op =
      LaunchOp::create(builder, loc, results, tokenType(step), builder.getArrayAttr({candidate}), buffers,
                       builder.getArrayAttr(accesses), slotList(launch.first_scalar, launch.scalars), dimValues,
                       launch.tasks_scalar == PLIM_NONE ? Value() : slot(launch.tasks_scalar),
                       launch.workspace == PLIM_NONE ? Value() : buffer(launch.workspace), queueOf(step),
                       /*pure=*/false, launch.instance, StringAttr(), ArrayAttr(), ArrayAttr(), source(step.source));
  for (auto [number, value] : llvm::zip_equal(table.indices(launch.first_result, launch.results), op.getValues()))
    define(number, value);
  defineToken(step, op.getToken());
}

void ProgramDecoder::decodeEval(const plim_t_step &step) {
  const plim_t_eval &eval = table.all<plim_t_eval>(PLIM_SEC_EVALS)[step.record];
  SmallVector<Type> results(eval.outs, builder.getIndexType());
  bool known = eval.function < shared.evals.size();
  auto op = EvalOp::create(builder, loc, results, slotList(eval.first_in, eval.ins),
                           known ? IntegerAttr() : builder.getI64IntegerAttr(eval.function), source(step.source));
  if (known) {
    func::FuncOp function = shared.evals[eval.function];
    IRMapping mapping;
    function.getBody().cloneInto(&op.getBody(), mapping);
    OpBuilder::InsertionGuard guard(builder);
    Operation *end = op.getBody().front().getTerminator();
    builder.setInsertionPoint(end);
    YieldOp::create(builder, loc, end->getOperands());
    end->erase();
  }
  for (auto [number, value] : llvm::zip_equal(table.indices(eval.first_out, eval.outs), op.getValues()))
    define(number, value);
}

SmallVector<uint32_t> ProgramDecoder::writtenSlots(uint32_t first, uint32_t end) const {
  SmallVector<uint32_t> written;
  for (const plim_t_step &step : steps.slice(first, end - first)) {
    if (step.opcode == PLIM_OP_LAUNCH) {
      const plim_t_launch &launch = table.all<plim_t_launch>(PLIM_SEC_LAUNCHES)[step.record];
      llvm::append_range(written, table.indices(launch.first_result, launch.results));
    } else if (step.opcode == PLIM_OP_EVAL) {
      const plim_t_eval &eval = table.all<plim_t_eval>(PLIM_SEC_EVALS)[step.record];
      llvm::append_range(written, table.indices(eval.first_out, eval.outs));
    } else if (step.opcode == PLIM_OP_LOAD) {
      written.push_back(table.all<plim_t_load>(PLIM_SEC_LOADS)[step.record].scalar);
    }
  }
  llvm::sort(written);
  written.erase(llvm::unique(written), written.end());
  return written;
}

uint32_t ProgramDecoder::decodeBranch(uint32_t number) {
  const plim_t_branch &branch = table.all<plim_t_branch>(PLIM_SEC_BRANCHES)[steps[number].record];
  uint32_t thenEnd = branch.target, end = branch.target;
  const plim_t_step &last = steps[branch.target - 1];
  bool hasElse = false;
  if (branch.target - 1 > number && last.opcode == PLIM_OP_BRANCH) {
    const plim_t_branch &leave = table.all<plim_t_branch>(PLIM_SEC_BRANCHES)[last.record];
    if (leave.scalar == PLIM_NONE) {
      hasElse = true;
      thenEnd = branch.target - 1;
      end = leave.target;
    }
  }
  SmallVector<uint32_t> results;
  if (hasElse) {
    SmallVector<uint32_t> inElse = writtenSlots(branch.target, end);
    for (uint32_t s : writtenSlots(number + 1, thenEnd))
      if (llvm::is_contained(inElse, s))
        results.push_back(s);
  }
  SmallVector<Type> types(results.size(), builder.getIndexType());
  auto op = IfOp::create(builder, loc, types, slot(branch.scalar), source(steps[number].source));
  Slots before = slots;
  auto decodeRegion = [&](Region &region, uint32_t first, uint32_t last) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region);
    decodeSteps(first, last);
    YieldOp::create(builder, loc, llvm::map_to_vector(results, [&](uint32_t s) { return slot(s); }));
    slots = before;
  };
  decodeRegion(op.getThenRegion(), number + 1, thenEnd);
  if (hasElse)
    decodeRegion(op.getElseRegion(), branch.target, end);
  for (auto [s, value] : llvm::zip_equal(results, op.getValues()))
    define(s, value);
  return end;
}

uint32_t ProgramDecoder::decodeLoop(uint32_t number) {
  const plim_t_loop &loop = table.all<plim_t_loop>(PLIM_SEC_LOOPS)[steps[number].record];
  SmallVector<uint32_t> carried;
  if (loop.condition != PLIM_NONE)
    carried.push_back(loop.condition);
  for (uint32_t s : writtenSlots(loop.body, loop.end - 1))
    if (s != loop.condition && slots.count(s))
      carried.push_back(s);
  auto inits = llvm::map_to_vector(carried, [&](uint32_t s) { return slot(s); });
  SmallVector<Type> types(carried.size(), builder.getIndexType());
  auto op = LoopOp::create(builder, loc, types, loop.max_trips, loop.trips == PLIM_NONE ? Value() : slot(loop.trips),
                           inits, loop.condition != PLIM_NONE, source(steps[number].source));
  Slots before = slots;
  {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Type> argumentTypes(carried.size() + 1, builder.getIndexType());
    Block *body =
        builder.createBlock(&op.getBody(), {}, argumentTypes, SmallVector<Location>(argumentTypes.size(), loc));
    define(loop.counter, body->getArgument(0));
    for (auto [s, argument] : llvm::zip_equal(carried, body->getArguments().drop_front()))
      define(s, argument);
    decodeSteps(loop.body, loop.end - 1);
    YieldOp::create(builder, loc, llvm::map_to_vector(carried, [&](uint32_t s) { return slot(s); }));
  }
  slots = before;
  for (auto [s, value] : llvm::zip_equal(carried, op.getValues()))
    define(s, value);
  return loop.end;
}

/// Decodes the step and returns the number of the one after it, past its regions.
uint32_t ProgramDecoder::decodeStep(uint32_t number) {
  const plim_t_step &step = steps[number];
  StringAttr from = source(step.source);
  switch (step.opcode) {
  case PLIM_OP_LAUNCH:
    decodeLaunch(step);
    break;
  case PLIM_OP_COPY: {
    const plim_t_copy &copy = table.all<plim_t_copy>(PLIM_SEC_COPIES)[step.record];
    Value src = buffer(copy.src), dst = buffer(copy.dst);
    auto op = CopyOp::create(builder, loc, tokenType(step), src, dst, ValueRange(), queueOf(step), copy.hash, from);
    defineToken(step, op.getToken());
    break;
  }
  case PLIM_OP_FILL: {
    const plim_t_fill &fill = table.all<plim_t_fill>(PLIM_SEC_FILLS)[step.record];
    auto op = FillOp::create(builder, loc, tokenType(step), buffer(fill.view), table.words(fill.first_word, 1)[0],
                             queueOf(step), from);
    defineToken(step, op.getToken());
    break;
  }
  case PLIM_OP_WAIT: {
    const plim_t_wait &wait = table.all<plim_t_wait>(PLIM_SEC_WAITS)[step.record];
    auto waited = llvm::map_to_vector(table.indices(wait.first_token, wait.tokens),
                                      [&](uint32_t token) { return tokens.lookup(token); });
    WaitOp::create(builder, loc, waited, wait.on_queue == PLIM_NONE ? QueueAttr() : *queue(wait.on_queue), from);
    break;
  }
  case PLIM_OP_LOAD: {
    const plim_t_load &load = table.all<plim_t_load>(PLIM_SEC_LOADS)[step.record];
    auto op = LoadScalarOp::create(builder, loc, builder.getIndexType(), buffer(load.view), load.offset,
                                   static_cast<DType>(load.dtype), load.lower, load.upper, from);
    define(load.scalar, op.getValue());
    break;
  }
  case PLIM_OP_EVAL:
    decodeEval(step);
    break;
  case PLIM_OP_CHECK: {
    const plim_t_check &check = table.all<plim_t_check>(PLIM_SEC_CHECKS)[step.record];
    CheckOp::create(builder, loc, slot(check.scalar), check.lower, check.upper, table.string(check.message), from);
    break;
  }
  case PLIM_OP_BRANCH:
    return decodeBranch(number);
  case PLIM_OP_LOOP:
    return decodeLoop(number);
  case PLIM_OP_MARK: {
    const plim_t_mark &mark = table.all<plim_t_mark>(PLIM_SEC_MARKS)[step.record];
    MarkOp::create(builder, loc, mark.is_death ? Life::Death : Life::Birth,
                   buffer(table.all<plim_t_buffer>(PLIM_SEC_BUFFERS)[mark.buffer].view));
    break;
  }
  case PLIM_OP_RETURN:
    ReturnOp::create(builder, loc, llvm::map_to_vector(outputSizes, [&](uint32_t s) { return slot(s); }));
    break;
  }
  return number + 1;
}

void ProgramDecoder::decodeSteps(uint32_t first, uint32_t end) {
  while (first < end)
    first = decodeStep(first);
}

LogicalResult ProgramDecoder::run() {
  for (uint64_t budget : record.budget)
    if (budget != UINT64_MAX && budget > INT64_MAX)
      return emitError(loc) << "program " << table.string(record.name) << ": need budgets below 2^63 bytes, have "
                            << budget;
  std::string error;
  FailureOr<std::map<uint32_t, DecodedView>> classified = classifyViews(table, record, error);
  if (failed(classified))
    return emitError(loc) << "program " << table.string(record.name) << ": " << error;
  views = std::move(*classified);
  program = createProgram(table, shared, record, outputSizes, builder);
  for (auto [value, symbol] :
       llvm::zip_equal(program.getSymbolArguments(),
                       table.all<plim_t_symbol>(PLIM_SEC_SYMBOLS).slice(record.first_symbol, record.symbols)))
    define(symbol.scalar, value);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(program.getBlock());
  decodeViews();
  decodeSteps(0, record.steps);
  if (hasUnsetScalar)
    return emitError(loc) << "program " << table.string(record.name)
                          << ": need each scalar set before it is read, on every way to the step";
  return success();
}

LogicalResult plim::plan::decodeProgram(const TableReader &table, const DecodedShared &shared,
                                        const plim_t_program &program, OpBuilder &builder) {
  return ProgramDecoder(table, shared, program, builder).run();
}
