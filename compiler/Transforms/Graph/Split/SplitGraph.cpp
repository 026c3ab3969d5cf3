//===- SplitGraph.cpp - A function rewritten to run in pieces ---------------------------------------===//
//
// Rows are taken by graph.slice, joined by graph.concat; lowering makes slices views and writes the pieces of a concat
// in place, so neither copies but where rows of an earlier piece are joined with new ones. Ops that no stage runs are
// moved to where they are first needed.
//
//===------------------------------------------------------------------------------------------------===//
#include "compiler/Transforms/Graph/Split/GraphProblem.h"
#include "compiler/Transforms/Graph/Split/Pieces.h"
#include "dialects/Graph/PartialOps.h"
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
  std::map<int, SmallVector<RowRange>> readInPiece;
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

  /// One window for all that reads the value in this piece, where they read about the same rows.
  RowRange windowFor(int value, RowRange rows) const {
    RowRange all = rows;
    int64_t largest = 0;
    for (RowRange read : readInPiece.at(value)) {
      all = {std::min(all.begin, read.begin), std::max(all.end, read.end)};
      largest = std::max(largest, read.rows());
    }
    return all.rows() <= 2 * largest ? all : rows;
  }

  Value rowsOfValue(int value, int64_t axis, RowRange rows) {
    if (whole[size_t(value)])
      return sliceOf(whole[size_t(value)], axis, rows, {0, solver::extentOf(p, value, int(axis))});
    SmallVector<Chunk> &mine = chunks[value];
    for (const Chunk &chunk : llvm::reverse(mine))
      if (contains(chunk.rows, rows))
        return sliceOf(chunk.value, axis, rows, chunk.rows);
    RowRange window = windowFor(value, rows);
    // A piece can be written in place into one tensor only: what is kept is, and its windows get copies.
    bool isKept = keptPieces.count(value);
    SmallVector<Value> parts;
    for (int64_t at = window.begin; at < window.end;) {
      const Chunk *best = nullptr;
      for (const Chunk &chunk : llvm::reverse(mine))
        if (chunk.rows.begin <= at && at < chunk.rows.end && (!best || chunk.rows.end > best->rows.end))
          best = &chunk;
      if (!best)
        return {};
      RowRange part{at, std::min(window.end, best->rows.end)};
      parts.push_back(sliceOf(best->value, axis, part, best->rows, isKept));
      at = part.end;
    }
    Value joined = ConcatOp::create(b, parts.front().getLoc(), parts, axis);
    mine.push_back({window, joined});
    return sliceOf(joined, axis, rows, window);
  }

  /// `later`: by value, the first row that pieces after this one read.
  LogicalResult runPiece(const solver::StageRows &rows, size_t number, ArrayRef<int64_t> later) {
    ArrayRef<solver::PieceRun> runs = rows.pieces[number];
    readInPiece.clear();
    std::map<int, int> readsLeft;
    for (const solver::PieceRun &run : runs)
      for (size_t r = 0; r < run.reads.size(); ++r) {
        int read = p.steps[size_t(run.step)].reads[r];
        ++readsLeft[read];
        if (run.reads[r].rows() > 0)
          readInPiece[read].push_back(run.reads[r]);
      }
    for (const solver::PieceRun &run : runs) {
      const solver::SplitStep &step = p.steps[size_t(run.step)];
      const solver::SplitWay &way = step.ways[size_t(rows.ways[size_t(run.step)])];
      Operation *op = graph.steps[size_t(run.step)];
      SmallVector<Value> operands;
      for (size_t r = 0; r < step.reads.size(); ++r) {
        int axis = way.operands[r].axis, read = step.reads[r];
        operands.push_back(axis < 0 ? whole[size_t(read)] : rowsOfValue(read, axis, run.reads[r]));
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
      for (int read : step.reads)
        if (--readsLeft[read] == 0 && !whole[size_t(read)])
          takeOver(read, rows.axes[size_t(read)], later[size_t(read)]);
    }
    return success();
  }

  /// Copies the rows that later pieces read again out of the window of a value, which can end then: their place in the
  /// next window is theirs already.
  void takeOver(int value, int axis, int64_t firstRow) {
    SmallVector<Chunk> &mine = chunks[value];
    const Chunk last = mine.back();
    if (firstRow >= last.rows.end || firstRow <= last.rows.begin)
      return;
    RowRange tail{firstRow, last.rows.end};
    Value slice = sliceOf(last.value, axis, tail, last.rows);
    slice.getDefiningOp()->setAttr(kCopyAttr, b.getUnitAttr());
    mine.push_back({tail, slice});
  }

  LogicalResult runStage(const solver::SplitStage &stage, const solver::StageRows &rows) {
    chunks.clear(), keptPieces.clear(), slices.clear();
    for (const solver::SplitKeep &keep : stage.keeps)
      keptPieces[keep.value];
    std::vector<std::vector<int64_t>> later(rows.pieces.size() + 1, std::vector<int64_t>(p.values.size(), INT64_MAX));
    for (size_t piece = rows.pieces.size(); piece-- > 0;) {
      later[piece] = later[piece + 1];
      for (const solver::PieceRun &run : rows.pieces[piece])
        for (size_t r = 0; r < run.reads.size(); ++r)
          if (int64_t &first = later[piece][size_t(p.steps[size_t(run.step)].reads[r])]; run.reads[r].rows() > 0)
            first = std::min(first, run.reads[r].begin);
    }
    for (size_t piece = 0; piece < rows.pieces.size(); ++piece)
      if (failed(runPiece(rows, piece, later[piece + 1])))
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
    SmallVector<Operation *> old;
    for (Operation *op : graph.steps)
      if (!moved.contains(op) && (old.empty() || old.back() != op))
        old.push_back(op);
    for (Operation *op : llvm::reverse(old))
      op->erase();
  }
};

} // namespace

LogicalResult applySplit(func::FuncOp function, const GraphProblem &graph, const solver::SplitPlan &plan) {
  GraphProblem kernels = graph;
  kernels.problem = solver::withFineKernels(graph.problem, plan.fine);
  for (int step : plan.fine)
    kernels.numerics[size_t(step)] = graph.fineNumerics[size_t(step)];
  return Rewriter(function, kernels, plan).run();
}

} // namespace plim::graph
