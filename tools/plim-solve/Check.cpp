//===- Check.cpp - plim-solve check -----------------------------------------------------------===//
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/ProblemText.h"
#include "tools/plim-solve/Session.h"

namespace plim {

int runCheck(Session &session) {
  int code = kDone;
  auto problem = session.problem(code);
  if (!problem)
    return code;
  std::string text;
  if (!session.read(session.files[1], text))
    return kEnvironment;
  std::vector<std::string> errors;
  auto solution = solver::parseSolution(text, errors);
  if (!solution)
    return session.faults(session.files[1], errors, kBadInput);
  errors = check::checkSolution(*problem, *solution, check::IgnoreCapacity::Yes);
  if (!errors.empty())
    return session.faults(session.files[1], errors, kBadInput);
  errors = check::checkSolution(*problem, *solution);
  if (!errors.empty())
    return session.faults(session.files[1], errors, kOverBudget);
  if (session.json)
    session.out << Json{{"ok", true}, {"peak", tiersJson(solution->peak)}}.dump(2) << "\n";
  else
    session.out << "sound: peak " << solution->peak[0] << " bytes of ram\n";
  return kDone;
}

} // namespace plim
