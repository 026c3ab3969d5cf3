//===- launch.h - Running a kernel under many cuts -------------------------------------------===//
#ifndef PLIM_TEST_KERNELS_LAUNCH_H
#define PLIM_TEST_KERNELS_LAUNCH_H

#include "test/kernels/tensor.h"

#include <string>

namespace plim::test {

// A word that carries a double.
int64_t word(double value);

// Runs the kernel at the level `isa` (its function must be there) on the operands, the last `outputs` of which it
// writes. It is run with one task, then with other numbers of tasks, ranges cut at random and taken in random order,
// with several scratch buffers: all results must be bit-equal, no byte outside the outputs, `shared` and `scratch` may
// change, and the inputs must stay as they are. Workspaces have exactly the bytes that the cost function says. Failures
// are reported through GoogleTest; the result is the kernel's status in the first run.
int32_t runKernel(const std::string &name, const std::vector<Tensor *> &operands, const std::vector<int64_t> &attrs,
                  uint32_t outputs = 1, plim_isa isa = PLIM_ISA_BASE);

// Whether this machine runs code of the level.
bool cpuHas(plim_isa isa);

} // namespace plim::test

#endif
