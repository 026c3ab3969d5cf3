//===- RandomProgram.h - Random plans in stage virtual, for tests ----------------------------*- C++ -*-===//
#ifndef PLIM_TEST_COMPILER_LOWERING_PLANPROBLEM_RANDOMPROGRAM_H
#define PLIM_TEST_COMPILER_LOWERING_PLANPROBLEM_RANDOMPROGRAM_H

#include "dialects/Plan/PlanDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"

#include <random>

namespace plim::test {

/// A module with one program @main of elementwise steps, concatenations written piece by piece, buffers that several
/// steps write, loops and branches, and one constant. All values are [rows, columns] of f32.
mlir::OwningOpRef<plan::ModuleOp> randomProgram(mlir::MLIRContext &context, unsigned seed);

} // namespace plim::test

#endif // PLIM_TEST_COMPILER_LOWERING_PLANPROBLEM_RANDOMPROGRAM_H
