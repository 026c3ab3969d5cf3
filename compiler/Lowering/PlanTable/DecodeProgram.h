//===- DecodeProgram.h - One program of a step table back to IR ------------------------*- C++ -*-===//
#pragma once

#include "compiler/Lowering/PlanTable/TableReader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <map>

namespace plim::plan {

/// Names and bodies that all programs of a table share.
struct DecodedShared {
  std::vector<mlir::FlatSymbolRefAttr> constants, states, arenas;
  std::vector<mlir::func::FuncOp> evals; // by function number; empty where bodies are not known
};

/// What a view record of a program is in IR.
struct DecodedView {
  enum Kind { IO, Resident, Buffer, Part } kind;
  uint32_t number = 0; // of the io in the program, the resident in the program, or the buffer
  uint32_t parent = 0; // of a part: the view record that it is a part of
};

/// All views that the program names, by record number, with those that they are parts of. Fails with `error` where a
/// part lies in nothing that is alive.
mlir::FailureOr<std::map<uint32_t, DecodedView>> classifyViews(const TableReader &table, const plim_t_program &program,
                                                               std::string &error);

/// The shape; `slots` collects the scalars that it names, in order of first use, and is extended.
ShapeAttr decodeShape(mlir::MLIRContext *context, const plim_t_shape &record, llvm::SmallVectorImpl<uint32_t> &slots,
                      bool contiguous);

/// The program with its symbols, buffers of the caller and figures, without steps. `outputSizes` gets the slots that
/// outputs name beyond the symbols', for plan.return.
ProgramOp createProgram(const TableReader &table, const DecodedShared &shared, const plim_t_program &program,
                        llvm::SmallVectorImpl<uint32_t> &outputSizes, mlir::OpBuilder &builder);

/// Appends the program at the builder's place.
mlir::LogicalResult decodeProgram(const TableReader &table, const DecodedShared &shared, const plim_t_program &program,
                                  mlir::OpBuilder &builder);

} // namespace plim::plan
