//===- PlanProblem.h - Between plan IR and the planner ----------------------------------*- C++ -*-===//
//
// A program in stage virtual becomes a solver::Problem, a Solution makes it tiered, and offsets make it placed:
//
//   FitRequest request;
//   request.budget[unsigned(Tier::Ram)] = 96 << 20;
//   if (failed(fitProgram(program, request)))      // normalizes scalars, extracts, solves, applies: stage tiered
//     ...                                          // a refusal has been emitted as an error with notes
//   placeProgram(program);                         // stage placed
//
// All passes of compiler/Transforms/Plan are made of these parts.
//
//===----------------------------------------------------------------------------------------------===//
#pragma once

#include "compiler/Solver/Fit.h"
#include "compiler/Solver/Profile/MachineProfile.h"
#include "dialects/Plan/PlanDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

#include <array>

namespace plim::plan {

/// Order, choose, alias, recompute, move and stream; spill acts where the ssd has a budget.
inline constexpr solver::Levers kAllLevers = {.recompute = true, .spill = true, .stream = true, .move = true};

struct FitRequest {
  /// Bytes by tier; no bound where it is empty, but nothing is written to an ssd without a budget.
  std::array<std::optional<int64_t>, kTierCount> budget;
  /// The caller's inputs and outputs count against the budget.
  bool countIO = true;
  solver::Levers levers = kAllLevers;
  /// How fast bytes move; those of the built-in profile.
  std::vector<solver::Link> links = solver::linksOf({});
  /// Constants that are not streamed, as other programs keep them.
  llvm::StringSet<> kept;
  solver::FitOptions options;
};

/// Why there is no plan.
struct PlanRefusal {
  mlir::Location where;
  int64_t need = 0;                 // the smallest budget of the ram that a plan was found for
  std::string error{};              // need and have, one line
  std::string proof{};              // what no plan can do, one line; "" where nothing is proved
  std::vector<std::string> notes{}; // what is in memory at the peak, and what would help
  /// As an error with notes.
  void emit() const;
};

/// A problem and what its numbers mean in the program.
struct PlanProblem {
  ProgramOp program;
  solver::Problem problem;
  std::vector<mlir::Operation *> steps;     // by step
  llvm::DenseMap<mlir::Value, int> buffers; // of root buffers
  /// Of what branches and loops allocate: its offset in the one buffer that all of it is.
  llvm::DenseMap<mlir::Value, int64_t> regionOffsets;
  std::optional<int64_t> sharedNeed;  // of all programs that share the budget: what refusals name
  std::optional<PlanRefusal> refusal; // of solve, where it fails
};

/// Makes dimensions and strides of launches and outputs numbers or scalars, and gives what loops carry and ifs yield
/// slots of their own, as stage placed needs it. Adds plan.eval steps; changes no step's meaning.
mlir::LogicalResult normalizeScalars(ProgramOp program);

/// One plan.eval of expressions over `symbols`, at the builder's place.
mlir::ValueRange evalExpressions(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::AffineExpr> values,
                                 mlir::ValueRange symbols, mlir::StringAttr source = {});

/// Preconditions: stage virtual, scalars normalized. Fails with diagnostics.
mlir::FailureOr<PlanProblem> extractProblem(ProgramOp program, const FitRequest &request);

/// Puts the steps into this order. Stays in stage virtual.
void applyOrder(const PlanProblem &extracted, llvm::ArrayRef<int> order);

/// Keeps one candidate of each launch. Stays in stage virtual.
void applyCandidates(const PlanProblem &extracted, const solver::Solution &solution);

/// Order, candidates, aliases, homes, workspaces and offsets; clones of steps that run again, copies between tiers and
/// waits for them: stage tiered. Constants that it streams move to the end of the weight file.
mlir::LogicalResult applySolution(const PlanProblem &extracted, const solver::Solution &solution);

/// Counts in problem and solution what the runtime reserves for the tables of the solution's transfers. False where it
/// then does not fit any more.
bool countTables(PlanProblem &extracted, solver::Solution &solution);

/// Plans that fit, or a refusal, which the problem gets; aliases that no shape can follow are dropped from the problem
/// on the way.
mlir::FailureOr<solver::Solution> solve(PlanProblem &extracted, const FitRequest &request);

/// Plans of all programs of a module, by program, each within the request's budget of the ram with all constants that
/// any of them keeps (compiler/Solver/Entries/EntryLadder.h). `programs` are as extracted, all of them in stage
/// virtual; they become what their solutions solve. Where none fit, `refusals` gets one of each program that is too
/// large even alone, or one of all together; each needs the smallest budget that plans of all were found for.
mlir::FailureOr<std::vector<solver::Solution>> solveTogether(llvm::MutableArrayRef<PlanProblem> programs,
                                                             const FitRequest &request,
                                                             std::vector<PlanRefusal> &refusals);

/// Takes aliases of a solution that no shape can follow out of the problem. False where there are none.
bool dropAliases(PlanProblem &extracted, const solver::Solution &solution);

/// Actions of a solution by lever.
struct LeverCounts {
  int64_t recomputed = 0, spilled = 0, streamed = 0, moved = 0;
};
LeverCounts countLevers(const solver::Solution &solution);

/// The fastest plans for budgets of the ram from the smallest to the one that no plan needs more than, by rising
/// budget: those that are faster than all before. And those for some budgets more, faster or not. The other tiers have
/// the budgets of the problem.
struct CurvePoint {
  int64_t ram, ssd, ns; // the budget, bytes on the ssd, predicted time
  LeverCounts levers;
};
std::vector<CurvePoint> curveOf(const PlanProblem &extracted, const FitRequest &request,
                                llvm::ArrayRef<int64_t> budgets = {});

/// All of the above: stage virtual to tiered. A refusal is emitted.
mlir::LogicalResult fitProgram(ProgramOp program, const FitRequest &request);

/// Stage tiered to placed: arenas, views, births and deaths. The module's weights_bytes are set from its constants.
mlir::LogicalResult placeProgram(ProgramOp program);

/// Encodes the module and records peaks and touched bytes as attributes. Needs all programs placed.
mlir::LogicalResult recordPeaks(ModuleOp module);

/// The access through the place of a buffer that lies strided in another one: byte i of the buffer is at
/// i / run * stride + i % run of the place. Nothing where no shape can say that.
std::optional<AccessAttr> stridedAccess(AccessAttr access, int64_t bufferBytes, int64_t run, int64_t stride);

/// Aliases of the problem by which the solution has a buffer strided in another one in a way that some step cannot
/// follow: only a launch can, and only where it uses the whole buffer by a shape that can say it. By rising number.
llvm::SmallVector<int> aliasesWithoutShape(const PlanProblem &extracted, const solver::Solution &solution);

/// A launch that only moves what it reads into what it writes (an into-alias for each read) and of which the solution
/// has some pieces in place: the copies that are left, each as what it reads (an operand's number) and writes. Nothing
/// where all pieces must be copied, or where a shape cannot say where a piece goes (then `impossible` is set).
struct PieceCopy {
  unsigned operand;
  AccessAttr source, target;
};
llvm::SmallVector<PieceCopy> remainingCopies(const PlanProblem &extracted, const solver::Solution &solution,
                                             const solver::Action &action, bool &impossible);

/// End of the last constant of the module in the weight file's data part.
int64_t weightDataBytes(ModuleOp module);

/// Puts constants that programs stream behind those that lie in memory, each at a multiple of kSsdAlign, so that those
/// in memory are one range from the start of the file; of several variants, in order, first what the first one keeps,
/// then what the second keeps beside that. Homes and the arenas, one a variant, follow. Does nothing where there is one
/// variant, which streams none.
void layOutConstants(ModuleOp module);

} // namespace plim::plan
