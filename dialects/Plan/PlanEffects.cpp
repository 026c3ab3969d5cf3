//===- PlanEffects.cpp - Side effects of steps --------------------------------------------------===//
//
// Each step reads and writes its buffers and writes the timeline of the program: so nothing merges, drops or reorders
// steps but the passes that know what a step means.
//
//===----------------------------------------------------------------------------------------------===//

#include "dialects/Plan/PlanSteps.h"

using namespace mlir;
using namespace plim::plan;

namespace {
struct Timeline : SideEffects::Resource::Base<Timeline> {
  StringRef getName() final { return "plan.timeline"; }
};
struct ScalarSlot : SideEffects::Resource::Base<ScalarSlot> {
  StringRef getName() final { return "plan.scalar"; }
};
} // namespace

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addStepEffects(Operation *step, Effects &effects) {
  for (BufferUse use : bufferUses(step)) {
    if (use.reads())
      effects.emplace_back(MemoryEffects::Read::get(), use.operand);
    if (use.writes())
      effects.emplace_back(MemoryEffects::Write::get(), use.operand);
  }
  effects.emplace_back(MemoryEffects::Write::get(), Timeline::get());
}

void LaunchOp::getEffects(Effects &effects) { addStepEffects(*this, effects); }
void CopyOp::getEffects(Effects &effects) { addStepEffects(*this, effects); }
void FillOp::getEffects(Effects &effects) { addStepEffects(*this, effects); }
void WaitOp::getEffects(Effects &effects) { addStepEffects(*this, effects); }
void CheckOp::getEffects(Effects &effects) { addStepEffects(*this, effects); }
void LoadScalarOp::getEffects(Effects &effects) { addStepEffects(*this, effects); }
void MarkOp::getEffects(Effects &effects) { addStepEffects(*this, effects); }
void ReturnOp::getEffects(Effects &effects) { addStepEffects(*this, effects); }

// An eval nobody reads may go, but two equal ones are two slots: a loop writes into the slot of what it carries.
void EvalOp::getEffects(Effects &effects) {
  for (OpResult result : getResults())
    effects.emplace_back(MemoryEffects::Allocate::get(), result, ScalarSlot::get());
}

// A view of an arena is a live range of its own, also where another one has the same bytes.
void ViewOp::getEffects(Effects &effects) {
  if (getArena())
    effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0));
}
