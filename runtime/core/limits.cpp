#include "plim/limits.h"
#include "runtime/core/cgroup.h"
#include "runtime/core/error.h"
#include "runtime/core/table_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace plim::rt;

namespace {

// A v1 hierarchy says "no limit" by a number near the largest one.
constexpr uint64_t kNoLimit = uint64_t(1) << 60;

bool readFile(const char *folder, const char *name, char *text, uint64_t bytes) {
  char path[PATH_MAX];
  return snprintf(path, sizeof path, "%s/%s", folder, name) < PATH_MAX && readText(path, text, bytes);
}

bool readNumber(const char *folder, const char *name, uint64_t &out) {
  char text[64];
  if (!readFile(folder, name, text, sizeof text) || text[0] < '0' || text[0] > '9') // "max": none
    return false;
  out = strtoull(text, nullptr, 10);
  return true;
}

struct Level {
  uint64_t limit = 0, used = 0;
};

// False where the level has no limit.
bool readLevel(const CgroupPath &path, Level &out) {
  const char *folder = path.folder();
  if (!readNumber(folder, path.isV2() ? "memory.max" : "memory.limit_in_bytes", out.limit) || out.limit >= kNoLimit)
    return false;
  if (!readNumber(folder, path.isV2() ? "memory.current" : "memory.usage_in_bytes", out.used))
    return false;
  char text[8192];
  uint64_t inactive = 0;
  if (readFile(folder, "memory.stat", text, sizeof text))
    numberAfter(text, path.isV2() ? "inactive_file" : "total_inactive_file", inactive);
  out.used -= inactive < out.used ? inactive : out.used;
  return true;
}

uint32_t hundredths(const char *text, const char *line) {
  const char *at = strstr(text, line);
  at = at ? strstr(at, "avg10=") : nullptr;
  if (!at)
    return 0;
  const double percent = strtod(at + 6, nullptr);
  return percent >= 0 && percent <= 100 ? static_cast<uint32_t>(percent * 100 + 0.5) : 0;
}

void raiseStalls(const char *path, plim_memory_limits &m) {
  char text[256];
  if (!readText(path, text, sizeof text))
    return;
  const uint32_t some = hundredths(text, "some "), full = hundredths(text, "full ");
  m.some_avg10 = some > m.some_avg10 ? some : m.some_avg10;
  m.full_avg10 = full > m.full_avg10 ? full : m.full_avg10;
}

plim_pressure levelOf(const plim_memory_limits &m) {
  const auto percent = [&](uint64_t share) { return m.used >= m.limit / 100 * share; };
  int level = percent(95)   ? PLIM_PRESSURE_CRITICAL
              : percent(85) ? PLIM_PRESSURE_HIGH
              : percent(70) ? PLIM_PRESSURE_MODERATE
                            : PLIM_PRESSURE_OK;
  constexpr uint32_t kTenPercent = 1000;
  if (m.full_avg10 >= kTenPercent)
    level = PLIM_PRESSURE_CRITICAL;
  else if (m.some_avg10 >= kTenPercent && level < PLIM_PRESSURE_CRITICAL)
    ++level;
  return static_cast<plim_pressure>(level);
}

} // namespace

extern "C" plim_status plim_memory_limits_read(const char *root, plim_memory_limits *out) {
  root = root ? root : "";
  *out = {};
  char path[PATH_MAX], text[8192];
  snprintf(path, sizeof path, "%s/proc/meminfo", root);
  uint64_t total = 0, available = 0;
  if (!readText(path, text, sizeof text) || !numberAfter(text, "MemTotal", total) ||
      !numberAfter(text, "MemAvailable", available) || total == 0 || total > kNoLimit / 1024)
    return Failure(PLIM_ERR_IO).at("%s", path).say("need MemTotal and MemAvailable in kB");
  total *= 1024, available = available * 1024 < total ? available * 1024 : total;
  *out = {};
  out->limit = total, out->available = available, out->used = total - available;
  for (CgroupPath cgroup(root); cgroup.found();) {
    Level level;
    if (readLevel(cgroup, level)) {
      const uint64_t room = level.limit - (level.used < level.limit ? level.used : level.limit);
      out->available = room < out->available ? room : out->available;
      if (level.limit < out->limit) {
        out->limit = level.limit, out->used = level.used;
        out->source = cgroup.isV2() ? PLIM_LIMIT_CGROUP_V2 : PLIM_LIMIT_CGROUP_V1;
        const uint64_t length = strlen(cgroup.folder());
        const uint64_t cut = length < PLIM_LIMIT_WHERE ? 0 : length - PLIM_LIMIT_WHERE + 1;
        memcpy(out->where, cgroup.folder() + cut, length - cut + 1);
      }
    }
    snprintf(path, sizeof path, "%s/memory.pressure", cgroup.folder());
    raiseStalls(path, *out);
    if (!cgroup.up())
      break;
  }
  snprintf(path, sizeof path, "%s/proc/pressure/memory", root);
  raiseStalls(path, *out);
  out->level = levelOf(*out);
  return PLIM_OK;
}

extern "C" plim_status plim_pick_variant(const plim_model *model, const plim_memory_limits *limits, uint32_t *out) {
  if (!model || !model->table)
    return Failure(PLIM_ERR_ARG).at("model").say("need a model");
  TableView t{model->table};
  const uint64_t room = limits->limit < limits->available ? limits->limit : limits->available;
  const uint32_t variants = static_cast<uint32_t>(t.count(PLIM_SEC_VARIANTS));
  for (*out = 0; *out < variants; ++*out) // by falling ram peak
    if (t.variant(*out).peak[PLIM_RAM] <= room)
      return PLIM_OK;
  if (variants == 0)
    return Failure(PLIM_ERR_ARG).at("model").say("it has no variants");
  *out = variants - 1;
  return Failure(PLIM_ERR_MEMORY)
      .at("%s", limits->where[0] ? limits->where : "host")
      .need(t.variant(*out).peak[PLIM_RAM])
      .have(room)
      .say("no variant fits the memory that is free here; the smallest is '%s'", t.string(t.variant(*out).name));
}
