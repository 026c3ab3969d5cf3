//===- Command.cpp - The command line of plim-mem -------------------------------------------------===//
#include "tools/plim-mem/Command.h"
#include "compiler/Solver/Profile/MachineProfile.h"
#include "tools/plim-mem/Measure.h"
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace plim {
namespace {

constexpr const char *kHelp = R"(plim-mem: what the machine gives a plan

usage:
  plim-mem profile -o FILE [--name NAME] [--folder DIR] [--quick]
      Measures FLOP/s of one core by family of kernels, memory, and reads and writes of the disk that --folder is on
      (default: the folder of FILE), and writes a profile that `plimc --profile FILE` takes. The disk is measured with a
      file of 512 MiB without a name, 8 requests of 1 MiB in flight, past the page cache. --name is what plans call the
      profile (default: the file's name without its ending). --quick takes below a second and is rough.
  plim-mem show FILE
      Reads a profile and prints its figures, or all that is wrong with it.

Format: docs/reference/profile.md.
Exit codes: 0 done, 1 usage, 2 a file is malformed, 4 the system refuses something.
)";

enum ExitCode { kDone = 0, kUsage = 1, kBadInput = 2, kEnvironment = 4 };

class Command {
public:
  Command(std::ostream &out, std::ostream &err) : out(out), err(err) {}

  int run(const std::vector<std::string> &args) {
    for (const std::string &arg : args)
      if (arg == "--help" || arg == "-h") {
        out << kHelp;
        return kDone;
      }
    if (args.empty() || (args[0] != "profile" && args[0] != "show"))
      return usage("need a command: profile or show, have " + (args.empty() ? "none" : "'" + args[0] + "'"));
    return args[0] == "profile" ? profile(args) : show(args);
  }

private:
  std::ostream &out, &err;

  int usage(const std::string &message) {
    err << "plim-mem: " << message << "\nplim-mem --help says more\n";
    return kUsage;
  }

  int profile(const std::vector<std::string> &args) {
    std::string path, folder, name;
    mem::Effort effort;
    for (size_t k = 1; k < args.size(); ++k) {
      std::string *value = args[k] == "-o"         ? &path
                           : args[k] == "--folder" ? &folder
                           : args[k] == "--name"   ? &name
                                                   : nullptr;
      if (args[k] == "--quick")
        effort = mem::Effort::quick();
      else if (!value)
        return usage("'profile' has no argument '" + args[k] + "'");
      else if (++k == args.size() || args[k].empty())
        return usage("need a value after " + args[k - 1]);
      else
        *value = args[k];
    }
    if (path.empty())
      return usage("'profile' needs -o FILE");
    const size_t slash = path.rfind('/');
    if (folder.empty())
      folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    solver::MachineProfile measured;
    measured.name = name.empty() ? stem(path.substr(slash == std::string::npos ? 0 : slash + 1)) : name;
    std::vector<std::string> errors;
    if (!solver::parseProfile(solver::printProfile(measured), "--name", errors))
      return usage(errors.front());
    return measure(measured, path, folder, effort);
  }

  static std::string stem(const std::string &file) {
    const size_t dot = file.rfind('.');
    return dot == std::string::npos || dot == 0 ? file : file.substr(0, dot);
  }

  int measure(solver::MachineProfile &measured, const std::string &path, const std::string &folder,
              const mem::Effort &effort) {
    const mem::DiskSpeed disk = mem::measureDisk(folder, effort);
    if (!disk.error.empty()) {
      err << folder
          << ": cannot measure the disk: need a folder where a file can be written and read, have: " << disk.error
          << "\n";
      return kEnvironment;
    }
    if (!disk.direct)
      err << folder << ": warning: the file system refuses direct I/O; the page cache takes part in these figures\n";
    measured.diskReadBytesPerSecond = disk.readBytesPerSecond;
    measured.diskWriteBytesPerSecond = disk.writeBytesPerSecond;
    measured.diskReadLatencyNs = disk.readLatencyNs;
    measured.diskWriteLatencyNs = disk.writeLatencyNs;
    measured.memoryBytesPerSecond = mem::measureMemory(effort);
    for (const auto &[family, flops] : mem::measureKernels(effort))
      measured.familyFlopsPerSecond[family] = std::round(flops);
    // Families that are not measured: as matrix products.
    if (auto matmul = measured.familyFlopsPerSecond.find("matmul"); matmul != measured.familyFlopsPerSecond.end())
      measured.flopsPerSecond = matmul->second;
    const std::string text = solver::printProfile(measured);
    std::vector<std::string> errors;
    if (!solver::parseProfile(text, path, errors)) {
      for (const std::string &error : errors)
        err << "measured what no profile may say: " << error << "\n";
      return kEnvironment;
    }
    if (int code = write(path, text); code != kDone)
      return code;
    print(measured);
    return kDone;
  }

  // All or nothing: a file that cannot be written in full is not left behind.
  int write(const std::string &path, const std::string &text) {
    const std::string part = path + ".part";
    std::ofstream file(part, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file || std::rename(part.c_str(), path.c_str()) != 0) {
      err << path << ": cannot write: " << std::strerror(errno) << "\n";
      std::remove(part.c_str());
      return kEnvironment;
    }
    return kDone;
  }

  int show(const std::vector<std::string> &args) {
    if (args.size() != 2)
      return usage("'show' needs one file, have " + std::to_string(args.size() - 1));
    std::ifstream in(args[1], std::ios::binary);
    std::stringstream text;
    struct stat status;
    if (!in || stat(args[1].c_str(), &status) != 0 || S_ISDIR(status.st_mode)) {
      err << args[1] << ": cannot read: " << std::strerror(errno ? errno : EISDIR) << "\n";
      return kEnvironment;
    }
    text << in.rdbuf();
    std::vector<std::string> errors;
    const auto profile = solver::parseProfile(text.str(), args[1], errors);
    for (const std::string &error : errors)
      err << error << "\n";
    if (!profile)
      return kBadInput;
    print(*profile);
    return kDone;
  }

  void line(const std::string &what, double value, const char *unit) {
    out << "  " << std::left << std::setw(24) << what << std::right << std::setw(10) << value << " " << unit << "\n";
  }

  void print(const solver::MachineProfile &p) {
    out << std::fixed << std::setprecision(2) << "profile " << p.name << "\n";
    line("kernels", p.flopsPerSecond / 1e9, "GFLOP/s");
    for (const auto &[family, flops] : p.familyFlopsPerSecond)
      line("  " + family, flops / 1e9, "GFLOP/s");
    line("memory", p.memoryBytesPerSecond / 1e9, "GB/s");
    line("disk read", p.diskReadBytesPerSecond / 1e9, "GB/s");
    line("disk write", p.diskWriteBytesPerSecond / 1e9, "GB/s");
    line("disk read latency", p.diskReadLatencyNs / 1e3, "us");
    line("disk write latency", p.diskWriteLatencyNs / 1e3, "us");
    line("launch", p.launchNs / 1e3, "us");
  }
};

} // namespace

int runPlimMem(const std::vector<std::string> &args, std::ostream &out, std::ostream &err) {
  return Command(out, err).run(args);
}

} // namespace plim
