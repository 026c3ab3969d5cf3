//===- PlannedPlan.cpp - A random plan on its way from a problem to a table ------------------===//
#include "test/compiler/Contract/PlannedPlan.h"

#include "mlir/IR/Verifier.h"

#include <cstring>

using namespace mlir;
namespace solver = plim::solver;

namespace plim::test {
namespace {

struct LeverSet {
  const char *name;
  solver::Levers levers;
};

constexpr solver::Levers without(bool solver::Levers::*lever) {
  solver::Levers levers = plan::kAllLevers;
  levers.*lever = false;
  return levers;
}

constexpr solver::Levers withLend() {
  solver::Levers levers = plan::kAllLevers;
  levers.lend = true;
  return levers;
}

constexpr LeverSet kLeverSets[] = {
    {"all", plan::kAllLevers},
    {"all but order", without(&solver::Levers::order)},
    {"all but choose", without(&solver::Levers::choose)},
    {"all but alias", without(&solver::Levers::alias)},
    {"all and lend", withLend()},
    {"all but recompute", without(&solver::Levers::recompute)},
    {"all but spill", without(&solver::Levers::spill)},
    {"all but stream", without(&solver::Levers::stream)},
    {"all but move", without(&solver::Levers::move)},
    {"none", {.order = false, .choose = false, .alias = false}},
    {"all", plan::kAllLevers},
};

/// Constants that only launches read that may run again, each in its own bytes.
void streamSmallConstants(plan::PlanProblem &extracted) {
  solver::Problem &p = extracted.problem;
  std::vector<char> fixed(p.buffers.size());
  for (auto [op, step] : llvm::zip_equal(extracted.steps, p.steps))
    if (!isa<plan::LaunchOp>(op) || !step.pure)
      for (int b : step.reads)
        fixed[size_t(b)] = true;
  for (auto [b, buffer] : llvm::enumerate(p.buffers))
    if (buffer.kind == solver::BufferKind::Constant && !fixed[b])
      buffer.movable = true;
}

} // namespace

PlanSetting settingOf(unsigned seed) {
  PlanSetting setting;
  setting.seed = seed;
  setting.style.large = seed % 8 == 7;
  const LeverSet &set = kLeverSets[seed % std::size(kLeverSets)];
  setting.levers = set.name;
  setting.request.levers = set.levers;
  const std::optional<int64_t> ssd[] = {int64_t(1) << 30, std::nullopt, int64_t(64) << 10};
  setting.request.budget[unsigned(plan::Tier::Ssd)] = ssd[seed % std::size(ssd)];
  solver::FitOptions &options = setting.request.options;
  options.orderRounds = 20, options.tradeEvaluations = 100, options.packPasses = 6, options.exactNodes = 50;
  options.jointRounds = options.jointRescues = 6, options.rungs = 4;
  options.alternatives = false;
  return setting;
}

std::unique_ptr<MLIRContext> contractContext() {
  auto context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<plan::PlanDialect>();
  return context;
}

FailureOr<PlannedPlan> PlannedPlan::make(MLIRContext &context, const PlanSetting &setting,
                                         ArrayRef<int> withoutAliases) {
  PlannedPlan made;
  made.random = makeRandomPlan(context, setting.seed, setting.style);
  if (failed(verify(*made.random.module)))
    return failure();
  auto program = *made.random.module->getOps<plan::ProgramOp>().begin();
  if (failed(plan::normalizeScalars(program)))
    return failure();
  FailureOr<plan::PlanProblem> problem = plan::extractProblem(program, setting.request);
  if (failed(problem))
    return failure();
  made.problem = std::move(*problem);
  if (!setting.style.large)
    streamSmallConstants(*made.problem);
  for (int alias : llvm::reverse(withoutAliases))
    made.problem->problem.aliases.erase(made.problem->problem.aliases.begin() + alias);
  return std::move(made);
}

NumericsClasses PlannedPlan::classesOf(const solver::Solution &solution) const {
  NumericsClasses classes;
  for (const solver::Action &action : solution.actions)
    if (action.kind == solver::ActionKind::Run)
      if (auto launch = dyn_cast<plan::LaunchOp>(problem->steps[action.step]);
          launch && launch.getCandidates().size() > 1)
        classes[launch.getSource().value_or("").str()] =
            problem->problem.steps[action.step].candidates[action.candidate].numerics;
  return classes;
}

FailureOr<plan::EncodedTable> PlannedPlan::encode(solver::Solution &solution, const std::string &folder,
                                                  std::string &weights) {
  plan::ModuleOp module = *random.module;
  plan::countTables(*problem, solution);
  if (failed(plan::applySolution(*problem, solution)) || failed(verify(module)) ||
      failed(plan::placeProgram(problem->program)) || failed(verify(module)))
    return failure();
  weights.clear();
  if (!module.getOps<plan::ConstantOp>().empty()) {
    weights = folder + "/model.weights";
    if (std::string error = writeConstants(module, weights); !error.empty())
      return module.emitOpError() << error;
  }
  return plan::encodeTable(module);
}

Bytes inputsOf(plan::ModuleOp module, unsigned seed) {
  Bytes inputs;
  auto program = *module.getOps<plan::ProgramOp>().begin();
  for (auto [value, attr] : llvm::zip_equal(program.getIOArguments(), program.getIos())) {
    auto io = cast<plan::IOAttr>(attr);
    if (!io.getOutput())
      inputs[io.getName().str()] =
          contentsOf((io.getName() + llvm::Twine(seed)).str(), cast<plan::BufferType>(value.getType()).getBytes());
  }
  const int32_t flag = int32_t(seed / 2 % 2);
  std::memcpy(inputs.at("flag").data(), &flag, sizeof flag);
  return inputs;
}

std::string differenceTo(const std::vector<Bytes> &want, const RunReport &report, bool allSteps) {
  if (!report.error.empty())
    return report.error;
  for (size_t run = 0; run < report.outputs.size(); ++run)
    for (const auto &[name, bytes] : report.outputs[run])
      if (const std::vector<char> &expected = want[run].at(name); bytes != expected)
        return "run " + std::to_string(run) + ": output " + name + " differs at byte " +
               std::to_string(std::mismatch(bytes.begin(), bytes.end(), expected.begin()).first - bytes.begin());
  if (report.allocations)
    return std::to_string(report.allocations) + " allocations while the session lived";
  const plim_usage &u = report.usage;
  for (int tier = 0; tier < PLIM_TIER_COUNT; ++tier) {
    auto differs = [&](uint64_t planned, uint64_t measured) {
      return allSteps ? planned != measured : planned < measured;
    };
    auto both = [](const char *what, uint64_t planned, uint64_t measured) {
      return std::string(what) + ": planned " + std::to_string(planned) + ", measured " + std::to_string(measured);
    };
    if (u.planned[tier] != u.reserved[tier])
      return both("reserved", u.planned[tier], u.reserved[tier]);
    if (differs(u.live_planned[tier], u.live[tier]))
      return both("live", u.live_planned[tier], u.live[tier]);
    if (differs(u.touched_planned[tier], u.touched[tier]))
      return both("touched", u.touched_planned[tier], u.touched[tier]);
  }
  return "";
}

} // namespace plim::test
