//===- PlanAsm.h - Pieces of assembly that attributes and operations share ------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

namespace plim::plan {

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

} // namespace plim::plan
