//===- plimc.cpp - Compiles a model under a memory budget ---------------------------------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "compiler/Pipelines/Compile.h"
#include "compiler/Pipelines/Register.h"
#include "tools/options/ByteSize.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>
#include <csignal>
#include <cstdio>
#include <unistd.h>

using namespace mlir;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("plimc options");

cl::opt<std::string> input(cl::Positional, cl::desc("MODEL.onnx"), cl::cat(category));
cl::opt<std::string> output("o", cl::desc("folder of the artifact (made where it is missing)"), cl::value_desc("DIR"),
                            cl::cat(category));
cl::list<std::string> shapes("shape", cl::desc("sizes of an input: x=1x3x960x960; NAME may be a pattern: past_*=..."),
                             cl::value_desc("NAME=DIMS"), cl::cat(category));
cl::list<std::string> bounds("bound", cl::desc("range of an open dimension: N=1..32"), cl::value_desc("NAME=LO..HI"),
                             cl::cat(category));
cl::list<std::string> states("state",
                             cl::desc("an input that keeps the value of an output from run to run: 'past_*=present_*'"),
                             cl::value_desc("INPUT=OUTPUT"), cl::cat(category));
cl::list<std::string> entries("entry",
                              cl::desc("a program with bounds of its own: decode:S=1; shares weights and states"),
                              cl::value_desc("NAME[:DIM=LO..HI,...]"), cl::cat(category));
cl::opt<std::string> ram("ram",
                         cl::desc("RAM budget: 96MiB, 1.5GB, 4096 (bytes); without it there is no bound. Of several "
                                  "(64MiB,512MiB) each becomes a variant"),
                         cl::value_desc("SIZE[,SIZE...]"), cl::cat(category));
cl::opt<std::string> variants("variants", cl::desc("so many budgets between the smallest one and what needs no bound"),
                              cl::init("0"), cl::value_desc("N"), cl::cat(category));
cl::opt<std::string> ssd("ssd", cl::desc("bytes that may be written to a spill file: 8GiB; without it there is none"),
                         cl::value_desc("SIZE"), cl::cat(category));
cl::opt<bool> noStream("no-stream", cl::desc("keep all constants in memory"), cl::cat(category));
cl::opt<std::string> profile("profile", cl::desc("speeds of the machine, as plim-mem profile writes them"),
                             cl::value_desc("FILE"), cl::cat(category));
cl::opt<bool> curve("curve", cl::desc("plan for other budgets too: what they take in time"), cl::cat(category));
cl::opt<bool> excludeIO("exclude-io", cl::desc("inputs and outputs do not count against the budget"),
                        cl::cat(category));
cl::opt<std::string> name("name", cl::desc("prefix of all symbols, a C name (default: model)"), cl::init("model"),
                          cl::value_desc("NAME"), cl::cat(category));
cl::opt<std::string> workers("workers", cl::desc("largest number of workers a run may have (default 8)"), cl::init("8"),
                             cl::value_desc("N"), cl::cat(category));
cl::opt<std::string> jobs("jobs", cl::desc("threads of the compile (default: all cores)"), cl::init("0"),
                          cl::value_desc("N"), cl::cat(category));
cl::opt<std::string> targetCpu("target-cpu", cl::desc("x86-64-v3: code for v3 and v4 in one artifact (default)"),
                               cl::init("x86-64-v3"), cl::value_desc("LEVEL"), cl::cat(category));
cl::opt<std::string> numerics("numerics", cl::desc("any (default), or exact: only kernels of the most exact class"),
                              cl::init("any"), cl::value_desc("CLASS"), cl::cat(category));
cl::opt<std::string> attention("attention", cl::desc("auto (default), naive, chunked or flash"), cl::init("auto"),
                               cl::value_desc("ALGORITHM"), cl::cat(category));
cl::opt<std::string>
    split("split",
          cl::desc("pieces: auto (default: where they are faster than what else meets the budget), off, or of weights "
                   "'weights=4MiB', of rows 'pieces=8 keep=NAME@AXIS,...; ...', parted by '|'"),
          cl::init("auto"), cl::value_desc("PLAN"), cl::cat(category));
cl::opt<bool> reuseInputs("reuse-inputs",
                          cl::desc("a run may overwrite its inputs after their last read: their memory serves as "
                                   "scratch, and the caller writes them anew for each run"),
                          cl::cat(category));
cl::opt<bool> explain("explain", cl::desc("print what the plan does and where it peaks"), cl::cat(category));
cl::opt<bool> planOnly("plan-only", cl::desc("plan and print the peak, write nothing"), cl::cat(category));
cl::opt<std::string> emitStage("emit",
                               cl::desc("print and stop: the IR of stage import, graph, virtual or plan; or the "
                                        "planner's problem (plim-solve takes it)"),
                               cl::init(""), cl::value_desc("STAGE"), cl::cat(category));

