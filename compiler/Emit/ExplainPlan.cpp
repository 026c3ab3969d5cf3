//===- ExplainPlan.cpp - A plan as a page of text ---------------------------------------===//
#include "compiler/Emit/PlanReport.h"
#include <algorithm>
#include <cstdio>
#include <vector>

namespace plim::emit {

std::string formatBytes(uint64_t bytes) {
  constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4)
    value /= 1024, ++unit;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
  return text;
}

namespace {

template <typename... Args> void add(std::string &out, const char *format, Args... args) {
  const size_t before = out.size(), line = size_t(std::snprintf(nullptr, 0, format, args...));
  out.resize(before + line + 1); // and what ends it
  std::snprintf(&out[before], line + 1, format, args...);
  out.resize(before + line);
}

void addPeak(std::string &out, const Json &program) {
  const Json &budget = program["budget"]["ram"];
  const std::string variant = program["variant"],
                    entry = program["name"].get<std::string>() + (variant.empty() ? "" : ".") + variant;
  add(out, "entry %s: peak %s of RAM, budget %s\n", entry.c_str(), formatBytes(program["peak"]["ram"]).c_str(),
      budget.is_null() ? "none" : formatBytes(budget.get<uint64_t>()).c_str());
  add(out, "  the runtime reserves %s, of it constants and states %s; inputs and outputs take %s\n",
      formatBytes(program["reserved_peak"]["ram"]).c_str(), formatBytes(program["resident_bytes"]).c_str(),
      formatBytes(program["io_bytes"]).c_str());
  if (uint64_t ssd = program["peak"].value("ssd", uint64_t(0)))
    add(out, "  the spill file takes %s\n", formatBytes(ssd).c_str());
}

/// ", rows 12 to 15 of 480, piece 4 of 60" of a step that is a piece, else "". Counted from 1, as people do.
std::string describePiece(const Json &step) {
  if (!step.contains("piece"))
    return "";
  const Json &piece = step["piece"];
  auto number = [](const Json &n, int64_t more) { return std::to_string(n.get<int64_t>() + more); };
  return ", rows " + number(piece["rows"][0], 1) + " to " + number(piece["rows"][1], 0) + " of " +
         number(piece["extent"], 0) + ", piece " + number(piece["number"], 1) + " of " + number(piece["of"], 0);
}

/// "'conv_1' to 'conv_9' in 60 pieces; ...": runs of steps by the first and the last of their sources.
std::string describePieces(const Json &steps) {
  std::string out;
  const Json *first = nullptr, *last = nullptr;
  auto end = [&] {
    if (first)
      out += (out.empty() ? "'" : "; '") + (*first)["source"].get<std::string>() + "' to '" +
             (*last)["source"].get<std::string>() + "' in " + std::to_string((*first)["piece"]["of"].get<int64_t>()) +
             " pieces";
    first = nullptr;
  };
  for (const Json &step : steps) {
    if (!step.contains("piece"))
      continue;
    if (first &&
        (step["piece"]["of"] != (*first)["piece"]["of"] || step["piece"]["number"] < (*last)["piece"]["number"]))
      end();
    first = first ? first : &step, last = &step;
  }
  end();
  return out;
}

void addLevers(std::string &out, const Json &program) {
  const Json &levers = program["levers"];
  std::string used;
  for (auto &[name, count] : levers.items())
    if (count != 0)
      used += (used.empty() ? "" : ", ") + name + " " + std::to_string(count.get<uint64_t>());
  if (!used.empty())
    add(out, "  to meet the budget: %s; constants of %s stay in the weight file\n", used.c_str(),
        formatBytes(program["streamed_bytes"]).c_str());
  std::string reused;
  for (const Json &io : program["inputs"])
    if (io.value("reused", false))
      reused += (reused.empty() ? "" : ", ") + io["name"].get<std::string>();
  if (!reused.empty())
    add(out, "  a run overwrites these inputs after their last read: %s\n", reused.c_str());
  if (levers.value("split", 0) > 0)
    add(out, "  computed in pieces of rows: %s\n", describePieces(program["steps"]).c_str());
}

void addCurve(std::string &out, const Json &curve) {
  add(out, "  budgets: %12s %12s %14s  %-14s  %s\n", "ram", "ssd", "predicted", "in pieces", "steps by lever");
  for (const Json &c : curve)
    add(out, "  %21s %12s %11.3f ms  %-14s  recomputed %lld, spilled %lld, streamed %lld, moved %lld\n",
        formatBytes(c["ram"]).c_str(), formatBytes(c["ssd"]).c_str(), c["predicted_ns"].get<double>() * 1e-6,
        c["pieces"].get<std::string>().c_str(), c["recomputed"].get<long long>(), c["spilled"].get<long long>(),
        c["streamed"].get<long long>(), c["moved"].get<long long>());
}

/// The step at which most bytes are alive, and the largest of the buffers that they are.
void addFullestStep(std::string &out, const Json &program) {
  constexpr size_t mostBuffers = 12;
  const Json &steps = program["steps"];
  if (steps.empty())
    return;
  size_t peak = 0;
  for (size_t s = 0; s < steps.size(); ++s)
    if (steps[s]["live"] > steps[peak]["live"])
      peak = s;
  add(out, "  most is alive at step %zu of %zu, %s: %s %s%s\n", peak, steps.size(),
      formatBytes(program["live_peak"]["ram"]).c_str(),
      steps[peak].value("kernel", steps[peak]["op"].get<std::string>()).c_str(),
      steps[peak]["source"].get<std::string>().c_str(), describePiece(steps[peak]).c_str());
  std::vector<const Json *> alive;
  for (const Json &buffer : program["buffers"])
    if (buffer["birth"] <= peak && buffer["death"] > peak)
      alive.push_back(&buffer);
  std::stable_sort(alive.begin(), alive.end(),
                   [](const Json *a, const Json *b) { return (*a)["bytes"] > (*b)["bytes"]; });
  add(out, "  alive there (%zu buffers, largest first):\n", alive.size());
  for (size_t i = 0; i < alive.size() && i < mostBuffers; ++i) {
    const Json &buffer = *alive[i];
    add(out, "    %12s  steps [%d, %d)  %s\n", formatBytes(buffer["bytes"]).c_str(), buffer["birth"].get<int>(),
        buffer["death"].get<int>(), buffer["source"].get<std::string>().c_str());
  }
}

} // namespace

std::string explainPlan(const Json &plan) {
  std::string out;
  for (const Json &program : plan["programs"]) {
    addPeak(out, program);
    addLevers(out, program);
    if (program.contains("curve"))
      addCurve(out, program["curve"]);
    addFullestStep(out, program);
  }
  return out;
}

} // namespace plim::emit
