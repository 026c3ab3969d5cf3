//===- EnvironmentCount.h - How many of a test, where the environment says so --------------------===//
#ifndef PLIM_TEST_ENVIRONMENTCOUNT_H
#define PLIM_TEST_ENVIRONMENTCOUNT_H

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace plim::test {

/// The variable's number, or `otherwise` where it is not set. Tests are made of it before any runs and could fail, so
/// text that is no number ends the program.
inline int environmentCount(const char *variable, int otherwise) {
  const char *given = std::getenv(variable);
  if (!given)
    return otherwise;
  const std::string_view text = given;
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && end == text.data() + text.size() && count > 0)
    return count;
  std::fprintf(stderr, "%s: need a number from 1 on, have '%s'\n", variable, given);
  std::exit(1);
}

} // namespace plim::test

#endif
