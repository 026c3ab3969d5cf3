//===- Report.h - Figures of a run -------------------------------------------------------===//
#ifndef PLIM_TOOLS_PLIM_RUN_REPORT_H
#define PLIM_TOOLS_PLIM_RUN_REPORT_H

#include "tools/plim-run/Artifact.h"

namespace plim {

struct RunFigures {
  const Artifact::Entry *entry = nullptr; // of the last run, whose times and live bytes these are
  std::vector<double> wallMs, cpuMs;      // of each timed run; cpuMs is of all threads
  plim_usage usage = {};
  uint64_t ioPlanned = 0; // caller's inputs and outputs at their bounds
  uint64_t vmHwm = 0;     // of this process, bytes
  bool touchedMeasured = false;
  std::map<std::string, Comparison> comparisons;
};

double median(std::vector<double> values);

/// One object on one line; docs/reference/plim-run.md documents it.
std::string statsJson(const Artifact &artifact, const RunFigures &figures);
/// The same for people.
std::string statsText(const Artifact &artifact, const RunFigures &figures);

/// A Chrome trace of the events; "" or the reason why the file could not be written.
std::string writeTrace(const Artifact &artifact, const plim_trace &trace, const std::string &path);

/// Writes a file under a temporary name, then renames; "" or the reason.
std::string writeWhole(const std::string &path, const std::vector<std::string_view> &parts);

/// VmHWM of this process in bytes.
uint64_t vmHwm();

} // namespace plim

#endif
