//===- Shapes.cpp - Operands of kernels that tools launch by themselves -------------------------===//
#include "tools/launches/Shapes.h"
#include "kernels/attrs.h"
#include "kernels/conv/conv.h"

namespace plim::launches {

plim_shape rows(const std::vector<int64_t> &dims) {
  plim_shape s = {};
  s.dtype = PLIM_F32;
  s.rank = uint8_t(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0; stride *= dims[d])
    s.dims[d] = dims[d], s.strides[d] = stride;
  return s;
}

plim_shape panels(int64_t k, int64_t n) {
  plim_shape s = {};
  s.dtype = PLIM_F32;
  s.layout = PLIM_PANEL32;
  s.rank = 2;
  s.dims[0] = k, s.dims[1] = n;
  return s;
}

size_t floatsOf(const plim_shape &s) {
  return s.layout == PLIM_PANEL32 ? size_t((s.dims[1] + 31) / 32 * 32 * s.dims[0]) : size_t(plim_elements(&s));
}

plim_launch launchOf(const std::vector<const plim_shape *> &shapes, const std::vector<void *> &buffers,
                     const std::vector<int64_t> &attrs) {
  plim_launch launch = {};
  launch.attrs = attrs.data();
  launch.buf = buffers.data();
  launch.shape = shapes.data();
  launch.operands = uint32_t(shapes.size());
  launch.attr_words = uint32_t(attrs.size());
  return launch;
}

std::vector<int64_t> convolutionAttrs(int64_t filter, int64_t taps, int64_t groups) {
  std::vector<int64_t> attrs(PLIM_CONV_WORDS, 0);
  attrs[PLIM_CONV_LAYOUT] = PLIM_CONV_NHWC;
  attrs[PLIM_CONV_FILTER] = filter;
  attrs[PLIM_CONV_FLAGS] = PLIM_EPILOGUE_BIAS;
  attrs[PLIM_CONV_ACTIVATION] = PLIM_ACT_RELU;
  attrs[PLIM_CONV_GROUPS] = groups;
  for (int i = 0; i < 2; ++i) {
    attrs[PLIM_CONV_KERNEL + i] = taps;
    attrs[PLIM_CONV_STRIDE + i] = attrs[PLIM_CONV_DILATION + i] = 1;
    attrs[PLIM_CONV_PAD + i] = taps / 2;
  }
  return attrs;
}

} // namespace plim::launches
