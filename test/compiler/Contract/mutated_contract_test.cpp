// Plans with transfers, recomputation and pieces in which one thing is wrong are refused by the checkers: an offset, a
// size, a wait that is missing or late, bytes that are free too early, a clone that is not there, rows that are not
// those of the piece. What a checker accepts must then be as good: it runs with the same bits and figures.
#include "compiler/Check/CheckSolution.h"
#include "compiler/Check/CheckTable.h"
#include "mlir/IR/Diagnostics.h"
#include "plim/check.h"
#include "test/compiler/Check/DerivedFields.h"
#include "test/compiler/Contract/PlannedPlan.h"
#include "test/compiler/Lowering/PlanProblem/ScrambledSchedule.h"
#include "test/runtime/SsdPlan.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace plim::test;
namespace plan = plim::plan;
namespace solver = plim::solver;

namespace {

struct Tally {
  int made = 0, refused = 0, asGood = 0;
};

class MutatedContract : public testing::TestWithParam<int> {
protected:
  static inline MLIRContext *context = nullptr;
  static inline std::map<std::string, Tally> tallies; // by kind

  static void SetUpTestSuite() { context = contractContext().release(); }
  static void TearDownTestSuite() {
    delete context;
    context = nullptr;
    for (const auto &[kind, tally] : tallies) {
      std::printf("%-28s %6d made, %6d refused, %4d as good as before\n", kind.c_str(), tally.made, tally.refused,
                  tally.asGood);
      if (GTEST_FLAG_GET(filter) == "*")
        EXPECT_GT(tally.refused, 20) << kind;
    }
    tallies.clear();
  }

  void SetUp() override {
    setting = settingOf(unsigned(GetParam()));
    setting.style.large = false;
    setting.request.levers = plan::kAllLevers;
    setting.request.budget[unsigned(plan::Tier::Ssd)] = int64_t(1) << 30;
    random.seed(setting.seed);
    // A plan with all that a planner may do; every second one the planner's own smallest.
    for (bool again = true; again;) {
      PlannedPlan planned = fresh();
      const solver::Problem &p = planned.extracted().problem;
      sound = setting.seed % 2 ? solver::Ladder(p, setting.request.options).smallest()
                               : assembled(p, scrambled(p, setting.seed));
      const SmallVector<int> without = plan::aliasesWithoutShape(planned.extracted(), sound);
      again = !without.empty();
      for (int alias : without) {
        for (int gone : dropped)
          alias += gone <= alias;
        dropped.insert(llvm::lower_bound(dropped, alias), alias);
        break; // the numbers of the others are those without it
      }
    }
    ASSERT_EQ(faultOf(sound), "");
  }

  PlannedPlan fresh() {
    FailureOr<PlannedPlan> made = PlannedPlan::make(*context, setting, dropped);
    EXPECT_TRUE(succeeded(made));
    return succeeded(made) ? std::move(*made) : PlannedPlan();
  }

  /// "" where the solution runs as the unplanned walk does.
  std::string faultOf(solver::Solution solution) {
    PlannedPlan planned = fresh();
    const NumericsClasses classes = planned.classesOf(solution);
    RunOptions options;
    FailureOr<plan::EncodedTable> table = planned.encode(solution, folder.path, options.weights);
    if (failed(table))
      return "no table";
    if (std::vector<std::string> faults = plim::check::checkTable(table->bytes.table()); !faults.empty())
      return "table: " + faults.front();
    hasBranch = planned.source().hasBranch;
    if (!tableOfSound) {
      tableOfSound = table->bytes;
      weightsOfSound = options.weights;
    }
    return differenceOf(table->bytes.table(), options.weights, classes, /*exact=*/true);
  }

