//===- PlanAttrs.cpp - Shapes, accesses and the small attributes of the plan dialect -----------===//

#include "dialects/Plan/PlanAsm.h"
#include "dialects/Plan/PlanDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace plim::plan;

#include "dialects/Plan/PlanEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Plan/PlanAttrs.cpp.inc"

void PlanDialect::registerPlanAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Plan/PlanAttrs.cpp.inc"
      >();
}

using EmitError = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

static int64_t elementBytes(DType dtype) {
  switch (dtype) {
  case DType::I8:
  case DType::U8:
  case DType::Bool:
    return 1;
  case DType::F16:
  case DType::BF16:
  case DType::I16:
  case DType::U16:
    return 2;
  case DType::F32:
  case DType::I32:
  case DType::U32:
    return 4;
  case DType::F64:
  case DType::I64:
  case DType::U64:
    return 8;
  }
  llvm_unreachable("all types are listed");
}

static bool isNumber(AffineExpr expr) { return isa<AffineConstantExpr>(expr); }

ShapeAttr ShapeAttr::getNormalized(MLIRContext *context, DType dtype, Layout layout, ArrayRef<AffineExpr> dims,
                                   ArrayRef<int64_t> bounds, ArrayRef<AffineExpr> strides,
                                   ArrayRef<int64_t> strideBounds) {
  bool contiguous = !strides.empty();
  int64_t expected = 1;
  for (int64_t i = int64_t(strides.size()) - 1; contiguous && i >= 0; --i) {
    contiguous = isNumber(strides[i]) && cast<AffineConstantExpr>(strides[i]).getValue() == expected &&
                 (i == 0 || isNumber(dims[i]));
    expected *= bounds[i];
  }
  if (contiguous)
    strides = {}, strideBounds = {};
  return get(context, dtype, layout, dims, bounds, strides, strideBounds);
}

ShapeAttr ShapeAttr::get(MLIRContext *context, DType dtype, ArrayRef<int64_t> dims, Layout layout,
                         ArrayRef<int64_t> strides) {
  auto constants = [&](ArrayRef<int64_t> values) {
    return llvm::map_to_vector(values, [&](int64_t v) { return getAffineConstantExpr(v, context); });
  };
  return getNormalized(context, dtype, layout, constants(dims), dims, constants(strides), strides);
}

LogicalResult ShapeAttr::verify(EmitError emitError, DType dtype, Layout layout, ArrayRef<AffineExpr> dims,
                                ArrayRef<int64_t> bounds, ArrayRef<AffineExpr> strides,
                                ArrayRef<int64_t> strideBounds) {
  if (dims.size() > kMaxRank)
    return emitError() << "need a rank of at most " << kMaxRank << ", have " << dims.size();
  if (!strides.empty() && strides.size() != dims.size())
    return emitError() << "need " << dims.size() << " strides, have " << strides.size();
  if (bounds.size() != dims.size() || strideBounds.size() != strides.size())
    return emitError() << "need one bound a dimension and stride";
  for (int64_t bound : bounds)
    if (bound < 0)
      return emitError() << "need dimensions of at least 0, have " << bound;
  if (layout == Layout::Panel32 && dims.size() != 2)
    return emitError() << "need a rank of 2 for layout panel32, have " << dims.size();
  return success();
}

bool ShapeAttr::isStatic() const { return llvm::all_of(getDims(), isNumber) && llvm::all_of(getStrides(), isNumber); }

SmallVector<int64_t> ShapeAttr::getStridesAtBounds() const {
  if (!getStrides().empty())
    return SmallVector<int64_t>(getStrideBounds());
  SmallVector<int64_t> strides(getRank());
  int64_t stride = 1;
  for (int64_t i = getRank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= getBounds()[i];
  }
  return strides;
}

int64_t ShapeAttr::getElementBytes() const { return elementBytes(getDtype()); }

int64_t ShapeAttr::getExtentBytes() const {
  if (getLayout() == Layout::Panel32)
    return getBounds()[0] * 32 * llvm::divideCeil(getBounds()[1], 32) * getElementBytes();
  int64_t last = 0;
  for (auto [bound, stride] : llvm::zip_equal(getBounds(), getStridesAtBounds())) {
    if (bound == 0)
      return 0;
    last += (bound - 1) * stride;
  }
  return (last + 1) * getElementBytes();
}

