//===- Bound.cpp - Bytes of ram below which no plan exists -------------------------------------===//
#include "compiler/Solver/Bound/Bound.h"
#include "absl/strings/str_cat.h"
#include "compiler/Solver/Bound/Backward.h"
#include "compiler/Solver/Bound/LiveCut.h"
#include <algorithm>
#include <numeric>

namespace plim::solver {
namespace {

class Bound {
public:
  Bound(const Problem &problem, const BoundOptions &options) : p(problem), options(options), footprint(problem) {}

  LeastBytes run() {
    sumResident();
    const std::vector<int64_t> alone = workingSets();
    if (!p.levers.spill)
      searchBackward(alone);
    if (!p.levers.spill && !p.levers.recompute && !p.levers.split)
      cut();
    finish();
    return std::move(least);
  }

private:
  const Problem &p;
  const BoundOptions options;
  Footprint footprint;
  LeastBytes least;
  int64_t arena = 0;     // of transients and streamed constants
  int64_t constants = 0; // that stay in any plan
  bool anyStreamed = false;

  void sumResident() {
    int64_t states = 0;
    for (const FixedCost &f : p.fixed)
      least.resident += f.tier == Tier::Ram ? f.bytes : 0;
    for (int b = 0; b < int(p.buffers.size()); ++b) {
      const Buffer &buffer = p.buffers[b];
      if (buffer.tier != Tier::Ram)
        continue;
      if (footprint.streamed(b))
        anyStreamed = true;
      else if (buffer.kind == BufferKind::Constant)
        constants += alignUp(footprint.bytes[b], kAlign);
      else if (buffer.kind == BufferKind::State)
        states += alignUp(footprint.bytes[b], kAlign);
      else if ((buffer.kind == BufferKind::Input || buffer.kind == BufferKind::Output) && p.countIo)
        least.resident += footprint.bytes[b];
    }
    least.resident += alignUp(constants, p.granule) + alignUp(states, p.granule);
  }

  // A larger arena than any before, and what forces it.
  void raise(int64_t bytes, LeastBytes::Argument argument, int step, int made, std::vector<int> buffers) {
    arena = bytes;
    least.argument = argument, least.step = step, least.made = made, least.buffers = std::move(buffers);
  }

  std::vector<int> touchedBy(int step, std::vector<int> kept) const {
    for (const auto *list : {&footprint.needs[step].reads, &footprint.needs[step].writes})
      for (const Footprint::Operand &o : *list)
        kept.push_back(o.buffer);
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return kept;
  }

  std::vector<int64_t> workingSets() {
    int64_t work = 0;
    std::vector<int64_t> alone(p.steps.size());
    for (int s = 0; s < int(p.steps.size()); ++s) {
      alone[s] = footprint.running(s, {}, {}, false, work);
      if (alone[s] > arena)
        raise(alone[s], LeastBytes::Argument::WorkingSet, s, s, touchedBy(s, {}));
    }
    return alone;
  }

  // From each step's operands, the steps that need most first, and from the outputs; each gets an equal part of the
  // work that is left.
  void searchBackward(const std::vector<int64_t> &alone) {
    std::vector<int> targets(p.steps.size());
    std::iota(targets.begin(), targets.end(), 0);
    std::stable_sort(targets.begin(), targets.end(), [&](int a, int b) { return alone[a] > alone[b]; });
    targets.push_back(-1);
    int64_t left = options.backwardWork;
    for (size_t k = 0; k < targets.size(); ++k) {
      const int target = targets[k];
      std::vector<int> held;
      if (target < 0) {
        for (int b = 0; b < int(p.buffers.size()); ++b)
          if (p.buffers[b].kind == BufferKind::Output && footprint.value[b])
            held.push_back(b);
      } else {
        for (const Footprint::Operand &o : footprint.needs[target].reads)
          if (o.whole && footprint.value[o.buffer])
            held.push_back(o.buffer);
      }
      const int64_t part = left / int64_t(targets.size() - k);
      int64_t work = part;
      const BackwardCase found = backwardBound(footprint, std::move(held), target < 0 ? 0 : alone[target], arena, work);
      left -= part - std::max<int64_t>(0, work);
      if (found.arena > arena)
        raise(found.arena, LeastBytes::Argument::Backward, target, found.made, touchedBy(found.made, found.kept));
    }
  }

  void cut() {
    CutCase found = liveCut(footprint, arena, options.cutWork);
    if (found.arena > arena)
      raise(found.arena, LeastBytes::Argument::Cut, found.step, found.step, std::move(found.alive));
  }

  void finish() {
    using Argument = LeastBytes::Argument;
    // A constant that may be streamed may also stay. Its bytes count either way, but the two arenas are rounded up each
    // on its own, so that the sum may be less than with all of them streamed.
    least.bytes = anyStreamed ? least.resident - alignUp(constants, p.granule) + alignUp(constants + arena, p.granule)
                              : least.resident + alignUp(arena, p.granule);
    std::stable_sort(least.buffers.begin(), least.buffers.end(),
                     [&](int a, int b) { return footprint.bytes[a] > footprint.bytes[b]; });
    least.covered = {.order = true,
                     .choose = true,
                     .alias = p.levers.alias,
                     .recompute = true,
                     .spill = true,
                     .stream = p.levers.stream,
                     .split = p.levers.split,
                     .move = true,
                     .lend = p.levers.lend};
    const bool anyWay = least.argument == Argument::Resident || least.argument == Argument::WorkingSet;
    least.covered.spill = anyWay;
    if (least.argument == Argument::Cut)
      least.covered.recompute = false, least.covered.split = false, least.covered.order = p.levers.order;
  }
};

} // namespace

LeastBytes leastBytes(const Problem &problem, const BoundOptions &options) { return Bound(problem, options).run(); }

std::string explain(const Problem &p, const LeastBytes &least) {
  using Argument = LeastBytes::Argument;
  auto step = [&](int s) { return absl::StrCat("'", p.steps[s].name, "'"); };
  std::string why;
  if (least.argument == Argument::Resident)
    why = "so much is there for the whole run";
  else if (least.argument == Argument::WorkingSet)
    why = absl::StrCat("what step ", step(least.step), " touches");
  else if (least.argument == Argument::Cut)
    why = absl::StrCat("what is alive at step ", step(least.step), " in any order");
  else
    why = absl::StrCat(least.step < 0 ? "the outputs" : absl::StrCat("the operands of step ", step(least.step)),
                       " come together in no smaller way than over step ", step(least.made));
  std::string levers;
  const std::pair<const char *, bool> all[] = {
      {"order", least.covered.order},         {"choose", least.covered.choose}, {"alias", least.covered.alias},
      {"recompute", least.covered.recompute}, {"spill", least.covered.spill},   {"stream", least.covered.stream},
      {"split", least.covered.split},         {"move", least.covered.move},     {"lend", least.covered.lend}};
  for (auto [name, has] : all)
    if (has)
      absl::StrAppend(&levers, levers.empty() ? "" : ", ", name);
  std::string text =
      absl::StrCat("no plan needs less than ", least.bytes, " bytes of ram: ", why, "; proved for any ", levers);
  // What is there all the time is there however small the pieces are.
  if (!least.covered.split && least.resident > 0 && least.resident < least.bytes)
    absl::StrAppend(&text, "; in pieces at least ", least.resident);
  return text;
}

} // namespace plim::solver
