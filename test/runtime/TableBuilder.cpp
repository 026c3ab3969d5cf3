#include "test/runtime/TableBuilder.h"

#include "test/runtime/TestKernels.h"

#include <cstddef>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plim::test {

Table::Table(uint64_t bytes) : storage(new uint8_t[bytes + 64]()), length(bytes) {
  data = storage.get() + (64 - reinterpret_cast<uintptr_t>(storage.get()) % 64) % 64;
}

Table::Table(const Table &other) : Table(other.length) { memcpy(data, other.data, length); }

void Table::rehash() {
  constexpr size_t hashed = offsetof(plim_table, hash) + sizeof(uint64_t);
  get()->hash = XXH3_64bits(data + hashed, length - hashed);
}

namespace {

template <class T> uint32_t push(std::vector<T> &records, const T &record) {
  records.push_back(record);
  return static_cast<uint32_t>(records.size()) - 1;
}

} // namespace

uint32_t TableBuilder::string(const std::string &text) {
  auto at = static_cast<uint32_t>(strings.size());
  strings.insert(strings.end(), text.begin(), text.end());
  strings.push_back(0);
  return at;
}

uint32_t TableBuilder::dynamicShape(const std::vector<int64_t> &dims, const std::vector<uint32_t> &scalars,
                                    uint8_t dtype) {
  plim_t_shape s = {};
  s.dtype = dtype;
  s.layout = PLIM_ROW;
  s.rank = static_cast<uint8_t>(dims.size());
  int64_t stride = 1;
  for (uint32_t i = 0; i < PLIM_MAX_RANK; ++i)
    s.dim_scalar[i] = s.stride_scalar[i] = PLIM_NONE;
  for (uint32_t i = s.rank; i-- > 0;) {
    s.dims[i] = dims[i];
    s.strides[i] = stride;
    stride *= dims[i];
    s.dim_scalar[i] = i < scalars.size() ? scalars[i] : PLIM_NONE;
    s.dynamic |= s.dim_scalar[i] != PLIM_NONE;
  }
  return push(shapes, s);
}

uint32_t TableBuilder::shape(const std::vector<int64_t> &dims, uint8_t dtype) { return dynamicShape(dims, {}, dtype); }

uint32_t TableBuilder::arena(plim_arena_kind kind, uint64_t bytes, plim_tier tier) {
  return push(arenas, {static_cast<uint32_t>(tier), static_cast<uint32_t>(kind), bytes, 0});
}

uint32_t TableBuilder::constant(const std::string &name, uint32_t shape, uint64_t offset, uint64_t bytes,
                                uint64_t hash) {
  return push(constants, {string(name), shape, offset, bytes, hash});
}

uint32_t TableBuilder::state(const std::string &name, uint32_t shape, uint64_t bytes, uint32_t init, uint32_t durable) {
  return push(states, {string(name), shape, bytes, init, durable});
}

uint32_t TableBuilder::beginVariant(const std::string &name) {
  return push(variants, {string(name), static_cast<uint32_t>(programs.size()), 0, 0, {}});
}

uint32_t TableBuilder::beginProgram(const std::string &name) {
  plim_t_program p = {};
  p.name = string(name);
  p.variant = static_cast<uint32_t>(variants.size()) - 1;
  p.first_step = static_cast<uint32_t>(steps.size());
  p.first_io = static_cast<uint32_t>(ios.size());
  p.first_symbol = static_cast<uint32_t>(symbols.size());
  p.first_resident = static_cast<uint32_t>(residents.size());
  p.first_commit_step = PLIM_NONE;
  for (uint64_t &budget : p.budget)
    budget = UINT64_MAX;
  ++variants.back().programs;
  return push(programs, p);
}

void TableBuilder::endProgram() {
  step(PLIM_OP_RETURN, 0);
  plim_t_program &p = program();
  p.steps = static_cast<uint32_t>(steps.size()) - p.first_step;
  p.ios = static_cast<uint32_t>(ios.size()) - p.first_io;
  p.symbols = static_cast<uint32_t>(symbols.size()) - p.first_symbol;
  p.residents = static_cast<uint32_t>(residents.size()) - p.first_resident;
  if (p.first_commit_step == PLIM_NONE)
    p.first_commit_step = p.steps;
}

uint32_t TableBuilder::symbol(const std::string &name, int64_t lower, int64_t upper) {
  uint32_t s = scalar();
  symbols.push_back({string(name), s, lower, upper});
  return s;
}

uint32_t TableBuilder::io(const std::string &name, uint32_t shape, uint32_t state, uint32_t isOutput) {
  const plim_t_shape &s = shapes[shape];
  uint64_t bytes = plim_dtype_bytes(s.dtype);
  for (uint32_t i = 0; i < s.rank; ++i)
    bytes *= static_cast<uint64_t>(s.dims[i]);
  return push(ios, {string(name), shape, static_cast<uint8_t>(isOutput), 0, 0, state, bytes});
}