unsigned ShapeAttr::getScalarsUsed() const {
  unsigned used = 0;
  auto visit = [&](AffineExpr expr) {
    expr.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        used = std::max(used, symbol.getPosition() + 1);
    });
  };
  llvm::for_each(getDims(), visit);
  llvm::for_each(getStrides(), visit);
  return used;
}

bool ShapeAttr::isTableForm() const {
  auto simple = [](AffineExpr expr) { return isa<AffineConstantExpr, AffineSymbolExpr>(expr); };
  if (getStrides().empty() && !llvm::all_of(getDims().drop_front(getDims().empty() ? 0 : 1), isNumber))
    return false;
  return llvm::all_of(getDims(), simple) && llvm::all_of(getStrides(), simple);
}

static ParseResult parseExtents(AsmParser &parser, SmallVectorImpl<AffineExpr> &exprs,
                                SmallVectorImpl<int64_t> &bounds) {
  static constexpr StringLiteral kNames[] = {"s0", "s1", "s2",  "s3",  "s4",  "s5",  "s6",  "s7",
                                             "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15"};
  SmallVector<std::pair<StringRef, AffineExpr>> symbols;
  for (auto [i, name] : llvm::enumerate(kNames))
    symbols.push_back({name, getAffineSymbolExpr(i, parser.getContext())});
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    AffineExpr expr;
    if (parser.parseAffineExpr(symbols, expr))
      return failure();
    int64_t bound;
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      bound = constant.getValue();
    else if (parser.parseKeyword("max") || parser.parseInteger(bound))
      return failure();
    exprs.push_back(expr);
    bounds.push_back(bound);
    return success();
  });
}

static void printExtents(AsmPrinter &printer, ArrayRef<AffineExpr> exprs, ArrayRef<int64_t> bounds) {
  printer << '[';
  llvm::interleaveComma(llvm::zip_equal(exprs, bounds), printer, [&](auto pair) {
    auto [expr, bound] = pair;
    expr.print(printer.getStream());
    if (!isNumber(expr))
      printer << " max " << bound;
  });
  printer << ']';
}

ParseResult plim::plan::parseShapeBody(AsmParser &parser, ShapeAttr &shape) {
  SMLoc loc = parser.getCurrentLocation();
  DType dtype;
  SmallVector<AffineExpr> dims, strides;
  SmallVector<int64_t> bounds, strideBounds;
  if (parseEnum(parser, "an element type (f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool)", dtype) ||
      parseExtents(parser, dims, bounds))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("strides")) && parseExtents(parser, strides, strideBounds))
    return failure();
  Layout layout = Layout::Row;
  for (Layout other : {Layout::Panel32})
    if (succeeded(parser.parseOptionalKeyword(stringifyLayout(other))))
      layout = other;
  auto emitError = [&] { return parser.emitError(loc); };
  if (failed(ShapeAttr::verify(emitError, dtype, layout, dims, bounds, strides, strideBounds)))
    return failure();
  shape = ShapeAttr::getNormalized(parser.getContext(), dtype, layout, dims, bounds, strides, strideBounds);
  return success();
}

void plim::plan::printShapeBody(AsmPrinter &printer, ShapeAttr shape) {
  printer << stringifyDType(shape.getDtype());
  printExtents(printer, shape.getDims(), shape.getBounds());
  if (!shape.getStrides().empty()) {
    printer << " strides ";
    printExtents(printer, shape.getStrides(), shape.getStrideBounds());
  }
  if (shape.getLayout() != Layout::Row)
    printer << ' ' << stringifyLayout(shape.getLayout());
}

Attribute ShapeAttr::parse(AsmParser &parser, Type) {
  ShapeAttr shape;
  if (parser.parseLess() || parseShapeBody(parser, shape) || parser.parseGreater())
    return {};
  return shape;
}

void ShapeAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printShapeBody(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

ParseResult plim::plan::parseMode(AsmParser &parser, AccessMode &mode) {
  return parseEnum(parser, "an access mode (r, w, rw)", mode);
}

ParseResult plim::plan::parseRange(AsmParser &parser, int64_t &offset, int64_t &span) {
  offset = span = 0;
  if (succeeded(parser.parseOptionalKeyword("at")) && parser.parseInteger(offset))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("span")) && parser.parseInteger(span))
    return failure();
  return success();
}

