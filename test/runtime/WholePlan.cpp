#include "test/runtime/WholePlan.h"

#include "plim/plim.h"

namespace plim::test {

TableBuilder wholePlan() {
  TableBuilder b;
  for (const char *variant : {"fast", "small"}) {
    uint32_t arena = b.arena(PLIM_TRANSIENT, 8192), states = b.arena(PLIM_PERSISTENT, 4096);
    uint32_t ssd = b.arena(PLIM_TRANSIENT, 8192, PLIM_SSD);
    uint32_t four = b.shape({4}), one = b.shape({1}, PLIM_I32);
    static uint32_t s;
    if (variant[0] == 'f')
      s = b.state("s", four, 16);
    b.beginVariant(variant);
    for (const char *name : {"forward", "again"}) {
      b.beginProgram(name);
      uint32_t n = b.symbol("N", 1, 16), trips = b.scalar(), counter = b.scalar(), moved = b.scalar();
      uint32_t home = b.resident(true, s, states, 64, 16);
      uint32_t rows = b.dynamicShape({16, 4}, {n}), row = b.dynamicShape({4}, {trips});
      uint32_t x = b.ioView(b.input("x", rows)), k = b.ioView(b.input("k", one));
      uint32_t y = b.ioView(b.output("y", rows)), t = b.token();
      Live a = b.born(arena, 0, 256, "a"), c = b.born(arena, 256, 256);
      b.launch("test.scale", {b.read(x, rows), b.write(a, rows)}, {2.0});
      b.copy(a.view, c.view, 256, t);
      b.load(k, PLIM_I32, 0, trips, 0, 4);
      b.eval(EVAL_DOUBLE, {trips}, {moved});
      b.check(moved, 0, 100, "moved");
      b.wait({t});
      LaunchOptions o;
      o.attrs = {1.0};
      o.tasks = 4;
      o.tasksScalar = trips;
      b.launch("test.scale", {{b.view(arena, 256, 256, trips), four, PLIM_ACCESS_READ, c.buffer}, b.write(a, four)}, o);
      b.beginLoop(trips, counter, 4);
      Live d = b.born(arena, 512, 64);
      b.launch("test.scale", {b.read(c, row), b.write(d, row)}, {3.0});
      b.beginIf(counter);
      b.fill(d.view, 7);
      b.otherwise();
      b.copy(d.view, b.view(arena, 600, 64), 64);
      b.endIf();
      b.dies(d);
      b.endLoop();
      LaunchOptions w;
      w.workspaceArena = arena;
      w.workspaceOffset = 1024;
      w.shared = 256;
      w.scratch = 256;
      w.tasks = 4;
      b.launch("test.sum", {b.read(c, four), b.write(a, b.shape({1}))}, w);
      b.copy(a.view, y, 256);
      b.dies(a);
      uint32_t written = b.token(), arrived = b.token();
      Live spilled = b.born(ssd, 4096, 1024);
      b.copy(b.view(arena, 0, 256), spilled.view, 200, written, 0, PLIM_QUEUE_WRITE);
      b.wait({written});
      Live back = b.born(arena, 4096, 256);
      b.copy(spilled.view, back.view, 200, arrived, 0, PLIM_QUEUE_READ);
      b.wait({arrived});
      b.dies(spilled);
      b.dies(back);
      b.commit();
      b.copy(c.view, home, 16);
      b.dies(c);
      b.endProgram();
    }
  }
  return b;
}

namespace {

/// Reads every element of every operand, whatever the kernel was meant to do, and writes nothing.
int32_t touch(const plim_launch *l, void *, uint32_t first, uint32_t) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < l->operands && first == 0; ++i) {
    const plim_shape &s = *l->shape[i];
    auto *data = static_cast<const volatile uint8_t *>(l->buf[i]);
    for (uint64_t k = 0, span = plim_shape_span(&s); k < span; ++k)
      sum += data[k];
  }
  for (uint32_t i = 0; i < l->attr_words && first == 0; ++i)
    sum += static_cast<const uint64_t *>(l->attrs)[i];
  return sum == UINT64_MAX;
}

/// Sound, but it would take years or more memory than a test should.
bool tooLarge(Table &table) {
  for (uint32_t i = 0; i < table.get()->sections[PLIM_SEC_LOOPS].count; ++i)
    if (table.record<plim_t_loop>(PLIM_SEC_LOOPS, i).max_trips > 64)
      return true;
  for (uint32_t i = 0; i < table.get()->sections[PLIM_SEC_IOS].count; ++i)
    if (table.record<plim_t_io>(PLIM_SEC_IOS, i).bytes > 1 << 20)
      return true;
  for (uint32_t i = 0; i < table.get()->sections[PLIM_SEC_PROGRAMS].count; ++i)
    for (plim_tier tier : {PLIM_RAM, PLIM_SSD})
      if (table.record<plim_t_program>(PLIM_SEC_PROGRAMS, i).reserved_peak[tier] > 16 << 20)
        return true;
  return false;
}

} // namespace

bool staysWithinBounds(Table table) {
  if (tooLarge(table))
    return true;
  uint64_t count = table.get()->sections[PLIM_SEC_KERNELS].count;
  std::vector<plim_kernel> touching;
  for (uint32_t i = 0; i < count; ++i) {
    const plim_t_kernel &k = table.record<plim_t_kernel>(PLIM_SEC_KERNELS, i);
    const char *name = &table.record<char>(PLIM_SEC_STRINGS, k.name);
    touching.push_back({name, PLIM_KERNEL_ABI, k.phases, {touch, nullptr, nullptr}});
  }
  Model model(std::move(table), {});
  for (const plim_kernel &k : touching)
    model.kernels.push_back(&k);
  model.model.kernels = model.kernels.data();
  bool intact = true;
  uint32_t programs = static_cast<uint32_t>(model.table.get()->sections[PLIM_SEC_PROGRAMS].count);
  for (uint32_t p = 0; p < programs; ++p) {
    plim_scope scope = {model.table.record<plim_t_program>(PLIM_SEC_PROGRAMS, p).variant, p};
    plim_weights *weights;
    plim_context *context = nullptr;
    plim_session *session = nullptr;
    if (plim_weights_create(&model.model, scope, nullptr, nullptr, &weights))
      continue;
    plim_context_options options = {};
    options.threads = 1;
    options.spill_folder = "/dev/shm"; // a disk takes thirty times as long
    if (!plim_context_create(weights, scope, &options, &context) &&
        !plim_session_create(weights, scope, nullptr, &session)) {
      std::vector<std::vector<char>> memory;
      for (uint32_t i = 0; i < plim_io_count(&model.model, p); ++i) {
        plim_io_info io;
        plim_io_at(&model.model, p, i, &io);
        memory.emplace_back(io.bytes + 128, 0);
        char *data = memory.back().data() + 64;
        if (io.is_output)
          plim_bind_output(session, p, io.name, data, io.bytes);
        else
          plim_bind_input(session, p, io.name, data, io.bytes, io.dims, io.rank);
      }
      plim_run_options run = {};
      run.flags = PLIM_RUN_POISON;
      plim_run(session, context, p, &run);
      for (const auto &m : memory)
        for (size_t i = 0; i < 64; ++i)
          intact &= m[i] == 0 && m[m.size() - 1 - i] == 0;
    }
    plim_session_destroy(session);
    plim_context_destroy(context);
    plim_weights_destroy(weights);
  }
  return intact;
}

} // namespace plim::test
