//===- recurrent_test.cpp - recurrent.reference, .packed and .quantized ----------------------===//

#include "kernels/registry.h"
#include "kernels/status.h"
#include "test/kernels/recurrent_net.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace plim::test;

namespace {

void expectResults(const RecurrentNet &net, const RecurrentLaunch &launch, double rtol, double atol) {
  auto worst = [&](const Tensor *have, const std::vector<double> &want) {
    return have ? worstError(*have, [&](int64_t i) { return want[size_t(i)]; }, rtol, atol) : 0;
  };
  EXPECT_LE(worst(launch.sequence, net.wantSequence), 1) << "hidden states";
  EXPECT_LE(worst(launch.lastHidden, net.wantHidden), 1) << "last hidden state";
  EXPECT_LE(worst(launch.lastCell, net.wantCell), 1) << "last cell state";
}

std::string describe(const RecurrentNet &net, int seed) {
  return "seed " + std::to_string(seed) + ", kind " + std::to_string(net.kind) + ", flags " +
         std::to_string(net.flags) + ", steps " + std::to_string(net.steps) + ", sequences " +
         std::to_string(net.sequences) + ", directions " + std::to_string(net.directions) + ", size " +
         std::to_string(net.size);
}

/// Runs both levels that the CPU has: results within the tolerance, and the same bits.
void runTwins(const std::string &kernel, const RecurrentNet &net, uint8_t weights, bool gaps, double rtol,
              double atol) {
  std::vector<std::vector<uint8_t>> first;
  for (plim_isa isa : {PLIM_ISA_V3, PLIM_ISA_V4}) {
    if (!cpuHas(isa))
      continue;
    RecurrentLaunch launch(net, weights, gaps);
    ASSERT_EQ(runKernel(kernel, launch.operands, net.attrs(), launch.outputs, isa), PLIM_KERNEL_OK);
    expectResults(net, launch, rtol, atol);
    std::vector<std::vector<uint8_t>> bytes;
    for (Tensor *t : launch.operands)
      bytes.push_back(t->raw());
    if (first.empty())
      first = bytes;
    EXPECT_TRUE(first == bytes) << "other bits at level " << isa;
  }
}

TEST(Recurrent, ReferenceOfAnyOptionsTypesAndStridesFollowsTheEquations) {
  Random random(1);
  for (int seed = 0; seed < 120; ++seed) {
    RecurrentNet net = RecurrentNet::draw(random, false);
    SCOPED_TRACE(describe(net, seed));
    const uint8_t dtype = seed % 5 == 1 ? PLIM_F64 : seed % 5 == 2 ? PLIM_F16 : seed % 5 == 3 ? PLIM_BF16 : PLIM_F32;
    const Form form = seed % 3 == 0 ? Form::Row : seed % 3 == 1 ? Form::Permuted : Form::Negative;
    RecurrentLaunch launch(net, dtype, form, random);
    net.compute();
    // Narrow inputs are rounded before the first step.
    const double tolerance = dtype == PLIM_F64 ? 1e-12 : dtype == PLIM_F32 ? 1e-6 : dtype == PLIM_F16 ? 5e-3 : 4e-2;
    ASSERT_EQ(runKernel("recurrent.reference", launch.operands, net.attrs(), launch.outputs), PLIM_KERNEL_OK);
    expectResults(net, launch, tolerance, tolerance);
    if (HasFailure())
      return;
  }
}

TEST(Recurrent, PackedOfAnyOptionsFollowsTheEquationsWithEqualBitsAtBothLevels) {
  Random random(2);
  for (int seed = 0; seed < 200; ++seed) {
    RecurrentNet net = RecurrentNet::draw(random, false);
    SCOPED_TRACE(describe(net, seed));
    net.compute();
    runTwins("recurrent.packed", net, PLIM_F32, seed % 2, 2e-5, 2e-5);
    if (HasFailure())
      return;
  }
}

TEST(Recurrent, LongSequencesStayWithinRounding) {
  Random random(3);
  for (int kind : {PLIM_LSTM, PLIM_GRU, PLIM_RNN}) {
    RecurrentNet net;
    net.kind = kind;
    net.steps = 300, net.sequences = 13, net.size = 96;
    net.usual();
    net.fill(random);
    net.compute();
    runTwins("recurrent.packed", net, PLIM_F32, false, 2e-5, 2e-5);
  }
}

// States of one step are rounded from the same floats on both sides, so only sums in float are left.
TEST(Recurrent, OneQuantizedStepIsExactButForRounding) {
  Random random(4);
  for (int seed = 0; seed < 120; ++seed) {
    RecurrentNet net = RecurrentNet::draw(random, true);
    net.steps = 1;
    net.fill(random);
    SCOPED_TRACE(describe(net, seed));
    net.compute();
    const uint8_t weights = seed % 2 ? PLIM_I8 : PLIM_U8;
    runTwins("recurrent.quantized", net, weights, seed % 4 > 1, 2e-5, 2e-5);
    RecurrentLaunch reference(net, PLIM_F32, Form::Negative, random);
    ASSERT_EQ(runKernel("recurrent.reference", reference.operands, net.attrs(), reference.outputs), PLIM_KERNEL_OK);
    expectResults(net, reference, 2e-5, 2e-5);
    if (HasFailure())
      return;
  }
}

// A state that lies between two of the 256 steps may be rounded to the other one: 1/255 of its range, times a weight.
TEST(Recurrent, QuantizedSequencesStayWithinAStepOfTheirStates) {
  Random random(5);
  for (int seed = 0; seed < 60; ++seed) {
    RecurrentNet net = RecurrentNet::draw(random, true);
    net.usual();
    SCOPED_TRACE(describe(net, seed));
    net.compute();
    runTwins("recurrent.quantized", net, PLIM_I8, false, 5e-3, 5e-3);
    if (HasFailure())
      return;
  }
}

/// Three tasks, the last first.
void runTasks(const char *kernel, const std::vector<Tensor *> &operands, const std::vector<int64_t> &attrs,
              plim_isa isa) {
  std::vector<void *> buffers;
  std::vector<const plim_shape *> shapes;
  for (Tensor *t : operands) {
    buffers.push_back(t->data());
    shapes.push_back(&t->shape());
  }
  const plim_kernel_entry *entry = plim_find_kernel_entry(kernel);
  plim_cost cost = entry->cost(shapes.data(), uint32_t(shapes.size()), attrs.data(), &plim_default_machine);
  std::unique_ptr<void, void (*)(void *)> scratch(aligned_alloc(64, cost.scratch_bytes), free);
  plim_launch launch = {
      attrs.data(),          buffers.data(), shapes.data(), nullptr, nullptr, nullptr, 0, 3, uint32_t(buffers.size()),
      uint32_t(attrs.size())};
  for (uint32_t task = 3; task-- > 0;)
    ASSERT_EQ(entry->kernel->fn[isa](&launch, scratch.get(), task, task + 1), PLIM_KERNEL_OK);
}

TEST(Recurrent, StatesMayBeUpdatedInPlace) {
  Random random(6);
  RecurrentNet net;
  net.steps = 4, net.sequences = 30, net.directions = 2, net.size = 21;
  net.flags |= PLIM_RECURRENT_HIDDEN | PLIM_RECURRENT_CELL;
  net.usual();
  net.fill(random);
  net.compute();
  for (plim_isa isa : {PLIM_ISA_V3, PLIM_ISA_V4}) {
    if (!cpuHas(isa))
      continue;
    RecurrentLaunch launch(net, PLIM_F32, false);
    launch.lastHidden->fillWith([&](int64_t i) { return net.hidden[size_t(i)]; });
    launch.lastCell->fillWith([&](int64_t i) { return net.cell[size_t(i)]; });
    launch.operands[2] = launch.lastHidden;
    launch.operands[3] = launch.lastCell;
    runTasks("recurrent.packed", launch.operands, net.attrs(), isa);
    expectResults(net, launch, 2e-5, 2e-5);
  }
}

TEST(Recurrent, WhatIsNotCoveredIsRefused) {
  Random random(7);
  RecurrentNet net;
  net.usual();
  net.fill(random);
  auto status = [&](const RecurrentNet &other, std::vector<int64_t> attrs, const char *kernel = "recurrent.reference") {
    RecurrentLaunch launch(other, PLIM_F32, Form::Row, random);
    return runKernel(kernel, launch.operands, attrs, launch.outputs, PLIM_ISA_BASE);
  };
  EXPECT_EQ(status(net, net.attrs()), PLIM_KERNEL_OK);
  std::vector<int64_t> attrs = net.attrs();
  attrs[PLIM_RECURRENT_KIND] = 3;
  EXPECT_EQ(status(net, attrs), PLIM_KERNEL_UNSUPPORTED) << "no such kind";
  attrs = net.attrs();
  attrs[PLIM_RECURRENT_FUNCTIONS] = PLIM_GATE_FUNCTION_COUNT;
  EXPECT_EQ(status(net, attrs), PLIM_KERNEL_UNSUPPORTED) << "no such function";
  attrs = net.attrs();
  attrs[PLIM_RECURRENT_FLAGS] |= PLIM_RECURRENT_HIDDEN;
  EXPECT_EQ(status(net, attrs), PLIM_KERNEL_UNSUPPORTED) << "an operand is missing";
  attrs = net.attrs();
  attrs.pop_back();
  EXPECT_EQ(status(net, attrs), PLIM_KERNEL_UNSUPPORTED) << "a word is missing";

  RecurrentNet lengths = net;
  lengths.flags |= PLIM_RECURRENT_LENGTHS;
  lengths.lengths = {2, 4};
  EXPECT_EQ(status(lengths, lengths.attrs()), PLIM_KERNEL_BAD_INDEX) << "a length beyond the steps";
  lengths.lengths = {-1, 3};
  EXPECT_EQ(status(lengths, lengths.attrs()), PLIM_KERNEL_BAD_INDEX) << "a negative length";
  if (cpuHas(PLIM_ISA_V3)) {
    RecurrentLaunch packed(lengths, PLIM_F32, false), rows(net, PLIM_F32, Form::Row, random);
    EXPECT_EQ(runKernel("recurrent.packed", packed.operands, lengths.attrs(), packed.outputs, PLIM_ISA_V3),
              PLIM_KERNEL_BAD_INDEX);
    EXPECT_EQ(runKernel("recurrent.packed", rows.operands, net.attrs(), rows.outputs, PLIM_ISA_V3),
              PLIM_KERNEL_UNSUPPORTED)
        << "weights that are not packed";
  }
}

} // namespace
