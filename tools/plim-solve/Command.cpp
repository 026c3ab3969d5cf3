//===- Command.cpp - The command line of plim-solve -------------------------------------------===//
#include "tools/plim-solve/Command.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Fit.h"
#include "compiler/Solver/Packing/Packing.h"
#include "compiler/Solver/ProblemText.h"
#include "tools/options/ByteSize.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace plim {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kHelp = R"(plim-solve: parts of the memory planner on instance files

usage:
  plim-solve pack FILE.csv [--capacity SIZE] [-o OUT.csv] [--json]
      Offsets for buffers with fixed lives (id,lower,upper,size; half-open [lower, upper)). With a capacity the search
      aims at it; else at the largest sum alive at one time, below which there is no packing.
  plim-solve fit PROBLEM [--ram SIZE] [-o SOLUTION] [--json]
      The fastest plan found that fits, or what would fit. --ram replaces the budget that the problem states.
  plim-solve check PROBLEM SOLUTION [--json]
      Whether the solution is sound for the problem and within its budgets; by code that the planner does not use.

Sizes are bytes, or have a unit: KB MB GB TB (powers of 1000), KiB MiB GiB TiB (powers of 1024).
Formats: docs/reference/problem-format.md.
Exit codes: 0 done, 1 usage, 2 a file is malformed or unsound, 3 over the budget, 4 a file cannot be read or written.
)";

class Command {
public:
  Command(std::ostream &out, std::ostream &err) : out(out), err(err) {}

  int run(const std::vector<std::string> &args) {
    if (args.empty())
      return usage("need a command: pack, fit or check");
    for (const std::string &arg : args)
      if (arg == "--help" || arg == "-h") {
        out << kHelp;
        return kDone;
      }
    static const std::map<std::string, std::pair<size_t, std::vector<std::string>>> commands = {
        {"pack", {1, {"--capacity", "-o"}}}, {"fit", {1, {"--ram", "-o"}}}, {"check", {2, {}}}};
    auto command = commands.find(args[0]);
    if (command == commands.end())
      return usage("need a command: pack, fit or check, have '" + args[0] + "'");
    const auto &[fileCount, valued] = command->second;
    for (size_t k = 1; k < args.size(); ++k) {
      const std::string &arg = args[k];
      if (arg == "--json") {
        json = true;
      } else if (std::find(valued.begin(), valued.end(), arg) != valued.end()) {
        if (++k == args.size())
          return usage("need a value after " + arg);
        values[arg] = args[k];
      } else if (arg.size() > 1 && arg[0] == '-') {
        return usage("'" + args[0] + "' has no option '" + arg + "'");
      } else {
        files.push_back(arg);
      }
    }
    if (files.size() != fileCount)
      return usage("'" + args[0] + "' needs " + std::to_string(fileCount) + " file(s), have " +
                   std::to_string(files.size()));
    for (const char *size : {"--capacity", "--ram"})
      if (values.count(size))
        if (std::string wrong = parseByteSize(values[size], bytes); !wrong.empty())
          return usage(std::string(size) + ": " + wrong);
    return args[0] == "pack" ? pack() : args[0] == "fit" ? fit() : check();
  }

private:
  std::ostream &out, &err;
  bool json = false;
  std::map<std::string, std::string> values;
  std::vector<std::string> files;
  int64_t bytes = -1; // of --capacity or --ram

  int usage(const std::string &message) {
    err << "plim-solve: " << message << "\nplim-solve --help says more\n";
    return kUsage;
  }

