// Plans of random graphs with one thing wrong (an offset, a size, the order of two steps, a mark) are refused by the
// runtime's check or by the independent replay. Peaks, touched ends and the hash are made right again after each
// change, so that only the fault itself can be seen.
#include "compiler/Check/CheckTable.h"
#include "plim/check.h"
#include "test/compiler/Pipelines/PlannedGraph.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace plim::test;
namespace plan = plim::plan;
namespace solver = plim::solver;

namespace {

bool isAccepted(const plim_table *table) {
  return plim_table_check(table, table->bytes) == PLIM_OK && plim::check::checkTable(table).empty();
}

/// The records of a table that can be changed.
class Table {
public:
  explicit Table(const plan::TableBytes &bytes) : bytes(bytes) {}

  template <typename Record> Record &at(plim_section section, uint64_t i) {
    return reinterpret_cast<Record *>(bytes.writable() + bytes.table()->sections[section].offset)[i];
  }
  uint64_t buffers() { return bytes.table()->sections[PLIM_SEC_BUFFERS].count; }
  plim_t_program &program() { return at<plim_t_program>(PLIM_SEC_PROGRAMS, 0); }
  plim_t_step &step(uint32_t i) { return at<plim_t_step>(PLIM_SEC_STEPS, i); }
  plim_t_mark &mark(uint32_t i) { return at<plim_t_mark>(PLIM_SEC_MARKS, i); }
  plim_t_launch &launch(uint32_t i) { return at<plim_t_launch>(PLIM_SEC_LAUNCHES, i); }
  plim_t_operand &operand(uint32_t i) { return at<plim_t_operand>(PLIM_SEC_OPERANDS, i); }
  plim_t_view &view(uint32_t i) { return at<plim_t_view>(PLIM_SEC_VIEWS, i); }
  plim_t_view &viewOfBuffer(uint32_t buffer) { return view(at<plim_t_buffer>(PLIM_SEC_BUFFERS, buffer).view); }

  /// Bytes from the first to the end of the last element.
  uint64_t span(const plim_t_operand &o) {
    const auto &s = at<plim_t_shape>(PLIM_SEC_SHAPES, o.shape);
    plim_shape shape = {};
    shape.dtype = s.dtype, shape.layout = s.layout, shape.rank = s.rank;
    std::copy(std::begin(s.dims), std::end(s.dims), shape.dims);
    std::copy(std::begin(s.strides), std::end(s.strides), shape.strides);
    return plim_shape_span(&shape);
  }
  /// Whether the operand has every byte of its view.
  bool isDense(const plim_t_operand &o) {
    const auto &s = at<plim_t_shape>(PLIM_SEC_SHAPES, o.shape);
    int64_t expected = 1;
    for (int d = s.rank; d-- > 0;) {
      if (s.dims[d] != 1 && s.strides[d] != expected)
        return false;
      expected *= s.dims[d];
    }
    return s.layout == PLIM_ROW && span(o) == view(o.view).bytes;
  }

  bool accepted() {
    plim_table_seal(bytes.table());
    return isAccepted(bytes.table());
  }

private:
  plan::TableBytes bytes;
};

class MutatedPlans : public testing::TestWithParam<unsigned> {
protected:
  static void TearDownTestSuite() {
    if (GTEST_FLAG_GET(filter) == "*")
      EXPECT_GT(tried, 5000);
  }
  void SetUp() override {
    context = makeContext();
    graph = makeRandomGraph(*context, GetParam());
    FailureOr<VirtualPlan> lowered = VirtualPlan::lower(graph, 1 + GetParam() % 4, {});
    ASSERT_TRUE(succeeded(lowered));
    virtualPlan = std::move(*lowered);
    FailureOr<solver::Solution> solution = plan::solve(virtualPlan.problem(), {});
    ASSERT_TRUE(succeeded(solution));
    FailureOr<plan::EncodedTable> encoded = virtualPlan.place(*solution);
    ASSERT_TRUE(succeeded(encoded));
    sound.emplace(encoded->bytes);
    ASSERT_TRUE(sound->accepted());
    steps = sound->program().steps;
    for (uint32_t i = 0; i < steps; ++i)
      if (sound->step(i).opcode == PLIM_OP_LAUNCH)
        launches.push_back(i);
  }

  void expectRefused(const std::function<void(Table &)> &change, const std::string &what) {
    Table mutated = *sound;
    change(mutated);
    EXPECT_FALSE(mutated.accepted()) << "seed " << GetParam() << ": " << what;
    ++tried;
  }

