//===- Generate.cpp - plim-solve generate -----------------------------------------------------===//
#include "compiler/Solver/Generate/Generate.h"
#include "compiler/Solver/ProblemText.h"
#include "tools/plim-solve/Session.h"

namespace plim {

int runGenerate(Session &session) {
  solver::GenerateOptions options;
  auto shape = session.values.find("--shape");
  if (shape == session.values.end())
    return session.usage("'generate' needs --shape gpt, resnet, unet, layered or stream");
  auto known = solver::graphShapeNamed(shape->second);
  if (!known)
    return session.usage("--shape: need gpt, resnet, unet, layered or stream, have '" + shape->second + "'");
  options.shape = *known;
  options.ops = int(session.number("--ops").value_or(options.ops));
  options.seed = uint64_t(session.number("--seed").value_or(int64_t(options.seed)));
  options.readBytesPerSecond = session.number("--read").value_or(0);
  options.writeBytesPerSecond = session.number("--write").value_or(0);
  const solver::Problem problem = solver::generateProblem(options);
  const std::string text = solver::printProblem(problem);
  if (!session.values.count("-o")) {
    session.out << text;
    return kDone;
  }
  if (session.json)
    session.out << Json{{"ok", true}, {"steps", problem.steps.size()}, {"buffers", problem.buffers.size()}}.dump(2)
                << "\n";
  else
    session.out << problem.steps.size() << " steps, " << problem.buffers.size() << " buffers\n";
  return session.write(text);
}

} // namespace plim
