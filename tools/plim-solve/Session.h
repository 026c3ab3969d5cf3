//===- Session.h - One call of plim-solve: its arguments, its files, its output ---------------===//
#ifndef PLIM_TOOLS_PLIMSOLVE_SESSION_H
#define PLIM_TOOLS_PLIMSOLVE_SESSION_H

#include "compiler/Solver/Problem.h"
#include "tools/plim-solve/Command.h"
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace plim {

using Json = nlohmann::ordered_json;

struct Session {
  std::ostream &out, &err;
  bool json = false;
  std::vector<std::string> files{};
  std::set<std::string> flags{};                       // options without a value
  std::map<std::string, std::string> values{};         // of options, as typed
  std::map<std::string, int64_t> numbers{};            // of options that take a size or a number
  std::map<std::string, std::vector<int64_t>> lists{}; // of options that take several sizes

  std::optional<int64_t> number(const std::string &option) const {
    auto it = numbers.find(option);
    return it == numbers.end() ? std::nullopt : std::optional(it->second);
  }

  // Reports what is wrong with a file. False: it cannot be read.
  bool read(const std::string &path, std::string &text);
  // To the file of -o where there is one, all or nothing: what cannot be written in full is not left behind.
  int write(const std::string &text);
  int write(const std::string &path, const std::string &text);
  int faults(const std::string &path, const std::vector<std::string> &messages, int code);
  int usage(const std::string &message);
  // The sound problem of the first file, with --levers, --ram (where it is one budget) and --ssd in place of its own;
  // else what is wrong has been reported and `code` is the exit code.
  std::optional<solver::Problem> problem(int &code);

private:
  // Takes the options into the problem; what is wrong with them, or "".
  std::string apply(solver::Problem &problem) const;
};

Json tiersJson(const std::array<int64_t, solver::kTierCount> &values);

// The commands, each in a file of its own. They return the exit code.
int runPack(Session &session);
int runFit(Session &session);
int runCurve(Session &session);
int runCheck(Session &session);
int runGenerate(Session &session);
int runBound(Session &session);

} // namespace plim

#endif // PLIM_TOOLS_PLIMSOLVE_SESSION_H
