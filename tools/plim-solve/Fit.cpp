//===- Fit.cpp - plim-solve fit, curve and bound ----------------------------------------------===//
#include "compiler/Solver/Fit.h"
#include "compiler/Solver/Bound/Bound.h"
#include "compiler/Solver/ProblemText.h"
#include "tools/plim-solve/Session.h"
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <unistd.h>

namespace plim {
namespace {

// The problem with the options taken in; else the exit code in `code`.
std::optional<solver::Problem> plannable(Session &session, int &code) {
  auto problem = session.problem(code);
  if (!problem)
    return problem;
  if (auto errors = solver::unplannable(*problem); !errors.empty()) {
    code = session.faults(session.files[0], errors, kBadInput);
    return std::nullopt;
  }
  return problem;
}

Json refusalJson(const solver::Refusal &r) {
  Json live = Json::array(), alternatives = Json::array(), levers = Json::array();
  for (const solver::LiveBuffer &b : r.live)
    live.push_back({{"name", b.name}, {"source", b.source}, {"bytes", b.bytes}});
  for (const solver::Alternative &a : r.alternatives)
    alternatives.push_back({{"label", a.label}, {"need", a.need}, {"barred_by", a.barredBy}});
  for (const solver::LeverPrice &l : r.levers)
    levers.push_back({{"lever", l.lever}, {"flag", l.flag}, {"on", l.on}, {"need", l.need}});
  return {{"ok", false},
          {"tier", solver::tierName(r.tier)},
          {"need", r.need},
          {"have", r.have},
          {"bound", r.bound},
          {"proved", r.proved},
          {"proof", r.proof},
          {"peak_step", r.peakStep},
          {"peak_source", r.peakSource},
          {"live", live},
          {"alternatives", alternatives},
          {"levers", levers}};
}

// How often the plan does more than run each step once.
struct Extras {
  int64_t recomputed = 0, moves = 0, written = 0, read = 0; // runs, copies in the ram, copies to and from the ssd
  explicit Extras(const solver::Solution &plan) {
    for (const solver::Action &a : plan.actions) {
      recomputed += a.instance > 0;
      if (a.kind == solver::ActionKind::Copy)
        ++(a.queue == solver::Queue::Cpu ? moves : a.queue == solver::Queue::Write ? written : read);
    }
  }
};

Json planJson(const solver::Solution &plan) {
  const Extras extras(plan);
  return {{"ok", true},
          {"ns", plan.ns},
          {"peak", tiersJson(plan.peak)},
          {"arena", tiersJson(plan.arena)},
          {"live", tiersJson(plan.live)},
          {"recomputed", extras.recomputed},
          {"moves", extras.moves},
          {"written", extras.written},
          {"read", extras.read}};
}

void printPlan(std::ostream &out, const solver::Solution &s) {
  const Extras extras(s);
  out << "peak " << s.peak[0] << " bytes of ram: arena " << s.arena[0] << " (largest sum alive " << s.live[0]
      << "), constants " << s.constants[0] << ", states " << s.states[0] << ", inputs and outputs " << s.caller[0]
      << ", fixed " << s.fixed[0] << "\n";
  if (s.peak[int(solver::Tier::Ssd)] > 0)
    out << "peak " << s.peak[int(solver::Tier::Ssd)] << " bytes of ssd\n";
  if (extras.recomputed + extras.moves + extras.written + extras.read > 0)
    out << extras.recomputed << " steps run again, " << extras.written << " values written to the ssd, " << extras.read
        << " read from it, " << extras.moves << " moved\n";
  out << "predicted " << s.ns << " ns\n";
}

std::ostream &column(std::ostream &out) { return out << std::setw(16); }

// Several budgets: a line each, and a file each in the folder of -o.
int reportAll(Session &session, const std::vector<int64_t> &budgets, const std::vector<solver::FitResult> &results) {
  const auto folder = session.values.find("-o");
  if (folder != session.values.end()) {
    std::error_code error;
    std::filesystem::create_directories(folder->second, error); // what it cannot make, no file can be written into
  }
  Json list = Json::array();
  int code = kDone;
  if (!session.json)
    session.out << column << "budget" << column << "ram bytes" << column << "ssd bytes" << column << "predicted ns"
                << "\n";
  for (size_t k = 0; k < budgets.size(); ++k) {
    const solver::FitResult &result = results[k];
    Json row = result.solution ? planJson(*result.solution) : refusalJson(*result.refusal);
    row["budget"] = budgets[k];
    list.push_back(std::move(row));
    if (!session.json)
      session.out << column << budgets[k];
    if (result.refusal) {
      code = kOverBudget;
      if (!session.json)
        session.out << "  refused: need " << result.refusal->need << " bytes of "
                    << solver::tierName(result.refusal->tier) << (result.refusal->proved ? ", proved\n" : "\n");
      continue;
    }
    const solver::Solution &plan = *result.solution;
    if (!session.json)
      session.out << column << plan.peak[0] << column << plan.peak[int(solver::Tier::Ssd)] << column << plan.ns << "\n";
    if (folder == session.values.end())
      continue;
    const std::string path = folder->second + "/" + std::to_string(budgets[k]) + ".solution";
    if (int failed = session.write(path, solver::printSolution(plan)))
      return failed;
  }
  if (session.json)
    session.out << Json{{"ok", code == kDone}, {"budgets", list}}.dump(2) << "\n";
  return code;
}

} // namespace

int runFit(Session &session) {
  int code = kDone;
  auto problem = plannable(session, code);
  if (!problem)
    return code;
  solver::FitOptions options;
  options.quick = session.flags.count("--quick") > 0;
  const bool terminal = &session.err == &std::cerr && isatty(STDERR_FILENO);
  if (terminal || session.flags.count("--progress"))
    options.progress = [&](const std::string &line) { session.err << "plim-solve: " << line << '\n' << std::flush; };
  if (auto ram = session.lists.find("--ram"); ram != session.lists.end() && ram->second.size() > 1) {
    options.alternatives = false;
    return reportAll(session, ram->second, solver::fitBudgets(*problem, ram->second, options));
  }
  const solver::FitResult result = solver::fitBudget(*problem, options);
  if (session.json)
    session.out << (result.solution ? planJson(*result.solution) : refusalJson(*result.refusal)).dump(2) << "\n";
  if (result.refusal) {
    session.err << session.files[0] << ": " << result.refusal->message();
    return kOverBudget;
  }
  if (!session.json)
    printPlan(session.out, *result.solution);
  return session.write(solver::printSolution(*result.solution));
}

int runCurve(Session &session) {
  int code = kDone;
  auto problem = plannable(session, code);
  if (!problem)
    return code;
  solver::Ladder ladder(*problem);
  const std::vector<solver::CurvePoint> points = ladder.curve();
  if (session.json) {
    Json list = Json::array();
    for (const auto &[budget, plan] : points)
      list.push_back(
          {{"budget", budget}, {"ram", plan->peak[0]}, {"ssd", plan->peak[int(solver::Tier::Ssd)]}, {"ns", plan->ns}});
    session.out << Json{{"ok", true}, {"points", list}}.dump(2) << "\n";
    return kDone;
  }
  session.out << column << "budget" << column << "ram bytes" << column << "ssd bytes" << column << "predicted ns"
              << "\n";
  for (const auto &[budget, plan] : points)
    session.out << column << budget << column << plan->peak[0] << column << plan->peak[int(solver::Tier::Ssd)] << column
                << plan->ns << "\n";
  return kDone;
}

int runBound(Session &session) {
  int code = kDone;
  auto problem = plannable(session, code);
  if (!problem)
    return code;
  const solver::LeastBytes least = solver::leastBytes(*problem);
  if (session.json)
    session.out << Json{{"ok", true}, {"ram", least.bytes}, {"why", solver::explain(*problem, least)}}.dump(2) << "\n";
  else
    session.out << solver::explain(*problem, least) << "\n";
  return kDone;
}

} // namespace plim