void onInterrupt(int number) {
  plim::removePartialArtifact();
  ::_exit(128 + number);
}

/// Names in a message are bytes of the model's file: what is no printable text of them is escaped.
std::string printable(llvm::StringRef text) {
  std::string out, fixed = llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
  for (char c : fixed)
    if (uint8_t(c) >= 0x20 && c != 0x7f)
      out += c;
    else
      out += "\\x" + llvm::utohexstr(uint8_t(c), /*LowerCase=*/true, /*Width=*/2);
  return out;
}

/// "error: node 'conv1': message" with notes below; all of them, in the order they come.
LogicalResult printDiagnostic(Diagnostic &diagnostic) {
  auto where = [](Location loc) -> std::string {
    auto named = dyn_cast<NameLoc>(loc);
    if (!named)
      return "";
    // The importer locates what belongs to no node at the model's path.
    return named.getName() == input ? input + ": " : "node '" + named.getName().str() + "': ";
  };
  const char *severity = diagnostic.getSeverity() == DiagnosticSeverity::Error     ? "error"
                         : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning"
                                                                                   : "remark";
  std::fprintf(stderr, "plimc: %s: %s\n", severity,
               printable(where(diagnostic.getLocation()) + diagnostic.str()).c_str());
  for (Diagnostic &note : diagnostic.getNotes())
    std::fprintf(stderr, "  %s\n", printable(note.str()).c_str());
  return success();
}

bool isCName(const std::string &text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9'))
    return false;
  for (char c : text)
    if (!llvm::isAlnum(c) && c != '_')
      return false;
  return true;
}

template <typename Flag>
void readFlags(const cl::list<std::string> &texts, std::vector<Flag> &flags, std::vector<std::string> &problems) {
  std::string error;
  for (const std::string &text : texts)
    if (auto flag = Flag::parse(text, error))
      flags.push_back(*flag);
    else
      problems.push_back(error);
}

void readProfile(plim::CompileOptions &o, std::vector<std::string> &problems) {
  if (profile.empty())
    return;
  auto text = llvm::MemoryBuffer::getFile(profile);
  if (!text) {
    problems.push_back(profile + ": " + text.getError().message());
    return;
  }
  if (auto known = plim::solver::parseProfile(std::string_view((*text)->getBuffer()), profile, problems))
    o.profile = *known;
}

/// One budget bounds the plan; several become variants, by rising bytes, each once.
void readBudgets(plim::CompileOptions &o, std::vector<std::string> &problems) {
  if (!ram.getNumOccurrences())
    return;
  llvm::SmallVector<llvm::StringRef> texts;
  llvm::StringRef(ram.getValue()).split(texts, ',');
  std::vector<plim::Budget> budgets;
  for (llvm::StringRef text : texts) {
    plim::Budget &budget = budgets.emplace_back(plim::Budget{text.trim().str(), 0});
    if (std::string why = plim::parseByteSize(budget.name, budget.bytes); !why.empty())
      problems.push_back("--ram: " + why);
    std::erase(budget.name, ' ');
  }
  if (budgets.size() == 1) {
    o.ramBudget = budgets.front().bytes;
    return;
  }
  llvm::stable_sort(budgets, [](const auto &a, const auto &b) { return a.bytes < b.bytes; });
  for (size_t i = 1; i < budgets.size(); ++i)
    if (budgets[i].bytes == budgets[i - 1].bytes)
      problems.push_back("--ram: need different budgets, have '" + budgets[i - 1].name + "' and '" + budgets[i].name +
                         "'");
  o.budgets = std::move(budgets);
}

