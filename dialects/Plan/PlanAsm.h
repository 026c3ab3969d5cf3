//===- PlanAsm.h - Pieces of assembly that attributes and operations share ------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

namespace plim::plan {

/// A keyword of an enum. `need` is what a diagnostic asks for: "a layout (row, panel32)".
template <typename Enum> mlir::ParseResult parseEnum(mlir::AsmParser &parser, llvm::StringRef need, Enum &value) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return mlir::failure();
  std::optional<Enum> parsed = symbolizeEnum<Enum>(keyword);
  if (!parsed)
    return parser.emitError(loc, "need ") << need << ", have '" << keyword << "'";
  value = *parsed;
  return mlir::success();
}

/// `f32[s0 max 32, 3] strides [3, 1] panel32`
mlir::ParseResult parseShapeBody(mlir::AsmParser &parser, ShapeAttr &shape);
void printShapeBody(mlir::AsmPrinter &printer, ShapeAttr shape);

/// ` at 64 span 128`, or nothing.
mlir::ParseResult parseRange(mlir::AsmParser &parser, int64_t &offset, int64_t &span);
void printRange(mlir::AsmPrinter &printer, int64_t offset, int64_t span);

/// `"kernel"<tasks = 8, ...>`
mlir::ParseResult parseCandidateInline(mlir::AsmParser &parser, CandidateAttr &candidate);
void printCandidateInline(mlir::AsmPrinter &printer, CandidateAttr candidate);

/// `r`, `w` or `rw`
mlir::ParseResult parseMode(mlir::AsmParser &parser, AccessMode &mode);

/// `!plan.buffer<ram, 16>` or `<ram, 16>`
mlir::ParseResult parseBufferType(mlir::OpAsmParser &parser, mlir::Type &type);
void printBufferType(mlir::OpAsmPrinter &printer, mlir::Value buffer);

/// ` from "node"`, or nothing. A type may follow, so the string is read as such and not as an attribute.
mlir::ParseResult parseSource(mlir::OpAsmParser &parser, mlir::StringAttr &source);
void printSource(mlir::OpAsmPrinter &printer, mlir::StringAttr source);

} // namespace plim::plan
