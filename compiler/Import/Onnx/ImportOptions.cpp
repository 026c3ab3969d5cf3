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

/// `LEAST..MOST` or one number for both.
static bool parseRange(StringRef value, int64_t &lower, int64_t &upper) {
  StringRef low = value, high = value;
  if (value.contains(".."))
    std::tie(low, high) = value.split("..");
  return !low.getAsInteger(10, lower) && !high.getAsInteger(10, upper);
}

std::optional<BoundFlag> BoundFlag::parse(StringRef text, std::string &error) {
  StringRef name, value;
  if (!splitFlag(text, "--bound", "NAME=LEAST..MOST, such as N=1..32", name, value, error))
    return std::nullopt;
  BoundFlag flag{text.str(), name.str(), 0, 0};
  if (!parseRange(value, flag.lower, flag.upper)) {
    error = ("--bound '" + text + "': need NAME=LEAST..MOST, such as N=1..32").str();
    return std::nullopt;
  }
  if (flag.lower < 0 || flag.lower > flag.upper) {
    error = ("--bound '" + text + "': need 0 <= least <= most").str();
    return std::nullopt;
  }
  return flag;
}

std::optional<StateFlag> StateFlag::parse(StringRef text, std::string &error) {
  StringRef input, output;
  if (!splitFlag(text, "--state", "INPUT=OUTPUT, such as 'past_*=present_*'", input, output, error))
    return std::nullopt;
  const size_t stars = input.count('*');
  if (stars > 1 || output.count('*') != stars) {
    error = ("--state '" + text + "': need one '*' on both sides or none, have " + Twine(stars) + " and " +
             Twine(output.count('*')))
                .str();
    return std::nullopt;
  }
  return StateFlag{text.str(), input.str(), output.str()};
}

std::optional<StringRef> StateFlag::match(StringRef name) const {
  const size_t star = input.find('*');
  if (star == std::string::npos)
    return name == input ? std::optional<StringRef>("") : std::nullopt;
  if (name.size() + 1 < input.size() || !name.consume_front(StringRef(input).take_front(star)) ||
      !name.consume_back(StringRef(input).drop_front(star + 1)))
    return std::nullopt;
  return name;
}

std::string StateFlag::outputFor(StringRef star) const {
  std::string name = output;
  if (const size_t at = name.find('*'); at != std::string::npos)
    name.replace(at, 1, star.str());
  return name;
}

std::optional<EntryFlag> EntryFlag::parse(StringRef text, std::string &error) {
  const auto fail = [&](const Twine &why) {
    error = ("--entry '" + text + "': " + why).str();
    return std::nullopt;
  };
  const auto [name, list] = text.split(':');
  EntryFlag flag{text.str(), name.str(), {}};
  const bool isName =
      !name.empty() && !isDigit(name.front()) && all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
  if (!isName || (list.empty() && text.contains(':')))
    return fail("need NAME or NAME:DIMENSION=LEAST..MOST,..., such as decode:S=1");
  if (name == "setup")
    return fail("the name is that of the program that prepares weights");
  SmallVector<StringRef> parts;
  if (!list.empty())
    list.split(parts, ',');
  for (StringRef part : parts) {
    const auto [dimension, range] = part.rsplit('=');
    BoundFlag bound{part.str(), dimension.str(), 0, 0};
    if (dimension.empty() || !part.contains('=') || !parseRange(range, bound.lower, bound.upper))
      return fail("'" + part + "': need DIMENSION=LEAST..MOST, such as S=1..512");
    if (bound.lower < 0 || bound.lower > bound.upper)
      return fail("'" + part + "': need 0 <= least <= most");
    for (const BoundFlag &other : flag.bounds)
      if (other.pattern == bound.pattern)
        return fail("dimension '" + dimension + "' is given twice");
    flag.bounds.push_back(bound);
  }
  return flag;
}
