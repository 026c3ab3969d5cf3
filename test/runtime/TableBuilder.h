// Builds step tables by hand, record by record, for tests.
//
//   TableBuilder b;
//   uint32_t arena = b.arena(PLIM_TRANSIENT, 4096), f4 = b.shape({4});
//   b.beginVariant("fast");
//   b.beginProgram("forward");
//   uint32_t x = b.input("x", f4), y = b.output("y", f4);
//   Live a = b.born(arena, 0, 16, "a");
//   b.launch("test.scale", {b.read(b.ioView(x), f4), b.write(a, f4)}, {2.0});
//   ...
//   b.dies(a);
//   b.endProgram();                                        // adds RETURN
//   Table table = b.finish();                               // sealed: peaks and hash are right
#ifndef PLIM_TEST_RUNTIME_TABLE_BUILDER_H
#define PLIM_TEST_RUNTIME_TABLE_BUILDER_H

#include "plim/check.h"
#include "plim/table.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace plim::test {

/// A finished table in memory aligned to 64 bytes.
class Table {
public:
  explicit Table(uint64_t bytes);
  Table(const Table &other);
  Table(Table &&) = default;
  plim_table *get() { return reinterpret_cast<plim_table *>(data); }
  const plim_table *get() const { return reinterpret_cast<const plim_table *>(data); }
  uint8_t *bytes() { return data; }
  uint64_t size() const { return length; }
  /// Makes the hash right again, and nothing else.
  void rehash();
  /// A record, for changing it.
  template <class R> R &record(plim_section section, uint32_t index) {
    return reinterpret_cast<R *>(data + get()->sections[section].offset)[index];
  }

private:
  std::unique_ptr<uint8_t[]> storage;
  uint8_t *data;
  uint64_t length;
};

/// A buffer that lives in an arena.
struct Live {
  uint32_t buffer, view;
};

struct LaunchOptions {
  std::vector<double> attrs;
  uint32_t tasks = 1, tasksScalar = PLIM_NONE;
  std::vector<uint32_t> scalars, results;
  uint32_t workspaceArena = PLIM_NONE;
  uint64_t workspaceOffset = 0, shared = 0, scratch = 0;
  uint32_t token = PLIM_NONE;
  uint8_t queue = 0;
};

class TableBuilder {
public:
  uint32_t workers = 4;
  uint64_t stackBytes = 65536;
  uint32_t isaMin = PLIM_ISA_BASE, ioDepth = 1;
  uint64_t weightsBytes = 0, weightsHash = 0;

  uint32_t string(const std::string &text);
  uint32_t shape(const std::vector<int64_t> &dims, uint8_t dtype = PLIM_F32);
  /// dims are bounds; scalars[i] is the scalar of dimension i or PLIM_NONE; strides are row-major at the bounds.
  uint32_t dynamicShape(const std::vector<int64_t> &dims, const std::vector<uint32_t> &scalars,
                        uint8_t dtype = PLIM_F32);
  uint32_t arena(plim_arena_kind kind, uint64_t bytes, plim_tier tier = PLIM_RAM);
  uint32_t constant(const std::string &name, uint32_t shape, uint64_t offset, uint64_t bytes, uint64_t hash = 0);
  uint32_t state(const std::string &name, uint32_t shape, uint64_t bytes, uint32_t init = PLIM_NONE,
                 uint32_t durable = 1);

  uint32_t beginVariant(const std::string &name);
  uint32_t beginProgram(const std::string &name);
  void endProgram();

  uint32_t symbol(const std::string &name, int64_t lower, int64_t upper); // returns its scalar
  uint32_t scalar() { return program().scalars++; }
  uint32_t token() { return program().tokens++; }
  uint32_t input(const std::string &name, uint32_t shape, uint32_t state = PLIM_NONE);
  uint32_t output(const std::string &name, uint32_t shape, uint32_t state = PLIM_NONE);
  /// A home in a persistent arena: returns its view.
  uint32_t resident(bool isState, uint32_t index, uint32_t arena, uint64_t offset, uint64_t bytes);

  /// A home in the weight file: returns its view.
  uint32_t residentInFile(uint32_t constant);