uint32_t TableBuilder::input(const std::string &name, uint32_t shape, uint32_t state) {
  return io(name, shape, state, 0);
}

uint32_t TableBuilder::output(const std::string &name, uint32_t shape, uint32_t state) {
  return io(name, shape, state, 1);
}

uint32_t TableBuilder::resident(bool isState, uint32_t index, uint32_t arena, uint64_t offset, uint64_t bytes) {
  uint32_t v = view(arena, offset, bytes);
  residents.push_back({isState, index, v, 0});
  return v;
}

uint32_t TableBuilder::residentInFile(uint32_t constant) {
  const plim_t_constant &c = constants[constant];
  uint32_t v = push(views, {PLIM_BASE_CONSTANT_FILE, 0, c.offset, c.bytes, PLIM_NONE, 0});
  residents.push_back({0, constant, v, 0});
  return v;
}

uint32_t TableBuilder::view(uint32_t arena, uint64_t offset, uint64_t bytes, uint32_t offsetScalar) {
  return push(views, {PLIM_BASE_ARENA, arena, offset, bytes, offsetScalar, 0});
}

uint32_t TableBuilder::ioView(uint32_t io) { return push(views, {PLIM_BASE_IO, io, 0, ios[io].bytes, PLIM_NONE, 0}); }

Live TableBuilder::born(uint32_t arena, uint64_t offset, uint64_t bytes, const std::string &source) {
  Live live;
  live.view = view(arena, offset, bytes);
  live.buffer = push(buffers, {live.view, source.empty() ? PLIM_NONE : string(source)});
  step(PLIM_OP_MARK, push(marks, {live.buffer, 0}));
  return live;
}

void TableBuilder::dies(Live live) { step(PLIM_OP_MARK, push(marks, {live.buffer, 1})); }

uint32_t TableBuilder::kernel(const std::string &name) {
  for (uint32_t i = 0; i < kernelNames.size(); ++i)
    if (kernelNames[i] == name)
      return i;
  kernelNames.push_back(name);
  return push(kernelRecords, {string(name), findTestKernel(name).phases});
}

void TableBuilder::launch(const std::string &name, std::vector<plim_t_operand> ops, const LaunchOptions &o) {
  plim_t_launch l = {};
  l.kernel = kernel(name);
  l.first_operand = static_cast<uint32_t>(operands.size());
  l.operands = static_cast<uint32_t>(ops.size());
  operands.insert(operands.end(), ops.begin(), ops.end());
  l.source = PLIM_NONE;
  l.first_attr = static_cast<uint32_t>(words.size());
  l.attr_words = static_cast<uint32_t>(o.attrs.size());
  for (double attr : o.attrs) {
    uint64_t word;
    memcpy(&word, &attr, sizeof word);
    words.push_back(word);
  }
  l.scalars = static_cast<uint32_t>(o.scalars.size());
  l.first_scalar = list(o.scalars);
  l.results = static_cast<uint32_t>(o.results.size());
  l.first_result = list(o.results);
  l.tasks = o.tasks;
  l.tasks_scalar = o.tasksScalar;
  l.shared_bytes = o.shared;
  l.scratch_bytes = o.scratch;
  l.workspace = PLIM_NONE;
  if (o.workspaceArena != PLIM_NONE)
    l.workspace = view(o.workspaceArena, o.workspaceOffset, o.shared + std::min(workers, o.tasks) * o.scratch);
  uint32_t dynamic = 0;
  for (const plim_t_operand &op : ops)
    dynamic += shapes[op.shape].dynamic;
  program().max_operands = std::max(program().max_operands, l.operands);
  program().dynamic_shapes = std::max(program().dynamic_shapes, dynamic);
  step(PLIM_OP_LAUNCH, push(launches, l), o.token, o.queue);
}

void TableBuilder::copy(uint32_t src, uint32_t dst, uint64_t bytes, uint32_t token, uint64_t hash, uint8_t queue) {
  step(PLIM_OP_COPY, push(copies, {src, dst, bytes, hash}), token, queue);
}

void TableBuilder::fill(uint32_t view, uint64_t pattern) {
  words.push_back(pattern);
  step(PLIM_OP_FILL, push(fills, {view, static_cast<uint32_t>(words.size()) - 1}));
}

void TableBuilder::wait(const std::vector<uint32_t> &tokens) {
  uint32_t first = list(tokens);
  step(PLIM_OP_WAIT, push(waits, {first, static_cast<uint32_t>(tokens.size()), PLIM_NONE, 0}));
}

void TableBuilder::load(uint32_t view, uint32_t dtype, uint64_t offset, uint32_t scalar, int64_t lower, int64_t upper) {
  step(PLIM_OP_LOAD, push(loads, {view, dtype, offset, lower, upper, scalar, PLIM_NONE}));
}