  /// `exact`: all that is planned is touched, as it is where the compiler chose the sizes.
  std::string differenceOf(const plim_table *table, const std::string &weights, const NumericsClasses &classes,
                           bool exact) {
    RandomPlan source = makeRandomPlan(*context, setting.seed, setting.style);
    const Bytes inputs = inputsOf(*source.module, setting.seed);
    std::vector<Bytes> &want = references[classes];
    if (want.empty()) {
      Unplanned unplanned(*source.module, inputs, classes);
      for (int run = 0; run < 2; ++run)
        want.push_back(unplanned.run());
    }
    RunOptions options;
    options.weights = weights, options.spillFolder = folder.path;
    return differenceTo(want, runPlan(table, inputs, options), exact && !hasBranch);
  }

  std::string where(const std::string &kind) const { return "plan " + std::to_string(setting.seed) + ", " + kind; }

  /// Of many, some: a plan has thousands of mutations, and each that is accepted is run.
  bool drawn(unsigned oneIn) { return random() % oneIn == 0; }

  /// Judges a solution; `derived`: its lives, sums and time are made right first, so that only the change is wrong.
  void judge(const std::string &kind, solver::Solution mutant, bool derived) {
    if (mutant == sound)
      return;
    PlannedPlan planned = fresh();
    const solver::Problem &p = planned.extracted().problem;
    if (derived)
      plim::check::derive(p, mutant);
    Tally &tally = tallies[kind];
    ++tally.made;
    if (!plim::check::checkSolution(p, mutant, plim::check::IgnoreCapacity::Yes).empty()) {
      ++tally.refused;
      return;
    }
    const std::string fault = faultOf(std::move(mutant));
    EXPECT_EQ(fault, "") << where(kind) << " is accepted";
    tally.asGood += fault.empty();
  }

  void mutateStorages();
  void mutateTransfers();
  void mutateReads();
  void mutatePieces();

