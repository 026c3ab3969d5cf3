//===- SplitText.cpp - Problems and plans of splitting as text ---------------------------------===//
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/Solver/Split/Split.h"
#include "compiler/Solver/TextRecord.h"
#include <algorithm>
#include <map>

namespace plim::solver {
namespace {

const Names<SplitValue::Kind> kKinds{{"made", "input", "constant"}};

// "whole" for all of an operand, else axis:stride:before:after:divisor.
std::string operandText(const SplitOperand &o) {
  return o.axis < 0 ? "whole" : absl::StrCat(o.axis, ":", o.stride, ":", o.before, ":", o.after, ":", o.divisor);
}

std::string listOf(const std::vector<int> &ids) { return ids.empty() ? "-" : absl::StrJoin(ids, ","); }

bool readOperand(const std::string &word, SplitOperand &o) {
  if (word == "whole")
    return true;
  std::vector<int64_t> n;
  if (!Record::colonNumbers(word, n) || n.size() != 5 || n[0] < 0 || n[1] < 0 || n[2] < 0 || n[4] < 1)
    return false;
  o = {int(n[0]), n[1], n[2], n[3], n[4]};
  return true;
}

// What would make indices run out of their lists.
void checkProblem(const SplitProblem &p, std::vector<std::string> &errors) {
  const int values = int(p.values.size());
  std::vector<char> made(p.values.size());
  for (size_t v = 0; v < p.values.size(); ++v)
    made[v] = p.values[v].kind != SplitValue::Kind::Made;
  auto bad = [&](const SplitStep &step, const std::string &text) {
    errors.push_back(absl::StrCat("step '", step.name, "': ", text));
  };
  for (const SplitStep &step : p.steps) {
    bool sound = step.write >= -1 && step.write < values;
    for (int read : step.reads)
      sound &= read >= 0 && read < values && made[size_t(read)];
    if (!sound || (step.write >= 0 && made[size_t(step.write)]++)) {
      bad(step, absl::StrCat("need values below ", values, " that are made before they are read, and once"));
      continue;
    }
    auto within = [&](int value, int axis) {
      return axis >= 0 && axis < int(p.values[size_t(value)].dims.size()) &&
             p.values[size_t(value)].dims[size_t(axis)] > 0;
    };
    std::vector<SplitWay> ways = step.ways;
    if (step.fine)
      ways.insert(ways.end(), step.fine->ways.begin(), step.fine->ways.end());
    for (const SplitWay &way : ways) {
      if (step.write < 0 || way.operands.size() != step.reads.size() || way.align < 1 || way.tile < 1 ||
          (way.carried ? step.reads.empty() || way.operands[0].axis < 0 : !within(step.write, way.axis))) {
        bad(step, "need a way with an axis of its result and an operand a read");
        continue;
      }
      for (size_t r = 0; r < step.reads.size(); ++r)
        if (way.operands[r].axis >= 0 && !within(step.reads[r], way.operands[r].axis))
          bad(step, absl::StrCat("need an axis of operand ", r, ", have ", way.operands[r].axis));
    }
  }
}

} // namespace

static std::string waysText(const std::vector<SplitWay> &ways) {
  std::string out;
  for (const SplitWay &w : ways) {
    std::vector<std::string> operands;
    for (const SplitOperand &o : w.operands)
      operands.push_back(operandText(o));
    absl::StrAppend(&out, "way ", w.carried ? "sum" : absl::StrCat(w.axis), " align=", w.align,
                    w.tile > 1 ? absl::StrCat(" tile=", w.tile) : "",
                    " operands=", operands.empty() ? "none" : absl::StrJoin(operands, ","), "\n");
  }
  return out;
}

std::string printSplitProblem(const SplitProblem &p) {
  std::string out = "split 1\n";
  for (const SplitValue &v : p.values)
    absl::StrAppend(&out, "value ", quote(v.name), " dims=", v.dims.empty() ? "-" : absl::StrJoin(v.dims, ","),
                    " bytes=", v.bytes, " kind=", kKinds.of(v.kind), v.output ? " output=1" : "",
                    v.reused ? " reused=1" : "", "\n");
  for (const SplitStep &s : p.steps) {
    absl::StrAppend(&out, "step ", quote(s.name), " reads=", listOf(s.reads),
                    " write=", s.write < 0 ? "-" : absl::StrCat(s.write), " ns=", s.ns, " workspace=", s.workspace,
                    s.inPlace ? " inplace=1" : "", "\n", waysText(s.ways));
    if (s.fine)
      absl::StrAppend(&out, "fine ns=", s.fine->ns, " workspace=", s.fine->workspace, "\n", waysText(s.fine->ways));
  }
  return out;
}

std::optional<SplitProblem> parseSplitProblem(std::string_view text, std::vector<std::string> &errors) {
  SplitProblem p;
  const size_t before = errors.size();
  readRecords(text, "split", errors, [&](Record &record) {
    if (record.verb() == "value") {
      SplitValue v;
      v.name = record.name();
      v.dims = record.numbers("dims");
      v.bytes = record.number("bytes", 0);
      v.kind = record.oneOf("kind", kKinds, SplitValue::Kind::Made);
      v.output = record.number("output", 0) != 0;
      v.reused = record.number("reused", 0) != 0;
      p.values.push_back(std::move(v));
    } else if (record.verb() == "step") {
      SplitStep s;
      s.name = record.name();
      s.reads = record.ids("reads");
      const std::vector<int> writes = record.ids("write");
      s.write = writes.size() == 1 ? writes[0] : -1;
      s.ns = record.number("ns", 0);
      s.workspace = record.number("workspace", 0);
      s.inPlace = record.number("inplace", 0) != 0;
      p.steps.push_back(std::move(s));
    } else if (record.verb() == "fine" && !p.steps.empty()) {
      p.steps.back().fine = SplitKernel{record.number("ns", 0), record.number("workspace", 0)};
    } else if (record.verb() == "way" && !p.steps.empty()) {
      SplitWay w;
      const std::string axis = record.name();
      w.carried = axis == "sum";
      if (!w.carried && !absl::SimpleAtoi(axis, &w.axis))
        record.fail("need an axis or sum, have '" + axis + "'");
      w.align = record.number("align", 1);
      w.tile = record.number("tile", 1);
      if (record.text("operands") != "none")
        for (const std::string &word : record.words("operands"))
          if (!readOperand(word, w.operands.emplace_back()))
            record.fail("need whole or axis:stride:before:after:divisor, have '" + word + "'");
      SplitStep &step = p.steps.back();
      (step.fine ? step.fine->ways : step.ways).push_back(std::move(w));
    } else {
      record.failUnknown();
    }
    record.finish();
  });
  if (errors.size() == before)
    checkProblem(p, errors);
  return errors.size() == before ? std::optional(std::move(p)) : std::nullopt;
}

std::string printSplitPlan(const SplitPlan &plan, const SplitProblem &problem) {
  std::vector<std::string> parts;
  auto names = [&](const std::vector<int> &steps) {
    std::vector<std::string> list;
    for (int step : steps)
      list.push_back(problem.values[size_t(problem.steps[size_t(step)].write)].name);
    return absl::StrJoin(list, ",");
  };
  if (!plan.fine.empty())
    parts.push_back(absl::StrCat("fine=", names(plan.fine)));
  if (!plan.loose.empty())
    parts.push_back(absl::StrCat("loose=", names(plan.loose)));
  if (!plan.copied.empty())
    parts.push_back(absl::StrCat("copy=", names(plan.copied), " for=", names(plan.readers)));
  for (const SplitStage &stage : plan.stages) {
    std::vector<std::string> keeps;
    for (const SplitKeep &k : stage.keeps)
      keeps.push_back(absl::StrCat(problem.values[size_t(k.value)].name, "@", k.axis));
    parts.push_back(absl::StrCat("pieces=", stage.pieces, stage.parts > 1 ? absl::StrCat(" parts=", stage.parts) : "",
                                 " keep=", absl::StrJoin(keeps, ",")));
  }
  return absl::StrJoin(parts, "; ");
}

namespace {

class PlanReader {
public:
  PlanReader(const SplitProblem &problem, std::string &why) : p(problem), why(why), writers(writersOf(problem)) {
    for (size_t v = 0; v < p.values.size(); ++v)
      ids.emplace(p.values[v].name, int(v));
  }

