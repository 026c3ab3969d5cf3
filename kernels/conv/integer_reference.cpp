//===- integer_reference.cpp - conv.integer_reference ----------------------------------------===//

#include "kernels/conv/integer_problem.h"
#include "kernels/convert.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

static int32_t integerReference(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  if (!plim::IntegerConvolution::isReadable(launch))
    return PLIM_KERNEL_UNSUPPORTED;
  const plim::IntegerConvolution p(launch);
  if (!p.fits())
    return PLIM_KERNEL_UNSUPPORTED;
  auto load = [&](int operand, int64_t at) {
    return loadElement<int64_t>(launch->buf[operand], launch->shape[operand]->dtype, at);
  };
  int64_t channels = p.y.channels, inputs = p.groupInputs(), xZero = p.o.x_zero >= 0 ? load(p.o.x_zero, 0) : 0;
  Range elements = taskRange(p.y.count() * channels, launch, first, last);
  for (int64_t element = elements.begin; element < elements.end; ++element) {
    int64_t channel = element % channels, group = channel / (channels / p.groups), sum = 0, wZero = 0;
    if (p.o.w_zero >= 0) {
      const plim_shape &zero = *launch->shape[p.o.w_zero];
      wZero = load(p.o.w_zero, zero.rank ? channel * zero.strides[0] : 0);
    }
    plim::PixelAt pixel(p.y, element / channels);
    for (int64_t tap = 0; tap < p.taps(); ++tap) {
      int64_t at;
      if (!p.inputOf(pixel, tap, at))
        continue;
      for (int64_t i = 0; i < inputs; ++i)
        sum += (load(0, at + (group * inputs + i) * p.x.channelStep) - xZero) *
               (load(1, p.filterOffset(tap, i, channel)) - wZero);
    }
    storeElement(launch->buf[p.o.y], PLIM_I32, pixel.offset(p.y) + channel * p.y.channelStep, sum);
  }
  return PLIM_KERNEL_OK;
}

extern "C" const plim_kernel plim_kernel_conv_integer_reference = {
    "conv.integer_reference", PLIM_KERNEL_ABI, 1, {integerReference, nullptr, nullptr}};
