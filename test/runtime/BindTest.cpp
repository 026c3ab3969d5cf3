// Inputs and outputs: what is refused, with need and have, and dimensions that are known only at run time.
#include "test/runtime/Running.h"

#include <cstring>

using namespace plim::test;

namespace {

/// y = 3 x over x[N, 4], N in [1, 8]; a in the arena at its bound.
struct DynamicPlan {
  TableBuilder b;
  uint32_t n;
  DynamicPlan() {
    uint32_t arena = b.arena(PLIM_TRANSIENT, 128);
    b.beginVariant("only");
    b.beginProgram("forward");
    n = b.symbol("N", 2, 8);
    uint32_t rows = b.dynamicShape({8, 4}, {n});
    uint32_t x = b.ioView(b.input("x", rows)), x2 = b.ioView(b.input("x2", rows));
    uint32_t y = b.ioView(b.output("y", rows));
    Live a = b.born(arena, 0, 128);
    b.launch("test.scale", {b.read(x, rows), b.write(a, rows)}, {3.0});
    b.launch("test.add", {b.read(a, rows), b.read(x2, rows), b.write(y, rows)});
    b.dies(a);
    b.endProgram();
  }
};

struct Bound {
  DynamicPlan plan;
  Model model{plan.b};
  Running r{model.model};
  float x[32], x2[32], y[33];
  plim_status bind(int64_t n, int64_t n2, uint64_t room) {
    for (int i = 0; i < 32; ++i) {
      x[i] = static_cast<float>(i);
      x2[i] = 1;
    }
    int64_t dims[] = {n, 4}, dims2[] = {n2, 4};
    if (plim_status st = plim_bind_input(r.session, PLIM_NONE, "x", x, static_cast<uint64_t>(n) * 16, dims, 2))
      return st;
    if (plim_status st = plim_bind_input(r.session, PLIM_NONE, "x2", x2, static_cast<uint64_t>(n2) * 16, dims2, 2))
      return st;
    return plim_bind_output(r.session, PLIM_NONE, "y", y, room);
  }
};

TEST(Bind, DimensionsWithinTheirBoundsRunAtTheirSize) {
  Bound b;
  PLIM_OK_OR_FAIL(b.r.status);
  for (int64_t n : {2, 5, 8}) {
    memset(b.y, 0, sizeof b.y);
    PLIM_OK_OR_FAIL(b.bind(n, n, static_cast<uint64_t>(n) * 16));
    plim_run_options options = {};
    options.flags = PLIM_RUN_RED_ZONES;
    PLIM_OK_OR_FAIL(b.r.run(&options));
    for (int64_t i = 0; i < 33; ++i)
      EXPECT_EQ(b.y[i], i < 4 * n ? 3 * static_cast<float>(i) + 1 : 0) << i;
    int64_t dims[PLIM_MAX_RANK];
    uint32_t rank;
    PLIM_OK_OR_FAIL(plim_io_dims(b.r.session, PLIM_NONE, "y", dims, &rank));
    EXPECT_EQ(rank, 2u);
    EXPECT_EQ(dims[0], n);
    plim_usage u = b.r.usage();
    EXPECT_EQ(u.io_bytes, static_cast<uint64_t>(3 * n * 16));
    EXPECT_LE(u.live[PLIM_RAM], u.live_planned[PLIM_RAM]);
    if (n == 8) {
      EXPECT_EQ(u.live[PLIM_RAM], u.live_planned[PLIM_RAM]);
    }
  }
}

TEST(Bind, ADimensionBeyondItsBoundIsRefusedWithNeedAndHave) {
  Bound b;
  EXPECT_EQ(b.bind(9, 9, 128), PLIM_ERR_BOUND);
  EXPECT_EQ(plim_last_error()->need, 8);
  EXPECT_EQ(plim_last_error()->have, 9);
  EXPECT_STREQ(plim_last_error()->where, "input x");
  EXPECT_EQ(b.bind(1, 1, 128), PLIM_ERR_BOUND);
  EXPECT_EQ(plim_last_error()->need, 2);
}

TEST(Bind, InputsThatDisagreeAboutASymbolAreRefused) {
  Bound b;
  PLIM_OK_OR_FAIL(b.bind(4, 5, 128));
  EXPECT_EQ(b.r.run(), PLIM_ERR_ARG);
  EXPECT_STREQ(plim_last_error()->where, "input x2");
  EXPECT_EQ(plim_last_error()->need, 4);
  EXPECT_EQ(plim_last_error()->have, 5);
}

TEST(Bind, ARoomTooSmallForThisRunIsRefused) {
  Bound b;
  PLIM_OK_OR_FAIL(b.bind(4, 4, 63));
  EXPECT_EQ(b.r.run(), PLIM_ERR_ARG);
  EXPECT_EQ(plim_last_error()->need, 64);
  EXPECT_EQ(plim_last_error()->have, 63);
}

TEST(Bind, MissingBindingsAreAllNamedAtOnce) {
  Bound b;
  EXPECT_EQ(b.r.run(), PLIM_ERR_ARG);
  EXPECT_STREQ(plim_last_error()->message, "not bound: inputs x, x2; outputs y");
}

TEST(Bind, WrongNameRankBytesAlignmentAndDirectionAreRefused) {
  Bound b;
  int64_t dims[] = {4, 4}, wrong[] = {4, 5};
  auto *s = b.r.session;
  EXPECT_EQ(plim_bind_input(s, PLIM_NONE, "z", b.x, 64, dims, 2), PLIM_ERR_ARG);
  EXPECT_STREQ(plim_last_error()->message, "no such name; inputs: x, x2; outputs: y");
  EXPECT_EQ(plim_bind_input(s, PLIM_NONE, "x", b.x, 64, dims, 1), PLIM_ERR_ARG);
  EXPECT_EQ(plim_last_error()->need, 2);
  EXPECT_EQ(plim_bind_input(s, PLIM_NONE, "x", b.x, 80, wrong, 2), PLIM_ERR_ARG);
  EXPECT_EQ(plim_last_error()->need, 4);
  EXPECT_EQ(plim_bind_input(s, PLIM_NONE, "x", b.x, 60, dims, 2), PLIM_ERR_ARG);
  EXPECT_EQ(plim_last_error()->need, 64);
  EXPECT_EQ(plim_bind_input(s, PLIM_NONE, "x", reinterpret_cast<char *>(b.x) + 1, 64, dims, 2), PLIM_ERR_ARG);
  EXPECT_EQ(plim_bind_input(s, PLIM_NONE, "x", b.x, 64, nullptr, 0), PLIM_ERR_ARG);
  EXPECT_EQ(plim_bind_output(s, PLIM_NONE, "x", b.x, 64), PLIM_ERR_ARG);
  EXPECT_STREQ(plim_last_error()->message, "it is an input");
  EXPECT_EQ(plim_bind_output(s, 7, "y", b.x, 64), PLIM_ERR_ARG);
}

TEST(Bind, DescriptionsGiveBoundsOfDynamicDimensions) {
  Bound b;
  ASSERT_EQ(plim_io_count(&b.model.model, 0), 3u);
  plim_io_info info;
  PLIM_OK_OR_FAIL(plim_io_at(&b.model.model, 0, 0, &info));
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.dynamic, 1u);
  EXPECT_EQ(info.lower[0], 2);
  EXPECT_EQ(info.dims[0], 8);
  EXPECT_EQ(info.bytes, 128u);
  EXPECT_EQ(plim_io_at(&b.model.model, 0, 3, &info), PLIM_ERR_ARG);
}

