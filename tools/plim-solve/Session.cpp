//===- Session.cpp - One call of plim-solve: its files and its output -------------------------===//
#include "tools/plim-solve/Session.h"
#include "compiler/Solver/ProblemText.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace plim {

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
  err << path << ": cannot read: " << std::strerror(errno ? errno : EIO) << "\n";
  return false;
}

int Session::write(const std::string &text) {
  auto path = values.find("-o");
  if (path == values.end())
    return kDone;
  const std::string part = path->second + ".part";
  errno = 0;
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file || std::rename(part.c_str(), path->second.c_str()) != 0) {
    err << path->second << ": cannot write: " << std::strerror(errno ? errno : EIO) << "\n";
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

std::optional<solver::Problem> Session::problem(int &code) {
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

Json tiersJson(const std::array<int64_t, solver::kTierCount> &values) {
  Json object = Json::object();
  for (int t = 0; t < solver::kTierCount; ++t)
    object[solver::tierName(solver::Tier(t))] = values[t];
  return object;
}

} // namespace plim
