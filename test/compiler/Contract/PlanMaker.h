//===- PlanMaker.h - Makes steps of a random plan --------------------------------------------===//
#ifndef PLIM_TEST_COMPILER_CONTRACT_PLANMAKER_H
#define PLIM_TEST_COMPILER_CONTRACT_PLANMAKER_H

#include "test/compiler/Contract/RandomPlan.h"

#include "mlir/IR/Builders.h"

#include <random>

namespace plim::test {

/// A buffer as rows of columns, 4 bytes an element.
struct Matrix {
  mlir::Value buffer;
  int64_t rows = 0, columns = 0;
  int64_t bytes() const { return 4 * rows * columns; }
};

/// The program that is being made, and the steps that families are made of.
class PlanMaker {
public:
  PlanMaker(mlir::MLIRContext &context, unsigned seed, PlanStyle style);

  int64_t pick(int64_t low, int64_t high) { return low + int64_t(random() % uint64_t(high - low + 1)); }
  bool chance(int64_t percent) { return pick(1, 100) <= percent; }

  // What is there from the start.
  Matrix input, weight();

  // Steps. Those of one operand keep its shape unless they say otherwise.
  Matrix mix(llvm::ArrayRef<Matrix> reads, int64_t rows, int64_t columns, bool pure = true);
  Matrix mix(llvm::ArrayRef<Matrix> reads) { return mix(reads, reads[0].rows, reads[0].columns); }
  Matrix image(Matrix x); // each row made of it and its neighbours, perhaps in pieces
  Matrix join(llvm::ArrayRef<Matrix> parts, int64_t axis);
  Matrix cut(Matrix x, int64_t axis, int64_t begin, int64_t extent);
  Matrix sliced(Matrix x);   // two slices worked on and joined again
  Matrix reshaped(Matrix x); // under another shape, worked on, and back
  Matrix reduced(Matrix x);  // all of it to one row, and that into each of its own
  Matrix filled(Matrix x);   // made by two steps, half by half, over a fill
  Matrix looped(Matrix x);
  Matrix branched(Matrix x);
  Matrix copied(Matrix x);
  Matrix withState(Matrix x);
  Matrix anything(Matrix x); // one of the above
  Matrix withRest(Matrix x); // mixed with all weights and states that nothing has read
  void writeOutput(llvm::ArrayRef<Matrix> reads, unsigned output);

  RandomPlan finish();

private:
  struct Operands {
    llvm::SmallVector<mlir::Value> buffers;
    llvm::SmallVector<plan::AccessAttr> accesses;
    void add(Matrix m, plan::AccessMode mode);
  };

  mlir::Location loc() { return builder.getUnknownLoc(); }
  plan::BufferType type(int64_t bytes) { return plan::BufferType::get(builder.getContext(), bytes); }
  std::string name(llvm::StringRef kind) { return (kind + std::to_string(count++)).str(); }
  Matrix alloc(int64_t rows, int64_t columns, llvm::StringRef source);
  Matrix declared(const std::string &symbol, int64_t rows, int64_t columns);
  plan::LaunchOp launch(llvm::ArrayRef<plan::CandidateAttr> candidates, const Operands &operands,
                        llvm::StringRef source, bool pure, llvm::ArrayRef<plan::AliasAttr> aliases = {},
                        mlir::ValueRange scalars = {});
  llvm::SmallVector<plan::CandidateAttr> mixers(int64_t reads);
  plan::CandidateAttr mover(llvm::StringRef kernel, llvm::ArrayRef<int64_t> attrs);
  /// One mixer, as launches of loops and branches have it; never pure.
  void mixInto(llvm::ArrayRef<Matrix> reads, Matrix result, mlir::ValueRange scalars = {});
  Matrix rowsOf(Matrix x, Matrix result, int64_t top, int64_t first, uint64_t salt, llvm::StringRef source);

  PlanStyle style;
  std::mt19937 random;
  mlir::OpBuilder builder;
  RandomPlan made;
  plan::ProgramOp program;
  llvm::SmallVector<Matrix> weights, states;
  mlir::Value flag; // the caller's choice between branches
  int64_t constantBytes = 0;
  int count = 0, moves = 0; // names so far; of joins and cuts, which a style may add
};

} // namespace plim::test

#endif // PLIM_TEST_COMPILER_CONTRACT_PLANMAKER_H
