//===- plim-dump.cpp - Shows what a compiled model will do ---------------------------------------------===//
//
//   plim-dump model.so            plan IR, decoded from the step table
//   plim-dump --json model.o      a summary: programs, peaks, arenas, kernels
//   plim-dump --encode plan.mlir -o plan.table    the reverse, for plans written by hand
//
// Exit codes: 0 done, 1 usage, 2 the file is no sound plan, 4 a file cannot be read or written.
//
//===-------------------------------------------------------------------------------------------------===//

#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "compiler/Lowering/PlanTable/TableReader.h"
#include "compiler/Pipelines/Register.h"
#include "tools/plim-dump/TableFile.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
namespace cl = llvm::cl;

enum ExitCode { kDone = 0, kUsage = 1, kModel = 2, kEnvironment = 4 };

static cl::OptionCategory category("plim-dump");
static cl::opt<std::string> input(cl::Positional, cl::desc("<model.o | model.so | file.table | plan.mlir>"),
                                  cl::init("-"), cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Where to write; - is standard output"), cl::init("-"),
                                   cl::cat(category));
static cl::opt<bool> json("json", cl::desc("A summary as one JSON object"), cl::cat(category));
static cl::opt<bool> encode("encode", cl::desc("Read plan IR, write a step table"), cl::cat(category));

static llvm::json::Object tiers(const uint64_t (&bytes)[PLIM_TIER_COUNT]) {
  llvm::json::Object object;
  for (unsigned tier = 0; tier < PLIM_TIER_COUNT; ++tier)
    object[plim::plan::stringifyTier(static_cast<plim::plan::Tier>(tier))] =
        bytes[tier] == UINT64_MAX ? llvm::json::Value(nullptr) : llvm::json::Value(bytes[tier]);
  return object;
}

/// The table must have been checked.
static llvm::json::Value summary(const plim::plan::TableReader &table) {
  using namespace plim::plan;
  llvm::json::Array programs, arenas, kernels;
  auto variants = table.all<plim_t_variant>(PLIM_SEC_VARIANTS);
  for (const plim_t_program &program : table.all<plim_t_program>(PLIM_SEC_PROGRAMS)) {
    llvm::json::Array ios;
    for (const plim_t_io &io : table.all<plim_t_io>(PLIM_SEC_IOS).slice(program.first_io, program.ios))
      ios.push_back(
          llvm::json::Object{{"name", table.string(io.name)}, {"output", io.is_output != 0}, {"bytes", io.bytes}});
    programs.push_back(llvm::json::Object{{"name", table.string(program.name)},
                                          {"variant", table.string(variants[program.variant].name)},
                                          {"steps", program.steps},
                                          {"ios", std::move(ios)},
                                          {"budget", tiers(program.budget)},
                                          {"reserved_peak", tiers(program.reserved_peak)},
                                          {"live_peak", tiers(program.live_peak)}});
  }
  for (const plim_t_arena &arena : table.all<plim_t_arena>(PLIM_SEC_ARENAS))
    arenas.push_back(llvm::json::Object{{"tier", stringifyTier(static_cast<Tier>(arena.tier))},
                                        {"kind", stringifyArenaKind(static_cast<ArenaKind>(arena.kind))},
                                        {"bytes", arena.bytes},
                                        {"touched", arena.touched}});
  for (const plim_t_kernel &kernel : table.all<plim_t_kernel>(PLIM_SEC_KERNELS))
    kernels.push_back(table.string(kernel.name));
  return llvm::json::Object{{"version", table.header.version},
                            {"bytes", table.header.bytes},
                            {"workers", table.header.workers},
                            {"isa", stringifyIsa(static_cast<Isa>(table.header.isa_min))},
                            {"weights_bytes", table.header.weights_bytes},
                            {"constants", table.header.sections[PLIM_SEC_CONSTANTS].count},
                            {"states", table.header.sections[PLIM_SEC_STATES].count},
                            {"programs", std::move(programs)},
                            {"arenas", std::move(arenas)},
                            {"kernels", std::move(kernels)}};
}

static int dump(MLIRContext &context, llvm::raw_ostream &out) {
  llvm::Expected<plim::TableFile> file = plim::openTableFile(input);
  if (!file) {
    std::error_code code;
    std::string message;
    llvm::handleAllErrors(file.takeError(), [&](const llvm::ErrorInfoBase &error) {
      message = error.message();
      code = error.convertToErrorCode();
    });
    llvm::WithColor::error(llvm::errs(), "plim-dump") << message << "\n";
    return code == llvm::inconvertibleErrorCode() ? kModel : kEnvironment;
  }
  auto module = plim::plan::decodeTable(&context, file->table, file->evalText);
  if (failed(module)) {
    llvm::WithColor::error(llvm::errs(), "plim-dump") << input << ": need a sound step table\n";
    return kModel;
  }
  if (json) {
    plim::plan::TableBytes aligned = plim::plan::TableBytes::copyOf(file->table);
    out << llvm::formatv("{0:2}", summary(plim::plan::TableReader(aligned.table()))) << "\n";
  } else {
    (*module)->print(out);
  }
  return kDone;
}

static int encodeIR(MLIRContext &context, llvm::raw_ostream &out) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(input, &error);
  if (!buffer) {
    llvm::WithColor::error(llvm::errs(), "plim-dump") << error << "\n";
    return kEnvironment;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<Operation *> parsed = parseSourceFile(sources, &context);
  if (!parsed)
    return kModel;
  plim::plan::ModuleOp module;
  parsed->walk([&](plim::plan::ModuleOp found) { module = found; });
  if (!module) {
    llvm::WithColor::error(llvm::errs(), "plim-dump") << input << ": need a plan.module, have none\n";
    return kModel;
  }
  auto table = plim::plan::encodeTable(module);
  if (failed(table))
    return kModel;
  out << StringRef(table->bytes.data().data(), table->bytes.data().size()) << table->evalText;
  return kDone;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Shows what a compiled model will do\n");
  if (json && encode) {
    llvm::WithColor::error(llvm::errs(), "plim-dump") << "need one of --json and --encode, have both\n";
    return kUsage;
  }
  DialectRegistry registry;
  plim::registerAllPlimDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> out = openOutputFile(output, &error);
  if (!out) {
    llvm::WithColor::error(llvm::errs(), "plim-dump") << error << "\n";
    return kEnvironment;
  }
  int code = encode ? encodeIR(context, out->os()) : dump(context, out->os());
  if (code == kDone)
    out->keep();
  return code;
}