  std::unique_ptr<MLIRContext> context;
  RandomGraph graph;
  VirtualPlan virtualPlan;
  std::optional<Table> sound;
  uint32_t steps = 0;
  std::vector<uint32_t> launches; // steps
  static int tried;
};

int MutatedPlans::tried = 0;

// Each pair of buffers that are alive at one time: one moved onto the other's first or last line.
TEST_P(MutatedPlans, ABufferOnLiveBytesIsRefused) {
  std::vector<uint32_t> alive;
  for (uint32_t i = 0; i < steps; ++i) {
    if (sound->step(i).opcode != PLIM_OP_MARK)
      continue;
    plim_t_mark mark = sound->mark(sound->step(i).record);
    if (mark.is_death) {
      std::erase(alive, mark.buffer);
      continue;
    }
    for (uint32_t other : alive)
      for (auto [moved, target] : {std::pair(mark.buffer, other), std::pair(other, mark.buffer)}) {
        uint64_t start = sound->viewOfBuffer(target).offset, end = start + sound->viewOfBuffer(target).bytes;
        for (uint64_t offset : {start, (end - 1) / 64 * 64})
          expectRefused([&, to = moved](Table &t) { t.viewOfBuffer(to).offset = offset; },
                        "buffer " + std::to_string(moved) + " at " + std::to_string(offset));
      }
    alive.push_back(mark.buffer);
  }
}

// Each operand's view without its last byte.
TEST_P(MutatedPlans, AViewThatIsAByteShortIsRefused) {
  for (uint32_t i : launches) {
    const plim_t_launch &l = sound->launch(sound->step(i).record);
    for (uint32_t k = l.first_operand; k < l.first_operand + l.operands; ++k)
      if (sound->span(sound->operand(k)) == sound->view(sound->operand(k).view).bytes)
        expectRefused([&](Table &t) { --t.view(t.operand(k).view).bytes; }, "operand " + std::to_string(k));
    if (l.workspace != PLIM_NONE)
      expectRefused([&](Table &t) { t.view(l.workspace).bytes -= 64; }, "workspace of step " + std::to_string(i));
  }
}

// A launch before the one that is the first to write what it reads.
TEST_P(MutatedPlans, AReaderBeforeItsWriterIsRefused) {
  std::vector<bool> touched(sound->buffers());
  for (size_t n = 0; n + 1 < launches.size(); ++n) {
    const plim_t_launch &writer = sound->launch(sound->step(launches[n]).record);
    const plim_t_launch &reader = sound->launch(sound->step(launches[n + 1]).record);
    bool depends = false;
    for (uint32_t w = writer.first_operand; w < writer.first_operand + writer.operands; ++w) {
      const plim_t_operand &out = sound->operand(w);
      if (out.buffer == PLIM_NONE || out.access != PLIM_ACCESS_WRITE || touched.at(out.buffer) || !sound->isDense(out))
        continue;
      for (uint32_t r = reader.first_operand; r < reader.first_operand + reader.operands; ++r) {
        const plim_t_operand &in = sound->operand(r);
        depends |= in.access == PLIM_ACCESS_READ && in.buffer == out.buffer && in.view == out.view;
      }
    }
    if (depends)
      expectRefused([&](Table &t) { std::swap(t.step(launches[n]), t.step(launches[n + 1])); },
                    "steps " + std::to_string(launches[n]) + " and " + std::to_string(launches[n + 1]));
    for (uint32_t k = writer.first_operand; k < writer.first_operand + writer.operands; ++k)
      if (sound->operand(k).buffer != PLIM_NONE)
        touched.at(sound->operand(k).buffer) = true;
  }
}

// Each birth and death: left out of the plan, or of another buffer.
TEST_P(MutatedPlans, ADroppedOrStrayMarkIsRefused) {
  uint32_t marks = 0;
  for (uint32_t i = 0; i < steps; ++i)
    if (sound->step(i).opcode == PLIM_OP_MARK) {
      ++marks;
      plim_t_mark &mark = sound->mark(sound->step(i).record);
      expectRefused([&](Table &t) { t.mark(t.step(i).record).is_death = !mark.is_death; },
                    "step " + std::to_string(i) + " turned over");
      if (sound->buffers() > 1)
        expectRefused([&](Table &t) { t.mark(t.step(i).record).buffer = mark.buffer ? mark.buffer - 1 : 1; },
                      "step " + std::to_string(i) + " of another buffer");
    }
  ScopedDiagnosticHandler quiet(context.get(), [](Diagnostic &) { return success(); });
  for (uint32_t n = 0; n < marks; ++n) {
    OwningOpRef<plan::ModuleOp> clone = virtualPlan.module().clone();
    SmallVector<plan::MarkOp> all;
    clone->walk([&](plan::MarkOp mark) { all.push_back(mark); });
    ASSERT_EQ(all.size(), marks);
    all[n].erase();
    FailureOr<plan::EncodedTable> table = plan::encodeTable(*clone);
    EXPECT_TRUE(failed(table) || !isAccepted(table->bytes.table())) << "seed " << GetParam() << " without mark " << n;
  }
  EXPECT_GT(marks, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, MutatedPlans, testing::Range(0u, 40u));

} // namespace
