//===- EncodeProgram.cpp - Steps, views and scalar slots of one program ----------------------------===//
//
// View records of a program, in order: each io as a whole, homes of residents, then plan.view operations as they stand.
// Scalar slots, in order: symbols, then values as they are computed. What a loop carries keeps the slot of its start,
// what an if gives has one slot that both of its regions write.
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Lowering/PlanTable/EncodeProgram.h"
#include "dialects/Plan/PlanSteps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace plim::plan;

namespace {

class ProgramEncoder {
public:
  ProgramEncoder(TableBuilder &table, ModuleNumbers &numbers, ProgramOp program)
      : table(table), numbers(numbers), program(program) {}

  plim_t_program encode(uint32_t variant);

private:
  void encodeSignature();
  void encodeOutputSizes();
  void encodeResident(ResidentOp resident);
  void encodeView(ViewOp view);
  void encodeRegion(Region &region);
  void encodeStep(Operation *op);
  uint32_t encodeLaunch(LaunchOp launch);
  void encodeIf(IfOp branch);
  void encodeLoop(LoopOp loop);

  uint32_t addView(uint32_t base, uint32_t index, uint64_t offset, uint64_t bytes, uint32_t scalar = PLIM_NONE) {
    return table.add(PLIM_SEC_VIEWS, plim_t_view{base, index, offset, bytes, scalar, 0});
  }
  uint32_t slot(Value scalar) const { return slots.at(scalar); }
  SmallVector<uint32_t> slotsOf(ValueRange scalars) const {
    return llvm::map_to_vector(scalars, [&](Value v) { return slot(v); });
  }
  /// A slot for a value that a step computes: a new one, or the one that a region's end wants it in.
  void define(Value scalar) { slots.try_emplace(scalar, scalarCount).second ? void(++scalarCount) : void(); }
  uint32_t source(StringAttr text) { return text ? table.string(text) : PLIM_NONE; }
  uint32_t addStep(plim_opcode opcode, uint32_t record, StringAttr from, std::optional<QueueAttr> queue = std::nullopt,
                   Value token = {});
  uint32_t nextStep() const { return table.count<plim_t_step>(PLIM_SEC_STEPS) - record.first_step; }

  TableBuilder &table;
  ModuleNumbers &numbers;
  ProgramOp program;
  plim_t_program record = {};
  DenseMap<Value, uint32_t> views;   // of every buffer value
  DenseMap<Value, uint32_t> buffers; // of views of arenas: numbers of live ranges
  DenseMap<Value, uint32_t> slots, tokens;
  uint32_t scalarCount = 0;
};

int64_t bytesOf(Value buffer) { return cast<BufferType>(buffer.getType()).getBytes(); }

uint8_t queueByte(QueueAttr queue) { return static_cast<uint8_t>(queue.getKind()) | queue.getNumber() << 4; }

} // namespace

uint32_t ProgramEncoder::addStep(plim_opcode opcode, uint32_t number, StringAttr from, std::optional<QueueAttr> queue,
                                 Value token) {
  plim_t_step step = {};
  step.opcode = opcode;
  step.queue = queue ? queueByte(*queue) : 0;
  step.record = number;
  step.token = token ? tokens.try_emplace(token, tokens.size()).first->second : PLIM_NONE;
  step.source = source(from);
  return table.add(PLIM_SEC_STEPS, step) - record.first_step;
}

void ProgramEncoder::encodeSignature() {
  record.first_symbol = table.count<plim_t_symbol>(PLIM_SEC_SYMBOLS);
  record.symbols = program.getSymbols().size();
  SmallVector<uint32_t> symbols;
  for (auto [value, symbol] :
       llvm::zip_equal(program.getSymbolArguments(), program.getSymbols().getAsRange<SymbolAttr>())) {
    define(value);
    symbols.push_back(slot(value));
    table.add(PLIM_SEC_SYMBOLS,
              plim_t_symbol{table.string(symbol.getName()), slot(value), symbol.getLower(), symbol.getUpper()});
  }
  record.first_io = table.count<plim_t_io>(PLIM_SEC_IOS);
  record.ios = program.getIos().size();
  for (auto [value, io] : llvm::zip_equal(program.getIOArguments(), program.getIos().getAsRange<IOAttr>())) {
    plim_t_io entry = {};
    entry.name = table.string(io.getName());
    // Scalars of the run have slots when its steps are encoded.
    if (io.getShape().getScalarsUsed() <= symbols.size())
      entry.shape = table.shape(io.getShape(), symbols);
    entry.is_output = io.getOutput(), entry.is_reused = io.getReused();
    entry.state = io.getState() ? numbers.states.at(io.getState().getAttr()) : PLIM_NONE;
    entry.bytes = bytesOf(value);
    uint32_t number = table.add(PLIM_SEC_IOS, entry);
    views[value] = addView(PLIM_BASE_IO, number, 0, entry.bytes);
  }
}

