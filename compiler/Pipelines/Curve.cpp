//===- Curve.cpp - Time against budget, over all alternatives -------------------------------------===//
#include "compiler/Pipelines/ChoosePlan.h"

using namespace mlir;

namespace plim {
namespace {

using Point = emit::PlanFacts::CurvePoint;

/// Of one entry: points none of which another one beats in both memory and time.
class Envelope {
public:
  void add(Point point) {
    if (beats(point.ram, point.ns))
      return;
    llvm::erase_if(points, [&](const Point &known) { return point.ram <= known.ram && point.ns <= known.ns; });
    auto after = llvm::find_if(points, [&](const Point &known) { return known.ram > point.ram; });
    points.insert(after, std::move(point));
  }
  /// Whether there is a point of at most these bytes and this time.
  bool beats(int64_t ram, int64_t ns) const {
    return llvm::any_of(points, [&](const Point &known) { return known.ram <= ram && known.ns <= ns; });
  }

  std::vector<Point> points; // by rising ram, falling ns
};

} // namespace

std::optional<std::vector<std::vector<Point>>> PlanChooser::curves() {
  std::vector<Envelope> envelopes;
  auto add = [&](const Alternative *alternative, ArrayRef<int64_t> budgets = {}) {
    auto curves = alternative
                      ? curvesOf(*alternative->lowered.module, requestFor(options, *alternative, {}, store), budgets)
                      : std::nullopt;
    if (!curves)
      return false;
    envelopes.resize(curves->size());
    for (auto [envelope, curve] : llvm::zip_equal(envelopes, *curves))
      for (const plan::CurvePoint &p : curve)
        envelope.add({alternative->pieces(), p.ram, p.ssd, p.ns, p.levers.recomputed, p.levers.spilled,
                      p.levers.streamed, p.levers.moved});
    return true;
  };
  if (options.progress)
    options.progress("curve");
  if (!add(given.asItIs()))
    return std::nullopt;
  std::vector<Alternatives *> all{&given};
  if (weights.bytes) {
    all.push_back(&withCutWeights());
    // Their curve starts so much further down that it has few points where whole weights have theirs.
    std::vector<int64_t> budgets;
    for (const Envelope &envelope : envelopes)
      for (const Point &point : envelope.points)
        budgets.push_back(point.ram);
    if (!add(cut->asItIs(), budgets))
      return std::nullopt;
  }
  for (Alternatives *from : all) {
    SplitAlternatives *splits = from->splits();
    for (size_t i = 0; splits && splits->reaches(i, INT64_MAX); ++i) {
      const int64_t ram = int64_t(double(splits->estimatedBytes(i)) * kSurely);
      const int64_t ns = int64_t(double(splits->estimatedNs(i)) * kSurely);
      if (!envelopes.front().beats(ram, ns) && !add(from->inRows(i)))
        return std::nullopt;
    }
  }
  std::vector<std::vector<Point>> result;
  for (Envelope &envelope : envelopes)
    result.push_back(std::move(envelope.points));
  return result;
}

} // namespace plim
