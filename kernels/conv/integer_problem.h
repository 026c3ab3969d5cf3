//===- kernels/conv/integer_problem.h - What all convolutions of 8-bit integers check -----===//
//
// In an unnamed namespace: files for different levels of the instruction set include it.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_CONV_INTEGER_PROBLEM_H
#define PLIM_KERNELS_CONV_INTEGER_PROBLEM_H

#include "kernels/attrs.h"
#include "kernels/conv/integer.h"
#include "kernels/matmul/integer.h"

namespace plim {
namespace {

/// Dims of X or Y over three spatial dims; those that the tensor lacks come first, as dims of 1.
struct Pixels {
  int64_t batch, channels, size[3], batchStep, channelStep, step[3];

  Pixels(const plim_shape &s, bool nhwc) {
    const uint32_t spatial = s.rank - 2, first = nhwc ? 1 : 2, channel = nhwc ? s.rank - 1 : 1;
    batch = s.dims[0];
    batchStep = s.strides[0];
    channels = s.dims[channel];
    channelStep = s.strides[channel];
    for (uint32_t i = 0; i < 3; ++i) {
      const bool has = i + spatial >= 3;
      size[i] = has ? s.dims[first + i + spatial - 3] : 1;
      step[i] = has ? s.strides[first + i + spatial - 3] : 0;
    }
  }
  int64_t count() const { return batch * size[0] * size[1] * size[2]; }
};

/// A pixel of Y by its row-major number.
struct PixelAt {
  int64_t batch, at[3];

  PixelAt(const Pixels &y, int64_t number) {
    for (int i = 2; i >= 0; --i) {
      at[i] = number % y.size[i];
      number /= y.size[i];
    }
    batch = number;
  }
  int64_t offset(const Pixels &p) const {
    return batch * p.batchStep + at[0] * p.step[0] + at[1] * p.step[1] + at[2] * p.step[2];
  }
};

struct IntegerConvolution {
  const plim_launch *launch;
  plim_integer_conv_operands o;
  bool nhwc;
  int64_t filter, groups;
  int64_t kernel[3], stride[3], dilation[3], pad[3];
  Pixels x, y;

  explicit IntegerConvolution(const plim_launch *l)
      : launch(l), o(plim_integer_conv_operands_of(plim_attr_int(l->attrs, PLIM_CONV_FLAGS))),
        nhwc(plim_attr_int(l->attrs, PLIM_CONV_LAYOUT) == PLIM_CONV_NHWC),
        filter(plim_attr_int(l->attrs, PLIM_CONV_FILTER)), groups(plim_attr_int(l->attrs, PLIM_CONV_GROUPS)),
        x(*l->shape[0], nhwc), y(*l->shape[o.y], nhwc) {
    const int missing = 3 - int(l->shape[0]->rank - 2);
    for (int i = 0; i < 3; ++i) {
      const auto word = [&](int first, int64_t otherwise) {
        return i < missing ? otherwise : plim_attr_int(l->attrs, first + i - missing);
      };
      kernel[i] = word(PLIM_CONV_KERNEL, 1);
      stride[i] = word(PLIM_CONV_STRIDE, 1);
      dilation[i] = word(PLIM_CONV_DILATION, 1);
      pad[i] = word(PLIM_CONV_PAD, 0);
    }
  }

  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t groupInputs() const { return x.channels / groups; }

  /// Whether a launch has the operands that the constructor reads.
  static bool isReadable(const plim_launch *l) {
    const uint32_t y = uint32_t(plim_integer_conv_operands_of(plim_attr_int(l->attrs, PLIM_CONV_FLAGS)).y);
    return l->operands == y + 1 && l->shape[0]->rank >= 3 && l->shape[0]->rank <= 5 &&
           l->shape[y]->rank == l->shape[0]->rank;
  }

  bool fits() const {
    const plim_shape &w = *launch->shape[1];
    if (!plim_is_byte(launch->shape[0]->dtype) || !plim_is_byte(w.dtype) || launch->shape[o.y]->dtype != PLIM_I32 ||
        groups < 1 || x.batch != y.batch || x.channels % groups || y.channels % groups)
      return false;
    for (int i = 0; i < 3; ++i)
      if (kernel[i] < 1 || stride[i] < 1 || dilation[i] < 1)
        return false;
    for (int which = 0; which < 2; ++which) {
      const int at = which ? o.w_zero : o.x_zero;
      if (at < 0)
        continue;
      const plim_shape &zero = *launch->shape[at];
      if (zero.dtype != launch->shape[which]->dtype || zero.rank > uint32_t(which) ||
          (zero.rank == 1 && zero.dims[0] != y.channels))
        return false;
    }
    return filterFits(w);
  }

  /// Element of the filter for a tap by its number, an input channel of the group and an output channel.
  int64_t filterOffset(int64_t tap, int64_t input, int64_t output) const {
    const plim_shape &w = *launch->shape[1];
    if (filter == PLIM_CONV_FILTER_TAPS) {
      const int64_t row = tap * groupInputs() + input;
      return w.layout == PLIM_PANEL32 ? output / 32 * w.dims[0] * 32 + row * 32 + output % 32
                                      : row * w.strides[0] + output * w.strides[1];
    }
    const bool direct = filter == PLIM_CONV_FILTER_DIRECT;
    int64_t offset = direct ? output * w.strides[0] + input * w.strides[1] : output * w.strides[w.rank - 1];
    for (int d = 2, dim = int(w.rank) - (direct ? 1 : 2); d >= 0 && dim >= (direct ? 2 : 0); --d, --dim) {
      offset += tap % kernel[d] * w.strides[dim];
      tap /= kernel[d];
    }
    return offset;
  }

  /// Input coordinates of a tap; false where it reads padding.
  bool inputOf(const PixelAt &pixel, int64_t tap, int64_t &offset) const {
    offset = pixel.batch * x.batchStep;
    for (int d = 2; d >= 0; --d) {
      const int64_t at = pixel.at[d] * stride[d] + tap % kernel[d] * dilation[d] - pad[d];
      if (at < 0 || at >= x.size[d])
        return false;
      offset += at * x.step[d];
      tap /= kernel[d];
    }
    return true;
  }

private:
  bool filterFits(const plim_shape &w) const {
    const uint32_t spatial = launch->shape[0]->rank - 2;
    if (filter == PLIM_CONV_FILTER_TAPS)
      return w.rank == 2 && w.dims[0] == taps() * groupInputs() && w.dims[1] == y.channels;
    const bool direct = filter == PLIM_CONV_FILTER_DIRECT;
    if ((!direct && filter != PLIM_CONV_FILTER_DEPTHWISE) || w.layout != PLIM_ROW ||
        w.rank != spatial + (direct ? 2 : 1))
      return false;
    for (uint32_t i = 0; i < spatial; ++i)
      if (w.dims[(direct ? 2 : 0) + i] != kernel[3 - spatial + i])
        return false;
    return direct ? w.dims[0] == y.channels && w.dims[1] == groupInputs()
                  : w.dims[spatial] == y.channels && groups == x.channels && groups == y.channels;
  }
};

} // namespace
} // namespace plim

#endif
