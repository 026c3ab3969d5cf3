//===- Segments.cpp - Bytes that values have in common -----------------------------------------===//
#include "compiler/Solver/Bound/Segments.h"
#include "compiler/Solver/DisjointSets.h"
#include <algorithm>
#include <map>

namespace plim::solver {
namespace {

// Where a buffer lies in the whole that it is part of.
struct Strip {
  int64_t offset = 0, run = 0, stride = 0;
};

// The same columns of all rows of the whole, half-open. A whole without strips is one row.
using Columns = std::map<int, std::pair<int64_t, int64_t>>; // by buffer

class Cutter {
public:
  Cutter(const Problem &problem, const std::vector<int64_t> &bytes)
      : problem(problem), bytes(bytes), parentAlias(problem.buffers.size(), -1) {
    result.of.resize(problem.buffers.size());
  }
  Segments run(const std::vector<char> &counts);

private:
  const Problem &problem;
  const std::vector<int64_t> &bytes;
  std::vector<int> parentAlias; // by buffer: the alias that leads to what it may be part of, or -1
  Segments result;

  bool findStrip(int buffer, size_t mostHops, Strip &at) const;
  bool layOut(const std::vector<int> &members, Columns &columns, int64_t &rows) const;
  void cut(const std::vector<int> &members, bool forest);
};

// False where it is not plain how the buffer lies in the whole.
bool Cutter::findStrip(int buffer, size_t mostHops, Strip &at) const {
  const int64_t inner = bytes[buffer];
  size_t hops = 0;
  for (int b = buffer; parentAlias[b] >= 0; b = problem.aliases[parentAlias[b]].base) {
    const Alias &alias = problem.aliases[parentAlias[b]];
    if (alias.run == 0)
      at.offset += alias.offset;
    else if (at.run == 0 && at.offset == 0 && bytes[b] == inner)
      at = {alias.offset, alias.run, alias.stride};
    else
      return false;
    if (++hops > mostHops)
      return false;
  }
  return true;
}

// False where it is not plain how the members lie in one whole.
bool Cutter::layOut(const std::vector<int> &members, Columns &columns, int64_t &rows) const {
  std::map<int, Strip> strips;
  int64_t stride = 0;
  for (int b : members) {
    Strip &at = strips[b];
    if (!findStrip(b, members.size(), at))
      return false;
    if (at.run == 0)
      continue;
    // All rows alike, and the member inside one column of the whole.
    if (bytes[b] % at.run != 0 || at.offset + at.run > at.stride ||
        (stride != 0 && (stride != at.stride || rows != bytes[b] / at.run)))
      return false;
    stride = at.stride, rows = bytes[b] / at.run;
  }
  for (const auto &[b, at] : strips) {
    if (at.run > 0)
      columns[b] = {at.offset, at.offset + at.run};
    else if (stride == 0)
      columns[b] = {at.offset, at.offset + bytes[b]};
    else if (at.offset == 0 && bytes[b] == stride * rows)
      columns[b] = {0, stride};
    else
      return false;
  }
  return true;
}

// Cuts what views and pieces may join into segments. Where it is not plain how the members lie in one whole, they are
// taken to lie inside each other, which counts the largest only.
void Cutter::cut(const std::vector<int> &members, bool forest) {
  Columns columns;
  int64_t rows = 1;
  const bool plain = forest && layOut(members, columns, rows);
  if (!plain) {
    rows = 1;
    for (int b : members)
      columns[b] = {0, bytes[b]};
  }
  std::vector<int64_t> cuts;
  for (const auto &[b, column] : columns)
    cuts.push_back(column.first), cuts.push_back(column.second);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (size_t k = 0; k + 1 < cuts.size(); ++k) {
    Segments::Segment segment{.bytes = (cuts[k + 1] - cuts[k]) * rows};
    for (const auto &[b, column] : columns)
      if (column.first <= cuts[k] && cuts[k + 1] <= column.second)
        segment.buffers.push_back(b);
    if (segment.buffers.empty())
      continue;
    // In a forest the way between two members leads over wholes that contain both.
    segment.linked = plain || segment.buffers.size() == members.size();
    for (int b : segment.buffers)
      result.of[b].push_back(int(result.all.size()));
    result.all.push_back(std::move(segment));
  }
}

Segments Cutter::run(const std::vector<char> &counts) {
  const int count = int(problem.buffers.size());
  DisjointSets joined(count);
  std::vector<char> several(count, 0);
  for (size_t a = 0; a < problem.aliases.size() && problem.levers.alias; ++a) {
    const Alias &alias = problem.aliases[a];
    if (alias.kind == AliasKind::InPlace || !counts[alias.buffer] || !counts[alias.base])
      continue;
    several[alias.buffer] |= parentAlias[alias.buffer] >= 0;
    parentAlias[alias.buffer] = int(a);
    joined.join(alias.buffer, alias.base);
  }
  std::vector<std::vector<int>> members(count);
  std::vector<char> forest(count, 1);
  for (int b = 0; b < count; ++b)
    if (counts[b]) {
      members[joined.find(b)].push_back(b);
      forest[joined.find(b)] = forest[joined.find(b)] && !several[b];
    }
  for (int b = 0; b < count; ++b)
    if (!members[b].empty())
      cut(members[b], forest[b]);
  return std::move(result);
}

} // namespace

Segments segmentsOf(const Problem &problem, const std::vector<int64_t> &bytes, const std::vector<char> &counts) {
  return Cutter(problem, bytes).run(counts);
}

} // namespace plim::solver