  uint32_t view(uint32_t arena, uint64_t offset, uint64_t bytes, uint32_t offsetScalar = PLIM_NONE);
  uint32_t ioView(uint32_t io);
  Live born(uint32_t arena, uint64_t offset, uint64_t bytes, const std::string &source = "");
  void dies(Live live);

  plim_t_operand read(Live live, uint32_t shape) { return {live.view, shape, PLIM_ACCESS_READ, live.buffer}; }
  plim_t_operand write(Live live, uint32_t shape) { return {live.view, shape, PLIM_ACCESS_WRITE, live.buffer}; }
  plim_t_operand read(uint32_t view, uint32_t shape) { return {view, shape, PLIM_ACCESS_READ, PLIM_NONE}; }
  plim_t_operand write(uint32_t view, uint32_t shape) { return {view, shape, PLIM_ACCESS_WRITE, PLIM_NONE}; }

  void launch(const std::string &kernel, std::vector<plim_t_operand> operands, const LaunchOptions &options);
  void launch(const std::string &kernel, std::vector<plim_t_operand> operands, std::vector<double> attrs = {}) {
    LaunchOptions o;
    o.attrs = std::move(attrs);
    launch(kernel, std::move(operands), o);
  }
  void copy(uint32_t src, uint32_t dst, uint64_t bytes, uint32_t token = PLIM_NONE, uint64_t hash = 0,
            uint8_t queue = PLIM_QUEUE_CPU);
  void fill(uint32_t view, uint64_t pattern);
  void wait(const std::vector<uint32_t> &tokens);
  void load(uint32_t view, uint32_t dtype, uint64_t offset, uint32_t scalar, int64_t lower, int64_t upper);
  void eval(uint32_t function, const std::vector<uint32_t> &in, const std::vector<uint32_t> &out);
  void check(uint32_t scalar, int64_t lower, int64_t upper, const std::string &message);
  void beginIf(uint32_t scalar);
  void otherwise();
  void endIf();
  void beginLoop(uint32_t trips, uint32_t counter, uint64_t maxTrips, uint32_t condition = PLIM_NONE);
  void endLoop();
  /// From here on the program may write states.
  void commit();
  uint32_t stepCount() { return static_cast<uint32_t>(steps.size()) - program().first_step; }

  const std::vector<std::string> &kernels() const { return kernelNames; }
  Table finish();

private:
  plim_t_program &program() { return programs.back(); }
  void step(uint8_t opcode, uint32_t record, uint32_t token = PLIM_NONE, uint8_t queue = 0);
  uint32_t list(const std::vector<uint32_t> &values);
  uint32_t kernel(const std::string &name);
  uint32_t io(const std::string &name, uint32_t shape, uint32_t state, uint32_t isOutput);

  std::vector<char> strings;
  std::vector<uint64_t> words;
  std::vector<uint32_t> indices;
  std::vector<plim_t_kernel> kernelRecords;
  std::vector<plim_t_shape> shapes;
  std::vector<plim_t_constant> constants;
  std::vector<plim_t_state> states;
  std::vector<plim_t_arena> arenas;
  std::vector<plim_t_view> views;
  std::vector<plim_t_buffer> buffers;
  std::vector<plim_t_resident> residents;
  std::vector<plim_t_symbol> symbols;
  std::vector<plim_t_io> ios;
  std::vector<plim_t_operand> operands;
  std::vector<plim_t_launch> launches;
  std::vector<plim_t_copy> copies;
  std::vector<plim_t_fill> fills;
  std::vector<plim_t_wait> waits;
  std::vector<plim_t_load> loads;
  std::vector<plim_t_eval> evals;
  std::vector<plim_t_check> checks;
  std::vector<plim_t_branch> branches;
  std::vector<plim_t_loop> loops;
  std::vector<plim_t_mark> marks;
  std::vector<plim_t_step> steps;
  std::vector<plim_t_program> programs;
  std::vector<plim_t_variant> variants;
  std::vector<std::string> kernelNames;
  std::vector<uint32_t> openBranches, openLoops; // records
};

} // namespace plim::test

#endif
