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

/// `!plan.buffer<ram, 16>` or `<ram, 16>`
static ParseResult parseBufferType(OpAsmParser &parser, Type &type) {
  BufferType buffer;
  if (parser.parseCustomTypeWithFallback(buffer))
    return failure();
  type = buffer;
  return success();
}
static void printBufferType(OpAsmPrinter &printer, Value buffer) {
  printer.printStrippedAttrOrType(cast<BufferType>(buffer.getType()));
}

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

/// ` from "node"`, or nothing. A type may follow, so the string is read as such and not as an attribute.
static ParseResult parseSource(OpAsmParser &parser, StringAttr &source) {
  std::string text;
  if (failed(parser.parseOptionalKeyword("from")))
    return success();
  if (parser.parseString(&text))
    return failure();
  source = parser.getBuilder().getStringAttr(text);
  return success();
}

static void printSource(OpAsmPrinter &printer, StringAttr source) {
  if (source)
    printer << " from " << source;
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

/// `plan.program @main virtual symbols(%n "N" in [1, 8]) io(in %x "x" f32[4] : !plan.buffer<ram, 16>, ...)
///    attributes {...} { ... }`
ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  MLIRContext *context = parser.getContext();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> symbols, ios;
  StringRef stageName;
  if (parser.parseSymbolName(properties.sym_name))
    return failure();
  SMLoc stageLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&stageName))
    return failure();
  std::optional<Stage> stage = symbolizeStage(stageName);
  if (!stage)
    return parser.emitError(stageLoc, "need a stage (virtual, tiered, placed), have '") << stageName << "'";
  properties.stage = StageAttr::get(context, *stage);

  auto parseSymbol = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    std::string name;
    int64_t lower, upper;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseArgument(argument) || parser.parseString(&name) || parser.parseKeyword("in") ||
        parser.parseLSquare() || parser.parseInteger(lower) || parser.parseComma() || parser.parseInteger(upper) ||
        parser.parseRSquare())
      return failure();
    argument.type = IndexType::get(context);
    symbols.push_back(parser.getChecked<SymbolAttr>(loc, context, StringRef(name), lower, upper));
    return success(!!symbols.back());
  };
  auto parseIO = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    std::string name;
    ShapeAttr shape;
    FlatSymbolRefAttr state;
    bool output = succeeded(parser.parseOptionalKeyword("out"));
    if ((!output && parser.parseKeyword("in")) || parser.parseArgument(argument) || parser.parseString(&name) ||
        parseShapeBody(parser, shape))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("state")) && parser.parseAttribute(state))
      return failure();
    if (parser.parseColon() || parseBufferType(parser, argument.type))
      return failure();
    ios.push_back(IOAttr::get(context, name, output, shape, state));
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("symbols")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseSymbol))
    return failure();
  if (parser.parseKeyword("io") || parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseIO))
    return failure();
  properties.symbols = ArrayAttr::get(context, symbols);
  properties.ios = ArrayAttr::get(context, ios);
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << ' ' << stringifyStage(getStage());
  if (!getSymbols().empty()) {
    printer << " symbols(";
    llvm::interleaveComma(llvm::zip_equal(getSymbolArguments(), getSymbols().getAsRange<SymbolAttr>()), printer,
                          [&](auto pair) {
                            auto [value, symbol] = pair;
                            printer << value << ' ';
                            printer.printString(symbol.getName());
                            printer << " in [" << symbol.getLower() << ", " << symbol.getUpper() << ']';
                          });
    printer << ')';
  }
  printer << " io(";
  llvm::interleaveComma(llvm::zip_equal(getIOArguments(), getIos().getAsRange<IOAttr>()), printer, [&](auto pair) {
    auto [value, io] = pair;
    printer << (io.getOutput() ? "out " : "in ") << value << ' ';
    printer.printString(io.getName());
    printer << ' ';
    printShapeBody(printer, io.getShape());
    if (io.getState())
      printer << " state " << io.getState();
    printer << " : ";
    printBufferType(printer, value);
  });
  printer << ')';
  SmallVector<StringRef> elided = {"sym_name", "stage", "symbols", "ios"};
  if (getVariant().empty())
    elided.push_back("variant");
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), elided);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
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
  Type type, baseType;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() || parseBufferType(parser, type))
    return failure();
  if (base && (parser.parseKeyword("to") || (baseType = type, parseBufferType(parser, type))))
    return failure();
  if (base && parser.resolveOperand(*base, baseType, result.operands))
    return failure();
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

//===----------------------------------------------------------------------===//
// Eval, if, loop
//===----------------------------------------------------------------------===//

/// `(%a = %n, %b = %m) -> 2 { ... }`, or `function 3 (%n, %m) -> 2` without a body.
ParseResult EvalOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<OpAsmParser::Argument> arguments;
  bool bodiless = succeeded(parser.parseOptionalKeyword("function"));
  int64_t function = 0, values = 0;
  if (bodiless) {
    if (parser.parseInteger(function))
      return failure();
    properties.function = builder.getI64IntegerAttr(function);
  }
  auto parseInput = [&]() -> ParseResult {
    if (!bodiless) {
      OpAsmParser::Argument &argument = arguments.emplace_back();
      argument.type = builder.getIndexType();
      if (parser.parseArgument(argument) || parser.parseEqual())
        return failure();
    }
    return parser.parseOperand(inputs.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseInput) || parser.parseArrow() ||
      parser.parseInteger(values) || parseSource(parser, properties.source) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(inputs, builder.getIndexType(), result.operands))
    return failure();
  if (values < 0 || values > 64)
    return parser.emitError(parser.getCurrentLocation(), "need 0 to 64 results, have ") << values;
  result.types.assign(values, builder.getIndexType());
  Region *body = result.addRegion();
  return bodiless ? success() : parser.parseRegion(*body, arguments);
}