  std::optional<SplitPlan> read(absl::string_view text) {
    for (absl::string_view part : absl::StrSplit(text, ';', absl::SkipWhitespace())) {
      part = absl::StripAsciiWhitespace(part);
      const bool isStage = absl::StartsWith(part, "pieces=") || absl::StartsWith(part, "keep=") || !plan.stages.empty();
      if (!(isStage ? readStage(part) : readSteps(part)))
        return std::nullopt;
    }
    return std::move(plan);
  }

private:
  const SplitProblem &p;
  std::string &why;
  const std::vector<int> writers;
  std::map<std::string, int> ids;
  SplitPlan plan;

  bool fail(std::string message) {
    why = std::move(message);
    return false;
  }

  static bool canBeLoose(const SplitStep &step) {
    return std::any_of(step.ways.begin(), step.ways.end(), [](const SplitWay &way) { return way.tile > 1; });
  }

  // Which steps have other kernels, or copies.
  bool readSteps(absl::string_view part) {
    for (absl::string_view field : absl::StrSplit(part, ' ', absl::SkipEmpty())) {
      bool sound = false;
      if (absl::ConsumePrefix(&field, "fine="))
        sound = readNames(field, plan.fine, "that has a fine kernel",
                          [](const SplitStep &s) { return s.fine.has_value(); });
      else if (absl::ConsumePrefix(&field, "loose="))
        sound = readNames(field, plan.loose, "whose kernel has tiles", canBeLoose);
      else if (absl::ConsumePrefix(&field, "copy="))
        sound = readNames(field, plan.copied, "to copy", [](const SplitStep &) { return true; });
      else if (absl::ConsumePrefix(&field, "for="))
        sound = readNames(field, plan.readers, "that reads copies", [](const SplitStep &) { return true; });
      else
        return fail(absl::StrCat("need pieces=N and keep=NAME@AXIS,..., have '", part, "'"));
      if (!sound)
        return false;
    }
    if (plan.copied.empty() != plan.readers.empty() ||
        (!plan.copied.empty() && plan.copied.back() >= plan.readers.front()))
      return fail(
          absl::StrCat("need copy=NAME,... for=NAME,..., of steps before those that read them, have '", part, "'"));
    return true;
  }

