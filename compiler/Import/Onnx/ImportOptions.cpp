#include "compiler/Import/Onnx/ImportOptions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;
using namespace plim::onnx;

bool plim::onnx::matchesName(StringRef pattern, StringRef name) {
  if (pattern == name)
    return true;
  auto glob = GlobPattern::create(pattern);
  if (!glob) {
    // A name such as "a[" is no glob; it was compared above.
    consumeError(glob.takeError());
    return false;
  }
  return glob->match(name);
}

/// Splits `name=value` at the last `=`, as names of tensors may hold one.
static bool splitFlag(StringRef text, StringRef flag, StringRef form, StringRef &name, StringRef &value,
                      std::string &error) {
  std::tie(name, value) = text.rsplit('=');
  if (text.contains('=') && !name.empty() && !value.empty())
    return true;
  error = (flag + " '" + text + "': need " + form).str();
  return false;
}

std::optional<ShapeFlag> ShapeFlag::parse(StringRef text, std::string &error) {
  StringRef name, value;
  if (!splitFlag(text, "--shape", "NAME=DIMxDIM..., such as x=1x3x224x224", name, value, error))
    return std::nullopt;
  ShapeFlag flag{text.str(), name.str(), {}};
  SmallVector<StringRef> parts;
  value.split(parts, value.contains(',') ? ',' : 'x');
  for (StringRef part : parts) {
    Dimension &dimension = flag.dimensions.emplace_back();
    int64_t size;
    if (part == "?")
      continue;
    if (!part.getAsInteger(10, size)) {
      if (size < 0) {
        error = ("--shape '" + text + "': dimension " + part + " is negative").str();
        return std::nullopt;
      }
      dimension.size = size;
    } else if (part.empty() || llvm::isDigit(part.front()) || part.front() == '-') {
      error = ("--shape '" + text + "': '" + part + "' is no dimension; need a number, a name, or ?").str();
      return std::nullopt;
    } else {
      dimension.name = part.str();
    }
  }
  return flag;
}

std::optional<BoundFlag> BoundFlag::parse(StringRef text, std::string &error) {
  StringRef name, value;
  if (!splitFlag(text, "--bound", "NAME=LEAST..MOST, such as N=1..32", name, value, error))
    return std::nullopt;
  BoundFlag flag{text.str(), name.str(), 0, 0};
  StringRef low = value, high = value;
  if (value.contains(".."))
    std::tie(low, high) = value.split("..");
  if (low.getAsInteger(10, flag.lower) || high.getAsInteger(10, flag.upper)) {
    error = ("--bound '" + text + "': need NAME=LEAST..MOST, such as N=1..32").str();
    return std::nullopt;
  }
  if (flag.lower < 0 || flag.lower > flag.upper) {
    error = ("--bound '" + text + "': need 0 <= least <= most").str();
    return std::nullopt;
  }
  return flag;
}
