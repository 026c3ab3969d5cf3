//===- ProfileFile.cpp - Machine profiles as JSON ---------------------------------------------===//
#include "absl/strings/str_cat.h"
#include "compiler/Solver/Profile/MachineProfile.h"
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace plim::solver {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostBytes = 1 << 20;
constexpr int kVersion = 1;

// The figures with their keys and what is not absurd: from a processor of 1980 and a floppy disk to beyond any machine.
struct Figure {
  const char *section, *key;
  double MachineProfile::*value;
  double low, high;
};
constexpr Figure kFigures[] = {
    {"", "launch_ns", &MachineProfile::launchNs, 1, 1e9},
    {"flops", "default", &MachineProfile::flopsPerSecond, 1e5, 1e17},
    {"memory", "bytes_per_second", &MachineProfile::memoryBytesPerSecond, 1e6, 1e15},
    {"disk", "read_bytes_per_second", &MachineProfile::diskReadBytesPerSecond, 1e4, 1e14},
    {"disk", "write_bytes_per_second", &MachineProfile::diskWriteBytesPerSecond, 1e4, 1e14},
    {"disk", "read_latency_ns", &MachineProfile::diskReadLatencyNs, 0, 1e11},
    {"disk", "write_latency_ns", &MachineProfile::diskWriteLatencyNs, 0, 1e11},
};
constexpr const char *kSections[] = {"flops", "memory", "disk"};

std::string shown(const Json &value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    absl::StrAppend(&text, text.empty() ? "" : ", ", name);
  return text;
}

class Reader {
public:
  Reader(const std::string &where, std::vector<std::string> &errors) : where(where), errors(errors) {}

  std::optional<MachineProfile> read(std::string_view text) {
    const size_t known = errors.size();
    if (text.size() > kMostBytes) {
      fail("", "at most ", kMostBytes, " bytes, have ", text.size());
      return std::nullopt;
    }
    const Json root = parse(text);
    if (errors.size() == known && !root.is_object())
      fail("", "a JSON object, have ", root.is_discarded() ? "text that is none" : shown(root));
    if (errors.size() == known)
      readRoot(root);
    return errors.size() == known ? std::optional(profile) : std::nullopt;
  }

private:
  const std::string &where;
  std::vector<std::string> &errors;
  MachineProfile profile;

  template <typename... T> void fail(const std::string &key, const T &...need) {
    errors.push_back(absl::StrCat(where, ": ", key, key.empty() ? "" : ": ", "need ", need...));
  }

  // A key that stands twice would silently hide one of its values.
  Json parse(std::string_view text) {
    std::vector<std::set<std::string>> open;
    auto event = [&](int, Json::parse_event_t kind, Json &value) {
      if (kind == Json::parse_event_t::object_start)
        open.emplace_back();
      else if (kind == Json::parse_event_t::object_end)
        open.pop_back();
      else if (kind == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
        fail(value.get<std::string>(), "each key once, have it twice");
      return true;
    };
    return Json::parse(text, event, false);
  }

  void number(const Json &object, const std::string &section, const std::string &key, double low, double high,
              double &value) {
    const std::string path = section.empty() ? key : section + "." + key;
    auto found = object.find(key);
    const std::string need = absl::StrCat("a number in [", low, ", ", high, "], have ");
    if (found == object.end())
      return fail(path, need, "none");
    if (!found->is_number())
      return fail(path, need, shown(*found));
    value = found->get<double>();
    if (!std::isfinite(value) || value < low || value > high)
      fail(path, need, shown(*found));
  }

  void unknownKeys(const Json &object, const std::string &section, const std::vector<std::string> &known) {
    for (const auto &[key, value] : object.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        fail(section.empty() ? key : section + "." + key, "one of the keys ", joined(known), "; this is none");
  }

  void readRoot(const Json &root) {
    unknownKeys(root, "", {"version", "name", "launch_ns", "flops", "memory", "disk"});
    if (auto version = root.find("version"); version == root.end() || *version != kVersion)
      fail("version", kVersion, ", have ", version == root.end() ? "none" : shown(*version));
    readName(root);
    for (const Figure &f : kFigures)
      if (*f.section == '\0')
        number(root, "", f.key, f.low, f.high, profile.*f.value);
    for (const char *section : kSections) {
      auto object = root.find(section);
      if (object == root.end() || !object->is_object()) {
        fail(section, "an object, have ", object == root.end() ? "none" : shown(*object));
        continue;
      }
      std::vector<std::string> known;
      for (const Figure &f : kFigures)
        if (std::string(f.section) == section) {
          known.push_back(f.key);
          number(*object, section, f.key, f.low, f.high, profile.*f.value);
        }
      if (std::string(section) == "flops")
        readFamilies(*object, known);
      unknownKeys(*object, section, known);
    }
  }

  void readFamilies(const Json &object, std::vector<std::string> &known) {
    const Figure &all = *std::find_if(std::begin(kFigures), std::end(kFigures),
                                      [](const Figure &f) { return f.value == &MachineProfile::flopsPerSecond; });
    for (const std::string &family : kernelFamilies()) {
      known.push_back(family);
      if (object.contains(family))
        number(object, "flops", family, all.low, all.high, profile.familyFlopsPerSecond[family]);
    }
  }

  void readName(const Json &root) {
    auto name = root.find("name");
    const std::string text = name != root.end() && name->is_string() ? name->get<std::string>() : "";
    const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
             c == '-';
    });
    if (text.empty() || text.size() > 64 || !plain)
      return fail("name", "1 to 64 letters, digits and ._- , have ", name == root.end() ? "none" : shown(*name));
    profile.name = text;
    // Only what is built in is called so: a plan that names it must mean it.
    if (text == MachineProfile().name)
      fail("name", "another name than that of the built-in profile, have ", shown(*name));
  }
};

} // namespace

std::optional<MachineProfile> parseProfile(std::string_view text, const std::string &where,
                                           std::vector<std::string> &errors) {
  return Reader(where, errors).read(text);
}

std::string printProfile(const MachineProfile &profile) {
  Json root = {{"version", kVersion}, {"name", profile.name}};
  for (const Figure &f : kFigures)
    (*f.section ? root[f.section][f.key] : root[f.key]) = std::llround(profile.*f.value);
  for (const auto &[family, flops] : profile.familyFlopsPerSecond)
    root["flops"][family] = std::llround(flops);
  return root.dump(2) + "\n";
}

} // namespace plim::solver
