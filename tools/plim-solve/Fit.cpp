//===- Fit.cpp - plim-solve fit, curve and bound ----------------------------------------------===//
#include "compiler/Solver/Fit.h"
#include "absl/strings/str_replace.h"
#include "compiler/Solver/Bound/Bound.h"
#include "compiler/Solver/ProblemText.h"
#include "tools/plim-solve/Session.h"
#include <iomanip>

namespace plim {
namespace {

// What a disk moves in a second where the problem names no links.
constexpr int64_t kReadBytesPerSecond = 1'200'000'000, kWriteBytesPerSecond = 900'000'000;

// Takes --levers, --ram and --ssd into the problem. Returns what is wrong.
std::string applyOptions(const Session &session, solver::Problem &problem) {
  if (auto list = session.values.find("--levers"); list != session.values.end()) {
    std::vector<std::string> errors;
    const std::string line = list->second == "-" ? "" : absl::StrReplaceAll(list->second, {{",", " "}, {"\n", " "}});
    auto parsed = solver::parseProblem("problem 1\nlevers " + line + "\n", errors);
    if (!parsed)
      return "--levers: " + errors.front();
    problem.levers = parsed->levers;
  }
  if (auto ram = session.number("--ram"))
    problem.tiers[int(solver::Tier::Ram)].capacity = *ram;
  if (auto ssd = session.number("--ssd")) {
    problem.tiers[int(solver::Tier::Ssd)].capacity = *ssd;
    problem.levers.spill = true;
  }
  const bool reads = problem.levers.spill || problem.levers.stream;
  if (reads && !problem.link(solver::Tier::Ssd, solver::Tier::Ram))
    problem.links.push_back({solver::Tier::Ssd, solver::Tier::Ram, kReadBytesPerSecond, 0});
  if (problem.levers.spill && !problem.link(solver::Tier::Ram, solver::Tier::Ssd))
    problem.links.push_back({solver::Tier::Ram, solver::Tier::Ssd, kWriteBytesPerSecond, 0});
  return "";
}

// The problem with the options taken in; else the exit code in `code`.
std::optional<solver::Problem> plannable(Session &session, int &code) {
  auto problem = session.problem(code);
  if (!problem)
    return problem;
  if (std::string wrong = applyOptions(session, *problem); !wrong.empty()) {
    code = session.usage(wrong);
    return std::nullopt;
  }
  if (auto errors = solver::unplannable(*problem); !errors.empty()) {
    code = session.faults(session.files[0], errors, kBadInput);
    return std::nullopt;
  }
  return problem;
}

int refuse(Session &session, const solver::Refusal &r) {
  if (session.json) {
    Json live = Json::array(), alternatives = Json::array(), levers = Json::array();
    for (const solver::LiveBuffer &b : r.live)
      live.push_back({{"name", b.name}, {"source", b.source}, {"bytes", b.bytes}});
    for (const solver::Alternative &a : r.alternatives)
      alternatives.push_back({{"label", a.label}, {"need", a.need}, {"barred_by", a.barredBy}});
    for (const solver::LeverPrice &l : r.levers)
      levers.push_back({{"lever", l.lever}, {"flag", l.flag}, {"on", l.on}, {"need", l.need}});
    session.out << Json{{"ok", false},
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
                        {"levers", levers}}
                       .dump(2)
                << "\n";
  }
  session.err << session.files[0] << ": " << r.message();
  return kOverBudget;
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

} // namespace

int runFit(Session &session) {
  int code = kDone;
  auto problem = plannable(session, code);
  if (!problem)
    return code;
  solver::FitOptions options;
  options.quick = session.flags.count("--quick") > 0;
  if (session.flags.count("--progress"))
    options.progress = [&](const std::string &line) { session.err << "plim-solve: " << line << std::endl; };
  const solver::FitResult result = solver::fitBudget(*problem, options);
  if (result.refusal)
    return refuse(session, *result.refusal);
  const solver::Solution &s = *result.solution;
  const Extras extras(s);
  if (session.json) {
    session.out << Json{{"ok", true},
                        {"ns", s.ns},
                        {"peak", tiersJson(s.peak)},
                        {"arena", tiersJson(s.arena)},
                        {"live", tiersJson(s.live)},
                        {"recomputed", extras.recomputed},
                        {"moves", extras.moves},
                        {"written", extras.written},
                        {"read", extras.read}}
                       .dump(2)
                << "\n";
  } else {
    session.out << "peak " << s.peak[0] << " bytes of ram: arena " << s.arena[0] << " (largest sum alive " << s.live[0]
                << "), constants " << s.constants[0] << ", states " << s.states[0] << ", inputs and outputs "
                << s.caller[0] << ", fixed " << s.fixed[0] << "\n";
    if (s.peak[int(solver::Tier::Ssd)] > 0)
      session.out << "peak " << s.peak[int(solver::Tier::Ssd)] << " bytes of ssd\n";
    if (extras.recomputed + extras.moves + extras.written + extras.read > 0)
      session.out << extras.recomputed << " steps run again, " << extras.written << " values written to the ssd, "
                  << extras.read << " read from it, " << extras.moves << " moved\n";
    session.out << "predicted " << s.ns << " ns\n";
  }
  return session.write(solver::printSolution(s));
}

int runCurve(Session &session) {
  int code = kDone;
  auto problem = plannable(session, code);
  if (!problem)
    return code;
  const std::vector<solver::CurvePoint> points = solver::Ladder(*problem).curve();
  if (session.json) {
    Json list = Json::array();
    for (const solver::CurvePoint &p : points)
      list.push_back({{"ram", p.ram}, {"ssd", p.ssd}, {"ns", p.ns}});
    session.out << Json{{"ok", true}, {"points", list}}.dump(2) << "\n";
    return kDone;
  }
  session.out << std::setw(16) << "ram bytes" << std::setw(16) << "ssd bytes" << std::setw(16) << "predicted ns"
              << "\n";
  for (const solver::CurvePoint &p : points)
    session.out << std::setw(16) << p.ram << std::setw(16) << p.ssd << std::setw(16) << p.ns << "\n";
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
