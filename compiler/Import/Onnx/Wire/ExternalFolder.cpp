#include "compiler/Import/Onnx/Wire/TensorData.h"
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>

using namespace plim::onnx::wire;

ExternalFolder::ExternalFolder(const std::string &modelPath) {
  const size_t slash = modelPath.rfind('/');
  folder = slash == std::string::npos ? "." : slash == 0 ? "/" : modelPath.substr(0, slash);
}

/// Why `location` must not be followed, or nothing.
static std::string refusal(std::string_view location) {
  if (location.empty())
    return "the location is empty";
  if (location.find('\0') != std::string_view::npos)
    return "the location holds a zero byte";
  if (location.front() == '/')
    return "the location is an absolute path";
  for (size_t at = 0; at <= location.size();) {
    const size_t slash = std::min(location.find('/', at), location.size());
    if (location.substr(at, slash - at) == "..")
      return "the location has a '..'";
    at = slash + 1;
  }
  return {};
}

static std::string canonical(const std::string &path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) ? buffer : std::string();
}

const ExternalFolder::File &ExternalFolder::file(std::string_view location) {
  auto found = files.find(location);
  if (found != files.end())
    return found->second;
  File &file = files[std::string(location)];
  file.error = refusal(location);
  if (!file.error.empty())
    return file;
  file.path = folder == "." ? std::string(location) : folder + (folder == "/" ? "" : "/") + std::string(location);
  struct stat info{};
  if (stat(file.path.c_str(), &info) != 0) {
    file.error = std::strerror(errno);
    return file;
  }
  const std::string inside = canonical(folder);
  const std::string target = canonical(file.path);
  const std::string prefix = inside == "/" ? inside : inside + "/";
  if (inside.empty() || target.compare(0, prefix.size(), prefix) != 0)
    file.error = "a symbolic link leads out of the model's folder";
  else if (!S_ISREG(info.st_mode))
    file.error = "not a regular file";
  file.size = static_cast<uint64_t>(info.st_size);
  return file;
}

static bool parse(std::string_view text, uint64_t &out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc() && end == text.data() + text.size();
}

bool ExternalFolder::locate(const Tensor &tensor, uint64_t need, FileRange &out, std::string &error) {
  std::string_view location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (const ExternalEntry &entry : tensor.external) {
    bool ok = true;
    if (entry.key == "location")
      location = entry.value;
    else if (entry.key == "offset")
      ok = parse(entry.value, offset);
    else if (entry.key == "length")
      ok = parse(entry.value, length.emplace());
    if (!ok) {
      error = "external data: " + std::string(entry.key) + " '" + std::string(entry.value) + "' is not a number";
      return false;
    }
  }
  const File &found = file(location);
  const std::string where = "external data '" + std::string(location) + "': ";
  if (!found.error.empty()) {
    error = where + found.error;
    return false;
  }
  if (length && *length != need) {
    error = where + "need " + std::to_string(need) + " bytes, have a length of " + std::to_string(*length);
    return false;
  }
  if (offset > found.size || need > found.size - offset) {
    error = where + "need " + std::to_string(need) + " bytes at byte " + std::to_string(offset) + ", have a file of " +
            std::to_string(found.size) + " bytes";
    return false;
  }
  out = {found.path, offset, need};
  return true;
}