void plim::plan::printRange(AsmPrinter &printer, int64_t offset, int64_t span) {
  if (offset)
    printer << " at " << offset;
  if (span)
    printer << " span " << span;
}

LogicalResult AccessAttr::verify(EmitError emitError, AccessMode, int64_t offset, int64_t span, ShapeAttr shape) {
  if (offset < 0 || span < 0)
    return emitError() << "need an access range of at least 0, have offset " << offset << " and span " << span;
  if (!shape)
    return emitError() << "need a shape";
  return success();
}

Attribute AccessAttr::parse(AsmParser &parser, Type) {
  AccessMode mode;
  int64_t offset, span;
  ShapeAttr shape;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseMode(parser, mode) || parseRange(parser, offset, span) ||
      parseShapeBody(parser, shape) || parser.parseGreater())
    return {};
  return parser.getChecked<AccessAttr>(loc, parser.getContext(), mode, offset, span, shape);
}

void AccessAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyAccessMode(getMode());
  printRange(printer, getOffset(), getSpan());
  printer << ' ';
  printShapeBody(printer, getShape());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Queue, split, symbol, io, bytes by tier
//===----------------------------------------------------------------------===//

LogicalResult QueueAttr::verify(EmitError emitError, QueueKind, int64_t number) {
  if (number < 0 || number > 15)
    return emitError() << "need a queue number from 0 to 15, have " << number;
  return success();
}

LogicalResult SplitAttr::verify(EmitError emitError, StringRef, int64_t extent, int64_t minPiece, Combine,
                                ArrayRef<int64_t> halos) {
  if (minPiece < 1 || extent < minPiece)
    return emitError() << "need 1 <= min_piece <= extent, have " << minPiece << " and " << extent;
  if (halos.size() % 4)
    return emitError() << "need four halo numbers a buffer read, have " << halos.size();
  return success();
}

LogicalResult SymbolAttr::verify(EmitError emitError, StringRef name, int64_t lower, int64_t upper) {
  if (lower < 0 || upper < lower)
    return emitError() << "need 0 <= lower <= upper for symbol '" << name << "', have [" << lower << ", " << upper
                       << "]";
  return success();
}

Attribute IOAttr::parse(AsmParser &parser, Type) {
  std::string name;
  ShapeAttr shape;
  FlatSymbolRefAttr state;
  if (parser.parseLess())
    return {};
  bool output = succeeded(parser.parseOptionalKeyword("out"));
  if (!output && parser.parseKeyword("in"))
    return {};
  if (parser.parseString(&name) || parseShapeBody(parser, shape))
    return {};
  if (succeeded(parser.parseOptionalKeyword("state")) && parser.parseAttribute(state))
    return {};
  bool reused = succeeded(parser.parseOptionalKeyword("reused"));
  if (parser.parseGreater())
    return {};
  return IOAttr::get(parser.getContext(), name, output, shape, state, reused);
}

void IOAttr::print(AsmPrinter &printer) const {
  printer << '<' << (getOutput() ? "out " : "in ");
  printer.printString(getName());
  printer << ' ';
  printShapeBody(printer, getShape());
  if (getState())
    printer << " state " << getState();
  printer << (getReused() ? " reused>" : ">");
}

LogicalResult TierBytesAttr::verify(EmitError emitError, ArrayRef<int64_t> bytes) {
  if (bytes.size() != kTierCount)
    return emitError() << "need " << kTierCount << " tiers, have " << bytes.size();
  for (int64_t b : bytes)
    if (b < -1)
      return emitError() << "need bytes of at least 0, have " << b;
  return success();
}

Attribute TierBytesAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> bytes(kTierCount, -1);
  SMLoc loc = parser.getCurrentLocation();
  auto parseTier = [&]() -> ParseResult {
    Tier tier;
    return failure(parseEnum(parser, "a tier (ram, pinned, ssd, gpu)", tier) || parser.parseEqual() ||
                   parser.parseInteger(bytes[static_cast<unsigned>(tier)]));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseTier))
    return {};
  return parser.getChecked<TierBytesAttr>(loc, parser.getContext(), bytes);
}

void TierBytesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  bool first = true;
  for (auto [tier, bytes] : llvm::enumerate(getBytes())) {
    if (bytes < 0)
      continue;
    printer << (first ? "" : ", ") << stringifyTier(static_cast<Tier>(tier)) << " = " << bytes;
    first = false;
  }
  printer << '>';
}
