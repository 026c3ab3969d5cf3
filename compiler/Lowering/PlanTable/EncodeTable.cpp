//===- EncodeTable.cpp - plan.module to step table ---------------------------------------------------===//

#include "compiler/Lowering/PlanTable/EncodeProgram.h"

#include "plim/check.h"
#include "plim/plim.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace plim::plan;

// The dialect's enumerations are the table's.
static_assert(uint32_t(Tier::Gpu) == PLIM_GPU && uint32_t(Tier::Ssd) == PLIM_SSD && kTierCount == PLIM_TIER_COUNT);
static_assert(uint32_t(ArenaKind::Persistent) == PLIM_PERSISTENT && uint32_t(ArenaKind::Stacks) == PLIM_STACKS);
static_assert(uint32_t(QueueKind::Read) == PLIM_QUEUE_READ && uint32_t(QueueKind::Stream) == PLIM_QUEUE_STREAM);
static_assert(uint32_t(AccessMode::Read) == PLIM_ACCESS_READ &&
              uint32_t(AccessMode::ReadWrite) == PLIM_ACCESS_READ_WRITE);
static_assert(uint32_t(DType::F32) == PLIM_F32 && uint32_t(DType::I64) == PLIM_I64 &&
              uint32_t(DType::Bool) == PLIM_BOOL);
static_assert(uint32_t(Layout::Panel32) == PLIM_PANEL32 && uint32_t(Isa::V4) == PLIM_ISA_V4 &&
              kMaxRank == PLIM_MAX_RANK);

/// What the verifier of a program cannot know: all programs are ready, and evals agree about bodies.
static LogicalResult checkReady(plim::plan::ModuleOp module) {
  bool ok = true, bodies = false, numbers = false;
  for (auto program : module.getBody().getOps<ProgramOp>()) {
    if (program.getStage() != Stage::Placed) {
      program.emitOpError() << "need stage placed to encode, have " << stringifyStage(program.getStage());
      ok = false;
    }
    program.walk([&](EvalOp eval) { (eval.getBody().empty() ? numbers : bodies) = true; });
  }
  for (auto constant : module.getBody().getOps<ConstantOp>())
    if (constant.getFile()) {
      constant.emitOpError() << "need a place in the weight file to encode, have file " << constant.getFileAttr();
      ok = false;
    }
  if (bodies && numbers) {
    module.emitOpError() << "need bodies in all evals or in none";
    ok = false;
  }
  return success(ok);
}

static void encodeShared(TableBuilder &table, ModuleNumbers &numbers, plim::plan::ModuleOp module) {
  for (auto constant : module.getBody().getOps<ConstantOp>()) {
    plim_t_constant record = {};
    record.name = table.string(constant.getSymName());
    record.shape = table.shape(constant.getShape(), {});
    record.offset = constant.getOffset();
    record.bytes = constant.getBytes();
    record.hash = constant.getHash();
    numbers.constants[constant.getSymNameAttr()] = table.add(PLIM_SEC_CONSTANTS, record);
    numbers.constantOffsets[constant.getSymNameAttr()] = record.offset;
  }
  for (auto state : module.getBody().getOps<StateOp>()) {
    plim_t_state record = {};
    record.name = table.string(state.getSymName());
    record.shape = table.shape(state.getShape(), {});
    record.bytes = state.getBytes();
    record.init = state.getInit() ? numbers.constants.at(state.getInitAttr().getAttr()) : PLIM_NONE;
    record.durable = state.getDurable();
    numbers.states[state.getSymNameAttr()] = table.add(PLIM_SEC_STATES, record);
  }
  for (auto arena : module.getBody().getOps<ArenaOp>()) {
    plim_t_arena record = {};
    record.tier = static_cast<uint32_t>(*arena.getBufferType().getTier());
    record.kind = static_cast<uint32_t>(arena.getKind());
    record.bytes = arena.getBufferType().getBytes();
    numbers.arenas[arena.getSymNameAttr()] = table.add(PLIM_SEC_ARENAS, record);
  }
}

namespace {
struct Variant {
  StringRef name;
  SmallVector<ProgramOp> programs;
};
} // namespace

