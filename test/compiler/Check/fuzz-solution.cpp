// libFuzzer target: a problem and a solution as one text, the solution from the line "solution 1" on. Each is read or
// refused with at least one error; what is read prints to text that reads the same; a sound problem's solution is
// judged. Needs no seeds: a sound plan of a random graph is where changes of lines and numbers start.
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/ProblemText.h"
#include "test/compiler/Check/RandomPlan.h"
#include "test/compiler/Solver/RandomGraph.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace plim;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

static std::string freshPlan(std::mt19937 &random) {
  const auto family = solver::kGraphFamilies[random() % std::size(solver::kGraphFamilies)];
  solver::Problem p = solver::randomGraph(family, 3 + int(random() % 12), random());
  check::allowTransfers(p);
  return solver::printProblem(p) + solver::printSolution(check::randomPlan(p, random()));
}

static std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t stop = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, stop - at));
    at = stop + 1;
  }
  return lines;
}

// Another number in the place of one of the line's.
static void changeNumber(std::string &line, std::mt19937 &random) {
  std::vector<size_t> starts;
  for (size_t k = 1; k < line.size(); ++k)
    if (isdigit(static_cast<unsigned char>(line[k])) && !isalnum(static_cast<unsigned char>(line[k - 1])))
      starts.push_back(k);
  if (starts.empty())
    return;
  const size_t from = starts[random() % starts.size()];
  const size_t to = std::min(line.find_first_not_of("0123456789", from), line.size());
  const long long old = atoll(line.substr(from, to - from).c_str());
  static constexpr long long kOthers[] = {0, -1, 1, 64, 4096, 1LL << 31, 1LL << 50, 1LL << 60, INT64_MAX, INT64_MIN};
  const unsigned dice = random() % 8;
  const long long value = dice < 2   ? old ^ 1
                          : dice < 4 ? old / 2
                          : dice < 6 ? (long long)(random() % 64)
                                     : kOthers[random() % std::size(kOthers)];
  line = line.substr(0, from) + std::to_string(value) + line.substr(to);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(reinterpret_cast<char *>(data), size);
  if (text.rfind("problem 1", 0) != 0 || random() % 64 == 0)
    text = freshPlan(random);
  else if (random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::vector<std::string> lines = linesOf(text);
  for (unsigned edits = random() % 4; edits > 0 && !lines.empty(); --edits) {
    const size_t at = random() % lines.size(), other = random() % lines.size();
    switch (random() % 8) {
    case 0:
      lines.erase(lines.begin() + long(at));
      break;
    case 1:
      lines.insert(lines.begin() + long(other), std::string(lines[at]));
      break;
    case 2:
      std::swap(lines[at], lines[other]);
      break;
    default:
      changeNumber(lines[at], random);
    }
  }
  text.clear();
  for (const std::string &line : lines)
    text += line + "\n";
  size = std::min(text.size(), maxSize);
  memcpy(data, text.data(), size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const size_t cut = std::min(text.find("solution 1"), size);
  std::vector<std::string> errors;
  const auto problem = solver::parseProblem(text.substr(0, cut), errors);
  if (problem.has_value() != errors.empty())
    abort();
  errors.clear();
  const auto solution = solver::parseSolution(text.substr(cut), errors);
  if (solution.has_value() != errors.empty())
    abort();
  errors.clear();
  if (problem) {
    const std::string printed = solver::printProblem(*problem);
    const auto again = solver::parseProblem(printed, errors);
    if (!again || solver::printProblem(*again) != printed)
      abort();
  }
  if (solution) {
    const std::string printed = solver::printSolution(*solution);
    const auto again = solver::parseSolution(printed, errors);
    if (!again || solver::printSolution(*again) != printed)
      abort();
  }
  if (problem && solution && solver::validate(*problem).empty())
    check::checkSolution(*problem, *solution);
  return 0;
}
