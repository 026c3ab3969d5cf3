//===- Applier.h - The parts of applySolution ---------------------------------------------*- C++ -*-===//
#pragma once

#include "compiler/Lowering/PlanProblem/PlanProblem.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace plim::plan {

/// Apply.cpp: steps, clones and copies. ApplyPlaces.cpp: homes, storages and views.
class Applier {
public:
  Applier(const PlanProblem &extracted, const solver::Solution &solution)
      : extracted(extracted), solution(solution), program(extracted.program), module(program.getModule()),
        builder(program.getContext()), bases(solution.storages.size()) {}

  mlir::LogicalResult run();

private:
  /// Buffers that a step's region uses are seen from where they are made.
  using Places = llvm::DenseMap<int, const solver::Place *>; // by buffer

  void settleResidents();
  void collectOwners();
  void collectRuns();
  void placeRegionBuffers();
  mlir::Block *blockOf(int storage);
  mlir::Value base(int storage);
  Places placesOf(const solver::Action &action) const;
  mlir::Value viewOf(const solver::Place &place, int64_t bytes);
  mlir::LogicalResult rewrite(mlir::Operation *op, const Places &places);
  mlir::LogicalResult rewriteLaunch(LaunchOp launch, const Places &places);
  mlir::LogicalResult copyPieces(LaunchOp launch, llvm::ArrayRef<PieceCopy> copies, const Places &places,
                                 llvm::SmallVectorImpl<mlir::Operation *> &order);
  void addWorkspace(LaunchOp launch, int64_t offset);
  mlir::Operation *stepFor(const solver::Action &action);
  mlir::LogicalResult run(const solver::Action &action, llvm::SmallVectorImpl<mlir::Operation *> &order);
  mlir::FailureOr<mlir::Operation *> copy(const solver::Action &action);
  void moveViews();
  void eraseUnused();
  int64_t bytesOfPlace(const solver::Place &place) const {
    const solver::Buffer &buffer = extracted.problem.buffers[place.buffer];
    return buffer.group < 0 ? buffer.bytes : buffer.sizes[solution.choices[buffer.group]];
  }

  const PlanProblem &extracted;
  const solver::Solution &solution;
  ProgramOp program;
  ModuleOp module;
  mlir::OpBuilder builder;
  llvm::SmallVector<mlir::Value> bases; // by storage; made when first asked for
  llvm::DenseMap<int, llvm::SmallVector<mlir::Value>>
      rootsOf;                                     // by buffer: root values (an io and a resident may be one state)
  llvm::DenseMap<int, int> owners;                 // by storage: the buffer whose bytes it is
  llvm::SmallDenseSet<int> streamed;               // constants that stay in the weight file
  llvm::SmallDenseSet<int> onBlocks;               // storages that the ssd reads or writes
  llvm::SmallPtrSet<mlir::Operation *, 32> unused; // steps that are elided, dropped or only cloned
  llvm::SmallVector<int> runs;                     // by step: actions that run it or leave it out
  llvm::StringMap<int64_t> nextInstance;           // by source of which a launch runs more than once
  llvm::SmallVector<mlir::Value> tokens;           // by action
};

} // namespace plim::plan
