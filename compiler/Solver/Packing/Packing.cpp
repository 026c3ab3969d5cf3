//===- Packing.cpp - Offsets for traces of any size -------------------------------------------===//
//
// Greedy passes first: items in some order, each into the lowest hole (first fit) or the tightest one (best fit). Seeds
// sort by size, lifetime, area, fullness of the fullest instant, start. Then the core: the items that meet a nearly
// full instant are packed exactly at the target, and the seeds place the others around them. Small traces are also
// bisected exactly as a whole. Last, squeaky wheel (Joslin & Clements 1999) from the best seeds: items that stick out
// over the target move towards the front, and the pass is repeated. Each packing found is valid; how far it is from
// maxLive is not bounded but reported.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Packing/Packing.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/Solver/Packing/ExactPacking.h"
#include "compiler/Solver/Packing/Shelf.h"
#include <algorithm>
#include <array>
#include <numeric>

namespace plim::solver {

int64_t maxLive(const std::vector<Item> &items) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (const Item &i : items)
    if (i.lower < i.upper) {
      changes.push_back({i.lower, i.size});
      changes.push_back({i.upper, -i.size});
    }
  std::sort(changes.begin(), changes.end()); // at one instant, ends (negative) come first
  int64_t live = 0, most = 0;
  for (auto [time, change] : changes)
    most = std::max(most, live += change);
  return most;
}

namespace {

class Packer {
public:
  Packer(std::vector<Item> &items, const PackOptions &options)
      : items(items), ranked(rankTimes(items)), options(options), bound(maxLive(items)),
        fullest(fullestInstants(items)) {
    target = std::max(bound, options.capacity);
    const int64_t align = items.empty() ? 1 : items.front().align;
    uniform =
        std::all_of(items.begin(), items.end(), [&](const Item &i) { return i.align == align && i.size % align == 0; });
  }

  PackReport run() {
    for (Item &item : items)
      item.offset = 0;
    if (bound == 0)
      return {0, 0};
    if (!seed() && !packWhole() && !packCore() && !bisect())
      squeak();
    return {best, bound};
  }

private:
  std::vector<Item> &items;
  const std::vector<Item> ranked; // the same, for passes
  const PackOptions &options;
  const int64_t bound;
  const std::vector<int64_t> fullest;
  int64_t target = 0, best = INT64_MAX;
  bool uniform = false; // the exact search takes such items only
  int passes = 0;
  std::vector<Pass> seeds;

  bool done() const { return best <= target; }

  // Runs a pass and keeps its offsets where it is the best so far. True: good enough.
  bool consider(Pass &pass, const std::vector<int64_t> &fixed = {}, int64_t limit = INT64_MAX) {
    pass.run(ranked, fixed, limit);
    ++passes;
    if (pass.height < best) {
      best = pass.height;
      for (size_t i = 0; i < items.size(); ++i)
        items[i].offset = pass.offset[i];
    }
    return done();
  }

  // Larger comes first. W width in time, Z size, A area, T fullest instant in 50 classes; L, U late start or end first,
  // l, u early ones.
  double sortValue(char key, int i) const {
    const Item &item = items[i];
    switch (key) {
    case 'W':
      return double(item.upper - item.lower);
    case 'Z':
      return double(item.size);
    case 'A':
      return double(item.size) * double(item.upper - item.lower);
    case 'T':
      return double(int(50.0 * double(fullest[i]) / double(bound)));
    case 'l':
      return -double(item.lower);
    case 'L':
      return double(item.lower);
    case 'u':
      return -double(item.upper);
    default:
      return double(item.upper);
    }
  }

  static constexpr size_t kSqueaking = 3; // seeds that squeaky wheel starts from

  bool seed() {
    std::array<int64_t, kSqueaking> rivals; // heights of the best seeds, rising: a pass above them can stop
    rivals.fill(INT64_MAX);
    for (const char *keys : {"TWZ", "WZ", "Z", "lW", "ZW", "A", "Zu", "Zl", "ZU", "ZL", "TZW", "TA"})
      for (bool tightest : {true, false}) {
        if (passes >= std::max(1, options.passes))
          return done();
        Pass pass;
        pass.tightest = tightest;
        pass.order.resize(items.size());
        std::iota(pass.order.begin(), pass.order.end(), 0);
        std::stable_sort(pass.order.begin(), pass.order.end(), [&](int a, int b) {
          for (const char *key = keys; *key; ++key)
            if (double x = sortValue(*key, a), y = sortValue(*key, b); x != y)
              return x > y;
          return false;
        });
        if (consider(pass, {}, rivals.back()))
          return true;
        rivals.back() = std::min(rivals.back(), pass.height);
        std::sort(rivals.begin(), rivals.end());
        seeds.push_back(std::move(pass));
      }
    return false;
  }

  bool packPart(std::vector<Item> &part, int64_t capacity, int64_t firstNodes) const {
    ExactOptions exact;
    exact.capacity = capacity, exact.firstNodes = firstNodes, exact.seed = options.seed;
    exact.nodes = std::min(options.exactNodes, options.exactNodes * 200 / int64_t(part.size() + 1));
    return packExactly(part, exact) == Verdict::Packed;
  }

