//===- Split.h - Computing a graph in pieces of rows ------------------------------------------===//
//
// What a map needs at once need not be all of it: rows of a result follow from few rows of its operands. A *stage* runs
// a set of steps in P pieces. Piece p reads the rows up to extent * (p + 1) / P of what is there before the stage,
// makes the rows of the kept values that these allow, and of all others the rows that those need, by the reach of each
// step (its halo). Rows that an earlier piece made are read again, never computed again. A kept value is whole when its
// stage ends and is all that later stages can read; what is kept by none and read in several stages is computed in
// each. So a plan is a list of kept values: which maps to keep and which to compute again. A sum over all rows ends
// what can stream through it: it is carried from piece to piece, kept, and read by later stages. (The rows at a time
// are those of line buffers, as in Halide's sliding windows and in fused-layer accelerators: Alwani et al., MICRO
// 2016.)
//
// Plain structs, and text in and out (SplitText.cpp, docs/concepts/splitting.md). Ranges are half-open, sizes in bytes.
//
//   std::string why;
//   SplitPlan plan = *parseSplitPlan("pieces=8 keep=conv_3@1,mean_1@1; pieces=4 keep=y@1", problem, why);
//   std::optional<StageRows> rows = rowsOfStage(problem, plan, 0, why);   // rows->pieces[p]: what to run, in order
//   for (const SplitPlan &p : proposeSplits(problem)) ...                // from little memory to little arithmetic
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_SPLIT_SPLIT_H
#define PLIM_SOLVER_SPLIT_SPLIT_H

#include "compiler/Solver/Problem.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plim::solver {

// Rows [i, j) of the result need rows [floor(i * stride / divisor) - before, ceil(j * stride / divisor) + after) of the
// operand along `axis`, as far as it has them. `after` is negative where a stride passes rows that no window reads.
// Axis -1: all of the operand.
struct SplitOperand {
  int axis = -1;
  int64_t stride = 1, before = 0, after = 0, divisor = 1;
};

// A way to cut a step.
struct SplitWay {
  int axis = 0;         // of the result
  int64_t align = 1;    // pieces begin and end at multiples of it, or at the end: the tiles of a kernel
  bool carried = false; // the result is a sum over the rows of operand 0, all of it there after the last piece
  std::vector<SplitOperand> operands{}; // one a read
  // Rows that the kernel computes together, wherever a piece begins: fewer take as long. Pieces that begin between the
  // tiles of the whole have other bits.
  int64_t tile = 1;
};

struct SplitValue {
  std::string name{}; // unique
  std::vector<int64_t> dims{};
  int64_t bytes = 0;
  enum class Kind : uint8_t { Made, Input, Constant } kind = Kind::Made;
  bool output = false; // the caller's
  bool reused = false; // of an input: others may lie in its bytes after its last read
};

// What a kernel takes, and how its step can be cut then.
struct SplitKernel {
  int64_t ns = 0, workspace = 0;
  std::vector<SplitWay> ways{};
};

struct SplitStep : SplitKernel {
  std::string name{};
  std::vector<int> reads{}; // values
  int write = -1;           // the one value that it makes; a step that makes several has no way to be cut
  bool inPlace = false;     // may write over an operand of the result's size that is read last there
  // A slower kernel, of another numerics class, that can be cut between the tiles of the step's own.
  std::optional<SplitKernel> fine{};
};

struct SplitProblem {
  std::vector<SplitValue> values{};
  std::vector<SplitStep> steps{}; // each after the steps whose values it reads
};

// A value that a stage makes whole, cut along an axis; of a carried sum: the axis that it sums over.
struct SplitKeep {
  int value = -1, axis = 0;
  bool operator==(const SplitKeep &) const = default;
};

struct SplitStage {
  int64_t pieces = 1;
  std::vector<SplitKeep> keeps{};
  // Of more than one, a step makes its rows of a piece in so many parts, each just before what reads it; those with
  // tiles no less than a tile at once. Then steps of few rows take their tiles, and those of many their few lines.
  int64_t parts = 1;
  bool operator==(const SplitStage &) const = default;
};

// Steps that no stage has run as they are: after the stage that makes the last value that they read, so that kept
// values end early; those that read no stage's values as late as what needs them.
struct SplitPlan {
  std::vector<SplitStage> stages{};
  std::vector<int> fine{};  // steps that run on their fine kernels, by rising number
  std::vector<int> loose{}; // steps whose pieces begin between tiles, by rising number
  // What `readers` read of the steps `copied`, by rising numbers, is computed by copies of these, at the readers' pace:
  // a map that is read long after it was made need not wait.
  std::vector<int> copied{}, readers{};
  bool operator==(const SplitPlan &) const = default;
};

