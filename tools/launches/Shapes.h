//===- Shapes.h - Operands of kernels that tools launch by themselves ---------------------------===//
#ifndef PLIM_TOOLS_LAUNCHES_SHAPES_H
#define PLIM_TOOLS_LAUNCHES_SHAPES_H

#include "plim/kernel.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plim::launches {

/// f32, row by row without gaps.
plim_shape rows(const std::vector<int64_t> &dims);

/// f32, k x n in panels of 32 columns, as products and convolutions take their weights.
plim_shape panels(int64_t k, int64_t n);

/// What an operand of one of these shapes takes, in floats.
size_t floatsOf(const plim_shape &shape);

/// A launch of operands of these shapes that lie in these buffers. It points into all three. Tasks and shared memory
/// are the caller's to set.
plim_launch launchOf(const std::vector<const plim_shape *> &shapes, const std::vector<void *> &buffers,
                     const std::vector<int64_t> &attrs);

/// Attributes of a convolution of channels-last images with bias and ReLU, taps x taps, stride 1, padded to the size of
/// its input; `filter` is a plim_conv_filter.
std::vector<int64_t> convolutionAttrs(int64_t filter, int64_t taps, int64_t groups);

} // namespace plim::launches

#endif // PLIM_TOOLS_LAUNCHES_SHAPES_H