  PlanSetting setting;
  std::vector<int> dropped;
  std::mt19937 random;
  Folder folder;
  solver::Solution sound;
  std::optional<plan::TableBytes> tableOfSound;
  std::string weightsOfSound;
  bool hasBranch = false;
  std::map<NumericsClasses, std::vector<Bytes>> references;
};

bool isTransient(const solver::Storage &storage) { return storage.region == solver::Region::Transient; }

// Offsets, sizes and lives of storages.
void MutatedContract::mutateStorages() {
  for (size_t s = 0; s < sound.storages.size(); ++s) {
    const solver::Storage &storage = sound.storages[s];
    if (!isTransient(storage))
      continue;
    for (int64_t change : {-4096, -64, 64, 4096})
      if (storage.offset + change >= 0 && drawn(3)) {
        solver::Solution m = sound;
        m.storages[s].offset += change;
        judge("solution: offset", std::move(m), true);
      }
    for (const solver::Storage &other : sound.storages)
      if (isTransient(other) && other.tier == storage.tier && &other != &storage && drawn(8)) {
        solver::Solution m = sound;
        m.storages[s].offset = other.offset;
        judge("solution: on another", std::move(m), true);
      }
    for (int64_t change : {-64, -1, 64}) {
      solver::Solution m = sound;
      m.storages[s].bytes += change;
      judge("solution: size", std::move(m), false);
    }
    solver::Solution early = sound;
    --early.storages[s].death;
    judge("solution: early free", std::move(early), false);
  }
}

// Waits that are missing or late.
void MutatedContract::mutateTransfers() {
  for (size_t k = 0; k < sound.actions.size(); ++k) {
    if (sound.actions[k].kind != solver::ActionKind::Wait)
      continue;
    for (size_t copy = 0; copy < sound.actions[k].waits.size(); ++copy) {
      solver::Solution m = sound;
      m.actions[k].waits.erase(m.actions[k].waits.begin() + ptrdiff_t(copy));
      judge("solution: missing wait", std::move(m), true);
    }
    for (size_t to = k + 1; to < std::min(k + 4, sound.actions.size()); ++to) {
      // Copies keep their numbers: only waits and runs may be passed.
      if (sound.actions[to].kind == solver::ActionKind::Copy)
        break;
      solver::Solution m = sound;
      std::rotate(m.actions.begin() + ptrdiff_t(k), m.actions.begin() + ptrdiff_t(k) + 1,
                  m.actions.begin() + ptrdiff_t(to) + 1);
      judge("solution: late wait", std::move(m), true);
    }
  }
}

// Another instance of what an action reads.
void MutatedContract::mutateReads() {
  for (size_t k = 0; k < sound.actions.size(); ++k)
    for (size_t r = 0; r < sound.actions[k].reads.size(); ++r) {
      const int read = sound.actions[k].reads[r];
      for (size_t other = 0; other < sound.places.size(); ++other) {
        if (int(other) == read || sound.places[other].buffer != sound.places[size_t(read)].buffer)
          continue;
        solver::Solution m = sound;
        m.actions[k].reads[r] = int(other);
        judge("solution: stale clone", std::move(m), true);
      }
    }
}

// Slices a row off: what a piece reads beyond its own rows is no longer what it needs.
void MutatedContract::mutatePieces() {
  PlannedPlan planned = fresh();
  const solver::Problem &p = planned.extracted().problem;
  for (size_t i = 0; i < sound.places.size(); ++i) {
    const int alias = sound.places[i].alias;
    if (alias < 0 || p.aliases[size_t(alias)].kind == solver::AliasKind::InPlace)
      continue;
    const bool isView = p.aliases[size_t(alias)].kind == solver::AliasKind::View;
    auto launch = dyn_cast<plan::LaunchOp>(planned.extracted().steps[size_t(p.aliases[size_t(alias)].step)]);
    if (!launch)
      continue;
    const int64_t row = 4 * launch.getAccess(0).getShape().getBounds().back();
    for (int64_t change : {-row, row})
      if (sound.places[i].offset + change >= 0) {
        solver::Solution m = sound;
        m.places[i].offset += change;
        judge(isView ? "solution: wrong halo" : "solution: wrong place of piece", std::move(m), true);
      }
  }
}

TEST_P(MutatedContract, SolutionsAreRefusedOrAsGood) {
  mutateStorages();
  mutateTransfers();
  mutateReads();
  mutatePieces();
}

/// A table that can be changed.
class Table {
public:
  explicit Table(plan::TableBytes bytes) : bytes(std::move(bytes)) {}
  template <typename Record> Record &at(plim_section section, uint64_t i) {
    return reinterpret_cast<Record *>(bytes.writable() + bytes.table()->sections[section].offset)[i];
  }
  uint64_t count(plim_section section) { return bytes.table()->sections[section].count; }
  plim_t_step *steps() { return &at<plim_t_step>(PLIM_SEC_STEPS, 0); }
  plim_t_view &view(uint32_t i) { return at<plim_t_view>(PLIM_SEC_VIEWS, i); }
  plim_t_buffer &buffer(uint32_t i) { return at<plim_t_buffer>(PLIM_SEC_BUFFERS, i); }
  plan::TableBytes bytes;
};

class MutatedContractTable : public MutatedContract {
protected:
  /// (buffer, view) of the results of other runs of the step that made what the operand reads, where they lie in
  /// buffers that hold them now or have held nothing yet.
  static std::vector<std::pair<uint32_t, uint32_t>>
  clonesOf(Table &table, const std::map<uint32_t, plim_t_launch> &writer, const plim_t_operand &operand) {
    std::vector<std::pair<uint32_t, uint32_t>> clones;
    const auto made = writer.find(operand.buffer);
    if (made == writer.end())
      return clones;
    for (uint32_t l = 0; l < table.count(PLIM_SEC_LAUNCHES); ++l) {
      const auto &launch = table.at<plim_t_launch>(PLIM_SEC_LAUNCHES, l);
      const plim_t_launch &own = made->second;
      if (launch.source != own.source || launch.kernel != own.kernel || launch.instance == own.instance)
        continue;
      for (uint32_t o = launch.first_operand; o < launch.first_operand + launch.operands; ++o) {
        const auto &result = table.at<plim_t_operand>(PLIM_SEC_OPERANDS, o);
        if (result.access != PLIM_ACCESS_WRITE || result.buffer == PLIM_NONE || result.shape != operand.shape)
          continue;
        const auto last = writer.find(result.buffer);
        if (last == writer.end() || last->second.first_operand == launch.first_operand)
          clones.emplace_back(result.buffer, result.view);
      }
    }
    return clones;
  }

