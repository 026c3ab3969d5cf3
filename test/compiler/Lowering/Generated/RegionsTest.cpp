//===- RegionsTest.cpp - Generated kernels against double references ------===//
#include "KernelRunner.h"
#include "RegionCases.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace plim::gen;

namespace {
using Inputs = std::vector<std::vector<float>>;

std::vector<float> runCase(KernelRunner &runner, const RegionCase &c, const KernelInfo &k, plim_isa isa, Inputs &in,
                           uint32_t step = 1) {
  constexpr float guard = 12345.75f;
  constexpr size_t margin = 32;
  std::vector<float> out(c.output + 2 * margin, guard);
  std::vector<void *> buffers;
  for (std::vector<float> &x : in)
    buffers.push_back(x.data());
  buffers.push_back(out.data() + margin);
  runner.run(k, isa, buffers, step);
  for (size_t i = 0; i < margin; ++i)
    EXPECT_TRUE(out[i] == guard && out[out.size() - 1 - i] == guard) << c.name << " writes outside its output";
  return {out.begin() + margin, out.end() - margin};
}

Inputs randomInputs(const RegionCase &c, uint32_t seed) {
  Inputs in;
  for (size_t n : c.inputs)
    in.push_back(randomFloats(n, ++seed));
  return in;
}

void expectNear(const RegionCase &c, const std::vector<float> &got, const std::vector<double> &want) {
  ASSERT_EQ(got.size(), want.size()) << c.name;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i]) || std::isinf(want[i]))
      ASSERT_TRUE(std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i]) << c.name << " at " << i;
    else
      ASSERT_LE(std::fabs(got[i] - want[i]), c.tolerance * std::max(1.0, std::fabs(want[i])))
          << c.name << " " << c.rows << "x" << c.columns << " at " << i;
  }
}
} // namespace

TEST(Regions, MatchTheReferenceAtEverySizeWithTheSameBitsOnBothLevelsAndForAnyCut) {
  KernelRunner runner;
  std::vector<std::pair<RegionCase, KernelInfo>> cases;
  for (auto [rows, columns] : std::initializer_list<std::pair<int64_t, int64_t>>{
           {1, 1}, {3, 15}, {16, 16}, {5, 17}, {70, 63}, {64, 64}, {33, 65}, {257, 40}, {9, 1000}, {600, 3}, {1, 5000}})
    for (RegionCase &c : allCases(rows, columns)) {
      KernelInfo k = runner.add(c.region);
      cases.emplace_back(std::move(c), std::move(k));
    }
  runner.load();
  for (auto &[c, k] : cases) {
    Inputs in = randomInputs(c, 7);
    std::vector<double> want;
    c.reference(c, in, want);
    std::vector<float> first;
    for (plim_isa isa : KernelRunner::levels())
      for (uint32_t step : {1u, 3u, k.tasks}) {
        std::vector<float> got = runCase(runner, c, k, isa, in, step);
        if (first.empty())
          expectNear(c, first = got, want);
        ASSERT_TRUE(sameBits(got, first)) << c.name << " " << c.rows << "x" << c.columns << " isa " << isa;
      }
  }
}

TEST(Regions, KeepNaNInfinityAndDenormalsWithTheSameBitsOnBothLevels) {
  KernelRunner runner;
  std::vector<float> special = specialFloats();
  std::vector<std::pair<RegionCase, KernelInfo>> cases;
  for (int64_t columns : {17, 65})
    for (RegionCase &c : allCases(48, columns)) {
      KernelInfo k = runner.add(c.region);
      cases.emplace_back(std::move(c), std::move(k));
    }
  runner.load();
  for (auto &[c, k] : cases) {
    Inputs in = randomInputs(c, 3);
    // One special value in a row: what it does to its own row and to no other.
    for (size_t i = 0; i < special.size(); ++i)
      in[0][(i * c.columns + i % c.columns) % in[0].size()] = special[i];
    std::vector<float> v3 = runCase(runner, c, k, PLIM_ISA_V3, in);
    for (plim_isa isa : KernelRunner::levels())
      EXPECT_TRUE(sameBits(runCase(runner, c, k, isa, in), v3)) << c.name;
    if (c.name != "row_max" && c.name != "softmax")
      continue;
    std::vector<double> want;
    c.reference(c, in, want);
    expectNear(c, v3, want);
  }
}

TEST(Regions, MayOverwriteTheInputsThatTheyName) {
  KernelRunner runner;
  std::vector<std::pair<RegionCase, KernelInfo>> cases;
  for (RegionCase &c : allCases(40, 83)) {
    KernelInfo k = runner.add(c.region);
    cases.emplace_back(std::move(c), std::move(k));
  }
  runner.load();
  size_t checked = 0;
  for (auto &[c, k] : cases)
    for (auto [read, written] : k.inPlace)
      for (plim_isa isa : KernelRunner::levels()) {
        Inputs in = randomInputs(c, 11);
        std::vector<float> apart = runCase(runner, c, k, isa, in);
        std::vector<void *> buffers;
        for (std::vector<float> &x : in)
          buffers.push_back(x.data());
        ASSERT_EQ(written, in.size());
        buffers.push_back(in[read].data());
        runner.run(k, isa, buffers);
        in[read].resize(c.output);
        EXPECT_TRUE(sameBits(in[read], apart)) << c.name << " over operand " << read;
        ++checked;
      }
  // softmax, layer_norm, gelu (two operands), silu, column_norm.
  EXPECT_EQ(checked, 6 * KernelRunner::levels().size());
}
