// libFuzzer target: any text is read as plan IR or refused. A placed module is encoded or refused; what is encoded is a
// sound step table, which decodes, and what it decodes to encodes to the same bytes.
#include "compiler/Lowering/PlanTable/PlanTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <cstdlib>

using namespace mlir;

/// A context keeps every type and attribute it has seen, so it is made anew after so many inputs.
static constexpr unsigned inputsPerContext = 256;

static bool isPlaced(plim::plan::ModuleOp module) {
  return module
             .walk([](plim::plan::ProgramOp program) {
               return program.getStage() == plim::plan::Stage::Placed ? WalkResult::advance() : WalkResult::interrupt();
             })
             .wasInterrupted() == false;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::unique_ptr<MLIRContext> context;
  static unsigned inputs = 0;
  if (!context || ++inputs % inputsPerContext == 0) {
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    context->loadDialect<plim::plan::PlanDialect, arith::ArithDialect, func::FuncDialect>();
  }
  ScopedDiagnosticHandler handler(context.get(), [](Diagnostic &) { return success(); });
  const std::string text(reinterpret_cast<const char *>(data), size); // the lexer reads up to a zero byte
  OwningOpRef<Operation *> parsed = parseSourceString(text, ParserConfig(context.get()));
  if (!parsed)
    return 0;
  parsed->print(llvm::nulls());
  plim::plan::ModuleOp module;
  parsed->walk([&](plim::plan::ModuleOp found) { module = found; });
  if (!module || !isPlaced(module))
    return 0;
  auto table = plim::plan::encodeTable(module);
  if (failed(table))
    return 0;
  auto decoded = plim::plan::decodeTable(context.get(), table->bytes.data(), table->evalText);
  if (failed(decoded))
    abort();
  auto again = plim::plan::encodeTable(**decoded);
  if (failed(again) || again->bytes.data() != table->bytes.data())
    abort();
  return 0;
}
