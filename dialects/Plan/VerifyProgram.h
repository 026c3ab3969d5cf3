//===- VerifyProgram.h - State of the verifier of a program ----------------------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanSteps.h"

namespace plim::plan {

/// Reports every violation, not the first only.
struct ProgramVerifier {
  ProgramOp program;
  bool ok = true;

  mlir::InFlightDiagnostic fail(mlir::Operation *op) {
    ok = false;
    return op->emitOpError();
  }

  /// One candidate, and a workspace of just the bytes that it states.
  void checkWorkspace(LaunchOp launch);
};

/// The normal form of stage placed: what the step table can hold, in the order in which decoding gives it back.
void verifyPlaced(ProgramVerifier &v);

} // namespace plim::plan
