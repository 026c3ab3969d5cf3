//===- SplitGraph.cpp - A function rewritten to run in pieces ---------------------------------------===//
//
// Rows are taken by graph.slice, joined by graph.concat; lowering makes slices views and writes the pieces of a concat
// in place, so neither copies but where rows of an earlier piece are joined with new ones. Ops that no stage runs are
// moved to where they are first needed.
//
//===------------------------------------------------------------------------------------------------===//
#include "compiler/Transforms/Graph/Split/GraphProblem.h"
#include "compiler/Transforms/Graph/Split/PieceReads.h"
#include "compiler/Transforms/Graph/Split/Pieces.h"
#include "dialects/Graph/PartialOps.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;

namespace plim::graph {
namespace {

using solver::RowRange;

bool contains(RowRange outer, RowRange inner) { return outer.begin <= inner.begin && inner.end <= outer.end; }

class Rewriter {
public:
  Rewriter(func::FuncOp function, const GraphProblem &graph, const solver::SplitPlan &plan)
      : function(function), graph(graph), p(graph.problem), plan(plan), writers(solver::writersOf(p)),
        b(function.getBody().front().getTerminator()), whole(p.values.size()) {
    for (size_t v = 0; v < p.values.size(); ++v)
      if (p.values[v].kind != solver::SplitValue::Kind::Made)
        whole[v] = graph.values[v];
  }

  LogicalResult run() {
    std::vector<solver::StageRows> stages;
    std::vector<char> isCut(p.steps.size());
    for (size_t s = 0; s < plan.stages.size(); ++s) {
      std::string why;
      std::optional<solver::StageRows> rows = solver::rowsOfStage(p, plan, s, why);
      if (!rows)
        return function.emitError("stage ") << s << " cannot be split: " << why;
      std::vector<std::string> faults = solver::checkSplit(p, plan.stages[s], *rows);
      if (!faults.empty())
        return function.emitError("internal error: the rows of stage ") << s << " are unsound: " << faults.front();
      for (size_t step = 0; step < p.steps.size(); ++step)
        isCut[step] |= rows->ways[step] >= 0;
      stages.push_back(std::move(*rows));
    }
    for (size_t step = 0; step < p.steps.size(); ++step)
      if (!isCut[step] && p.steps[step].write >= 0 && !graph.values[size_t(p.steps[step].write)])
        return function.emitError("need a stage that runs the copy '")
               << p.steps[step].name << "' in pieces, have none";
    for (auto [stage, rows] : llvm::zip_equal(plan.stages, stages)) {
      for (int value : rows.whole)
        makeWhole(value);
      if (failed(runStage(stage, rows)))
        return failure();
      std::vector<char> isWhole(whole.size());
      llvm::transform(whole, isWhole.begin(), [](Value v) { return char(bool(v)); });
      for (size_t step = 0; step < p.steps.size(); ++step) {
        if (isCut[step] || !solver::followsStage(p, step, isWhole))
          continue;
        makeWhole(p.steps[step].write);
        isWhole[size_t(p.steps[step].write)] = 1;
      }
    }
    Operation *end = function.getBody().front().getTerminator();
    for (OpOperand &operand : end->getOpOperands())
      operand.set(makeWhole(idOf(operand.get())));
    eraseOld();
    return success();
  }

private:
  /// Rows of a value that lie in one tensor.
  struct Chunk {
    RowRange rows;
    Value value;
    bool isLeft = false; // copied out of a window, for the next one
  };

  func::FuncOp function;
  const GraphProblem &graph;
  const solver::SplitProblem &p;
  const solver::SplitPlan &plan;
  const std::vector<int> writers;
  OpBuilder b;
  SmallVector<Value> whole; // by value; null where it is not made whole
  llvm::SmallPtrSet<Operation *, 16> moved;
  // Of the stage that is being made:
  std::map<int, SmallVector<Chunk>> chunks, keptPieces; // by value
  std::map<std::tuple<const void *, int64_t, int64_t, int64_t>, Value> slices;

  int idOf(Value value) const { return int(llvm::find(graph.values, value) - graph.values.begin()); }

  Value makeWhole(int value) {
    if (whole[size_t(value)])
      return whole[size_t(value)];
    Operation *op = graph.steps[size_t(writers[size_t(value)])];
    const solver::SplitStep &step = p.steps[size_t(writers[size_t(value)])];
    SmallVector<Value> operands;
    for (int read : step.reads)
      operands.push_back(makeWhole(read));
    op->setOperands(operands);
    op->moveBefore(function.getBody().front().getTerminator());
    moved.insert(op);
    for (size_t s = 0; s < p.steps.size(); ++s)
      if (graph.steps[s] == op)
        whole[size_t(p.steps[s].write)] = graph.values[size_t(p.steps[s].write)];
    return whole[size_t(value)];
  }