/// Encodes with the variants in this order; their peaks come out with the sealed table.
static FailureOr<EncodedTable> encodeInOrder(plim::plan::ModuleOp module, ArrayRef<Variant> variants) {
  TableBuilder table;
  ModuleNumbers numbers;
  table.string("");
  encodeShared(table, numbers, module);
  for (const Variant &variant : variants) {
    plim_t_variant record = {};
    record.name = table.string(variant.name);
    record.first_program = table.count<plim_t_program>(PLIM_SEC_PROGRAMS);
    record.programs = variant.programs.size();
    uint32_t number = table.count<plim_t_variant>(PLIM_SEC_VARIANTS);
    for (ProgramOp program : variant.programs)
      table.add(PLIM_SEC_PROGRAMS, encodeProgram(table, numbers, program, number));
    table.add(PLIM_SEC_VARIANTS, record);
  }
  if (table.hasCutText) {
    module.emitOpError() << "need names and messages without a zero byte to encode";
    return failure();
  }
  plim_table header = {};
  header.kernel_abi = module.getKernelAbi();
  header.workers = module.getWorkers();
  header.io_depth = module.getIoDepth();
  header.isa_min = static_cast<uint32_t>(module.getIsa());
  header.stack_bytes = module.getStackBytes();
  header.weights_bytes = module.getWeightsBytes();
  header.weights_hash = module.getWeightsHash();
  EncodedTable encoded{table.finish(header), std::move(table.kernelNames), std::move(numbers.evals), {}};
  plim_table_seal(encoded.bytes.table());
  return encoded;
}

FailureOr<EncodedTable> plim::plan::encodeTable(ModuleOp module) {
  if (failed(checkReady(module)))
    return failure();
  llvm::MapVector<StringRef, Variant> byName;
  for (auto program : module.getBody().getOps<ProgramOp>()) {
    Variant &variant = byName[program.getVariant()];
    variant.name = program.getVariant();
    variant.programs.push_back(program);
  }
  SmallVector<Variant> variants;
  for (auto &[name, variant] : byName)
    variants.push_back(std::move(variant));
  FailureOr<EncodedTable> first = encodeInOrder(module, variants);
  if (failed(first))
    return failure();
  EncodedTable encoded = std::move(*first);

  // The table wants variants by falling RAM peak, which is known only now.
  auto peak = [&](size_t variant) {
    const auto *records = reinterpret_cast<const plim_t_variant *>(
        encoded.bytes.data().data() + encoded.bytes.table()->sections[PLIM_SEC_VARIANTS].offset);
    return records[variant].peak[PLIM_RAM];
  };
  SmallVector<size_t> order = llvm::to_vector(llvm::seq<size_t>(variants.size()));
  llvm::stable_sort(order, [&](size_t a, size_t b) { return peak(a) > peak(b); });
  if (!llvm::is_sorted(order)) {
    auto sorted = llvm::map_to_vector(order, [&](size_t i) { return variants[i]; });
    encoded = std::move(*encodeInOrder(module, sorted));
  }
  if (!encoded.evals.empty()) {
    llvm::raw_string_ostream stream(encoded.evalText);
    buildEvalFunctions(module.getContext(), encoded.evals)->print(stream);
  }
  ArrayRef<char> bytes = encoded.bytes.data();
  if (plim_table_check(bytes.data(), bytes.size()) != PLIM_OK) {
    const plim_error *error = plim_last_error();
    module.emitOpError() << "the runtime refuses its step table: " << error->message;
    return failure();
  }
  return encoded;
}

static TierBytesAttr peaksOf(MLIRContext *context, const uint64_t (&bytes)[PLIM_TIER_COUNT]) {
  SmallVector<int64_t> known;
  for (uint64_t b : bytes)
    known.push_back(b ? int64_t(b) : -1);
  return TierBytesAttr::get(context, known);
}

void plim::plan::recordFigures(ModuleOp module, const EncodedTable &encoded) {
  const plim_table *table = encoded.bytes.table();
  const char *base = encoded.bytes.data().data();
  auto *arenas = reinterpret_cast<const plim_t_arena *>(base + table->sections[PLIM_SEC_ARENAS].offset);
  auto *programs = reinterpret_cast<const plim_t_program *>(base + table->sections[PLIM_SEC_PROGRAMS].offset);
  auto *variants = reinterpret_cast<const plim_t_variant *>(base + table->sections[PLIM_SEC_VARIANTS].offset);
  const char *strings = base + table->sections[PLIM_SEC_STRINGS].offset;
  for (auto [number, arena] : llvm::enumerate(module.getBody().getOps<ArenaOp>()))
    arena.setTouched(arenas[number].touched);
  for (uint64_t i = 0; i < table->sections[PLIM_SEC_PROGRAMS].count; ++i) {
    const plim_t_program &record = programs[i];
    for (auto program : module.getBody().getOps<ProgramOp>())
      if (program.getEntry() == strings + record.name &&
          program.getVariant() == strings + variants[record.variant].name) {
        program.setReservedPeakAttr(peaksOf(module.getContext(), record.reserved_peak));
        program.setLivePeakAttr(peaksOf(module.getContext(), record.live_peak));
      }
  }
}
