//===- MovableBuffers.cpp - What may be spilled, streamed, slid or made again ------------------------------===//

#include "compiler/Lowering/PlanProblem/MovableBuffers.h"
#include "dialects/Plan/PlanSteps.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

/// Smaller constants are kept: reading one back costs as much as reading this many bytes.
static constexpr int64_t kStreamedBytes = 64 << 10;

/// It lies in the weight file, and nothing needs it in memory that is decided already.
static bool isFree(plim::plan::ModuleOp module, StringRef constant) {
  auto op = cast<ConstantOp>(SymbolTable::lookupSymbolIn(module, constant));
  if (op.getFile())
    return false;
  for (auto program : module.getBody().getOps<ProgramOp>())
    for (auto resident : program.getBody().getOps<ResidentOp>())
      if (resident.getSymbol() == constant && resident.getArena())
        return false;
  return llvm::none_of(module.getBody().getOps<StateOp>(), [&](StateOp state) { return state.getInit() == constant; });
}

void plim::plan::markMovable(PlanProblem &extracted, const std::vector<bool> &filled, const llvm::StringSet<> &kept) {
  solver::Problem &problem = extracted.problem;
  std::vector<bool> fixed = filled;
  for (auto [op, step] : llvm::zip_equal(extracted.steps, problem.steps))
    for (const std::vector<int> *list : {&step.reads, &step.writes})
      for (int b : *list)
        fixed[b] =
            fixed[b] || !isa<LaunchOp>(op) || (problem.buffers[b].kind == solver::BufferKind::Constant && !step.pure);
  extracted.program.walk([&](ViewOp view) {
    if (auto buffer = extracted.buffers.find(rootBuffer(view.getBuffer())); buffer != extracted.buffers.end())
      fixed[buffer->second] = true;
  });
  for (size_t b = 0; b < fixed.size(); ++b) {
    solver::Buffer &buffer = problem.buffers[b];
    if (buffer.kind == solver::BufferKind::Constant)
      buffer.movable = !fixed[b] && buffer.bytes >= kStreamedBytes && !kept.contains(buffer.name) &&
                       isFree(extracted.program.getModule(), buffer.name);
    else
      buffer.movable = !fixed[b] && buffer.kind == solver::BufferKind::Transient;
  }
}