void ProgramEncoder::encodeOutputSizes() {
  SmallVector<uint32_t> scalars = slotsOf(program.getSymbolArguments());
  llvm::append_range(scalars, slotsOf(program.getBlock()->getTerminator()->getOperands()));
  for (auto [number, io] : llvm::enumerate(program.getIos().getAsRange<IOAttr>()))
    if (io.getShape().getScalarsUsed() > program.getSymbols().size())
      table.at<plim_t_io>(PLIM_SEC_IOS, record.first_io + number).shape = table.shape(io.getShape(), scalars);
}

void ProgramEncoder::encodeResident(ResidentOp resident) {
  StringAttr symbol = resident.getSymbolAttr().getAttr();
  auto constant = numbers.constants.find(symbol);
  bool isState = constant == numbers.constants.end();
  uint32_t index = isState ? numbers.states.at(symbol) : constant->second;
  uint32_t view = resident.getArena() ? addView(PLIM_BASE_ARENA, numbers.arenas.at(resident.getArenaAttr().getAttr()),
                                                *resident.getOffset(), bytesOf(resident.getBuffer()))
                                      : addView(PLIM_BASE_CONSTANT_FILE, index, numbers.constantOffsets.at(symbol),
                                                bytesOf(resident.getBuffer()));
  views[resident.getBuffer()] = view;
  table.add(PLIM_SEC_RESIDENTS, plim_t_resident{isState, index, view, 0});
  ++record.residents;
}

void ProgramEncoder::encodeView(ViewOp view) {
  uint64_t bytes = bytesOf(view.getBuffer());
  if (view.getArena()) {
    uint32_t number =
        addView(PLIM_BASE_ARENA, numbers.arenas.at(view.getArenaAttr().getAttr()), view.getOffset(), bytes);
    views[view.getBuffer()] = number;
    buffers[view.getBuffer()] = table.add(PLIM_SEC_BUFFERS, plim_t_buffer{number, source(view.getSourceAttr())});
    return;
  }
  const plim_t_view base = table.at<plim_t_view>(PLIM_SEC_VIEWS, views.at(view.getBase()));
  uint32_t scalar = view.getDynamic() ? slot(view.getDynamic()) : PLIM_NONE;
  views[view.getBuffer()] = addView(base.base, base.index, base.offset + view.getOffset(), bytes, scalar);
}

uint32_t ProgramEncoder::encodeLaunch(LaunchOp launch) {
  CandidateAttr kernel = launch.getCandidate(0);
  SmallVector<uint32_t> dims = slotsOf(launch.getDims());
  plim_t_launch entry = {};
  entry.kernel = table.kernel(kernel.getKernel(), kernel.getPhases());
  entry.first_operand = table.count<plim_t_operand>(PLIM_SEC_OPERANDS);
  entry.operands = launch.getBuffers().size();
  entry.source = source(launch.getSourceAttr());
  entry.first_attr = table.words(kernel.getAttrs());
  entry.attr_words = kernel.getAttrs().size();
  entry.first_scalar = table.indices(slotsOf(launch.getScalars()));
  entry.scalars = launch.getScalars().size();
  for (Value value : launch.getValues())
    define(value);
  entry.first_result = table.indices(slotsOf(launch.getValues()));
  entry.results = launch.getValues().size();
  entry.tasks = kernel.getTasks();
  entry.tasks_scalar = launch.getTasks() ? slot(launch.getTasks()) : PLIM_NONE;
  entry.workspace = launch.getWorkspace() ? views.at(launch.getWorkspace()) : PLIM_NONE;
  entry.instance = launch.getInstance();
  entry.shared_bytes = kernel.getShared();
  entry.scratch_bytes = kernel.getScratch();
  uint32_t dynamic = 0;
  for (auto [buffer, access] : llvm::zip_equal(launch.getBuffers(), launch.getAccesses().getAsRange<AccessAttr>())) {
    auto live = buffers.find(rootBuffer(buffer));
    plim_t_operand operand = {};
    operand.view = views.at(buffer);
    operand.shape = table.shape(access.getShape(), dims);
    operand.access = static_cast<uint32_t>(access.getMode());
    operand.buffer = live == buffers.end() ? PLIM_NONE : live->second;
    table.add(PLIM_SEC_OPERANDS, operand);
    dynamic += !access.getShape().isStatic();
  }
  record.max_operands = std::max(record.max_operands, entry.operands);
  record.dynamic_shapes = std::max(record.dynamic_shapes, dynamic);
  return table.add(PLIM_SEC_LAUNCHES, entry);
}

