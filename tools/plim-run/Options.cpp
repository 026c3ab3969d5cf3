//===- Options.cpp - The command line of plim-run -------------------------------------------===//
#include "tools/plim-run/Options.h"
#include <cstdlib>
#include <string_view>

namespace plim {

const char runUsage[] = R"(usage: plim-run OUT [options]

Runs a model that plimc compiled into the folder OUT (or OUT/model.so) and prints planned and measured peaks.

  --input NAME=@FILE.npy     an input; its type and shape must be the model's
  --input-random             random numbers for every input that is not given ([0, 1) for floats, 0..9 for integers)
  --seed N                   of --input-random (default 1)
  --output NAME=@FILE.npy    write an output
  --expected NAME=@FILE.npy  compare an output; exit status 5 where it differs
  --rtol R, --atol A         |have - want| <= A + R * |want| (defaults 1e-3, 1e-4)
  --reps N, --warmup N       timed runs (default 1), runs before them (default 0)
  --threads N                workers, the calling thread included (default: all cores, at most those of the plan)
  --stats=text|json          form of the figures (default text)
  --trace=FILE               write the last run as a Chrome trace (chrome://tracing, ui.perfetto.dev)
  --program NAME             entry to run, where the model has several
  --then                     another run in the same session, with the states that the one before left; options of a
                             run (--program, --input, --output, --expected) before it are of that one, --reps and
                             --warmup of the last one
  --load-state FILE          start from the states in the file
  --save-state FILE          write the states when all runs have ended
  --variant NAME|auto        budget variant (default: the first, which is the fastest); auto: the fastest that fits the
                             memory that is free, within the limits on this process
  --spill-dir DIR            folder for what the plan puts on the SSD (default: PLIM_SPILL_DIR, else plimsoll in the
                             user's cache folder)
  --no-poison                leave out the two runs that measure which bytes are touched
  --red-zones                check after every step that it wrote nothing but its outputs (slow)

Exit status: 0 done, 1 usage, 2 the model or an input, 4 environment or I/O, 5 --expected differs, 70 internal error.
)";

namespace {

bool parseNumber(const std::string &text, uint64_t &out) {
  if (text.empty() || text[0] < '0' || text[0] > '9')
    return false;
  char *end = nullptr;
  out = std::strtoull(text.c_str(), &end, 10);
  return *end == 0;
}

bool parseReal(const std::string &text, double &out) {
  char *end = nullptr;
  out = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0 && out >= 0;
}

} // namespace

RunOptions parseRunOptions(int argc, char **argv, std::vector<std::string> &problems) {
  RunOptions o;
  auto file = [&](const std::string &flag, const std::string &value, std::map<std::string, std::string> &into) {
    size_t at = value.rfind("=@");
    if (at == std::string::npos || at == 0 || at + 2 == value.size())
      problems.push_back(flag + ": need NAME=@FILE.npy, have '" + value + "'");
    else if (!into.emplace(value.substr(0, at), value.substr(at + 2)).second)
      problems.push_back(flag + ": '" + value.substr(0, at) + "' is given twice");
  };
  auto number = [&](const std::string &flag, const std::string &value, uint64_t low, uint64_t high, auto &into) {
    uint64_t n = 0;
    if (!parseNumber(value, n) || n < low || n > high)
      problems.push_back(flag + ": need a number from " + std::to_string(low) + " to " + std::to_string(high) +
                         ", have '" + value + "'");
    else
      into = static_cast<std::remove_reference_t<decltype(into)>>(n);
  };
  auto real = [&](const std::string &flag, const std::string &value, double &into) {
    if (!parseReal(value, into))
      problems.push_back(flag + ": need a number of at least 0, have '" + value + "'");
  };
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg.rfind("--", 0) != 0 && arg != "-h") {
      if (o.artifact.empty())
        o.artifact = arg;
      else
        problems.push_back("need one folder, have '" + o.artifact + "' and '" + arg + "'");
      continue;
    }
    std::string flag = arg, value;
    bool attached = false;
    if (size_t eq = arg.find('='); eq != std::string::npos)
      flag = arg.substr(0, eq), value = arg.substr(eq + 1), attached = true;
    if (!attached && flag == "--then") {
      o.steps.emplace_back();
      continue;
    }
    if (flag == "--help" || flag == "-h") {
      o.help = true;
      continue;
    }
    if (!attached && (flag == "--input-random" || flag == "--no-poison" || flag == "--red-zones")) {
      (flag == "--input-random" ? o.inputRandom
       : flag == "--red-zones"  ? o.redZones
                                : o.poison) = flag != "--no-poison";
      continue;
    }
    bool known = false;
    for (const char *name :
         {"--input", "--output", "--expected", "--seed", "--rtol", "--atol", "--reps", "--warmup", "--threads",
          "--stats", "--trace", "--program", "--variant", "--load-state", "--save-state", "--spill-dir"})
      known |= flag == name;
    if (!known) {
      problems.push_back("unknown option '" + arg + "' (--help lists them)");
      continue;
    }
    if (!attached) {
      if (i + 1 == argc) {
        problems.push_back(flag + ": need a value");
        continue;
      }
      value = argv[++i];
    }
    if (flag == "--input")
      file(flag, value, o.steps.back().inputs);
    else if (flag == "--output")
      file(flag, value, o.steps.back().outputs);
    else if (flag == "--expected")
      file(flag, value, o.steps.back().expected);
    else if (flag == "--seed")
      number(flag, value, 0, UINT64_MAX, o.seed);
    else if (flag == "--rtol")
      real(flag, value, o.rtol);
    else if (flag == "--atol")
      real(flag, value, o.atol);
    else if (flag == "--reps")
      number(flag, value, 1, 1000000, o.reps);
    else if (flag == "--warmup")
      number(flag, value, 0, 1000000, o.warmup);
    else if (flag == "--threads")
      number(flag, value, 1, 1024, o.threads);
    else if (flag == "--trace")
      o.trace = value;
    else if (flag == "--program")
      o.steps.back().program = value;
    else if (flag == "--load-state")
      o.loadState = value;
    else if (flag == "--save-state")
      o.saveState = value;
    else if (flag == "--spill-dir")
      o.spillDir = value;
    else if (flag == "--variant")
      o.variant = value;
    else if (value == "text" || value == "json")
      o.jsonStats = value == "json";
    else
      problems.push_back("--stats: need text or json, have '" + value + "'");
  }
  for (size_t i = 1; i < o.steps.size(); ++i)
    if (o.steps[i].program.empty())
      o.steps[i].program = o.steps[i - 1].program;
  if (o.artifact.empty() && !o.help)
    problems.push_back("need the folder that plimc wrote");
  return o;
}

} // namespace plim
