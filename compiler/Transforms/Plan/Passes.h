//===- Passes.h - Passes over plans ----------------------------------------------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/Pass.h"

namespace plim::plan {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Transforms/Plan/Passes.h.inc"

} // namespace plim::plan