void EvalOp::print(OpAsmPrinter &printer) {
  if (getFunction())
    printer << " function " << *getFunction();
  printer << (getFunction() ? " (" : "(");
  if (getBody().empty())
    llvm::interleaveComma(getInputs(), printer);
  else
    llvm::interleaveComma(llvm::zip_equal(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
      printer.printRegionArgument(std::get<0>(pair), {}, /*omitType=*/true);
      printer << " = " << std::get<1>(pair);
    });
  printer << ") -> " << getNumResults();
  printSource(printer, getSourceAttr());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"function", "source"});
  if (!getBody().empty()) {
    printer << ' ';
    printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  }
}

/// `%c -> 1 from "node" { ... } else { ... }`
ParseResult IfOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  Builder &builder = parser.getBuilder();
  OpAsmParser::UnresolvedOperand condition;
  int64_t values = 0;
  if (parser.parseOperand(condition) || parser.resolveOperand(condition, builder.getIndexType(), result.operands))
    return failure();
  if (succeeded(parser.parseOptionalArrow()) && parser.parseInteger(values))
    return failure();
  if (values < 0 || values > 64)
    return parser.emitError(parser.getCurrentLocation(), "need 0 to 64 results, have ") << values;
  result.types.assign(values, builder.getIndexType());
  Region *thenRegion = result.addRegion(), *elseRegion = result.addRegion();
  if (parseSource(parser, properties.source) || parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*thenRegion))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("else")) && parser.parseRegion(*elseRegion))
    return failure();
  if (thenRegion->empty())
    thenRegion->emplaceBlock();
  for (Region *region : {thenRegion, elseRegion})
    if (!region->empty() && (region->front().empty() || !region->front().back().hasTrait<OpTrait::IsTerminator>())) {
      OpBuilder inner(parser.getContext());
      inner.setInsertionPointToEnd(&region->front());
      YieldOp::create(inner, result.location);
    }
  return success();
}

static bool yieldsNothing(Region &region) {
  auto yield = dyn_cast<YieldOp>(region.front().back());
  return yield && yield.getValues().empty();
}

void IfOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getCondition();
  if (getNumResults())
    printer << " -> " << getNumResults();
  printSource(printer, getSourceAttr());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"source"});
  printer << ' ';
  printer.printRegion(getThenRegion(), false, /*printBlockTerminators=*/!yieldsNothing(getThenRegion()));
  if (!getElseRegion().empty()) {
    printer << " else ";
    printer.printRegion(getElseRegion(), false, /*printBlockTerminators=*/!yieldsNothing(getElseRegion()));
  }
}

/// `%i max 8 trips %n while carry(%c = %c0, %a = %a0) from "node" { ... }`
ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> arguments(1);
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  int64_t maxTrips;
  arguments[0].type = builder.getIndexType();
  if (parser.parseArgument(arguments[0]) || parser.parseKeyword("max") || parser.parseInteger(maxTrips))
    return failure();
  properties.max_trips = builder.getI64IntegerAttr(maxTrips);
  if (succeeded(parser.parseOptionalKeyword("trips")) && parser.parseOperand(operands.emplace_back()))
    return failure();
  int32_t trips = operands.size();
  if (succeeded(parser.parseOptionalKeyword("while")))
    properties.conditional = builder.getUnitAttr();
  auto parseCarried = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    argument.type = builder.getIndexType();
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  if (succeeded(parser.parseOptionalKeyword("carry")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseCarried))
    return failure();
  int32_t carried = int32_t(operands.size()) - trips;
  properties.operandSegmentSizes = {trips, carried};
  result.types.assign(carried, builder.getIndexType());
  Region *body = result.addRegion();
  if (parseSource(parser, properties.source) || parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(operands, builder.getIndexType(), result.operands) || parser.parseRegion(*body, arguments))
    return failure();
  if (body->front().empty() || !body->front().back().hasTrait<OpTrait::IsTerminator>()) {
    OpBuilder inner(parser.getContext());
    inner.setInsertionPointToEnd(&body->front());
    YieldOp::create(inner, result.location);
  }
  return success();
}

void LoopOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printRegionArgument(getBody().getArgument(0), {}, /*omitType=*/true);
  printer << " max " << getMaxTrips();
  if (getTrips())
    printer << " trips " << getTrips();
  if (getConditional())
    printer << " while";
  if (!getInits().empty()) {
    printer << " carry(";
    llvm::interleaveComma(llvm::zip_equal(getBody().getArguments().drop_front(), getInits()), printer, [&](auto pair) {
      printer.printRegionArgument(std::get<0>(pair), {}, /*omitType=*/true);
      printer << " = " << std::get<1>(pair);
    });
    printer << ')';
  }
  printSource(printer, getSourceAttr());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"max_trips", "conditional", "source", "operandSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody(), false, /*printBlockTerminators=*/!yieldsNothing(getBody()));
}
