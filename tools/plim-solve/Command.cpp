//===- Command.cpp - The command line of plim-solve -------------------------------------------===//
#include "tools/plim-solve/Command.h"
#include "absl/strings/str_split.h"
#include "tools/options/ByteSize.h"
#include "tools/plim-solve/Session.h"
#include <algorithm>
#include <charconv>

namespace plim {
namespace {

constexpr const char *kHelp = R"(plim-solve: parts of the memory planner on instance files

usage:
  plim-solve fit PROBLEM [--ram SIZE[,SIZE...]] [--ssd SIZE] [--levers LIST] [--quick] [-o SOLUTION] [--json]
             [--progress]
      The fastest plan found that fits, or why there is none and what would fit. --ram and --ssd replace the budgets
      that the problem states; --ssd also gives leave to spill. --levers replaces the problem's: a list of order,
      choose, alias, recompute, spill, stream, split, move and lend, separated by commas, or - for none. With --quick
      one plan is made, for this budget alone, in much less time: a larger budget may then get a slower one. Of
      several budgets each gets a line, and a solution in the folder that -o names.
  plim-solve curve PROBLEM [--ssd SIZE] [--levers LIST] [--json]
      Predicted time against ram, from the smallest budget that a plan was found for to the fastest plan.
  plim-solve bound PROBLEM [--levers LIST] [--json]
      Bytes of ram below which no plan exists, and why.
  plim-solve check PROBLEM SOLUTION [--ram SIZE] [--ssd SIZE] [--levers LIST] [--json]
      Whether the solution is sound for the problem and within its budgets; by code that the planner does not use.
      Options as for fit.
  plim-solve pack FILE.csv [--capacity SIZE] [-o OUT.csv] [--json]
      Offsets for buffers with fixed lives (id,lower,upper,size; half-open [lower, upper)). With a capacity the search
      aims at it; else at the largest sum alive at one time, below which there is no packing.
  plim-solve generate --shape SHAPE [--ops N] [--seed N] [--read SIZE] [--write SIZE] [-o PROBLEM] [--json]
      A problem of about N steps: gpt, resnet, unet (training), layered (random) or stream (inference). --read and
      --write are what an ssd moves in a second; with them the problem may stream and spill.

Sizes are bytes, or have a unit: KB MB GB TB (powers of 1000), KiB MiB GiB TiB (powers of 1024).
Formats: docs/reference/problem-format.md. All of this at length: docs/reference/plim-solve.md.
Exit codes: 0 done, 1 usage, 2 a file is malformed or unsound, 3 over the budget, 4 a file cannot be read or written.
)";

struct Entry {
  const char *name;
  int (*run)(Session &);
  size_t files;
  std::vector<std::string> texts, sizes, numbers; // options with a value
  std::vector<std::string> lists;                 // options with sizes, separated by commas
  std::vector<std::string> flags;                 // options without one
};

const std::vector<Entry> &commands() {
  static const std::vector<Entry> list = {
      {"fit", runFit, 1, {"--levers", "-o"}, {"--ssd"}, {}, {"--ram"}, {"--progress", "--quick"}},
      {"curve", runCurve, 1, {"--levers"}, {"--ssd"}, {}, {}, {}},
      {"bound", runBound, 1, {"--levers"}, {}, {}, {}, {}},
      {"check", runCheck, 2, {"--levers"}, {"--ram", "--ssd"}, {}, {}, {}},
      {"pack", runPack, 1, {"-o"}, {"--capacity"}, {}, {}, {}},
      {"generate", runGenerate, 0, {"--shape", "-o"}, {"--read", "--write"}, {"--ops", "--seed"}, {}, {}},
  };
  return list;
}

std::string names() {
  std::string text;
  const std::vector<Entry> &list = commands();
  for (size_t k = 0; k < list.size(); ++k)
    text += (k == 0 ? "" : k + 1 == list.size() ? " or " : ", ") + std::string(list[k].name);
  return text;
}

bool has(const std::vector<std::string> &list, const std::string &word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// The option's value, or what is wrong with it.
std::string parseValue(const Entry &entry, const std::string &option, const std::string &text, Session &session) {
  int64_t value = 0;
  if (has(entry.sizes, option)) {
    if (std::string wrong = parseByteSize(text, value); !wrong.empty())
      return option + ": " + wrong;
  } else if (has(entry.lists, option)) {
    std::vector<int64_t> &list = session.lists[option];
    for (absl::string_view part : absl::StrSplit(text, ',')) {
      if (std::string wrong = parseByteSize(std::string(part), value); !wrong.empty())
        return option + ": " + wrong;
      list.push_back(value);
    }
    if (list.size() > 1)
      return "";
  } else if (has(entry.numbers, option)) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 10'000'000)
      return option + ": need a number from 1 to 10000000, have '" + text + "'";
  } else {
    session.values[option] = text;
    return "";
  }
  session.numbers[option] = value;
  return "";
}

} // namespace

int runPlimSolve(const std::vector<std::string> &args, std::ostream &out, std::ostream &err) {
  Session session{out, err};
  if (args.empty())
    return session.usage("need a command: " + names());
  if (has(args, "--help") || has(args, "-h")) {
    out << kHelp;
    return kDone;
  }
  auto entry = std::find_if(commands().begin(), commands().end(), [&](const Entry &e) { return e.name == args[0]; });
  if (entry == commands().end())
    return session.usage("need a command: " + names() + ", have '" + args[0] + "'");
  for (size_t k = 1; k < args.size(); ++k) {
    // --option VALUE or --option=VALUE
    const size_t equals = args[k].compare(0, 2, "--") == 0 ? args[k].find('=') : std::string::npos;
    const std::string option = args[k].substr(0, equals);
    if (option == "--json" && equals == std::string::npos) {
      session.json = true;
    } else if (has(entry->flags, option) && equals == std::string::npos) {
      session.flags.insert(option);
    } else if (has(entry->texts, option) || has(entry->sizes, option) || has(entry->numbers, option) ||
               has(entry->lists, option)) {
      if (equals == std::string::npos && ++k == args.size())
        return session.usage("need a value after " + option);
      const std::string value = equals == std::string::npos ? args[k] : args[k].substr(equals + 1);
      if (std::string wrong = parseValue(*entry, option, value, session); !wrong.empty())
        return session.usage(wrong);
    } else if (args[k].size() > 1 && args[k][0] == '-') {
      return session.usage("'" + args[0] + "' has no option '" + args[k] + "'");
    } else {
      session.files.push_back(args[k]);
    }
  }
  if (session.files.size() != entry->files)
    return session.usage("'" + args[0] + "' needs " + std::to_string(entry->files) + " file(s), have " +
                         std::to_string(session.files.size()));
  return entry->run(session);
}

} // namespace plim
