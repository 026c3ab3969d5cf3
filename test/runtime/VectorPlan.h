//===- VectorPlan.h - Plans from a vector to a vector ----------------------------------------===//
#ifndef PLIM_TEST_VECTORPLAN_H
#define PLIM_TEST_VECTORPLAN_H

#include "test/runtime/Running.h"

namespace plim::test {

/// A plan of one input x[n] and one output y[n], to whose program a test adds steps; a transient arena for what they
/// need.
struct VectorPlan {
  TableBuilder b;
  uint32_t vector, x, y, arena;
  explicit VectorPlan(int64_t n = 4, uint64_t arenaBytes = 4096) {
    arena = b.arena(PLIM_TRANSIENT, arenaBytes);
    vector = b.shape({n});
    b.beginVariant("only");
    b.beginProgram("forward");
    x = b.ioView(b.input("x", vector));
    y = b.ioView(b.output("y", vector));
  }
};

/// Runs such a plan and gives y.
inline std::vector<float> runVector(TableBuilder &b, std::vector<float> x, plim_status expected = PLIM_OK,
                                    const plim_run_options *options = nullptr, uint32_t threads = 1) {
  Model model(b);
  Running r(model.model, threads);
  std::vector<float> y(x.size());
  EXPECT_EQ(r.status, PLIM_OK) << lastError();
  if (r.status)
    return y;
  EXPECT_EQ(plim_bind_input(r.session, PLIM_NONE, "x", x.data(), x.size() * 4, nullptr, 0), PLIM_OK) << lastError();
  EXPECT_EQ(plim_bind_output(r.session, PLIM_NONE, "y", y.data(), y.size() * 4), PLIM_OK) << lastError();
  EXPECT_EQ(r.run(options), expected) << lastError();
  return y;
}

} // namespace plim::test

#endif
