//===- Report.cpp - Figures of a run --------------------------------------------------------===//
#include "tools/plim-run/Report.h"
#include "nlohmann/json.hpp"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace plim {

using Json = nlohmann::ordered_json;

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

uint64_t vmHwm() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0)
      return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

namespace {

constexpr const char *wayNames[] = {"none", "io_uring registered", "io_uring", "threads"};
constexpr const char *spillNames[] = {"none", "direct", "buffered", "in memory"};

} // namespace

std::string statsJson(const Artifact &artifact, const RunFigures &f) {
  const plim_usage &u = f.usage;
  auto tier = [&](plim_tier t, uint64_t callersPlanned, uint64_t callers) {
    return Json{{"planned", u.planned[t] + callersPlanned},
                {"ledger", u.reserved[t] + callers},
                {"live_planned", u.live_planned[t]},
                {"live", u.live[t]},
                {"touched_planned", u.touched_planned[t]},
                {"touched", f.touchedMeasured ? Json(u.touched[t]) : Json(nullptr)}};
  };
  Json out = Json::object();
  out["model"] = artifact.name;
  out["variant"] = artifact.variant;
  out["threads"] = u.threads;
  out["tiers"] = Json{{"ram", tier(PLIM_RAM, f.ioPlanned, u.io_bytes)}};
  if (u.planned[PLIM_SSD])
    out["tiers"]["ssd"] = tier(PLIM_SSD, 0, 0);
  out["io_bytes"] = u.io_bytes;
  out["vm_hwm"] = f.vmHwm;
  auto times = [](const std::vector<double> &ms) {
    return Json{{"median", median(ms)}, {"min", ms.empty() ? 0 : *std::min_element(ms.begin(), ms.end())}};
  };
  out["reps"] = f.wallMs.size();
  out["time_ms"] = times(f.wallMs);
  out["cpu_ms"] = times(f.cpuMs);
  out["steps"] = u.steps;
  out["weights_buffered"] = u.weights_buffered != 0;
  if (u.io_way != PLIM_IO_ANY)
    out["transfers"] = Json{{"count", u.transfers},
                            {"bytes_read", u.bytes_read},
                            {"bytes_written", u.bytes_written},
                            {"stall_ms", double(u.stall_ns) / 1e6},
                            {"way", wayNames[u.io_way]},
                            {"spill", spillNames[u.spill_mode]}};
  Json comparisons = Json::object();
  for (const auto &[name, c] : f.comparisons)
    comparisons[name] = Json{{"largest_error", c.largestError}, {"outside", c.outside}, {"elements", c.elements}};
  out["comparisons"] = std::move(comparisons);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string statsText(const Artifact &artifact, const RunFigures &f) {
  const plim_usage &u = f.usage;
  std::string out;
  char line[256];
  auto add = [&](auto... args) {
    std::snprintf(line, sizeof line, args...);
    out += line;
  };
  bool open = false;
  for (const plim_io_info &io : f.entry->ios)
    open |= io.dynamic != 0;
  auto row = [&](const char *what, uint64_t planned, uint64_t measured, const char *note) {
    const char *verdict = planned == measured          ? note
                          : open && measured < planned ? "below the plan, as sizes are below their bounds"
                                                       : "DIFFERS";
    add("  %-22s %15llu %15llu  %9.2f MiB  %s\n", what, (unsigned long long)planned, (unsigned long long)measured,
        double(measured) / 1048576, verdict);
  };
  add("%s: %zu run%s on %u thread%s, median %.2f ms, best %.2f ms, CPU %.2f ms\n", artifact.name.c_str(),
      f.wallMs.size(), f.wallMs.size() == 1 ? "" : "s", u.threads, u.threads == 1 ? "" : "s", median(f.wallMs),
      f.wallMs.empty() ? 0 : *std::min_element(f.wallMs.begin(), f.wallMs.end()), median(f.cpuMs));
  if (!artifact.variant.empty())
    add("  variant %s\n", artifact.variant.c_str());
  add("  %-22s %15s %15s\n", "RAM, bytes", "planned", "measured");
  row("reserved (the peak)", u.planned[PLIM_RAM] + f.ioPlanned, u.reserved[PLIM_RAM] + u.io_bytes,
      "weights, arenas, stacks, tables, inputs, outputs");
  row("live", u.live_planned[PLIM_RAM], u.live[PLIM_RAM], "buffers alive at once");
  if (f.touchedMeasured)
    row("touched", u.touched_planned[PLIM_RAM], u.touched[PLIM_RAM], "highest byte of each arena");
  if (u.planned[PLIM_SSD]) {
    add("  %-22s %15s %15s\n", "SSD, bytes", "planned", "measured");
    row("reserved (spill file)", u.planned[PLIM_SSD], u.reserved[PLIM_SSD], "allocated before the first step");
    row("live", u.live_planned[PLIM_SSD], u.live[PLIM_SSD], "buffers there at once");
    if (f.touchedMeasured)
      row("touched", u.touched_planned[PLIM_SSD], u.touched[PLIM_SSD], "highest byte of each arena");
  }
  if (u.io_way != PLIM_IO_ANY)
    add("  %llu transfers by %s: %.2f MiB read, %.2f MiB written, steps waited %.2f ms for them\n",
        (unsigned long long)u.transfers, wayNames[u.io_way], double(u.bytes_read) / 1048576,
        double(u.bytes_written) / 1048576, double(u.stall_ns) / 1e6);
  add("  process peak (VmHWM) %.2f MiB, of it inputs and outputs %.2f MiB\n", double(f.vmHwm) / 1048576,
      double(u.io_bytes) / 1048576);
  if (u.weights_buffered)
    out += "  warning: the file system refused direct I/O; the page cache holds a copy of the weights\n";
  if (u.spill_mode == PLIM_FILE_BUFFERED)
    out += "  warning: the file system of the spill folder refused direct I/O; the page cache holds a copy of what is "
           "spilled\n";
  if (u.spill_mode == PLIM_FILE_IN_MEMORY)
    out +=
        "  warning: the spill folder is in memory (tmpfs): what is spilled takes RAM; choose a folder on a disk with "
        "--spill-dir\n";
  for (const auto &[name, c] : f.comparisons)
    add("  %s: %s, largest error %.3g (%.6g for %.6g), %llu of %llu elements outside the tolerance\n", name.c_str(),
        c.outside ? "DIFFERS" : "equal within the tolerance", c.largestError, c.at, c.want,
        (unsigned long long)c.outside, (unsigned long long)c.elements);
  return out;
}

std::string writeWhole(const std::string &path, const std::vector<std::string_view> &parts) {
  std::string temporary = path + "." + std::to_string(::getpid()) + ".tmp";
  std::FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file)
    return path + ": " + std::strerror(errno);
  bool ok = true;
  for (std::string_view part : parts)
    ok = ok && std::fwrite(part.data(), 1, part.size(), file) == part.size();
  ok = std::fclose(file) == 0 && ok;
  if (!ok || std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::string why = path + ": " + std::strerror(errno);
    std::remove(temporary.c_str());
    return why;
  }
  return "";
}

