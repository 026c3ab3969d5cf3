//===- PlanStore.cpp - Plans that a search has found, kept for the next one -------------------===//
#include "compiler/Solver/PlanStore.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/DraftRungs.h"
#include "compiler/Solver/ProblemText.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plim::solver {
namespace {

constexpr char kMagic[] = "plim-plans 1 ", kHash[] = "hash ";

std::string hashOf(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return absl::StrFormat("%016x%016x", hash.high64, hash.low64);
}

std::string callText(const std::string &call, const PlanStore::TierBytes &capacity) {
  return absl::StrCat(call, " ", absl::StrJoin(capacity, ","));
}

// The line at the start of `text`, which loses it; nothing where no line ends.
std::optional<std::string_view> takeLine(std::string_view &text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos)
    return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

} // namespace

std::string PlanStore::keyOf(const Problem &problem, const Draft &start, const FitOptions &options) {
  Problem any = problem;
  any.tiers[int(Tier::Ram)].capacity = kUnbounded;
  const std::string limits =
      absl::StrJoin({int64_t(options.packPasses), options.exactNodes, int64_t(options.jointRounds),
                     int64_t(options.jointRescues), int64_t(options.quick)},
                    ",");
  return hashOf(absl::StrCat(printProblem(any), "limits ", limits, "\nstart ", absl::StrJoin(start.order, ","), " ",
                             absl::StrJoin(start.candidates, ","), " ", absl::StrJoin(start.choices, ","), " ",
                             absl::StrJoin(std::vector<int>(start.refused.begin(), start.refused.end()), ",")));
}

std::optional<std::optional<Solution>> PlanStore::find(const Problem &problem, const std::string &key,
                                                       const std::string &call, const TierBytes &capacity) {
  const auto plans = problems.find(key);
  if (plans == problems.end())
    return std::nullopt;
  plans->second.used = true;
  const auto at = plans->second.calls.find(callText(call, capacity));
  if (at == plans->second.calls.end())
    return std::nullopt;
  if (at->second.empty())
    return std::optional<Solution>();
  std::vector<std::string> errors;
  std::optional<Solution> plan = parseSolution(at->second, errors);
  if (!plan || !within(plan->peak, capacity) ||
      !check::checkSolution(problem, *plan, check::IgnoreCapacity::Yes).empty())
    return std::nullopt;
  return plan;
}

void PlanStore::add(const std::string &key, const std::string &call, const TierBytes &capacity,
                    const std::optional<Solution> &plan) {
  Plans &plans = problems[key];
  plans.used = true;
  plans.calls[callText(call, capacity)] = plan ? printSolution(*plan) : "";
}

bool PlanStore::parse(std::string_view text) {
  const size_t last = text.rfind(kHash);
  if (last == std::string_view::npos || last == 0 || text[last - 1] != '\n' ||
      text.substr(last) != absl::StrCat(kHash, hashOf(text.substr(0, last)), "\n"))
    return false;
  text = text.substr(0, last);
  if (takeLine(text) != absl::StrCat(kMagic, identity))
    return false;
  std::map<std::string, Plans> taken;
  Plans *plans = nullptr;
  while (!text.empty()) {
    const std::optional<std::string_view> line = takeLine(text);
    const std::vector<std::string> words = absl::StrSplit(std::string(line.value_or("")), ' ');
    size_t bytes = 0;
    if (words.size() == 2 && words[0] == "problem") {
      plans = &taken[words[1]];
    } else if (words.size() == 4 && words[0] == "plan" && plans &&
               (words[3] == "none" || (absl::SimpleAtoi(words[3], &bytes) && bytes <= text.size()))) {
      plans->calls[absl::StrCat(words[1], " ", words[2])] = std::string(text.substr(0, bytes));
      text.remove_prefix(bytes);
    } else {
      return false;
    }
  }
  for (auto &[key, found] : taken)
    problems[key].calls.merge(found.calls);
  return true;
}

std::string PlanStore::print() const {
  constexpr size_t kTail = 64; // the hash line
  std::string text = absl::StrCat(kMagic, identity, "\n");
  const size_t head = text.size();
  for (bool used : {true, false})
    for (const auto &[key, plans] : problems) {
      if (plans.used != used)
        continue;
      bool named = false;
      for (const auto &[call, solution] : plans.calls) {
        std::string entry = named ? "" : absl::StrCat("problem ", key, "\n");
        absl::StrAppend(&entry, "plan ", call, " ", solution.empty() ? "none" : absl::StrCat(solution.size()), "\n",
                        solution);
        if (text.size() + entry.size() + kTail > kMaxBytes)
          continue;
        text += entry, named = true;
      }
    }
  return text.size() == head ? "" : absl::StrCat(text, kHash, hashOf(text), "\n");
}

} // namespace plim::solver
