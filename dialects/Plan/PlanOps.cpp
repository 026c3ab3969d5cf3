//===- PlanOps.cpp - Assembly and builders of plan operations ------------------------------------===//

#include "dialects/Plan/PlanAsm.h"
#include "dialects/Plan/PlanDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace plim::plan;

//===----------------------------------------------------------------------===//
// Directives of declarative assembly
//===----------------------------------------------------------------------===//

template <typename Enum> static ParseResult parseEnumKeyword(OpAsmParser &parser, Enum &attr) {
  using Value = decltype(attr.getValue());
  FailureOr<Value> value = FieldParser<Value>::parse(parser);
  if (failed(value))
    return failure();
  attr = Enum::get(parser.getContext(), *value);
  return success();
}
template <typename Enum> static void printEnumKeyword(OpAsmPrinter &printer, Operation *, Enum attr) {
  printer << stringifyEnum(attr.getValue());
}

static ParseResult parseShape(OpAsmParser &parser, ShapeAttr &shape) { return parseShapeBody(parser, shape); }
static void printShape(OpAsmPrinter &printer, Operation *, ShapeAttr shape) { printShapeBody(printer, shape); }

static ParseResult parseCandidates(OpAsmParser &parser, ArrayAttr &candidates) {
  SmallVector<Attribute> parsed;
  do {
    CandidateAttr candidate;
    if (parseCandidateInline(parser, candidate))
      return failure();
    parsed.push_back(candidate);
  } while (succeeded(parser.parseOptionalVerticalBar()));
  candidates = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printCandidates(OpAsmPrinter &printer, Operation *, ArrayAttr candidates) {
  llvm::interleave(
      candidates.getAsRange<CandidateAttr>(), printer, [&](CandidateAttr c) { printCandidateInline(printer, c); },
      " | ");
}

/// `r %x f32[4] : !plan.buffer<16>, ...`
static ParseResult parseAccesses(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &buffers,
                                 SmallVectorImpl<Type> &types, ArrayAttr &accesses) {
  SmallVector<Attribute> parsed;
  auto parseOne = [&]() -> ParseResult {
    AccessMode mode;
    int64_t offset, span;
    ShapeAttr shape;
    SMLoc loc = parser.getCurrentLocation();
    if (parseMode(parser, mode) || parser.parseOperand(buffers.emplace_back()) || parseRange(parser, offset, span) ||
        parseShapeBody(parser, shape) || parser.parseColon() || parseBufferType(parser, types.emplace_back()))
      return failure();
    auto access = parser.getChecked<AccessAttr>(loc, parser.getContext(), mode, offset, span, shape);
    parsed.push_back(access);
    return success(!!access);
  };
  // A launch without buffers has nothing between its parentheses.
  if (succeeded(parser.parseOptionalKeyword("none"))) {
    accesses = parser.getBuilder().getArrayAttr({});
    return success();
  }
  if (parser.parseCommaSeparatedList(parseOne))
    return failure();
  accesses = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printAccesses(OpAsmPrinter &printer, Operation *, OperandRange buffers, TypeRange, ArrayAttr accesses) {
  if (buffers.empty())
    printer << "none";
  llvm::interleaveComma(llvm::zip_equal(buffers, accesses.getAsRange<AccessAttr>()), printer, [&](auto pair) {
    auto [buffer, access] = pair;
    printer << stringifyAccessMode(access.getMode()) << ' ' << buffer;
    printRange(printer, access.getOffset(), access.getSpan());
    printer << ' ';
    printShapeBody(printer, access.getShape());
    printer << " : ";
    printBufferType(printer, buffer);
  });
}

static ParseResult parseLaunchResults(OpAsmParser &parser, SmallVectorImpl<Type> &values, Type &token) {
  SmallVector<Type> types;
  if (parser.parseTypeList(types))
    return failure();
  if (!types.empty() && isa<TokenType>(types.back()))
    token = types.pop_back_val();
  values.assign(types.begin(), types.end());
  return success();
}

static void printLaunchResults(OpAsmPrinter &printer, Operation *, TypeRange values, Type token) {
  SmallVector<Type> types(values.begin(), values.end());
  if (token)
    types.push_back(token);
  llvm::interleaveComma(types, printer);
}

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

void plim::plan::ModuleOp::build(OpBuilder &, OperationState &state) { state.addRegion()->emplaceBlock(); }

void AllocOp::build(OpBuilder &builder, OperationState &state, BufferType type, StringRef source, int64_t align) {
  build(builder, state, type, align, IntegerAttr(), StringAttr(), DenseI64ArrayAttr(),
        source.empty() ? StringAttr() : builder.getStringAttr(source));
}

void ViewOp::build(OpBuilder &builder, OperationState &state, FlatSymbolRefAttr arena, int64_t offset, BufferType type,
                   StringAttr source) {
  build(builder, state, type, arena, Value(), builder.getI64IntegerAttr(offset), Value(), source);
}

void ViewOp::build(OpBuilder &builder, OperationState &state, Value base, int64_t offset, int64_t bytes,
                   Value dynamic) {
  auto type = BufferType::get(builder.getContext(), bytes, cast<BufferType>(base.getType()).getTier());
  build(builder, state, type, FlatSymbolRefAttr(), base, builder.getI64IntegerAttr(offset), dynamic, StringAttr());
}

void LaunchOp::build(OpBuilder &builder, OperationState &state, ArrayRef<CandidateAttr> candidates, ValueRange buffers,
                     ArrayRef<AccessAttr> accesses, StringRef source, bool pure, ValueRange scalars, ValueRange dims,
                     unsigned values) {
  auto array = [&](auto attrs) { return builder.getArrayAttr(SmallVector<Attribute>(attrs.begin(), attrs.end())); };
  SmallVector<Type> types(values, builder.getIndexType());
  build(builder, state, types, Type(), array(candidates), buffers, array(accesses), scalars, dims, Value(), Value(),
        QueueAttr(), pure, /*instance=*/0, StringAttr(), ArrayAttr(), ArrayAttr(),
        source.empty() ? StringAttr() : builder.getStringAttr(source));
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

void ProgramOp::build(OpBuilder &builder, OperationState &state, StringRef name, Stage stage,
                      ArrayRef<SymbolAttr> symbols, ArrayRef<IOAttr> ios, ArrayRef<BufferType> ioTypes) {
  auto array = [&](auto attrs) { return builder.getArrayAttr(SmallVector<Attribute>(attrs.begin(), attrs.end())); };
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.stage = StageAttr::get(builder.getContext(), stage);
  properties.symbols = array(symbols);
  properties.ios = array(ios);
  Block &block = state.addRegion()->emplaceBlock();
  for (size_t i = 0; i < symbols.size(); ++i)
    block.addArgument(builder.getIndexType(), state.location);
  for (BufferType type : ioTypes)
    block.addArgument(type, state.location);
}

Block::BlockArgListType ProgramOp::getSymbolArguments() {
  return getBlock()->getArguments().take_front(getSymbols().size());
}
Block::BlockArgListType ProgramOp::getIOArguments() {
  return getBlock()->getArguments().drop_front(getSymbols().size());
}

StringRef ProgramOp::getEntry() {
  StringRef name = getSymName();
  return getVariant().empty() ? name : name.drop_back(getVariant().size() + 1);
}

void ProgramOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  auto name = [&](Value value, StringRef text) {
    if (!text.empty() && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; }) &&
        llvm::isAlpha(text[0]))
      setName(value, text);
  };
  if (region.empty() || region.getNumArguments() != getSymbols().size() + getIos().size())
    return;
  for (auto [value, symbol] : llvm::zip_equal(getSymbolArguments(), getSymbols().getAsRange<SymbolAttr>()))
    name(value, symbol.getName());
  for (auto [value, io] : llvm::zip_equal(getIOArguments(), getIos().getAsRange<IOAttr>()))
    name(value, io.getName());
}