void TableBuilder::eval(uint32_t function, const std::vector<uint32_t> &in, const std::vector<uint32_t> &out) {
  uint32_t firstIn = list(in), firstOut = list(out);
  step(PLIM_OP_EVAL, push(evals, {function, firstIn, static_cast<uint32_t>(in.size()), firstOut,
                                  static_cast<uint32_t>(out.size()), 0}));
}

void TableBuilder::check(uint32_t scalar, int64_t lower, int64_t upper, const std::string &message) {
  step(PLIM_OP_CHECK, push(checks, {scalar, string(message), lower, upper}));
}

void TableBuilder::beginIf(uint32_t scalar) {
  openBranches.push_back(push(branches, {scalar, 0}));
  step(PLIM_OP_BRANCH, openBranches.back());
}

void TableBuilder::otherwise() {
  uint32_t always = push(branches, {PLIM_NONE, 0});
  step(PLIM_OP_BRANCH, always);
  branches[openBranches.back()].target = stepCount();
  openBranches.back() = always;
}

void TableBuilder::endIf() {
  branches[openBranches.back()].target = stepCount();
  openBranches.pop_back();
}

void TableBuilder::beginLoop(uint32_t trips, uint32_t counter, uint64_t maxTrips, uint32_t condition) {
  uint32_t record = push(loops, {trips, condition, counter, 0, maxTrips, stepCount() + 1, 0});
  openLoops.push_back(record);
  step(PLIM_OP_LOOP, record);
}

void TableBuilder::endLoop() {
  step(PLIM_OP_NEXT, openLoops.back());
  loops[openLoops.back()].end = stepCount();
  openLoops.pop_back();
}

void TableBuilder::commit() { program().first_commit_step = stepCount(); }

void TableBuilder::step(uint8_t opcode, uint32_t record, uint32_t token, uint8_t queue) {
  steps.push_back({opcode, queue, 0, record, token, PLIM_NONE});
}

uint32_t TableBuilder::list(const std::vector<uint32_t> &values) {
  auto first = static_cast<uint32_t>(indices.size());
  indices.insert(indices.end(), values.begin(), values.end());
  return first;
}

Table TableBuilder::finish() {
  std::array<std::pair<const void *, std::pair<uint64_t, uint64_t>>, PLIM_SEC_COUNT> sections;
  auto add = [&](plim_section s, const auto &records) {
    sections[s] = {records.data(), {records.size(), sizeof records[0]}};
  };
  add(PLIM_SEC_STRINGS, strings);
  add(PLIM_SEC_WORDS, words);
  add(PLIM_SEC_INDICES, indices);
  add(PLIM_SEC_KERNELS, kernelRecords);
  add(PLIM_SEC_SHAPES, shapes);
  add(PLIM_SEC_CONSTANTS, constants);
  add(PLIM_SEC_STATES, states);
  add(PLIM_SEC_ARENAS, arenas);
  add(PLIM_SEC_VIEWS, views);
  add(PLIM_SEC_BUFFERS, buffers);
  add(PLIM_SEC_RESIDENTS, residents);
  add(PLIM_SEC_SYMBOLS, symbols);
  add(PLIM_SEC_IOS, ios);
  add(PLIM_SEC_OPERANDS, operands);
  add(PLIM_SEC_LAUNCHES, launches);
  add(PLIM_SEC_COPIES, copies);
  add(PLIM_SEC_FILLS, fills);
  add(PLIM_SEC_WAITS, waits);
  add(PLIM_SEC_LOADS, loads);
  add(PLIM_SEC_EVALS, evals);
  add(PLIM_SEC_CHECKS, checks);
  add(PLIM_SEC_BRANCHES, branches);
  add(PLIM_SEC_LOOPS, loops);
  add(PLIM_SEC_MARKS, marks);
  add(PLIM_SEC_STEPS, steps);
  add(PLIM_SEC_PROGRAMS, programs);
  add(PLIM_SEC_VARIANTS, variants);
  plim_table header = {};
  memcpy(header.magic, PLIM_TABLE_MAGIC, sizeof header.magic);
  header.version = PLIM_TABLE_VERSION;
  header.header_bytes = sizeof header;
  header.kernel_abi = PLIM_KERNEL_ABI;
  header.workers = workers;
  header.io_depth = ioDepth;
  header.isa_min = isaMin;
  header.stack_bytes = stackBytes;
  header.weights_bytes = weightsBytes;
  header.weights_hash = weightsHash;
  uint64_t at = sizeof header;
  for (uint32_t s = 0; s < PLIM_SEC_COUNT; ++s) {
    auto [count, each] = sections[s].second;
    header.sections[s] = {at, count};
    at += (count * each + 7) / 8 * 8;
  }
  header.bytes = at;
  Table table(at);
  memcpy(table.bytes(), &header, sizeof header);
  for (uint32_t s = 0; s < PLIM_SEC_COUNT; ++s)
    if (sections[s].second.first)
      memcpy(table.bytes() + header.sections[s].offset, sections[s].first,
             sections[s].second.first * sections[s].second.second);
  plim_table_seal(table.get());
  return table;
}

} // namespace plim::test
