//===- FixedOrderProgram.cpp - The exact least time of a fixed order, by an integer program -------===//
#include "test/compiler/Solver/FixedOrderProgram.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace plim::solver {
namespace {

using absl::StrAppend;
using absl::StrCat;

// Steps and values have one number: step k writes value k.
class Program {
public:
  Program(const Problem &problem, int64_t arena) : p(problem), count(int(p.steps.size())), arena(arena) {
    std::vector<int> maker(p.buffers.size(), -1);
    reads.resize(count), readers.resize(count);
    for (int k = 0; k < count; ++k) {
      maker[p.steps[k].writes[0]] = k;
      for (int b : p.steps[k].reads)
        if (maker[b] >= 0)
          reads[k].push_back(maker[b]), readers[maker[b]].push_back(k);
    }
  }

  std::string text() {
    std::string out = "Minimize\nobj:";
    for (int t = 0; t < count; ++t)
      for (int k = 0; k <= t; ++k)
        StrAppend(&out, " + ", p.steps[k].candidates[0].ns, " ", run(t, k));
    StrAppend(&out, "\nSubject To\n");
    for (int t = 0; t < count; ++t)
      stage(t, out);
    StrAppend(&out, "Bounds\n");
    for (int t = 0; t < count; ++t)
      for (int k = 0; k <= t; ++k)
        StrAppend(&out, "0 <= ", used(t, k), " <= ", units(arena), "\n");
    StrAppend(&out, "Binary\n");
    for (const std::string &name : binary)
      StrAppend(&out, name, "\n");
    StrAppend(&out, "End\n");
    return out;
  }

private:
  const Problem &p;
  const int count;
  const int64_t arena;
  std::vector<std::vector<int>> reads, readers;
  std::vector<std::string> binary;

  static double units(int64_t bytes) { return double(bytes) / kAlign; }
  double size(int k) const { return units(alignUp(p.buffers[p.steps[k].writes[0]].bytes, kAlign)); }
  static std::string run(int t, int k) { return StrCat("R_", t, "_", k); }
  static std::string saved(int t, int k) { return StrCat("S_", t, "_", k); }
  static std::string used(int t, int k) { return StrCat("U_", t, "_", k); }
  static std::string freed(int t, int value, int k) { return StrCat("F_", t, "_", value, "_", k); }

  // What step k may free: its operands and its result.
  std::vector<int> freeable(int k) const {
    std::vector<int> values = reads[k];
    values.push_back(k);
    return values;
  }

  void stage(int t, std::string &out) {
    StrAppend(&out, run(t, t), " = 1\n");
    for (int k = 0; k <= t; ++k)
      binary.push_back(run(t, k));
    for (int k = 0; k < t; ++k) {
      binary.push_back(saved(t, k));
      // In memory at the start: from the stage before.
      StrAppend(&out, saved(t, k), " - ", run(t - 1, k));
      if (k < t - 1)
        StrAppend(&out, " - ", saved(t - 1, k));
      StrAppend(&out, " <= 0\n");
    }
    for (int k = 0; k <= t; ++k)
      for (int value : reads[k])
        StrAppend(&out, run(t, k), " - ", run(t, value), " - ", saved(t, value), " <= 0\n");
    // Bytes in memory while step k of the stage runs.
    StrAppend(&out, used(t, 0), " - ", size(0), " ", run(t, 0));
    for (int k = 0; k < t; ++k)
      StrAppend(&out, " - ", size(k), " ", saved(t, k));
    StrAppend(&out, " = 0\n");
    for (int k = 0; k < t; ++k) {
      StrAppend(&out, used(t, k + 1), " - ", used(t, k));
      for (int value : freeable(k))
        StrAppend(&out, " + ", size(value), " ", freed(t, value, k));
      StrAppend(&out, " - ", size(k + 1), " ", run(t, k + 1), " = 0\n");
      for (int value : freeable(k)) {
        binary.push_back(freed(t, value, k));
        // Freed after step k if and only if that ran and nothing reads the value later, in this stage or the next.
        std::string needed = StrCat(" - ", run(t, k));
        int most = 1;
        if (t + 1 < count)
          StrAppend(&needed, " + ", saved(t + 1, value)), ++most;
        for (int reader : readers[value])
          if (k < reader && reader <= t)
            StrAppend(&needed, " + ", run(t, reader)), ++most;
        StrAppend(&out, freed(t, value, k), needed, " >= 0\n");
        StrAppend(&out, most, " ", freed(t, value, k), needed, " <= ", most - 1, "\n");
      }
    }
  }
};

} // namespace

bool hasCbc() { return std::system("command -v cbc >/dev/null 2>&1") == 0; }

FixedOrderOptimum fixedOrderOptimum(const Problem &problem, int64_t arena, int seconds) {
  std::string folder = std::filesystem::temp_directory_path() / "plim-cbc-XXXXXX";
  if (!mkdtemp(folder.data()))
    return {};
  const std::string program = folder + "/program.lp", solution = folder + "/solution.txt";
  std::ofstream(program) << Program(problem, arena).text();
  const std::string command =
      StrCat("cbc '", program, "' sec ", seconds, " solve solution '", solution, "' >/dev/null 2>&1");
  FixedOrderOptimum result;
  if (std::system(command.c_str()) == 0) {
    std::ifstream in(solution);
    std::string line;
    std::getline(in, line);
    if (line.rfind("Optimal", 0) == 0)
      result.outcome = FixedOrderOptimum::Outcome::Proved;
    else if (line.find("nfeasible") != std::string::npos)
      result.outcome = FixedOrderOptimum::Outcome::Infeasible;
    // "index name value cost": the time of what runs, free of the rounding of the objective.
    while (std::getline(in, line)) {
      std::istringstream words(line);
      std::string index, name;
      double value = 0;
      words >> index >> name >> value;
      if (name.rfind("R_", 0) == 0 && std::lround(value) == 1)
        result.ns += problem.steps[std::stoi(name.substr(name.rfind('_') + 1))].candidates[0].ns;
    }
  }
  std::filesystem::remove_all(folder);
  return result;
}

} // namespace plim::solver