  static constexpr size_t kSmall = 500;

  // Small traces have little but a core: the search for the target on all of it comes first.
  bool packWhole() {
    if (!uniform || options.exactNodes == 0 || items.size() > kSmall || !packPart(items, target, 0))
      return false;
    best = heightOf();
    return true;
  }

  int64_t heightOf() const {
    int64_t height = 0;
    for (const Item &item : items)
      height = std::max(height, item.offset + item.size);
    return height;
  }

  bool packCore() {
    constexpr int64_t kFirstNodes = 5000;
    if (!uniform || options.exactNodes == 0)
      return false;
    for (double share : {0.97, 0.93, 0.9, 0.85, 0.8}) {
      std::vector<Item> core;
      std::vector<int> index;
      for (size_t i = 0; i < items.size(); ++i)
        if (double(fullest[i]) > share * double(bound))
          index.push_back(int(i)), core.push_back(items[i]);
      if (int(core.size()) > options.exactItems || !packPart(core, target, kFirstNodes))
        return false;
      std::vector<int64_t> fixed(items.size(), -1);
      for (size_t k = 0; k < index.size(); ++k)
        fixed[index[k]] = core[k].offset;
      for (const Pass &from : seeds) {
        Pass pass;
        pass.order = from.order, pass.tightest = from.tightest;
        if (consider(pass, fixed, best))
          return true;
      }
    }
    return false;
  }

  bool bisect() {
    if (!uniform || options.exactNodes == 0 || int(items.size()) > options.exactItems)
      return false;
    if (!options.lowest && (items.size() <= kSmall || best <= target))
      return false;
    // packWhole has tried the target on small traces.
    int64_t low = items.size() > kSmall ? target - 1 : target;
    int64_t aim = items.size() > kSmall ? target : low + (best - low) / 2;
    while (aim > low && aim < best) {
      if (packPart(items, aim, 0)) {
        best = heightOf();
      } else {
        low = aim;
        if (!options.lowest || double(best - low) < 0.002 * double(bound))
          break;
      }
      aim = low + (best - low) / 2;
    }
    return done();
  }

  void squeak() {
    std::stable_sort(seeds.begin(), seeds.end(), [](const Pass &a, const Pass &b) { return a.height < b.height; });
    seeds.resize(std::min(seeds.size(), kSqueaking));
    for (size_t round = 0; passes < options.passes && !seeds.empty(); ++round) {
      Pass &pass = seeds[round % seeds.size()];
      const int64_t step = std::max<int64_t>(1, (best - target) / 2);
      const int64_t over = std::max(target, std::min(best, pass.height) - step);
      std::vector<double> key(items.size());
      for (size_t k = 0; k < items.size(); ++k) {
        const int i = pass.order[k];
        const bool sticksOut = pass.offset[i] + items[i].size > over;
        key[i] = sticksOut ? double(k) * 0.5 - 1 : double(k);
      }
      std::stable_sort(pass.order.begin(), pass.order.end(), [&](int a, int b) { return key[a] < key[b]; });
      if (consider(pass))
        return;
    }
  }
};

} // namespace

PackReport pack(std::vector<Item> &items, const PackOptions &options) { return Packer(items, options).run(); }

std::optional<Instance> parseCsv(std::string_view text, std::vector<std::string> &errors) {
  const size_t known = errors.size();
  Instance instance;
  int line = 0;
  int64_t total = 0;
  for (absl::string_view row : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++line;
    row = absl::StripSuffix(row, "\r");
    if (line == 1) {
      if (row.substr(0, 19) != "id,lower,upper,size")
        errors.push_back("line 1: need the header 'id,lower,upper,size'");
      continue;
    }
    if (row.empty())
      continue;
    std::vector<absl::string_view> cells = absl::StrSplit(row, ',');
    Item item;
    if (cells.size() < 4 || cells.size() > 5 || !absl::SimpleAtoi(cells[1], &item.lower) ||
        !absl::SimpleAtoi(cells[2], &item.upper) || !absl::SimpleAtoi(cells[3], &item.size) ||
        (cells.size() == 5 && !absl::SimpleAtoi(cells[4], &item.offset))) {
      errors.push_back(absl::StrCat("line ", line, ": need id,lower,upper,size as whole numbers, have '", row, "'"));
      continue;
    }
    if (item.size < 0 || item.lower > item.upper || item.size > INT64_MAX / 4 - total)
      errors.push_back(absl::StrCat(
          "line ", line, ": need 0 <= size, lower <= upper and a sum of sizes below 2^61, have '", row, "'"));
    else
      total += item.size;
    instance.ids.emplace_back(cells[0]);
    instance.items.push_back(item);
  }
  if (errors.size() != known)
    return std::nullopt;
  return instance;
}

std::string printCsv(const Instance &instance) {
  std::string text = "id,lower,upper,size,offset\n";
  for (size_t i = 0; i < instance.items.size(); ++i) {
    const Item &item = instance.items[i];
    absl::StrAppend(&text, instance.ids[i], ",", item.lower, ",", item.upper, ",", item.size, ",", item.offset, "\n");
  }
  return text;
}

} // namespace plim::solver
