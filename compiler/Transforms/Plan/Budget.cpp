//===- Budget.cpp - Budgets as options of passes ----------------------------------------------------===//

#include "compiler/Transforms/Plan/Budget.h"

#include "tools/options/ByteSize.h"

using namespace mlir;

namespace plim::plan {

FailureOr<FitRequest> parseRequest(ModuleOp module, StringRef ram, bool excludeIO) {
  FitRequest request;
  request.countIO = !excludeIO;
  if (ram.empty())
    return request;
  int64_t bytes;
  if (std::string wrong = parseByteSize(std::string_view(ram.data(), ram.size()), bytes); !wrong.empty())
    return emitError(module.getLoc()) << "option ram: " << wrong;
  request.budget[static_cast<unsigned>(Tier::Ram)] = bytes;
  return request;
}

SmallVector<ProgramOp> programsIn(ModuleOp module, Stage stage) {
  return llvm::filter_to_vector(module.getBody().getOps<ProgramOp>(),
                                [&](ProgramOp program) { return program.getStage() == stage; });
}

} // namespace plim::plan
