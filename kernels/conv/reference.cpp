//===- reference.cpp - conv.reference and conv_transpose.reference ---------------------------===//
//
// Both gather: an output pixel sums, over the taps that reach it, input pixel times filter. They differ in which input
// pixel a tap reaches and in how a direct filter is laid out.
//
//===----------------------------------------------------------------------------------------===//

#include "kernels/epilogue/reference.h"
#include "kernels/conv/image.h"
#include "kernels/convert.h"
#include "kernels/pack/panel32.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

namespace {

// Output channels computed together: the width of a panel. Input channels loaded together.
constexpr int64_t blockOutputs = 32, blockInputs = 64;

struct Problem {
  const plim_launch *launch;
  bool transposed;
  EpilogueOperands operands;
  Activation activation;
  int64_t layout, filter, groups;
  int64_t groupInputs, groupOutputs; // channels of one group
  int64_t kernel[3], stride[3], dilation[3], pad[3];

  Problem(const plim_launch *launch, bool transposed)
      : launch(launch), transposed(transposed), operands(plim_attr_int(launch->attrs, PLIM_CONV_FLAGS), 2),
        activation(launch->attrs, PLIM_CONV_ACTIVATION), layout(plim_attr_int(launch->attrs, PLIM_CONV_LAYOUT)),
        filter(plim_attr_int(launch->attrs, PLIM_CONV_FILTER)), groups(plim_attr_int(launch->attrs, PLIM_CONV_GROUPS)) {
  }

