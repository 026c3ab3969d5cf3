#include "test/runtime/SsdPlan.h"

#include "plim/weights.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plim::test {

std::vector<float> SsdPlan::weights() const {
  std::vector<float> w(static_cast<size_t>(n));
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = static_cast<float>(i % 1013) * 0.25f;
  return w;
}

void SsdPlan::writeWeights(TableBuilder &b, const std::string &path) const {
  std::vector<float> w = weights();
  plim_weight_writer *writer;
  // In the second block of the data part, behind one that nobody reads.
  EXPECT_EQ(plim_weight_writer_open(path.c_str(), PLIM_PAGE + bytes(), &writer), PLIM_OK) << lastError();
  EXPECT_EQ(plim_weight_writer_put(writer, PLIM_PAGE, w.data(), bytes()), PLIM_OK) << lastError();
  EXPECT_EQ(plim_weight_writer_finish(writer, &b.weightsBytes, &b.weightsHash), PLIM_OK) << lastError();
}

void SsdPlan::build(TableBuilder &b) const {
  b.beginVariant("only");
  buildProgram(b, "forward");
}

void SsdPlan::buildProgram(TableBuilder &b, const std::string &name) const {
  b.ioDepth = depth;
  uint32_t arena = b.arena(PLIM_TRANSIENT, 3 * slot()), ssd = b.arena(PLIM_TRANSIENT, spill(), PLIM_SSD);
  uint32_t vector = b.shape({n});
  std::vector<float> w = weights();
  uint64_t hash = XXH3_64bits(w.data(), bytes());
  uint32_t constant = stream ? b.constant("w", vector, PLIM_PAGE, bytes(), hash) : PLIM_NONE;
  uint32_t states = commit ? b.arena(PLIM_PERSISTENT, 4096) : PLIM_NONE;
  uint32_t state = commit ? b.state("s", b.shape({16}), 64) : PLIM_NONE;
  b.beginProgram(name);
  uint32_t home = commit ? b.resident(true, state, states, 0, 64) : PLIM_NONE;
  uint32_t file = stream ? b.residentInFile(constant) : PLIM_NONE;
  uint32_t x = b.ioView(b.input("x", vector)), y = b.ioView(b.output("y", vector));
  // A buffer and the part of it that is used.
  auto born = [&](uint32_t in, uint64_t offset, const std::string &source) {
    Live live = b.born(in, offset, room(), source);
    if (padded)
      live.view = b.view(in, offset, bytes());
    return live;
  };
  std::vector<Live> made, spilled;
  std::vector<uint32_t> written;
  auto leave = [&](uint32_t r) {
    if (waitForWrites)
      b.wait({written[r]});
    b.dies(made[r]);
  };
  for (uint32_t r = 0; r < rounds; ++r) {
    // The slot of this round is free again once what was written from it two rounds ago has arrived.
    if (r >= 2)
      leave(r - 2);
    made.push_back(born(arena, r % 2 * slot(), "a" + std::to_string(r)));
    b.launch("test.scale", {b.read(x, vector), b.write(made[r], vector)}, {r + 2.0});
    spilled.push_back(born(ssd, r * slot(), "s" + std::to_string(r)));
    written.push_back(b.token());
    b.copy(made[r].view, spilled.back().view, bytes(), written.back(), 0, PLIM_QUEUE_WRITE);
  }
  uint32_t read = b.token();
  Live sum = born(arena, 2 * slot(), "sum");
  for (uint32_t r = rounds > 2 ? rounds - 2 : 0; r < rounds; ++r)
    leave(r);
  if (stream) {
    b.copy(file, sum.view, bytes(), read, hashed ? hash : 0, PLIM_QUEUE_READ);
    b.wait({read});
  } else {
    b.launch("test.scale", {b.read(x, vector), b.write(sum, vector)}, {0.0});
  }
  if (commit) {
    b.commit();
    b.copy(sum.view, home, 64);
  }
  // One round is read while the one before is added.
  std::vector<Live> back(rounds);
  std::vector<uint32_t> arrived(rounds);
  auto fetch = [&](uint32_t r) {
    back[r] = born(arena, r % 2 * slot(), "b" + std::to_string(r));
    arrived[r] = b.token();
    b.copy(spilled[r].view, back[r].view, bytes(), arrived[r], 0, PLIM_QUEUE_READ);
  };
  fetch(0);
  for (uint32_t r = 0; r < rounds; ++r) {
    if (r + 1 < rounds)
      fetch(r + 1);
    b.wait({arrived[r]});
    b.launch("test.add", {b.read(sum, vector), b.read(back[r], vector), b.write(sum, vector)});
    b.dies(back[r]);
    b.dies(spilled[r]);
  }
  if (!waitForWrites)
    b.wait(written);
  b.launch("test.scale", {b.read(sum, vector), b.write(y, vector)}, {1.0});
  b.dies(sum);
  b.endProgram();
}

SsdRun::SsdRun(const SsdPlan &plan, plim_context_options options, uint32_t threads)
    : plan(plan), x(static_cast<size_t>(plan.n)), y(x.size()) {
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i % 97) - 31.5f;
  std::string path = folder.path + "/model.weights";
  if (plan.stream)
    plan.writeWeights(builder, path);
  plan.build(builder);
  model = std::make_unique<Model>(builder);
  if (!options.spill_folder)
    options.spill_folder = folder.path.c_str();
  running =
      std::make_unique<Running>(model->model, threads, plan.stream ? path.c_str() : nullptr, nullptr, nullptr, options);
  if (running->status)
    return;
  EXPECT_EQ(plim_bind_input(running->session, PLIM_NONE, "x", x.data(), x.size() * 4, nullptr, 0), PLIM_OK);
  EXPECT_EQ(plim_bind_output(running->session, PLIM_NONE, "y", y.data(), y.size() * 4), PLIM_OK);
}

plim_status SsdRun::run(uint32_t flags, plim_trace *trace) {
  std::fill(y.begin(), y.end(), -1.0f);
  plim_run_options options = {};
  options.flags = flags;
  options.trace = trace;
  return running->run(&options);
}

bool SsdRun::right() const {
  float factor = 0;
  for (uint32_t r = 0; r < plan.rounds; ++r)
    factor += static_cast<float>(r) + 2;
  std::vector<float> w = plan.weights();
  for (size_t i = 0; i < y.size(); ++i)
    if (y[i] != factor * x[i] + (plan.stream ? w[i] : 0))
      return false;
  return true;
}

} // namespace plim::test
