//===- ByteSize.cpp - Sizes as users type them -----------------------------------------------===//
#include "tools/options/ByteSize.h"
#include <cmath>

namespace plim {

std::string parseByteSize(std::string_view text, int64_t &bytes) {
  struct Unit {
    std::string_view name;
    double factor;
  };
  constexpr Unit units[] = {
      {"", 1},      {"B", 1},       {"KB", 1e3},       {"MB", 1e6},          {"GB", 1e9},
      {"TB", 1e12}, {"KiB", 1024.}, {"MiB", 1048576.}, {"GiB", 1073741824.}, {"TiB", 1099511627776.}};
  std::string wanted = "need a size such as 512MiB, 1.5GB or 4096, have '" + std::string(text) + "'";
  size_t at = 0;
  double value = 0, place = 1;
  bool digits = false, fraction = false;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (c == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9')
      break;
    digits = true;
    if (fraction)
      value += (c - '0') * (place /= 10);
    else
      value = value * 10 + (c - '0');
  }
  if (!digits)
    return wanted;
  std::string_view name = text.substr(at);
  while (!name.empty() && name.front() == ' ')
    name.remove_prefix(1);
  for (const Unit &u : units) {
    if (name != u.name)
      continue;
    double total = std::floor(value * u.factor + 1e-6);
    if (total >= 9007199254740992.) // beyond this a double no longer counts single bytes
      return "need a size below 8192 TiB, have '" + std::string(text) + "'";
    bytes = int64_t(total);
    return "";
  }
  return wanted + " (units: B KB MB GB TB KiB MiB GiB TiB)";
}

} // namespace plim
