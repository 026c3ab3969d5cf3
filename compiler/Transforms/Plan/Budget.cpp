//===- Budget.cpp - Budgets as options of passes ----------------------------------------------------===//

#include "compiler/Transforms/Plan/Budget.h"

#include "tools/options/ByteSize.h"

using namespace mlir;

namespace plim::plan {

FailureOr<FitRequest> parseRequest(ModuleOp module, StringRef ram, bool excludeIO, StringRef ssd) {
  FitRequest request;
  request.countIO = !excludeIO;
  bool ok = true;
  for (auto [name, text, tier] : {std::tuple("ram", ram, Tier::Ram), std::tuple("ssd", ssd, Tier::Ssd)}) {
    if (text.empty())
      continue;
    int64_t bytes = 0;
    if (std::string wrong = parseByteSize(std::string_view(text.data(), text.size()), bytes); !wrong.empty()) {
      emitError(module.getLoc()) << "option " << name << ": " << wrong;
      ok = false;
    }
    request.budget[static_cast<unsigned>(tier)] = bytes;
  }
  if (!ok)
    return failure();
  return request;
}

LogicalResult fitPrograms(ModuleOp module, const solver::Levers &levers, StringRef ram, bool excludeIO, StringRef ssd) {
  FailureOr<FitRequest> request = parseRequest(module, ram, excludeIO, ssd);
  if (failed(request))
    return failure();
  request->levers = levers;
  bool ok = true;
  for (ProgramOp program : programsIn(module, Stage::Virtual))
    ok &= succeeded(fitProgram(program, *request));
  return success(ok);
}

SmallVector<ProgramOp> programsIn(ModuleOp module, Stage stage) {
  return llvm::filter_to_vector(module.getBody().getOps<ProgramOp>(),
                                [&](ProgramOp program) { return program.getStage() == stage; });
}

} // namespace plim::plan