TEST(Bind, ADimensionThatTheRunFindsIsReportedAfterIt) {
  TableBuilder b;
  b.beginVariant("only");
  b.beginProgram("forward");
  uint32_t found = b.scalar(), four = b.shape({4});
  uint32_t some = b.dynamicShape({4}, {found});
  uint32_t x = b.ioView(b.input("x", four)), y = b.ioView(b.output("y", some));
  LaunchOptions o;
  o.results = {found};
  b.launch("test.count", {b.read(x, four)}, o);
  b.launch("test.scale", {b.read(x, some), b.write(y, some)}, {2.0});
  b.endProgram();
  Model model(b);
  Running r(model.model);
  PLIM_OK_OR_FAIL(r.status);
  float in[4] = {1, 1, 0, 0}, out[4] = {};
  plim_bind_input(r.session, PLIM_NONE, "x", in, 16, nullptr, 0);
  plim_bind_output(r.session, PLIM_NONE, "y", out, 8);
  EXPECT_EQ(r.run(), PLIM_ERR_ARG);
  plim_bind_output(r.session, PLIM_NONE, "y", out, 16);
  PLIM_OK_OR_FAIL(r.run());
  int64_t dims[PLIM_MAX_RANK];
  uint32_t rank;
  PLIM_OK_OR_FAIL(plim_io_dims(r.session, PLIM_NONE, "y", dims, &rank));
  EXPECT_EQ(dims[0], 2);
  EXPECT_EQ(out[1], 2);
  EXPECT_EQ(out[2], 0);
}

TEST(Bind, AViewThatAScalarMovesStaysInItsRange) {
  for (int32_t offset : {0, 48, 52, 2, -4}) {
    TableBuilder b;
    uint32_t arena = b.arena(PLIM_TRANSIENT, 64), f16 = b.shape({16}), f4 = b.shape({4});
    b.beginVariant("only");
    b.beginProgram("forward");
    uint32_t where = b.scalar();
    uint32_t x = b.ioView(b.input("x", f16)), at = b.ioView(b.input("at", b.shape({1}, PLIM_I32)));
    uint32_t y = b.ioView(b.output("y", f4));
    b.load(at, PLIM_I32, 0, where, -100, 100);
    Live a = b.born(arena, 0, 64);
    b.copy(x, a.view, 64);
    uint32_t moved = b.view(arena, 0, 64, where);
    b.launch("test.scale", {{moved, f4, PLIM_ACCESS_READ, a.buffer}, b.write(y, f4)}, {1.0});
    b.dies(a);
    b.endProgram();
    Model model(b);
    Running r(model.model);
    PLIM_OK_OR_FAIL(r.status);
    float in[16], out[4];
    for (int i = 0; i < 16; ++i)
      in[i] = static_cast<float>(i);
    plim_bind_input(r.session, PLIM_NONE, "x", in, 64, nullptr, 0);
    plim_bind_input(r.session, PLIM_NONE, "at", &offset, 4, nullptr, 0);
    plim_bind_output(r.session, PLIM_NONE, "y", out, 16);
    bool fits = offset == 0 || offset == 48;
    EXPECT_EQ(r.run(), fits ? PLIM_OK : PLIM_ERR_BOUND) << offset;
    if (fits) {
      EXPECT_EQ(out[0], static_cast<float>(offset) / 4);
    }
  }
}

} // namespace