  Value sliceOf(Value value, int64_t axis, RowRange rows, RowRange of, bool evenAll = false) {
    if (rows == of && !evenAll)
      return value;
    Value &slice = slices[{value.getAsOpaquePointer(), axis, rows.begin, rows.end}];
    if (slice)
      return slice;
    SmallVector<int64_t> starts(staticDims(value).size(), 0), sizes(staticDims(value));
    starts[size_t(axis)] = rows.begin - of.begin;
    sizes[size_t(axis)] = rows.rows();
    return slice = SliceOp::create(b, value.getLoc(), value, starts, sizes, ArrayRef<int64_t>());
  }

  Value copyOf(const Chunk &chunk, int64_t axis, RowRange rows) {
    Value slice = sliceOf(chunk.value, axis, rows, chunk.rows, true);
    slice.getDefiningOp()->setAttr(kCopyAttr, b.getUnitAttr());
    return slice;
  }

  /// One window for all that reads the value meanwhile, where they read about the same rows.
  static RowRange windowFor(const PieceReads::Span &span, RowRange rows) {
    RowRange all = rows;
    int64_t largest = 0;
    for (RowRange read : span.reads) {
      all = {std::min(all.begin, read.begin), std::max(all.end, read.end)};
      largest = std::max(largest, read.rows());
    }
    return all.rows() <= 2 * largest ? all : rows;
  }

  Value rowsOfValue(int value, int64_t axis, RowRange rows, const PieceReads &reads, int64_t run, bool inParts,
                    bool joins) {
    if (whole[size_t(value)])
      return sliceOf(whole[size_t(value)], axis, rows, {0, solver::extentOf(p, value, int(axis))});
    SmallVector<Chunk> &mine = chunks[value];
    const PieceReads::Span span = reads.around(value, run);
    // In parts, what has waited is not written where it is joined with others: the place would be there all the time.
    const bool hasWaited = span.since > int64_t(p.steps.size());
    for (const Chunk &chunk : llvm::reverse(mine))
      if (contains(chunk.rows, rows))
        return joins && inParts && (hasWaited || &chunk != &mine.back()) ? copyOf(chunk, axis, rows)
                                                                         : sliceOf(chunk.value, axis, rows, chunk.rows);
    RowRange window = windowFor(span, rows);
    // A piece can be written in place into one tensor only: what is kept is, and its windows get copies. In parts, so
    // does what is read again long after, and what is left of a window stays where it is, small, until the next.
    const bool isKept = keptPieces.count(value), waits = inParts && span.laterRow <= mine.back().rows.begin;
    SmallVector<Value> parts;
    for (int64_t at = window.begin; at < window.end;) {
      const Chunk *best = nullptr;
      for (const Chunk &chunk : llvm::reverse(mine))
        if (chunk.rows.begin <= at && at < chunk.rows.end && (!best || chunk.rows.end > best->rows.end))
          best = &chunk;
      if (!best)
        return {};
      RowRange part{at, std::min(window.end, best->rows.end)};
      parts.push_back(waits || (inParts && best->isLeft) ? copyOf(*best, axis, part)
                                                         : sliceOf(best->value, axis, part, best->rows, isKept));
      at = part.end;
    }
    Value joined = ConcatOp::create(b, parts.front().getLoc(), parts, axis);
    if (!waits)
      mine.push_back({window, joined});
    return sliceOf(joined, axis, rows, window);
  }

