//===- GraphDialect.cpp - The graph dialect, its attributes and interfaces -----------------------------===//

#include "dialects/Graph/GraphDialect.h"
#include "dialects/Graph/PartialOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace plim::graph;

#include "dialects/Graph/GraphDialect.cpp.inc"
#include "dialects/Graph/GraphEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Graph/GraphAttrs.cpp.inc"
#include "dialects/Graph/GraphInterfaces.cpp.inc"

void GraphDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/ElementwiseOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/ReductionOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/LinearAlgebraOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/QuantizedOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/ConvolutionOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/PoolingOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/NormalizationOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/AttentionOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/DataMovementOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/IndexingOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/StateOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/ControlOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/DynamicOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/RecurrentOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/PartialOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Graph/GraphAttrs.cpp.inc"
      >();
}

Operation *GraphDialect::materializeConstant(OpBuilder &b, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!elements || !tensor || !tensor.hasStaticShape() || *bytesOf(tensor) > ConstantOp::kMaxBytes)
    return nullptr;
  return ConstantOp::create(b, loc, RankedTensorType::get(tensor.getShape(), tensor.getElementType()), elements);
}

//===----------------------------------------------------------------------===//
// #graph.bounds
//===----------------------------------------------------------------------===//

Attribute BoundsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lower, upper;
  auto parseDim = [&]() -> ParseResult {
    int64_t lo, hi;
    if (parser.parseInteger(lo))
      return failure();
    hi = lo;
    if (succeeded(parser.parseOptionalKeyword("to"))) {
      if (succeeded(parser.parseOptionalQuestion()))
        hi = Dim::kUnbounded;
      else if (parser.parseInteger(hi))
        return failure();
    }
    lower.push_back(lo);
    upper.push_back(hi);
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<BoundsAttr>(parser.getContext(), lower, upper);
}

void BoundsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip(getLower(), getUpper()), printer.getStream(), [&](auto dim) {
    auto [lo, hi] = dim;
    printer << lo;
    if (hi == Dim::kUnbounded)
      printer << " to ?";
    else if (hi != lo)
      printer << " to " << hi;
  });
  printer << "]>";
}

LogicalResult BoundsAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> lower,
                                 ArrayRef<int64_t> upper) {
  if (lower.size() != upper.size())
    return emitError() << "bounds need one upper end a lower end, have " << upper.size() << " and " << lower.size();
  for (auto [i, lo, hi] : llvm::enumerate(lower, upper))
    if (lo < 0 || hi < lo)
      return emitError() << "bounds of dimension " << i << " need 0 <= low <= high, have " << lo << " to " << hi;
  return success();
}

LogicalResult BoundsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != getLower().size())
    return emitError() << "bounds need one interval a dimension: need " << shape.size() << ", have "
                       << getLower().size();
  for (auto [i, size, lo, hi] : llvm::enumerate(shape, getLower(), getUpper()))
    if (!ShapedType::isDynamic(size) && (lo != size || hi != size))
      return emitError() << "bounds of static dimension " << i << " need to be its size " << size << ", have " << lo
                         << " to " << hi;
  return success();
}

std::optional<StorageLayout> plim::graph::layoutOf(Type type) {
  auto layout = dyn_cast_or_null<LayoutAttr>(cast<RankedTensorType>(type).getEncoding());
  if (!layout)
    return std::nullopt;
  return layout.getValue();
}

LogicalResult plim::graph::detail::inferInto(OpBuilder &b, OperationState &state) {
  auto *interface = state.name.getRegisteredInfo()->getInterface<InferTypeOpInterface>();
  state.types.clear();
  return interface->inferReturnTypes(b.getContext(), state.location, state.operands,
                                     state.attributes.getDictionary(b.getContext()), state.getRawProperties(),
                                     RegionRange(state.regions), state.types);
}