  template <typename F> bool readNames(absl::string_view list, std::vector<int> &steps, const char *which, F isOne) {
    for (absl::string_view word : absl::StrSplit(list, ',')) {
      auto id = ids.find(std::string(word));
      const int step = id == ids.end() ? -1 : writers[size_t(id->second)];
      if (step < 0 || !isOne(p.steps[size_t(step)]))
        return fail(absl::StrCat("need the name of a step ", which, ", have '", word, "'"));
      steps.push_back(step);
    }
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return true;
  }

  static bool readCount(absl::string_view text, int64_t &count) {
    return absl::SimpleAtoi(text, &count) && count >= 1 && count <= (1 << 20);
  }

  bool readStage(absl::string_view part) {
    SplitStage stage;
    stage.pieces = 0;
    for (absl::string_view field : absl::StrSplit(part, ' ', absl::SkipEmpty())) {
      if (absl::ConsumePrefix(&field, "pieces=")) {
        if (!readCount(field, stage.pieces))
          return fail(absl::StrCat("need a number of pieces from 1 to 1048576, have '", field, "'"));
      } else if (absl::ConsumePrefix(&field, "parts=")) {
        if (!readCount(field, stage.parts))
          return fail(absl::StrCat("need a number of parts from 1 to 1048576, have '", field, "'"));
      } else if (absl::ConsumePrefix(&field, "keep=")) {
        if (!readKeeps(field, stage.keeps))
          return false;
      } else {
        return fail(absl::StrCat("need pieces=N and keep=NAME@AXIS,..., have '", field, "'"));
      }
    }
    if (stage.pieces < 1 || stage.keeps.empty())
      return fail(absl::StrCat("need pieces=N and keep=NAME@AXIS,..., have '", part, "'"));
    plan.stages.push_back(std::move(stage));
    return true;
  }

  bool readKeeps(absl::string_view list, std::vector<SplitKeep> &keeps) {
    for (absl::string_view word : absl::StrSplit(list, ',')) {
      const size_t at = word.rfind('@');
      SplitKeep keep;
      auto id = at == word.npos ? ids.end() : ids.find(std::string(word.substr(0, at)));
      if (id == ids.end())
        return fail(absl::StrCat("need NAME@AXIS with the name of a value, have '", word, "'"));
      keep.value = id->second;
      if (!absl::SimpleAtoi(word.substr(at + 1), &keep.axis) || keep.axis < 0)
        return fail(absl::StrCat("need an axis, have '", word, "'"));
      keeps.push_back(keep);
    }
    return true;
  }
};

} // namespace

std::optional<SplitPlan> parseSplitPlan(std::string_view text, const SplitProblem &problem, std::string &why) {
  return PlanReader(problem, why).read(absl::string_view(text.data(), text.size()));
}

} // namespace plim::solver