  /// `number`: of the piece, `first`: of its first run.
  LogicalResult runPiece(const solver::StageRows &rows, size_t number, int64_t first, bool inParts,
                         const PieceReads &reads) {
    for (auto [index, run] : llvm::enumerate(rows.pieces[number])) {
      const int64_t at = first + int64_t(index);
      const solver::SplitStep &step = p.steps[size_t(run.step)];
      const solver::SplitWay &way = step.ways[size_t(rows.ways[size_t(run.step)])];
      Operation *op = graph.steps[size_t(run.step)];
      if (inParts)
        slices.clear(); // those that are copies would lie there until they are read again
      SmallVector<Value> operands;
      for (size_t r = 0; r < step.reads.size(); ++r) {
        int axis = way.operands[r].axis, read = step.reads[r];
        operands.push_back(axis < 0 ? whole[size_t(read)]
                                    : rowsOfValue(read, axis, run.reads[r], reads, at, inParts, isa<ConcatOp>(op)));
        if (!operands.back())
          return op->emitError("internal error: rows of an operand are not there");
      }
      SmallVector<Chunk> &made = way.carried ? keptPieces[step.write] : chunks[step.write];
      if (way.carried && !made.empty())
        operands.push_back(made.back().value);
      Value result = cast<PiecesOpInterface>(op).buildPiece(b, Piece{way, run.rows, run.reads}, operands);
      if (!result || (!way.carried && staticDims(result)[size_t(way.axis)] != run.rows.rows()))
        return op->emitError("cannot be built for rows ") << run.rows.begin << " to " << run.rows.end;
      if (const std::string &numerics = graph.numerics[size_t(run.step)]; !numerics.empty())
        result.getDefiningOp()->setAttr(kNumericsAttr, b.getStringAttr(numerics));
      int64_t extent = way.carried ? solver::extentOf(p, step.reads[0], way.operands[0].axis)
                                   : solver::extentOf(p, step.write, way.axis);
      result.getDefiningOp()->setAttr(kPieceAttr, b.getDenseI64ArrayAttr({int64_t(number), int64_t(rows.pieces.size()),
                                                                          run.rows.begin, run.rows.end, extent}));
      made.push_back({run.rows, result});
      if (!way.carried && keptPieces.count(step.write))
        keptPieces[step.write].push_back(made.back());
      for (auto [r, read] : llvm::enumerate(step.reads)) {
        if (whole[size_t(read)] || run.reads[r].rows() == 0)
          continue;
        if (PieceReads::Span span = reads.around(read, at); span.endsHere)
          takeOver(read, rows.axes[size_t(read)], span.laterRow);
      }
    }
    return success();
  }

  /// Copies the rows that are read again later out of the window of a value, which can end then.
  void takeOver(int value, int axis, int64_t firstRow) {
    SmallVector<Chunk> &mine = chunks[value];
    const Chunk last = mine.back();
    if (keptPieces.count(value))
      return;
    if (firstRow >= last.rows.end || firstRow <= last.rows.begin)
      return;
    RowRange tail{firstRow, last.rows.end};
    mine.push_back({tail, copyOf(last, axis, tail), true});
  }

  LogicalResult runStage(const solver::SplitStage &stage, const solver::StageRows &rows) {
    chunks.clear(), keptPieces.clear(), slices.clear();
    for (const solver::SplitKeep &keep : stage.keeps)
      keptPieces[keep.value];
    const PieceReads reads(p, rows);
    int64_t first = 0;
    for (size_t piece = 0; piece < rows.pieces.size(); first += int64_t(rows.pieces[piece++].size()))
      if (failed(runPiece(rows, piece, first, stage.parts > 1, reads)))
        return failure();
    for (const solver::SplitKeep &keep : stage.keeps) {
      SmallVector<Value> parts =
          llvm::map_to_vector(keptPieces[keep.value], [](const Chunk &chunk) { return chunk.value; });
      bool isSum = p.steps[size_t(writers[size_t(keep.value)])]
                       .ways[size_t(rows.ways[size_t(writers[size_t(keep.value)])])]
                       .carried;
      whole[size_t(keep.value)] =
          isSum || parts.size() == 1
              ? parts.back()
              : Value(ConcatOp::create(b, graph.values[size_t(keep.value)].getLoc(), parts, keep.axis));
    }
    return success();
  }

  /// What was cut or is not needed.
  void eraseOld() {
    llvm::SetVector<Operation *> old;
    for (Operation *op : graph.steps)
      if (!moved.contains(op))
        old.insert(op);
    for (Operation *op : llvm::reverse(old))
      op->erase();
  }
};

} // namespace

LogicalResult applySplit(func::FuncOp function, const GraphProblem &graph, const solver::SplitPlan &plan) {
  solver::PlannedProblem planned = solver::asPlanned(graph.problem, plan);
  GraphProblem kernels;
  kernels.values = graph.values;
  kernels.values.resize(planned.problem.values.size()); // those of copies are never whole
  for (int origin : planned.origins) {
    const bool isFine = llvm::binary_search(plan.fine, origin);
    kernels.steps.push_back(graph.steps[size_t(origin)]);
    kernels.numerics.push_back((isFine ? graph.fineNumerics : graph.numerics)[size_t(origin)]);
  }
  kernels.problem = std::move(planned.problem);
  return Rewriter(function, kernels, plan).run();
}

} // namespace plim::graph