//===----------------------------------------------------------------------===//
// View
//===----------------------------------------------------------------------===//

/// `@arena0[64] from "conv" : !plan.buffer<ram, 16>` or `%b[64 + %s] : !plan.buffer<ram, 64> to !plan.buffer<ram, 16>`
ParseResult ViewOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  StringAttr arena;
  std::optional<OpAsmParser::UnresolvedOperand> base, dynamic;
  int64_t offset;
  if (succeeded(parser.parseOptionalSymbolName(arena)))
    properties.arena = FlatSymbolRefAttr::get(arena);
  else if (parser.parseOperand(base.emplace()))
    return failure();
  if (parser.parseLSquare() || parser.parseInteger(offset))
    return failure();
  if (succeeded(parser.parseOptionalPlus()) && parser.parseOperand(dynamic.emplace()))
    return failure();
  if (parser.parseRSquare())
    return failure();
  properties.offset = parser.getBuilder().getI64IntegerAttr(offset);
  if (parseSource(parser, properties.source))
    return failure();
  Type type;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() || parseBufferType(parser, type))
    return failure();
  if (base) {
    Type baseType = type;
    if (parser.parseKeyword("to") || parseBufferType(parser, type) ||
        parser.resolveOperand(*base, baseType, result.operands))
      return failure();
  }
  if (dynamic && parser.resolveOperand(*dynamic, parser.getBuilder().getIndexType(), result.operands))
    return failure();
  properties.operandSegmentSizes = {base ? 1 : 0, dynamic ? 1 : 0};
  result.addTypes(type);
  return success();
}

void ViewOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (getArena())
    printer << getArenaAttr();
  else
    printer << getBase();
  printer << '[' << getOffset();
  if (getDynamic())
    printer << " + " << getDynamic();
  printer << ']';
  printSource(printer, getSourceAttr());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"arena", "offset", "source", "operandSegmentSizes"});
  printer << " : ";
  if (getBase()) {
    printBufferType(printer, getBase());
    printer << " to ";
  }
  printBufferType(printer, getBuffer());
}