void ProgramEncoder::encodeIf(IfOp branch) {
  uint32_t enter = table.add(PLIM_SEC_BRANCHES, plim_t_branch{slot(branch.getCondition()), 0});
  addStep(PLIM_OP_BRANCH, enter, branch.getSourceAttr());
  for (Value value : branch.getValues())
    define(value);
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
    if (!region->empty())
      for (auto [result, value] : llvm::zip_equal(branch.getValues(), region->front().back().getOperands()))
        slots[value] = slot(result);
  encodeRegion(branch.getThenRegion());
  if (branch.getElseRegion().empty()) {
    table.at<plim_t_branch>(PLIM_SEC_BRANCHES, enter).target = nextStep();
    return;
  }
  uint32_t leave = table.add(PLIM_SEC_BRANCHES, plim_t_branch{PLIM_NONE, 0});
  addStep(PLIM_OP_BRANCH, leave, branch.getSourceAttr());
  table.at<plim_t_branch>(PLIM_SEC_BRANCHES, enter).target = nextStep();
  encodeRegion(branch.getElseRegion());
  table.at<plim_t_branch>(PLIM_SEC_BRANCHES, leave).target = nextStep();
}

void ProgramEncoder::encodeLoop(LoopOp loop) {
  Block &body = loop.getBody().front();
  define(body.getArgument(0));
  for (auto [init, argument, next, result] : llvm::zip_equal(loop.getInits(), body.getArguments().drop_front(),
                                                             body.back().getOperands(), loop.getValues())) {
    uint32_t shared = slot(init);
    slots[argument] = slots[next] = slots[result] = shared;
  }
  plim_t_loop entry = {};
  entry.trips = loop.getTrips() ? slot(loop.getTrips()) : PLIM_NONE;
  entry.condition = loop.getConditional() ? slot(loop.getInits().front()) : PLIM_NONE;
  entry.counter = slot(body.getArgument(0));
  entry.max_trips = loop.getMaxTrips();
  uint32_t number = table.add(PLIM_SEC_LOOPS, entry);
  addStep(PLIM_OP_LOOP, number, loop.getSourceAttr());
  table.at<plim_t_loop>(PLIM_SEC_LOOPS, number).body = nextStep();
  encodeRegion(loop.getBody());
  addStep(PLIM_OP_NEXT, number, loop.getSourceAttr());
  table.at<plim_t_loop>(PLIM_SEC_LOOPS, number).end = nextStep();
}

