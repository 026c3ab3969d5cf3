//===- PlanRegionAsm.cpp - Assembly of operations with regions --------------------------------------===//

#include "dialects/Plan/PlanAsm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace plim::plan;

ParseResult plim::plan::parseBufferType(OpAsmParser &parser, Type &type) {
  BufferType buffer;
  if (parser.parseCustomTypeWithFallback(buffer))
    return failure();
  type = buffer;
  return success();
}
void plim::plan::printBufferType(OpAsmPrinter &printer, Value buffer) {
  printer.printStrippedAttrOrType(cast<BufferType>(buffer.getType()));
}

ParseResult plim::plan::parseSource(OpAsmParser &parser, StringAttr &source) {
  std::string text;
  if (failed(parser.parseOptionalKeyword("from")))
    return success();
  if (parser.parseString(&text))
    return failure();
  source = parser.getBuilder().getStringAttr(text);
  return success();
}

void plim::plan::printSource(OpAsmPrinter &printer, StringAttr source) {
  if (source)
    printer << " from " << source;
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

/// `plan.program @main virtual symbols(%n "N" in [1, 8]) io(in %x "x" f32[4] : !plan.buffer<ram, 16>, ...)
///    attributes {...} { ... }`
ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  MLIRContext *context = parser.getContext();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> symbols, ios;
  Stage stage;
  if (parser.parseSymbolName(properties.sym_name) || parseEnum(parser, "a stage (virtual, tiered, placed)", stage))
    return failure();
  properties.stage = StageAttr::get(context, stage);

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
    bool reused = succeeded(parser.parseOptionalKeyword("reused"));
    if (parser.parseColon() || parseBufferType(parser, argument.type))
      return failure();
    ios.push_back(IOAttr::get(context, name, output, shape, state, reused));
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
    printer << (io.getReused() ? " reused : " : " : ");
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
