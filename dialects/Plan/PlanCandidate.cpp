//===- PlanCandidate.cpp - #plan.candidate: one way to run a launch -----------------------------===//

#include "dialects/Plan/PlanAsm.h"

using namespace mlir;
using namespace plim::plan;

CandidateAttr CandidateAttr::get(MLIRContext *context, const CandidateSpec &s) {
  return get(context, s.kernel, s.layouts, s.shared, s.scratch, s.phases, s.tasks, s.flops, s.bytes, s.ns, s.numerics,
             s.attrs, s.label, s.barredBy, s.inPlace, s.strided);
}

CandidateSpec CandidateAttr::getSpec() const {
  return {.kernel = getKernel(),
          .tasks = getTasks(),
          .attrs = getAttrs(),
          .shared = getShared(),
          .scratch = getScratch(),
          .phases = getPhases(),
          .flops = getFlops(),
          .bytes = getBytes(),
          .ns = getNs(),
          .numerics = getNumerics(),
          .label = getLabel(),
          .barredBy = getBarredBy(),
          .inPlace = getInPlace(),
          .strided = getStrided(),
          .layouts = getLayouts()};
}

CandidateAttr CandidateAttr::getPlacedForm() const {
  CandidateSpec all = getSpec();
  return get(getContext(), CandidateSpec{.kernel = all.kernel,
                                         .tasks = all.tasks,
                                         .attrs = all.attrs,
                                         .shared = all.shared,
                                         .scratch = all.scratch,
                                         .phases = all.phases});
}

LogicalResult CandidateAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef kernel, ArrayRef<Layout>,
                                    int64_t shared, int64_t scratch, int64_t phases, int64_t tasks, int64_t flops,
                                    int64_t bytes, int64_t ns, StringRef, ArrayRef<int64_t>, StringRef, StringRef, bool,
                                    bool) {
  if (kernel.empty())
    return emitError() << "need the name of a kernel, have \"\"";
  if (phases < 1 || tasks < 1 || phases > UINT32_MAX || tasks > UINT32_MAX)
    return emitError() << "need phases and tasks of at least 1 and below 2^32, have " << phases << " and " << tasks;
  if (shared < 0 || scratch < 0 || shared % kAlign || scratch % kAlign)
    return emitError() << "need shared and scratch to be multiples of " << kAlign << ", have " << shared << " and "
                       << scratch;
  if (flops < 0 || bytes < 0 || ns < 0)
    return emitError() << "need costs of at least 0";
  return success();
}

static ParseResult parseWords(AsmParser &parser, SmallVectorImpl<int64_t> &words) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&]() { return parser.parseInteger(words.emplace_back()); });
}

static ParseResult parseLayouts(AsmParser &parser, SmallVectorImpl<Layout> &layouts) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    return parseEnum(parser, "a layout (row, panel32)", layouts.emplace_back());
  });
}

/// The attribute, where the verifier takes it; what it says otherwise is an error at `where`.
static ParseResult makeCandidate(AsmParser &parser, SMLoc where, const CandidateSpec &s, CandidateAttr &candidate) {
  if (failed(CandidateAttr::verify([&] { return parser.emitError(where); }, s.kernel, s.layouts, s.shared, s.scratch,
                                   s.phases, s.tasks, s.flops, s.bytes, s.ns, s.numerics, s.attrs, s.label, s.barredBy,
                                   s.inPlace, s.strided)))
    return failure();
  candidate = CandidateAttr::get(parser.getContext(), s);
  return success();
}

