//===- StridedAccess.cpp - Shapes of buffers that lie strided in others -------------------------------===//

#include "compiler/Lowering/PlanProblem/PlanProblem.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

std::optional<AccessAttr> plim::plan::stridedAccess(AccessAttr access, int64_t bufferBytes, int64_t run,
                                                    int64_t stride) {
  if (run == 0 || stride == run)
    return access;
  ShapeAttr shape = access.getShape();
  int64_t element = shape.getElementBytes();
  if (!shape.isStatic() || shape.getLayout() != Layout::Row || run % element || stride % element)
    return std::nullopt;
  auto moved = [&](int64_t byte) { return byte / run * stride + byte % run; };
  SmallVector<int64_t> strides = shape.getStridesAtBounds();
  int64_t inRun = access.getOffset() % run + element; // how far elements reach that stay in the first one's run
  for (auto [bound, s] : llvm::zip_equal(shape.getBounds(), strides)) {
    int64_t bytes = s * element;
    if (bound <= 1)
      continue;
    if (bytes % run == 0)
      s = bytes / run * stride / element;
    else
      inRun += (bound - 1) * bytes;
  }
  if (inRun > run)
    return std::nullopt;
  auto strided = ShapeAttr::get(access.getContext(), shape.getDtype(), shape.getBounds(), Layout::Row, strides);
  return AccessAttr::get(access.getContext(), access.getMode(), moved(access.getOffset()), strided.getExtentBytes(),
                         strided);
}

/// The place lies in that of its base in this run of the step: of a step that runs again, it may be another run's.
static bool isOn(const PlanProblem &extracted, const solver::Solution &solution, const solver::Action &action,
                 int number) {
  const solver::Place &place = solution.places[number];
  const solver::Alias &alias = extracted.problem.aliases[place.alias];
  for (const std::vector<int> *places : {&action.reads, &action.writes})
    for (int other : *places)
      if (const solver::Place &base = solution.places[other]; base.buffer == alias.base)
        return base.storage == place.storage && base.offset + alias.offset == place.offset;
  return false;
}

SmallVector<PieceCopy> plim::plan::remainingCopies(const PlanProblem &extracted, const solver::Solution &solution,
                                                   const solver::Action &action, bool &impossible) {
  auto launch = dyn_cast<LaunchOp>(extracted.steps[action.step]);
  // What lies in place because of this step, by buffer; views among them are results that need no copy.
  llvm::SmallDenseSet<int> inPlace;
  bool anyInto = false, anyView = false;
  for (const std::vector<int> *places : {&action.reads, &action.writes})
    for (int number : *places) {
      const solver::Place &place = solution.places[number];
      if (place.alias < 0)
        continue;
      const solver::Alias &alias = extracted.problem.aliases[place.alias];
      if (alias.step != action.step || alias.kind == solver::AliasKind::InPlace ||
          !isOn(extracted, solution, action, number))
        continue;
      inPlace.insert(place.buffer);
      (alias.kind == solver::AliasKind::Into ? anyInto : anyView) = true;
    }
  if (!anyInto && !anyView)
    return {};
  SmallVector<PieceCopy> copies;
  impossible = anyView || !launch || !launch.getAliases();
  DenseMap<int64_t, AliasAttr> pieces; // by operand
  if (!impossible)
    for (AliasAttr alias : launch.getAliases()->getAsRange<AliasAttr>())
      if (alias.getKind() == AliasKind::Into)
        pieces[alias.getOperand()] = alias;
  for (unsigned i = 0; !impossible && i < launch.getBuffers().size(); ++i) {
    AccessAttr access = launch.getAccess(i);
    AliasAttr piece = pieces.lookup(i);
    if (access.writes())
      continue;
    if (!piece) {
      impossible = true;
      break;
    }
    if (inPlace.contains(extracted.buffers.at(launch.getBuffers()[i])))
      continue;
    ShapeAttr shape = access.getShape();
    auto whole = AccessAttr::get(AccessMode::Write, shape);
    int64_t bytes = cast<BufferType>(launch.getBuffers()[i].getType()).getBytes();
    std::optional<AccessAttr> target = stridedAccess(whole, bytes, piece.getRun(), piece.getStride());
    impossible |= !target || !shape.isStatic() || !shape.getStrides().empty() || access.getOffset();
    if (!impossible)
      copies.push_back({i, access,
                        AccessAttr::get(access.getContext(), AccessMode::Write, piece.getOffset(),
                                        target->getShape().getExtentBytes(), target->getShape())});
  }
  return copies;
}