  const plim_shape &x() const { return *launch->shape[0]; }
  const plim_shape &w() const { return *launch->shape[1]; }
  const plim_shape &y() const { return *launch->shape[operands.output]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

bool filterFits(const Problem &p, const Image &x, const Image &y) {
  const plim_shape &w = p.w();
  uint32_t spatial = p.x().rank - 2;
  bool packed = w.layout == PLIM_PANEL32;
  switch (p.filter) {
  case PLIM_CONV_FILTER_DIRECT:
  case PLIM_CONV_FILTER_DEPTHWISE: {
    bool direct = p.filter == PLIM_CONV_FILTER_DIRECT;
    uint32_t firstTap = direct ? 2 : 0;
    if (packed || w.rank != spatial + (direct ? 2 : 1))
      return false;
    for (uint32_t i = 0; i < spatial; ++i)
      if (w.dims[firstTap + i] != p.kernel[i])
        return false;
    if (!direct)
      return w.dims[spatial] == y.channels && p.groups == x.channels && p.groups == y.channels;
    return p.transposed ? w.dims[0] == x.channels && w.dims[1] == p.groupOutputs
                        : w.dims[0] == y.channels && w.dims[1] == p.groupInputs;
  }
  case PLIM_CONV_FILTER_TAPS:
    return w.rank == 2 && w.dims[0] == p.taps() * p.groupInputs && w.dims[1] == y.channels;
  case PLIM_CONV_FILTER_COLUMNS:
    return w.rank == 2 && p.groups == 1 && w.dims[0] == x.channels && w.dims[1] == p.taps() * y.channels;
  default:
    return false;
  }
}

bool prepare(Problem &p) {
  if (p.launch->operands != p.operands.output + 1 || !p.activation.isKnown() || p.groups < 1 || !isImage(p.x()) ||
      p.y().rank != p.x().rank || (p.layout != PLIM_CONV_NCHW && p.layout != PLIM_CONV_NHWC))
    return false;
  uint32_t spatial = p.x().rank - 2;
  readSpatial(p.launch->attrs, PLIM_CONV_KERNEL, spatial, 1, p.kernel);
  readSpatial(p.launch->attrs, PLIM_CONV_STRIDE, spatial, 1, p.stride);
  readSpatial(p.launch->attrs, PLIM_CONV_DILATION, spatial, 1, p.dilation);
  readSpatial(p.launch->attrs, PLIM_CONV_PAD, spatial, 0, p.pad);
  Image x(p.x(), p.layout), y(p.y(), p.layout);
  if (x.batch != y.batch || x.channels % p.groups || y.channels % p.groups)
    return false;
  for (int i = 0; i < 3; ++i)
    if (p.kernel[i] < 1 || p.stride[i] < 1 || p.dilation[i] < 1)
      return false;
  p.groupInputs = x.channels / p.groups;
  p.groupOutputs = y.channels / p.groups;
  if (!filterFits(p, x, y))
    return false;
  if (p.operands.bias >= 0) {
    const plim_shape &bias = *p.launch->shape[p.operands.bias];
    if (bias.rank != 1 || bias.dims[0] != y.channels)
      return false;
  }
  if (p.operands.residual >= 0 && !sameDims(*p.launch->shape[p.operands.residual], p.y()))
    return false;
  for (uint32_t i = 0; i <= p.operands.output; ++i)
    if (!isKnownDtype(p.launch->shape[i]->dtype))
      return false;
  return true;
}

// The input coordinate that tap k of the output coordinate reaches; false where it reaches none.
bool inputOf(const Problem &p, int dim, int64_t out, int64_t k, int64_t size, int64_t &in) {
  if (!p.transposed) {
    in = out * p.stride[dim] + k * p.dilation[dim] - p.pad[dim];
  } else {
    int64_t scaled = out + p.pad[dim] - k * p.dilation[dim];
    if (scaled < 0 || scaled % p.stride[dim])
      return false;
    in = scaled / p.stride[dim];
  }
  return in >= 0 && in < size;
}

// Filter values of output channels [o, o + n), which lie in one group, for one tap and input channel i of that group.
void loadFilter(const Problem &p, const int64_t tap[3], int64_t i, int64_t o, int64_t n, double *block) {
  const plim_shape &w = p.w();
  const void *base = p.launch->buf[1];
  int64_t group = o / p.groupOutputs, number = (tap[0] * p.kernel[1] + tap[1]) * p.kernel[2] + tap[2];
  if (p.filter == PLIM_CONV_FILTER_DIRECT || p.filter == PLIM_CONV_FILTER_DEPTHWISE) {
    bool direct = p.filter == PLIM_CONV_FILTER_DIRECT;
    uint32_t firstTap = direct ? 2 : 0, spatial = p.x().rank - 2;
    int64_t at = 0, step = w.strides[direct ? (p.transposed ? 1 : 0) : spatial];
    for (uint32_t d = 0; d < spatial; ++d)
      at += tap[d] * w.strides[firstTap + d];
    if (!direct)
      at += o * step;
    else if (p.transposed)
      at += (group * p.groupInputs + i) * w.strides[0] + (o - group * p.groupOutputs) * step;
    else
      at += o * step + i * w.strides[1];
    loadRun(base, w.dtype, at, step, n, block);
    return;
  }
  bool columns = p.filter == PLIM_CONV_FILTER_COLUMNS;
  int64_t row = columns ? i : number * p.groupInputs + i, column = columns ? number * p.groupOutputs + o : o;
  if (w.layout != PLIM_PANEL32) {
    loadRun(base, w.dtype, row * w.strides[0] + column * w.strides[1], w.strides[1], n, block);
    return;
  }
  for (int64_t done = 0; done < n;) {
    int64_t width = 32 - (column + done) % 32;
    width = width < n - done ? width : n - done;
    loadRun(base, w.dtype, plim_panel32_offset(w.dims[0], row, column + done), 1, width, block + done);
    done += width;
  }
}

// acc[j] += what one tap adds to output channels [o, o + n) of one group; `at` is the input pixel's offset.
void addTap(const Problem &p, const Image &x, int64_t at, const int64_t tap[3], int64_t o, int64_t n, double *acc) {
  double in[blockInputs], filter[blockOutputs];
  int64_t firstInput = o / p.groupOutputs * p.groupInputs;
  for (int64_t i0 = 0; i0 < p.groupInputs; i0 += blockInputs) {
    int64_t count = p.groupInputs - i0 < blockInputs ? p.groupInputs - i0 : blockInputs;
    loadRun(p.launch->buf[0], p.x().dtype, at + (firstInput + i0) * x.channelStride, x.channelStride, count, in);
    for (int64_t i = 0; i < count; ++i) {
      loadFilter(p, tap, i0 + i, o, n, filter);
      for (int64_t j = 0; j < n; ++j)
        acc[j] += in[i] * filter[j];
    }
  }
}

// The same where each channel is its own group.
void addDepthwiseTap(const Problem &p, const Image &x, int64_t at, const int64_t tap[3], int64_t o, int64_t n,
                     double *acc) {
  double in[blockOutputs], filter[blockOutputs];
  loadRun(p.launch->buf[0], p.x().dtype, at + o * x.channelStride, x.channelStride, n, in);
  // In a direct transposed filter the group number is the row; elsewhere channels have one stride.
  if (p.transposed && p.filter == PLIM_CONV_FILTER_DIRECT)
    for (int64_t j = 0; j < n; ++j)
      loadFilter(p, tap, 0, o + j, 1, filter + j);
  else
    loadFilter(p, tap, 0, o, n, filter);
  for (int64_t j = 0; j < n; ++j)
    acc[j] += in[j] * filter[j];
}

void finish(const Problem &p, const Image &y, int64_t batch, const int64_t pixel[3], int64_t o, int64_t n,
            double *acc) {
  const plim_launch *launch = p.launch;
  double term[blockOutputs];
  if (p.operands.bias >= 0) {
    const plim_shape &bias = *launch->shape[p.operands.bias];
    loadRun(launch->buf[p.operands.bias], bias.dtype, o * bias.strides[0], bias.strides[0], n, term);
    for (int64_t j = 0; j < n; ++j)
      acc[j] += term[j];
  }
  if (p.operands.residual >= 0) {
    const plim_shape &shape = *launch->shape[p.operands.residual];
    Image r(shape, p.layout);
    loadRun(launch->buf[p.operands.residual], shape.dtype, r.offsetOf(batch, pixel) + o * r.channelStride,
            r.channelStride, n, term);
    for (int64_t j = 0; j < n; ++j)
      acc[j] += term[j];
  }
  for (int64_t j = 0; j < n; ++j)
    acc[j] = p.activation(acc[j]);
  storeRun(launch->buf[p.operands.output], p.y().dtype, y.offsetOf(batch, pixel) + o * y.channelStride, y.channelStride,
           n, acc);
}

int32_t run(const plim_launch *launch, bool transposed, uint32_t first, uint32_t last) {
  Problem p(launch, transposed);
  if (!prepare(p))
    return PLIM_KERNEL_UNSUPPORTED;
  Image x(p.x(), p.layout), y(p.y(), p.layout);
  bool depthwise = p.groupInputs == 1 && p.groupOutputs == 1;
  int64_t blocks = (y.channels + blockOutputs - 1) / blockOutputs, pixels = y.pixels();
  Range units = taskRange(y.batch * pixels * blocks, launch, first, last);
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    int64_t begin = unit % blocks * blockOutputs, batch = unit / blocks / pixels, pixel[3];
    int64_t end = y.channels - begin < blockOutputs ? y.channels : begin + blockOutputs;
    unflatten(unit / blocks % pixels, y.size, pixel);
    double acc[blockOutputs] = {};
    for (int64_t number = 0; number < p.taps(); ++number) {
      int64_t tap[3], in[3];
      unflatten(number, p.kernel, tap);
      bool inside = true;
      for (int d = 0; d < 3 && inside; ++d)
        inside = inputOf(p, d, pixel[d], tap[d], x.size[d], in[d]);
      if (!inside)
        continue;
      int64_t at = x.offsetOf(batch, in);
      if (depthwise) {
        addDepthwiseTap(p, x, at, tap, begin, end - begin, acc);
        continue;
      }
      for (int64_t o = begin; o < end;) {
        int64_t groupEnd = (o / p.groupOutputs + 1) * p.groupOutputs;
        int64_t n = (groupEnd < end ? groupEnd : end) - o;
        addTap(p, x, at, tap, o, n, acc + (o - begin));
        o += n;
      }
    }
    finish(p, y, batch, pixel, begin, end - begin, acc);
  }
  return PLIM_KERNEL_OK;
}

int32_t conv(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  return run(launch, false, first, last);
}

int32_t convTranspose(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  return run(launch, true, first, last);
}

} // namespace

extern "C" const plim_kernel plim_kernel_conv_reference = {
    "conv.reference", PLIM_KERNEL_ABI, 1, {conv, nullptr, nullptr}};
extern "C" const plim_kernel plim_kernel_conv_transpose_reference = {
    "conv_transpose.reference", PLIM_KERNEL_ABI, 1, {convTranspose, nullptr, nullptr}};
