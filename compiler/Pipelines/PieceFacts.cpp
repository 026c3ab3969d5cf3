//===- PieceFacts.cpp - Which launches of a plan are pieces of an op ---------------------------===//
#include "compiler/Pipelines/PieceFacts.h"
#include "compiler/Transforms/Graph/Split/Pieces.h"

using namespace mlir;

namespace plim {

static std::vector<emit::PlanFacts::Piece> piecesOf(plan::ProgramOp program) {
  std::vector<emit::PlanFacts::Piece> pieces;
  bool any = false;
  program.getBody().walk<WalkOrder::PreOrder>([&](plan::LaunchOp launch) {
    emit::PlanFacts::Piece &piece = pieces.emplace_back();
    auto rows = launch->getAttrOfType<DenseI64ArrayAttr>(graph::kPieceAttr);
    if (!rows || rows.size() != 5)
      return;
    piece = {rows[0], rows[1], rows[2], rows[3], rows[4]};
    any = true;
  });
  return any ? pieces : std::vector<emit::PlanFacts::Piece>();
}

void addPieceFacts(plan::ModuleOp module, emit::PlanFacts &facts) {
  for (auto program : module.getOps<plan::ProgramOp>())
    for (emit::PlanFacts::Program &known : facts.programs)
      if (known.name == program.getEntry() && known.variant == program.getVariant())
        known.pieces = piecesOf(program);
}

} // namespace plim
