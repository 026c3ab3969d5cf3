//===- conv_cases.h - Shapes of convolutions, for all kernels of them -------------------------===//
#ifndef PLIM_TEST_KERNELS_CONV_CASES_H
#define PLIM_TEST_KERNELS_CONV_CASES_H

#include "kernels/conv/conv.h"
#include "test/kernels/tensor.h"

namespace plim::test {

struct ConvCase {
  Dims spatial, kernel, stride, dilation, pad;
  int64_t batch, inputs, outputs, groups;

  bool isDepthwise() const { return groups == inputs && groups == outputs; }
};

// Those that every kernel is tried with, and `more`.
inline std::vector<ConvCase> convCasesAnd(const std::vector<ConvCase> &more) {
  std::vector<ConvCase> cases = {
      {{5, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, 3, 4, 1},
      {{9, 8}, {3, 2}, {2, 3}, {2, 1}, {1, 0}, 1, 4, 6, 2},
      {{6, 6}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1, 70, 37, 1},
      {{7, 5}, {3, 3}, {1, 2}, {1, 1}, {1, 1}, 2, 35, 35, 35},
      {{11}, {5}, {2}, {2}, {3}, 2, 3, 5, 1},
      {{4, 5, 6}, {2, 3, 2}, {1, 2, 1}, {1, 1, 2}, {1, 1, 0}, 1, 2, 3, 1},
  };
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

inline Dims convOutputs(const ConvCase &c, bool transposed = false) {
  Dims sizes;
  for (size_t d = 0; d < c.spatial.size(); ++d) {
    int64_t reach = (c.kernel[d] - 1) * c.dilation[d] + 1;
    sizes.push_back(transposed ? (c.spatial[d] - 1) * c.stride[d] + reach - 2 * c.pad[d]
                               : (c.spatial[d] + 2 * c.pad[d] - reach) / c.stride[d] + 1);
  }
  return sizes;
}

// All words but those of an activation; the others, also of absent spatial dims, must not matter.
inline std::vector<int64_t> convAttrs(const ConvCase &c, int64_t layout, int64_t filter, int64_t flags) {
  std::vector<int64_t> attrs(PLIM_CONV_WORDS, 77);
  attrs[PLIM_CONV_LAYOUT] = layout;
  attrs[PLIM_CONV_FILTER] = filter;
  attrs[PLIM_CONV_FLAGS] = flags;
  attrs[PLIM_CONV_GROUPS] = c.groups;
  for (size_t d = 0; d < c.spatial.size(); ++d) {
    attrs[PLIM_CONV_KERNEL + d] = c.kernel[d];
    attrs[PLIM_CONV_STRIDE + d] = c.stride[d];
    attrs[PLIM_CONV_DILATION + d] = c.dilation[d];
    attrs[PLIM_CONV_PAD + d] = c.pad[d];
  }
  return attrs;
}

// [n, spatial, c] in either layout: the dims of an image, or an index in one.
inline Dims imageDims(int64_t layout, int64_t n, int64_t c, const Dims &spatial) {
  Dims dims = {n};
  if (layout == PLIM_CONV_NCHW)
    dims.push_back(c);
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  if (layout == PLIM_CONV_NHWC)
    dims.push_back(c);
  return dims;
}

} // namespace plim::test

#endif
