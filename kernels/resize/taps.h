//===- kernels/resize/taps.h - Which elements a coordinate reads, and their weights ----------===//
#ifndef PLIM_KERNELS_RESIZE_TAPS_H
#define PLIM_KERNELS_RESIZE_TAPS_H

#include <cstdint>

namespace plim::kernels {

// resize.apply keeps those of the last axis in its scratch, PLIM_RESIZE_SCRATCH_PER_ELEMENT bytes each.
struct Taps {
  int64_t count;
  int64_t index[4]; // in X, clamped into it
  double weight[4];
};

struct ResizedAxis {
  int64_t in, out; // dims of X and Y
  float scale;
  bool isIdentity() const { return in == out && scale == 1.0f; }
};

struct ResizeRule {
  int64_t mode, coordinate, rounding;
  double cubicA;
  bool excludeOutside;

  explicit ResizeRule(const void *attrs);
  bool isValid() const;
  Taps tapsOf(const ResizedAxis &axis, int64_t i) const;

private:
  Taps cubicTaps(const ResizedAxis &axis, float at) const;
};

} // namespace plim::kernels

#endif