  void judgeTable(const std::string &kind, const std::function<void(Table &)> &change) {
    Table mutant(*tableOfSound);
    change(mutant);
    plim_table *table = mutant.bytes.table();
    plim_table_seal(table);
    Tally &tally = tallies[kind];
    ++tally.made;
    if (plim_table_check(table, table->bytes) != PLIM_OK || !plim::check::checkTable(table).empty()) {
      ++tally.refused;
      return;
    }
    const std::string fault = differenceOf(table, weightsOfSound, fresh().classesOf(sound), /*exact=*/false);
    EXPECT_EQ(fault, "") << where(kind) << " is accepted";
    tally.asGood += fault.empty();
  }
};

TEST_P(MutatedContractTable, TablesAreRefusedOrAsGood) {
  Table sound(*tableOfSound);
  for (uint32_t b = 0; b < sound.count(PLIM_SEC_BUFFERS); ++b) {
    const plim_t_view view = sound.view(sound.buffer(b).view);
    for (int64_t change : {-4096, -64, 64, 4096})
      if (int64_t(view.offset) + change >= 0)
        judgeTable("table: offset", [&](Table &t) { t.view(t.buffer(b).view).offset += uint64_t(change); });
    for (uint64_t change : {64, 4096})
      if (view.bytes > change)
        judgeTable("table: size", [&](Table &t) { t.view(t.buffer(b).view).bytes -= change; });
  }
  const uint32_t steps = uint32_t(sound.count(PLIM_SEC_STEPS));
  std::map<uint32_t, plim_t_launch> writer; // by buffer, so far
  for (uint32_t k = 0; k < steps; ++k) {
    const plim_t_step step = sound.steps()[k];
    if (step.opcode == PLIM_OP_WAIT)
      judgeTable("table: missing wait", [&](Table &t) { // right before the end
        std::rotate(t.steps() + k, t.steps() + k + 1, t.steps() + steps - 1);
      });
    if (step.opcode == PLIM_OP_MARK && sound.at<plim_t_mark>(PLIM_SEC_MARKS, step.record).is_death) {
      uint32_t before = k; // the step that it stands behind
      while (sound.steps()[before].opcode == PLIM_OP_MARK)
        --before;
      judgeTable("table: early free",
                 [&](Table &t) { std::rotate(t.steps() + before, t.steps() + k, t.steps() + k + 1); });
    }
    if (step.opcode != PLIM_OP_LAUNCH)
      continue;
    const auto launch = sound.at<plim_t_launch>(PLIM_SEC_LAUNCHES, step.record);
    for (uint32_t o = launch.first_operand; o < launch.first_operand + launch.operands; ++o) {
      const auto operand = sound.at<plim_t_operand>(PLIM_SEC_OPERANDS, o);
      if (operand.buffer == PLIM_NONE)
        continue;
      if (operand.access == PLIM_ACCESS_WRITE) {
        writer[operand.buffer] = launch;
        continue;
      }
      // What another run of the same step makes, now or at another time.
      for (const auto &[other, view] : clonesOf(sound, writer, operand))
        judgeTable("table: stale clone", [&, buffer = other, place = view](Table &t) {
          auto &changed = t.at<plim_t_operand>(PLIM_SEC_OPERANDS, o);
          changed.buffer = buffer, changed.view = place;
        });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, MutatedContract, testing::Range(0, 12));
INSTANTIATE_TEST_SUITE_P(Plans, MutatedContractTable, testing::Range(0, 12));

} // namespace
