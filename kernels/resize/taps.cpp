//===- taps.cpp - Which elements a coordinate reads, and their weights -----------------------===//

#include "kernels/resize/taps.h"

#include "kernels/attrs.h"
#include "kernels/resize/apply.h"

#include <cmath>

namespace plim::kernels {

ResizeRule::ResizeRule(const void *attrs)
    : mode(plim_attr_int(attrs, PLIM_RESIZE_MODE)), coordinate(plim_attr_int(attrs, PLIM_RESIZE_COORDINATE)),
      rounding(plim_attr_int(attrs, PLIM_RESIZE_ROUNDING)), cubicA(plim_attr_double(attrs, PLIM_RESIZE_CUBIC_A)),
      excludeOutside(plim_attr_int(attrs, PLIM_RESIZE_EXCLUDE_OUTSIDE) != 0) {}

bool ResizeRule::isValid() const {
  return mode >= 0 && mode < PLIM_RESIZE_MODE_COUNT && coordinate >= 0 && coordinate < PLIM_RESIZE_COORDINATE_COUNT &&
         rounding >= 0 && rounding < PLIM_RESIZE_ROUNDING_COUNT;
}

static float coordinateOf(int64_t rule, const ResizedAxis &axis, int64_t i) {
  float at = float(i);
  switch (rule) {
  case PLIM_RESIZE_PYTORCH_HALF_PIXEL:
    return axis.out > 1 ? (at + 0.5f) / axis.scale - 0.5f : 0.0f;
  case PLIM_RESIZE_ALIGN_CORNERS:
    return axis.out == 1 ? 0.0f : at * float(axis.in - 1) / float(axis.out - 1);
  case PLIM_RESIZE_ASYMMETRIC:
    return at / axis.scale;
  case PLIM_RESIZE_HALF_PIXEL_SYMMETRIC: {
    float adjustment = float(axis.out) / (axis.scale * float(axis.in)), centre = float(axis.in) / 2.0f;
    return centre * (1.0f - adjustment) + (at + 0.5f) / axis.scale - 0.5f;
  }
  default:
    return (at + 0.5f) / axis.scale - 0.5f;
  }
}

static int64_t clampIndex(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

static float roundBy(int64_t rule, float at) {
  switch (rule) {
  case PLIM_RESIZE_ROUND_PREFER_FLOOR:
    return std::ceil(at - 0.5f);
  case PLIM_RESIZE_ROUND_PREFER_CEIL:
    return std::floor(at + 0.5f);
  case PLIM_RESIZE_FLOOR:
    return std::floor(at);
  default:
    return std::ceil(at);
  }
}

Taps ResizeRule::cubicTaps(const ResizedAxis &axis, float at) const {
  float base = std::floor(at);
  double t = double(at) - double(base), sum = 0;
  Taps taps;
  taps.count = 4;
  for (int k = 0; k < 4; ++k) {
    double d = std::fabs(t - (k - 1)); // distance to the element, below 2
    double w = d <= 1 ? ((cubicA + 2) * d - (cubicA + 3)) * d * d + 1 : ((d - 5) * d + 8) * d * cubicA - 4 * cubicA;
    int64_t index = int64_t(base) + k - 1;
    bool outside = index < 0 || index >= axis.in;
    taps.index[k] = clampIndex(index, axis.in);
    taps.weight[k] = excludeOutside && outside ? 0 : w;
    sum += taps.weight[k];
  }
  if (excludeOutside)
    for (double &w : taps.weight)
      w /= sum;
  return taps;
}

Taps ResizeRule::tapsOf(const ResizedAxis &axis, int64_t i) const {
  if (axis.isIdentity())
    return {1, {i}, {1.0}};
  float at = coordinateOf(coordinate, axis, i);
  if (mode == PLIM_RESIZE_NEAREST)
    return {1, {clampIndex(int64_t(roundBy(rounding, at)), axis.in)}, {1.0}};
  if (mode == PLIM_RESIZE_CUBIC)
    return cubicTaps(axis, at);
  float top = float(axis.in - 1), clamped = at < 0.0f ? 0.0f : at > top ? top : at;
  int64_t low = int64_t(clamped);
  double t = double(clamped) - double(low);
  return {2, {low, clampIndex(low + 1, axis.in)}, {1 - t, t}};
}

} // namespace plim::kernels