  bool read(const std::string &path, std::string &text) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream all;
    if (in && all << in.rdbuf()) {
      text = all.str();
      return true;
    }
    if (in && in.peek() == std::ifstream::traits_type::eof() && !in.bad()) // an empty file
      return true;
    err << path << ": cannot read: " << std::strerror(errno ? errno : EIO) << "\n";
    return false;
  }

  // All or nothing: a file that cannot be written in full is not left behind.
  int write(const std::string &text) {
    auto path = values.find("-o");
    if (path == values.end())
      return kDone;
    const std::string part = path->second + ".part";
    std::ofstream file(part, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file || std::rename(part.c_str(), path->second.c_str()) != 0) {
      err << path->second << ": cannot write: " << std::strerror(errno) << "\n";
      std::remove(part.c_str());
      return kEnvironment;
    }
    return kDone;
  }

  int faults(const std::string &path, const std::vector<std::string> &messages, int code) {
    if (json)
      out << Json{{"ok", false}, {"file", path}, {"errors", messages}}.dump(2) << "\n";
    for (const std::string &message : messages)
      err << path << ": " << message << "\n";
    return code;
  }

  int pack() {
    std::string text;
    if (!read(files[0], text))
      return kEnvironment;
    std::vector<std::string> errors;
    auto instance = solver::parseCsv(text, errors);
    if (!instance)
      return faults(files[0], errors, kBadInput);
    solver::PackOptions options;
    options.capacity = bytes;
    if (bytes >= 0)
      options.exactNodes = 1'000'000;
    solver::PackReport report = solver::pack(instance->items, options);
    const double ratio = report.maxLive > 0 ? double(report.height) / double(report.maxLive) : 1;
    const bool fits = bytes < 0 || report.height <= bytes;
    if (json)
      out << Json{{"ok", fits},
                  {"buffers", instance->items.size()},
                  {"height", report.height},
                  {"max_live", report.maxLive},
                  {"ratio", ratio}}
                 .dump(2)
          << "\n";
    else
      out << "height " << report.height << ", largest sum alive " << report.maxLive << ", ratio " << std::fixed
          << std::setprecision(5) << ratio << "\n";
    if (!fits) {
      err << files[0] << ": no packing found: need " << report.height << " bytes, have " << bytes
          << (report.maxLive > bytes ? "; what is alive at one time needs " + std::to_string(report.maxLive) : "")
          << "\n";
      return kOverBudget;
    }
    return write(solver::printCsv(*instance));
  }

  // A sound problem, or the exit code in `code`.
  std::optional<solver::Problem> problem(int &code) {
    std::string text;
    code = kEnvironment;
    if (!read(files[0], text))
      return std::nullopt;
    std::vector<std::string> errors;
    auto result = solver::parseProblem(text, errors);
    if (result)
      errors = solver::validate(*result);
    if (errors.empty())
      return result;
    code = faults(files[0], errors, kBadInput);
    return std::nullopt;
  }

  static Json tiers(const std::array<int64_t, solver::kTierCount> &values) {
    Json object = Json::object();
    for (int t = 0; t < solver::kTierCount; ++t)
      object[solver::tierName(solver::Tier(t))] = values[t];
    return object;
  }

  int fit() {
    int code = kDone;
    auto p = problem(code);
    if (!p)
      return code;
    if (auto errors = solver::unplannable(*p); !errors.empty())
      return faults(files[0], errors, kBadInput);
    if (bytes >= 0)
      p->tiers[0].capacity = bytes;
    solver::FitResult result = solver::fitBudget(*p);
    if (result.refusal || !result.solution)
      return refuse(result.refusal.value_or(solver::Refusal()));
    const solver::Solution &s = *result.solution;
    if (json)
      out << Json{{"ok", true},
                  {"ns", s.ns},
                  {"peak", tiers(s.peak)},
                  {"arena", tiers(s.arena)},
                  {"live", tiers(s.live)}}
                 .dump(2)
          << "\n";
    else
      out << "peak " << s.peak[0] << " bytes of ram: arena " << s.arena[0] << " (largest sum alive " << s.live[0]
          << "), constants " << s.constants[0] << ", states " << s.states[0] << ", inputs and outputs " << s.caller[0]
          << ", fixed " << s.fixed[0] << "\npredicted " << s.ns << " ns\n";
    return write(solver::printSolution(s));
  }

  int refuse(const solver::Refusal &r) {
    if (json) {
      Json live = Json::array(), alternatives = Json::array();
      for (const solver::LiveBuffer &b : r.live)
        live.push_back({{"name", b.name}, {"source", b.source}, {"bytes", b.bytes}});
      for (const solver::Alternative &a : r.alternatives)
        alternatives.push_back({{"label", a.label}, {"need", a.need}, {"barred_by", a.barredBy}});
      out << Json{{"ok", false},    {"tier", solver::tierName(r.tier)}, {"need", r.need},
                  {"have", r.have}, {"peak_step", r.peakStep},          {"peak_source", r.peakSource},
                  {"live", live},   {"alternatives", alternatives}}
                 .dump(2)
          << "\n";
    }
    err << files[0] << ": " << r.message();
    return kOverBudget;
  }

  int check() {
    int code = kDone;
    auto p = problem(code);
    if (!p)
      return code;
    std::string text;
    if (!read(files[1], text))
      return kEnvironment;
    std::vector<std::string> errors;
    auto solution = solver::parseSolution(text, errors);
    if (!solution)
      return faults(files[1], errors, kBadInput);
    errors = check::checkSolution(*p, *solution, check::IgnoreCapacity::Yes);
    if (!errors.empty())
      return faults(files[1], errors, kBadInput);
    errors = check::checkSolution(*p, *solution);
    if (!errors.empty())
      return faults(files[1], errors, kOverBudget);
    if (json)
      out << Json{{"ok", true}, {"peak", tiers(solution->peak)}}.dump(2) << "\n";
    else
      out << "sound: peak " << solution->peak[0] << " bytes of ram\n";
    return kDone;
  }
};

} // namespace

int runPlimSolve(const std::vector<std::string> &args, std::ostream &out, std::ostream &err) {
  return Command(out, err).run(args);
}

} // namespace plim