void ProgramEncoder::encodeStep(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case([&](ResidentOp resident) { encodeResident(resident); })
      .Case([&](ViewOp view) { encodeView(view); })
      .Case([&](LaunchOp launch) {
        addStep(PLIM_OP_LAUNCH, encodeLaunch(launch), launch.getSourceAttr(), launch.getQueue(), launch.getToken());
      })
      .Case([&](CopyOp copy) {
        plim_t_copy entry = {views.at(copy.getSrc()), views.at(copy.getDst()), uint64_t(bytesOf(copy.getSrc())),
                             uint64_t(copy.getHash())};
        addStep(PLIM_OP_COPY, table.add(PLIM_SEC_COPIES, entry), copy.getSourceAttr(), copy.getQueue(),
                copy.getToken());
      })
      .Case([&](FillOp fill) {
        plim_t_fill entry = {views.at(fill.getDst()), table.words({fill.getPattern()})};
        addStep(PLIM_OP_FILL, table.add(PLIM_SEC_FILLS, entry), fill.getSourceAttr(), fill.getQueue(), fill.getToken());
      })
      .Case([&](WaitOp wait) {
        auto waited = llvm::map_to_vector(wait.getTokens(), [&](Value token) { return tokens.at(token); });
        plim_t_wait entry = {table.indices(waited), uint32_t(waited.size()),
                             wait.getQueue() ? queueByte(*wait.getQueue()) : PLIM_NONE, 0};
        addStep(PLIM_OP_WAIT, table.add(PLIM_SEC_WAITS, entry), wait.getSourceAttr());
      })
      .Case([&](LoadScalarOp load) {
        define(load.getValue());
        plim_t_load entry = {};
        entry.view = views.at(load.getBuffer());
        entry.dtype = static_cast<uint32_t>(load.getDtype());
        entry.offset = load.getOffset();
        entry.lower = load.getLower();
        entry.upper = load.getUpper();
        entry.scalar = slot(load.getValue());
        entry.source = source(load.getSourceAttr());
        addStep(PLIM_OP_LOAD, table.add(PLIM_SEC_LOADS, entry), load.getSourceAttr());
      })
      .Case([&](EvalOp eval) {
        for (Value value : eval.getValues())
          define(value);
        plim_t_eval entry = {};
        entry.function = eval.getFunction() ? *eval.getFunction() : evalFunction(numbers.evals, eval);
        entry.first_in = table.indices(slotsOf(eval.getInputs()));
        entry.ins = eval.getInputs().size();
        entry.first_out = table.indices(slotsOf(eval.getValues()));
        entry.outs = eval.getValues().size();
        addStep(PLIM_OP_EVAL, table.add(PLIM_SEC_EVALS, entry), eval.getSourceAttr());
      })
      .Case([&](CheckOp check) {
        plim_t_check entry = {slot(check.getScalar()), table.string(check.getMessage()), check.getLower(),
                              check.getUpper()};
        addStep(PLIM_OP_CHECK, table.add(PLIM_SEC_CHECKS, entry), check.getSourceAttr());
      })
      .Case([&](IfOp branch) { encodeIf(branch); })
      .Case([&](LoopOp loop) { encodeLoop(loop); })
      .Case([&](MarkOp mark) {
        plim_t_mark entry = {buffers.at(mark.getBuffer()), mark.getLife() == Life::Death};
        addStep(PLIM_OP_MARK, table.add(PLIM_SEC_MARKS, entry), {});
      })
      .Case([&](ReturnOp) { addStep(PLIM_OP_RETURN, 0, {}); })
      .Case([](YieldOp) {});
}

void ProgramEncoder::encodeRegion(Region &region) {
  for (Operation &op : region.front())
    encodeStep(&op);
}

plim_t_program ProgramEncoder::encode(uint32_t variant) {
  record.name = table.string(program.getEntry());
  record.variant = variant;
  record.first_step = table.count<plim_t_step>(PLIM_SEC_STEPS);
  record.first_resident = table.count<plim_t_resident>(PLIM_SEC_RESIDENTS);
  encodeSignature();
  encodeRegion(program.getBody());
  encodeOutputSizes();
  record.steps = nextStep();
  record.scalars = scalarCount;
  record.tokens = tokens.size();
  record.first_commit_step = program.getCommit() ? *program.getCommit() : record.steps;
  for (unsigned tier = 0; tier < kTierCount; ++tier) {
    std::optional<int64_t> budget;
    if (program.getBudget())
      budget = program.getBudget()->get(static_cast<Tier>(tier));
    record.budget[tier] = budget ? *budget : UINT64_MAX;
  }
  return record;
}

plim_t_program plim::plan::encodeProgram(TableBuilder &table, ModuleNumbers &numbers, ProgramOp program,
                                         uint32_t variant) {
  return ProgramEncoder(table, numbers, program).encode(variant);
}
