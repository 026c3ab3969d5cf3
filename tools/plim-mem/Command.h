//===- Command.h - The command line of plim-mem -------------------------------------------------===//
#ifndef PLIM_TOOLS_PLIMMEM_COMMAND_H
#define PLIM_TOOLS_PLIMMEM_COMMAND_H

#include <ostream>
#include <string>
#include <vector>

namespace plim {

// Runs plim-mem with these arguments (the program's name left out). Exit codes as all tools have them: 0 done, 1 usage,
// 2 a file is malformed, 4 the system refuses something.
int runPlimMem(const std::vector<std::string> &args, std::ostream &out, std::ostream &err);

} // namespace plim

#endif // PLIM_TOOLS_PLIMMEM_COMMAND_H