std::string writeTrace(const Artifact &artifact, const plim_trace &trace, const std::string &path) {
  const plim_table *table = artifact.model->table;
  auto *programs = static_cast<const plim_t_program *>(plim_table_section(table, PLIM_SEC_PROGRAMS));
  auto *steps = static_cast<const plim_t_step *>(plim_table_section(table, PLIM_SEC_STEPS));
  auto *launches = static_cast<const plim_t_launch *>(plim_table_section(table, PLIM_SEC_LAUNCHES));
  auto *kernels = static_cast<const plim_t_kernel *>(plim_table_section(table, PLIM_SEC_KERNELS));
  constexpr const char *opcodes[] = {"launch", "copy",   "fill", "wait", "load",   "eval",
                                     "check",  "branch", "loop", "next", "return", "mark"};
  uint64_t count = std::min(trace.written, trace.capacity), first = trace.written - count, origin = UINT64_MAX;
  for (uint64_t i = 0; i < count; ++i)
    origin = std::min(origin, trace.events[(first + i) % trace.capacity].begin_ns);
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (uint64_t i = 0; i < count; ++i) {
    const plim_trace_event &e = trace.events[(first + i) % trace.capacity];
    const plim_t_step &step = steps[programs[e.program].first_step + e.step];
    std::string name = opcodes[step.opcode], source = plim_table_string(table, step.source);
    if (step.opcode == PLIM_OP_LAUNCH) {
      const plim_t_launch &l = launches[step.record];
      name = plim_table_string(table, kernels[l.kernel].name);
      if (l.source != PLIM_NONE)
        source = plim_table_string(table, l.source);
    }
    Json event = {
        {"name", name},
        {"ph", "X"},
        {"pid", 1},
        {"tid", e.worker},
        {"ts", double(e.begin_ns - origin) / 1e3},
        {"dur", double(e.end_ns - e.begin_ns) / 1e3},
        {"args", {{"step", e.step}, {"source", source}, {"phase", e.phase}, {"tasks", {e.first_task, e.last_task}}}}};
    out += event.dump(-1, ' ', true, Json::error_handler_t::replace) + (i + 1 < count ? ",\n" : "");
  }
  for (uint32_t queue : {PLIM_TRACE_READ, PLIM_TRACE_WRITE})
    if (std::any_of(trace.events, trace.events + count, [&](const plim_trace_event &e) { return e.worker == queue; })) {
      const char *name = queue == PLIM_TRACE_READ ? "reads from the SSD" : "writes to the SSD";
      out += ",\n" +
             Json{{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", queue}, {"args", {{"name", name}}}}.dump();
    }
  out += "\n]}\n";
  return writeWhole(path, {out});
}

} // namespace plim