/// `key = value, ...`; the kernel's name has been read.
static ParseResult parseFields(AsmParser &parser, StringRef kernel, CandidateAttr &candidate) {
  CandidateSpec spec;
  SmallVector<int64_t> attrs;
  SmallVector<Layout> layouts;
  std::string numerics, label, barredBy;
  SMLoc start = parser.getCurrentLocation();
  auto parseField = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key))
      return failure();
    if (key == "in_place")
      return spec.inPlace = true, success();
    if (key == "strided")
      return spec.strided = true, success();
    if (parser.parseEqual())
      return failure();
    if (key == "attrs")
      return parseWords(parser, attrs);
    if (key == "layouts")
      return parseLayouts(parser, layouts);
    if (key == "numerics")
      return parser.parseString(&numerics);
    if (key == "label")
      return parser.parseString(&label);
    if (key == "barred_by")
      return parser.parseString(&barredBy);
    int64_t *number = llvm::StringSwitch<int64_t *>(key)
                          .Case("tasks", &spec.tasks)
                          .Case("shared", &spec.shared)
                          .Case("scratch", &spec.scratch)
                          .Case("phases", &spec.phases)
                          .Case("flops", &spec.flops)
                          .Case("bytes", &spec.bytes)
                          .Case("ns", &spec.ns)
                          .Default(nullptr);
    if (!number)
      return parser.emitError(loc, "need a field of a candidate, have '") << key << "'";
    return parser.parseInteger(*number);
  };
  if (parser.parseCommaSeparatedList(parseField))
    return failure();
  spec.kernel = kernel;
  spec.attrs = attrs;
  spec.layouts = layouts;
  spec.numerics = numerics;
  spec.label = label;
  spec.barredBy = barredBy;
  return makeCandidate(parser, start, spec, candidate);
}

/// Calls `separate` before each field that differs from its default, then prints the field.
static void printFields(AsmPrinter &printer, CandidateAttr c, function_ref<void()> separate) {
  auto number = [&](StringRef key, int64_t value, int64_t usual) {
    if (value != usual) {
      separate();
      printer << key << " = " << value;
    }
  };
  auto text = [&](StringRef key, StringRef value) {
    if (!value.empty()) {
      separate();
      printer << key << " = ";
      printer.printString(value);
    }
  };
  number("tasks", c.getTasks(), 1);
  if (!c.getAttrs().empty()) {
    separate();
    printer << "attrs = [";
    llvm::interleaveComma(c.getAttrs(), printer);
    printer << ']';
  }
  number("shared", c.getShared(), 0);
  number("scratch", c.getScratch(), 0);
  number("phases", c.getPhases(), 1);
  number("flops", c.getFlops(), 0);
  number("bytes", c.getBytes(), 0);
  number("ns", c.getNs(), 0);
  text("numerics", c.getNumerics());
  text("label", c.getLabel());
  text("barred_by", c.getBarredBy());
  if (!c.getLayouts().empty()) {
    separate();
    printer << "layouts = [";
    llvm::interleaveComma(c.getLayouts(), printer, [&](Layout layout) { printer << stringifyLayout(layout); });
    printer << ']';
  }
  if (c.getInPlace()) {
    separate();
    printer << "in_place";
  }
  if (c.getStrided()) {
    separate();
    printer << "strided";
  }
}

Attribute CandidateAttr::parse(AsmParser &parser, Type) {
  std::string kernel;
  CandidateAttr candidate;
  if (parser.parseLess())
    return {};
  const SMLoc start = parser.getCurrentLocation();
  if (parser.parseString(&kernel))
    return {};
  const bool hasFields = succeeded(parser.parseOptionalComma());
  if (hasFields ? parseFields(parser, kernel, candidate) : makeCandidate(parser, start, {.kernel = kernel}, candidate))
    return {};
  if (parser.parseGreater())
    return {};
  return candidate;
}

void CandidateAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printString(getKernel());
  printFields(printer, *this, [&] { printer << ", "; });
  printer << '>';
}

ParseResult plim::plan::parseCandidateInline(AsmParser &parser, CandidateAttr &candidate) {
  std::string kernel;
  const SMLoc start = parser.getCurrentLocation();
  if (parser.parseString(&kernel))
    return failure();
  if (succeeded(parser.parseOptionalLess()))
    return failure(parseFields(parser, kernel, candidate) || parser.parseGreater());
  return makeCandidate(parser, start, {.kernel = kernel}, candidate);
}

void plim::plan::printCandidateInline(AsmPrinter &printer, CandidateAttr candidate) {
  printer.printString(candidate.getKernel());
  bool first = true;
  printFields(printer, candidate, [&] {
    printer << (first ? "<" : ", ");
    first = false;
  });
  if (!first)
    printer << '>';
}