/// Options as the compiler takes them; everything that is wrong at once.
plim::CompileOptions readOptions(std::vector<std::string> &problems) {
  plim::CompileOptions o;
  o.modelPath = input;
  o.outputFolder = output;
  if (input.empty())
    problems.push_back("need a model file");
  bool shows = !emitStage.empty();
  if (output.empty() && !planOnly && !shows)
    problems.push_back("need -o DIR (or --plan-only)");
  readFlags(shapes, o.import.shapes, problems);
  readFlags(bounds, o.import.bounds, problems);
  readFlags(states, o.import.states, problems);
  readFlags(entries, o.import.entries, problems);
  auto size = [&](const char *flag, const cl::opt<std::string> &text, std::optional<int64_t> &into) {
    int64_t bytes = 0;
    if (!text.getNumOccurrences())
      return;
    if (std::string why = plim::parseByteSize(text.getValue(), bytes); !why.empty())
      problems.push_back(std::string(flag) + ": " + why);
    into = bytes;
  };
  readBudgets(o, problems);
  size("--ssd", ssd, o.ssdBudget);
  o.stream = !noStream;
  o.curve = curve;
  readProfile(o, problems);
  auto number = [&](const char *flag, const std::string &text, int64_t low, int64_t high) {
    int64_t value = 0;
    if (llvm::StringRef(text).getAsInteger(10, value) || value < low || value > high)
      problems.push_back(std::string(flag) + ": need a number from " + std::to_string(low) + " to " +
                         std::to_string(high) + ", have '" + text + "'");
    return value;
  };
  auto choice = [&](const char *flag, const std::string &text, llvm::ArrayRef<llvm::StringRef> allowed) {
    if (!llvm::is_contained(allowed, text))
      problems.push_back(std::string(flag) + ": need one of " + llvm::join(allowed, ", ") + ", have '" + text + "'");
  };
  if (variants.getNumOccurrences()) {
    o.variants = number("--variants", variants, 1, 16);
    if (ram.getNumOccurrences())
      problems.push_back("--variants: need no --ram beside it, as it chooses the budgets");
  }
  o.workers = number("--workers", workers, 1, 256);
  o.jobs = uint32_t(number("--jobs", jobs, 0, 256));
  if (o.jobs == 0)
    o.jobs = uint32_t(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  choice("--target-cpu", targetCpu, {"x86-64-v3"});
  choice("--numerics", numerics, {"any", "exact"});
  choice("--attention", attention, {"auto", "naive", "chunked", "flash"});
  if (!isCName(name))
    problems.push_back("--name: need a C name, have '" + name + "'");
  o.name = name;
  o.countIO = !excludeIO;
  o.choice.attention = attention;
  // weights=SIZE, then plans of rows.
  llvm::StringRef rows = split.getValue();
  if (rows.consume_front("weights=")) {
    auto [size, rest] = rows.split('|');
    if (std::string why = plim::parseByteSize(size.str(), o.splitWeights.emplace());
        !why.empty() || *o.splitWeights < 1)
      problems.push_back("--split: weights: " + (why.empty() ? "need a size above 0" : why));
    rows = rest.empty() ? "off" : rest;
  }
  o.split = rows.str();
  o.reuseInputs = reuseInputs;
  o.choice.exactNumerics = numerics == "exact";
  o.planOnly = planOnly;
  if (shows) {
    choice("--emit", emitStage, {"import", "graph", "virtual", "problem", "plan"});
    o.stage = emitStage == "import"    ? plim::EmitStage::Import
              : emitStage == "graph"   ? plim::EmitStage::Graph
              : emitStage == "virtual" ? plim::EmitStage::Virtual
              : emitStage == "problem" ? plim::EmitStage::Problem
                                       : plim::EmitStage::Plan;
  }
  return o;
}

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles a model graph under a memory budget.\n\n"
      "  plimc det.onnx --shape x=1x3x960x960 --ram 96MiB -o out/\n\n"
      "Exit status: 0 done, 1 usage, 2 the model, 3 the budget, 4 environment or I/O, 70 internal\n");
  std::vector<std::string> problems;
  plim::CompileOptions options = readOptions(problems);
  if (!problems.empty()) {
    for (const std::string &p : problems)
      std::fprintf(stderr, "plimc: error: %s\n", p.c_str());
    return int(plim::CompileStatus::Usage);
  }
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);

  DialectRegistry registry;
  plim::registerAllPlimDialects(registry);
  plim::lowering::registerCandidates(registry);
  plim::gen::ObjectBuilder::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  context.getDiagEngine().registerHandler(printDiagnostic);

  auto start = std::chrono::steady_clock::now();
  bool terminal = ::isatty(STDERR_FILENO);
  if (terminal)
    options.progress = [&](const std::string &phase) {
      double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      std::fprintf(stderr, "\r\033[K%6.1f s  %s", seconds, phase.c_str());
      std::fflush(stderr);
    };
  plim::CompileResult result = plim::compileModel(options, context);
  if (terminal)
    std::fprintf(stderr, "\r\033[K");
  if (result.status != plim::CompileStatus::Done)
    return int(result.status);
  if (!result.ir.empty())
    std::fputs(result.ir.c_str(), stdout);
  else if (explain || planOnly)
    std::fputs(result.explanation.c_str(), stdout);
  else
    for (llvm::StringRef line : llvm::split(llvm::StringRef(result.explanation), '\n'))
      if (line.starts_with("entry "))
        std::fprintf(stdout, "%.*s\n", int(line.size()), line.data());
  return std::fflush(stdout) == 0 ? 0 : int(plim::CompileStatus::Environment);
}
