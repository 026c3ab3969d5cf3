//===- Session.cpp - One call of plim-solve: its files and its output -------------------------===//
#include "tools/plim-solve/Session.h"
#include "absl/strings/str_replace.h"
#include "compiler/Solver/ProblemText.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace plim {

// What a disk moves in a second where the problem names no links.
static constexpr int64_t kReadBytesPerSecond = 1'200'000'000, kWriteBytesPerSecond = 900'000'000;

bool Session::read(const std::string &path, std::string &text) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  if (in && all << in.rdbuf()) {
    text = all.str();
    return true;
  }
  if (in && in.peek() == std::ifstream::traits_type::eof() && !in.bad()) // an empty file
    return true;
  faults(path, {std::string("cannot read: ") + std::strerror(errno ? errno : EIO)}, kEnvironment);
  return false;
}

int Session::write(const std::string &text) {
  auto path = values.find("-o");
  if (path == values.end())
    return kDone;
  return write(path->second, text);
}

int Session::write(const std::string &path, const std::string &text) {
  const std::string part = path + ".part";
  errno = 0;
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file || std::rename(part.c_str(), path.c_str()) != 0) {
    err << path << ": cannot write: " << std::strerror(errno ? errno : EIO) << "\n";
    std::remove(part.c_str());
    return kEnvironment;
  }
  return kDone;
}

int Session::faults(const std::string &path, const std::vector<std::string> &messages, int code) {
  if (json)
    out << Json{{"ok", false}, {"file", path}, {"errors", messages}}.dump(2) << "\n";
  for (const std::string &message : messages)
    err << path << ": " << message << "\n";
  return code;
}

int Session::usage(const std::string &message) {
  err << "plim-solve: " << message << "\nplim-solve --help says more\n";
  return kUsage;
}

std::string Session::apply(solver::Problem &problem) const {
  if (auto list = values.find("--levers"); list != values.end()) {
    std::vector<std::string> errors;
    const std::string line = list->second == "-" ? "" : absl::StrReplaceAll(list->second, {{",", " "}, {"\n", " "}});
    auto parsed = solver::parseProblem("problem 1\nlevers " + line + "\n", errors);
    if (!parsed)
      return "--levers: " + errors.front();
    problem.levers = parsed->levers;
  }
  if (auto ram = number("--ram"))
    problem.tiers[int(solver::Tier::Ram)].capacity = *ram;
  if (auto ssd = number("--ssd")) {
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

std::optional<solver::Problem> Session::problem(int &code) {
  std::string text;
  code = kEnvironment;
  if (!read(files[0], text))
    return std::nullopt;
  std::vector<std::string> errors;
  auto result = solver::parseProblem(text, errors);
  if (result)
    errors = solver::validate(*result);
  if (!errors.empty()) {
    code = faults(files[0], errors, kBadInput);
    return std::nullopt;
  }
  if (std::string wrong = apply(*result); !wrong.empty()) {
    code = usage(wrong);
    return std::nullopt;
  }
  return result;
}

Json tiersJson(const std::array<int64_t, solver::kTierCount> &values) {
  Json object = Json::object();
  for (int t = 0; t < solver::kTierCount; ++t)
    object[solver::tierName(solver::Tier(t))] = values[t];
  return object;
}

} // namespace plim