struct RowRange {
  int64_t begin = 0, end = 0;
  int64_t rows() const { return end - begin; }
  bool operator==(const RowRange &) const = default;
};

// A step in a piece: the rows that it makes (carried: the rows that it adds), and those it reads of each operand that
// is cut (of others {0, 0}).
struct PieceRun {
  int step = -1;
  RowRange rows{};
  std::vector<RowRange> reads{};
};

struct StageRows {
  std::vector<int> ways{};  // by step: the way that the stage cuts it by, or -1
  std::vector<int> axes{};  // by value: the axis along which the stage reads or makes it, or -1
  std::vector<int> whole{}; // values that the stage needs all of and that other steps make before it
  std::vector<std::vector<PieceRun>> pieces{};
};

// The problem that a plan's stages are of: its steps have the plan's kernels, and the copied ones stand before the
// first of their readers, with values of their own behind all others.
struct PlannedProblem {
  SplitProblem problem{};
  std::vector<int> origins{}; // by step: the step of the given problem
};
PlannedProblem asPlanned(SplitProblem problem, const SplitPlan &plan);

// Rows of a value along an axis.
inline int64_t extentOf(const SplitProblem &problem, int value, int axis) { return problem.values[value].dims[axis]; }
// The step that makes each value, or -1.
std::vector<int> writersOf(const SplitProblem &problem);
// What an operand gives for rows of the result, cut off at its `extent`.
RowRange rowsRead(const SplitOperand &operand, RowRange rows, int64_t extent);

// The operand in the terms of a lower bound: all of it where it is read whole; part of it that is not known where
// pieces of `piece` rows or single ones (of an axis of `extent`) may read less of its `rows` than these terms say.
SplitAxis::Operand leastOperand(const SplitOperand &operand, int64_t piece, int64_t extent, int64_t rows);

// Whether a step that no stage has can run, as all that it reads is `whole`, and some of it was made.
bool followsStage(const SplitProblem &problem, size_t step, const std::vector<char> &whole);

// What a stage runs; nothing, and why, where its values cannot be made in pieces of rows. Here and in the checker,
// `problem` is as planned.
std::optional<StageRows> rowsOfStage(const SplitProblem &problem, const SplitPlan &plan, size_t stage,
                                     std::string &why);

struct SplitCost {
  int64_t peak = 0;   // bytes live at once, inputs and outputs all the time, constants not counted
  int64_t ns = 0;     // of all steps, those that run in several stages each time
  int peakStage = -1; // where; -1: outside of all stages
};
// Nothing, and why, where a stage cannot be made.
std::optional<SplitCost> costOfSplit(const SplitProblem &problem, const SplitPlan &plan, std::string &why);

struct SplitSearch {
  int64_t evaluations = 4000; // plans costed for an axis
  std::vector<int64_t> pieces{2, 4, 8, 15, 30, 60, 120, 240};
  double slowest = 1.5; // plans that take more than this multiple of the unsplit time are left out
  // Of the steps' own kernels, of fine ones in place of some, which is most of the work, or of both.
  enum class Kernels : uint8_t { Own, Fine, All } kernels = Kernels::All;
};
// Plans of which none is better in both memory and time than another, by falling memory; without the unsplit graph,
// and each of less memory than it. Behind them those with fine kernels, which have other bits, where they take less
// memory than all without. Deterministic.
struct PricedSplit {
  SplitPlan plan{};
  SplitCost cost{};
};
std::vector<PricedSplit> proposeSplits(const SplitProblem &problem, const SplitSearch &search = {});

// The same for a problem that starts with so many equal parts, one after the other: what is done to one of them is done
// to each. None where it does not.
std::vector<PricedSplit> proposeSplitsOfTwins(const SplitProblem &problem, int64_t copies,
                                              const SplitSearch &search = {});

// Everything that is wrong with the rows of a stage, one message each: rows read that no piece made in time, rows made
// twice, missing rows of what it keeps, pieces across a kernel's tiles. Shares no code with rowsOfStage.
std::vector<std::string> checkSplit(const SplitProblem &problem, const SplitStage &stage, const StageRows &rows);

// "fine=conv_2; pieces=8 keep=conv_3@1,mean_1@1; pieces=4 keep=y@1": names of steps, name@axis of values
// (docs/concepts/splitting.md has all that a plan may say).
std::string printSplitPlan(const SplitPlan &plan, const SplitProblem &problem);
std::optional<SplitPlan> parseSplitPlan(std::string_view text, const SplitProblem &problem, std::string &why);
// A line a value, step and way (docs/concepts/splitting.md).
std::string printSplitProblem(const SplitProblem &problem);
std::optional<SplitProblem> parseSplitProblem(std::string_view text, std::vector<std::string> &errors);

} // namespace plim::solver

#endif // PLIM_SOLVER_SPLIT_SPLIT_H
