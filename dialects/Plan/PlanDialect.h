//===- PlanDialect.h - The plan dialect: types, attributes, operations ---------------*- C++ -*-===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Plan/PlanDialect.h.inc"
#include "dialects/Plan/PlanEnums.h.inc"

namespace plim::plan {

inline constexpr unsigned kTierCount = 4;
inline constexpr unsigned kMaxRank = 8;
inline constexpr int64_t kAlign = 64;      // of buffers, workspaces and arenas
inline constexpr int64_t kSsdAlign = 4096; // of what is read from or written to the ssd

/// The fields of a CandidateAttr, to be named where one is made.
struct CandidateSpec {
  llvm::StringRef kernel;
  int64_t tasks = 1;
  llvm::ArrayRef<int64_t> attrs = {}; // words: integers, doubles bit-cast
  int64_t shared = 0, scratch = 0, phases = 1;
  int64_t flops = 0, bytes = 0, ns = 0;
  llvm::StringRef numerics = {};
  llvm::StringRef label = {}, barredBy = {};
  bool inPlace = false, strided = false;
  llvm::ArrayRef<Layout> layouts = {};
};

} // namespace plim::plan

#define GET_ATTRDEF_CLASSES
#include "dialects/Plan/PlanAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Plan/PlanTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.h.inc"
