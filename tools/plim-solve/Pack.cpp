//===- Pack.cpp - plim-solve pack -------------------------------------------------------------===//
#include "compiler/Solver/Packing/Packing.h"
#include "tools/plim-solve/Session.h"
#include <iomanip>

namespace plim {

int runPack(Session &session) {
  std::string text;
  if (!session.read(session.files[0], text))
    return kEnvironment;
  std::vector<std::string> errors;
  auto instance = solver::parseCsv(text, errors);
  if (!instance)
    return session.faults(session.files[0], errors, kBadInput);
  const int64_t capacity = session.number("--capacity").value_or(-1);
  solver::PackOptions options;
  options.capacity = capacity;
  if (capacity >= 0)
    options.exactNodes = 1'000'000;
  solver::PackReport report = solver::pack(instance->items, options);
  const double ratio = report.maxLive > 0 ? double(report.height) / double(report.maxLive) : 1;
  const bool fits = capacity < 0 || report.height <= capacity;
  if (session.json)
    session.out << Json{{"ok", fits},
                        {"buffers", instance->items.size()},
                        {"height", report.height},
                        {"max_live", report.maxLive},
                        {"ratio", ratio}}
                       .dump(2)
                << "\n";
  else
    session.out << "height " << report.height << ", largest sum alive " << report.maxLive << ", ratio " << std::fixed
                << std::setprecision(5) << ratio << "\n";
  if (!fits) {
    session.err << session.files[0] << ": no packing found: need " << report.height << " bytes, have " << capacity
                << (report.maxLive > capacity ? "; what is alive at one time needs " + std::to_string(report.maxLive)
                                              : "")
                << "\n";
    return kOverBudget;
  }
  return session.write(solver::printCsv(*instance));
}

} // namespace plim
