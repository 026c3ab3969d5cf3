//===- PlanTypes.cpp - Types of the plan dialect -----------------------------------------------===//

#include "dialects/Plan/PlanDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace plim::plan;

#define GET_TYPEDEF_CLASSES
#include "dialects/Plan/PlanTypes.cpp.inc"

void PlanDialect::registerPlanTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Plan/PlanTypes.cpp.inc"
      >();
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bytes,
                                 std::optional<Tier> tier) {
  if (bytes < 0)
    return emitError() << "need a size of at least 0 bytes, have " << bytes;
  return success();
}

Type BufferType::parse(AsmParser &parser) {
  std::optional<Tier> tier;
  int64_t bytes;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    tier = symbolizeTier(keyword);
    if (!tier) {
      parser.emitError(loc, "need a tier (ram, pinned, ssd, gpu), have '") << keyword << "'";
      return {};
    }
    if (parser.parseComma())
      return {};
  }
  if (parser.parseInteger(bytes) || parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(loc, parser.getContext(), bytes, tier);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<';
  if (getTier())
    printer << stringifyTier(*getTier()) << ", ";
  printer << getBytes() << '>';
}
