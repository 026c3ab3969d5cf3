//===- DecodeTable.cpp - Step table to plan.module ----------------------------------------------------===//

#include "compiler/Lowering/PlanTable/DecodeProgram.h"

#include "plim/check.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace plim::plan;

/// A name for an arena, which has none in the table, that no other symbol has.
static std::string arenaName(size_t number, const llvm::StringSet<> &taken) {
  std::string name = "arena" + std::to_string(number);
  while (taken.contains(name))
    name += "_";
  return name;
}

static void decodeShared(const TableReader &table, DecodedShared &shared, OpBuilder &builder) {
  MLIRContext *context = builder.getContext();
  Location loc = builder.getUnknownLoc();
  llvm::StringSet<> taken;
  SmallVector<uint32_t> none;
  auto name = [&](StringRef text) {
    taken.insert(text);
    return FlatSymbolRefAttr::get(context, text);
  };
  auto shape = [&](uint32_t number) {
    return decodeShape(context, table.all<plim_t_shape>(PLIM_SEC_SHAPES)[number], none, false);
  };
  for (const plim_t_constant &constant : table.all<plim_t_constant>(PLIM_SEC_CONSTANTS)) {
    shared.constants.push_back(name(table.string(constant.name)));
    ConstantOp::create(builder, loc, shared.constants.back().getValue(), constant.offset, constant.bytes,
                       shape(constant.shape), constant.hash, StringAttr());
  }
  for (const plim_t_state &state : table.all<plim_t_state>(PLIM_SEC_STATES)) {
    shared.states.push_back(name(table.string(state.name)));
    StateOp::create(builder, loc, shared.states.back().getAttr(), builder.getI64IntegerAttr(state.bytes),
                    shape(state.shape), state.init == PLIM_NONE ? FlatSymbolRefAttr() : shared.constants[state.init],
                    state.durable ? builder.getUnitAttr() : UnitAttr());
  }
  for (const plim_t_program &program : table.all<plim_t_program>(PLIM_SEC_PROGRAMS))
    taken.insert(table.string(program.name));
  for (auto [number, arena] : llvm::enumerate(table.all<plim_t_arena>(PLIM_SEC_ARENAS))) {
    shared.arenas.push_back(FlatSymbolRefAttr::get(context, arenaName(number, taken)));
    auto type = BufferType::get(context, arena.bytes, static_cast<Tier>(arena.tier));
    ArenaOp::create(builder, loc, shared.arenas.back().getAttr(),
                    ArenaKindAttr::get(context, static_cast<ArenaKind>(arena.kind)), TypeAttr::get(type),
                    builder.getI64IntegerAttr(arena.touched));
  }
}

/// @eval_0, @eval_1, ... of the text, where it has just those that the table calls.
static FailureOr<OwningOpRef<mlir::ModuleOp>> parseEvals(const TableReader &table, MLIRContext *context, StringRef text,
                                                         DecodedShared &shared) {
  context->loadDialect<func::FuncDialect>();
  OwningOpRef<mlir::ModuleOp> module = parseSourceString<mlir::ModuleOp>(text, context);
  if (!module)
    return failure();
  for (const plim_t_eval &eval : table.all<plim_t_eval>(PLIM_SEC_EVALS)) {
    std::string name = "eval_" + std::to_string(eval.function);
    auto function = module->lookupSymbol<func::FuncOp>(name);
    if (!function || function.getNumArguments() != eval.ins || function.getNumResults() != eval.outs ||
        !llvm::hasSingleElement(function.getBody())) {
      emitError(UnknownLoc::get(context)) << "need a body of " << eval.ins << " scalars in and " << eval.outs
                                          << " out for @" << name << " in the debug section";
      return failure();
    }
    if (shared.evals.size() <= eval.function)
      shared.evals.resize(eval.function + 1);
    shared.evals[eval.function] = function;
  }
  return module;
}

FailureOr<OwningOpRef<plim::plan::ModuleOp>> plim::plan::decodeTable(MLIRContext *context, ArrayRef<char> bytes,
                                                                     StringRef evalText) {
  context->loadDialect<PlanDialect>();
  Location loc = UnknownLoc::get(context);
  TableBytes aligned = TableBytes::copyOf(bytes);
  if (plim_table_check(aligned.data().data(), bytes.size()) != PLIM_OK) {
    const plim_error *error = plim_last_error();
    auto diagnostic = emitError(loc) << error->where << ": " << error->message;
    if (error->need || error->have)
      diagnostic << " (need " << error->need << ", have " << error->have << ")";
    return failure();
  }
  TableReader table(aligned.table());
  for (const plim_t_kernel &kernel : table.all<plim_t_kernel>(PLIM_SEC_KERNELS))
    if (table.string(kernel.name).empty()) {
      emitError(loc) << "need a name for each kernel, have one without";
      return failure();
    }
  DecodedShared shared;
  OwningOpRef<mlir::ModuleOp> functions;
  if (!evalText.empty()) {
    auto parsed = parseEvals(table, context, evalText, shared);
    if (failed(parsed))
      return failure();
    functions = std::move(*parsed);
  }
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, loc);
  module->setIsa(static_cast<Isa>(table.header.isa_min));
  module->setWorkers(table.header.workers);
  module->setIoDepth(table.header.io_depth);
  module->setKernelAbi(table.header.kernel_abi);
  module->setStackBytes(table.header.stack_bytes);
  module->setWeightsBytes(table.header.weights_bytes);
  module->setWeightsHash(table.header.weights_hash);
  builder.setInsertionPointToStart(&module->getBody().front());
  decodeShared(table, shared, builder);
  for (const plim_t_program &program : table.all<plim_t_program>(PLIM_SEC_PROGRAMS))
    if (failed(decodeProgram(table, shared, program, builder)))
      return failure();
  if (failed(mlir::verify(*module)))
    return failure();
  return module;
}
