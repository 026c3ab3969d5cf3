//===- Command.h - The command line of plim-solve ---------------------------------------------===//
#ifndef PLIM_TOOLS_PLIMSOLVE_COMMAND_H
#define PLIM_TOOLS_PLIMSOLVE_COMMAND_H

#include <ostream>
#include <string>
#include <vector>

namespace plim {

// Exit codes, as all tools have them.
enum ExitCode { kDone = 0, kUsage = 1, kBadInput = 2, kOverBudget = 3, kEnvironment = 4 };

// Runs plim-solve with these arguments (the program's name left out).
int runPlimSolve(const std::vector<std::string> &args, std::ostream &out, std::ostream &err);

} // namespace plim

#endif // PLIM_TOOLS_PLIMSOLVE_COMMAND_H
