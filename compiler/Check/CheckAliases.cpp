//===- CheckAliases.cpp - Places of aliases, and steps that they leave out --------------------===//
#include "compiler/Check/SolutionReplay.h"
#include <algorithm>
#include <numeric>

namespace plim::check {

using namespace solver;

// Does `place` lie in `base` as its alias says?
bool SolutionReplay::liesIn(int place, int base) const {
  const Place &at = s.places[place], &in = s.places[base];
  const Alias &alias = p.aliases[at.alias];
  if (at.storage != in.storage)
    return false;
  if (in.run == 0)
    return at.offset == in.offset + alias.offset && at.run == alias.run && at.stride == alias.stride;
  return alias.offset == 0 && alias.run == 0 && at.offset == in.offset && at.run == in.run && at.stride == in.stride &&
         bytesOf(place) == bytesOf(base);
}

// The operand that the alias of `place`, another operand of this action, names as its base; -1 where it names none.
int SolutionReplay::baseOf(int action, int place, bool isRead) const {
  const Action &a = s.actions[action];
  const int id = s.places[place].alias;
  if (id < 0)
    return -1;
  const Alias &alias = p.aliases[id];
  if (alias.step != a.step || (alias.kind == AliasKind::Into) != isRead || alias.buffer != s.places[place].buffer)
    return -1;
  for (int other : isRead ? a.writes : a.reads)
    if (s.places[other].buffer == alias.base)
      return other;
  return -1;
}

// One of the places that aliases put into one storage together with this one; the same for all of them.
int SolutionReplay::joinedWith(int place) {
  while (joined[place] != place)
    place = joined[place] = joined[joined[place]];
  return place;
}

void SolutionReplay::checkAliases() {
  std::vector<int> parent(s.places.size(), -1), near(s.places.size(), -1);
  std::vector<bool> seen(s.places.size(), false);
  joined.resize(s.places.size());
  std::iota(joined.begin(), joined.end(), 0);
  for (int k = 0; k < int(s.actions.size()); ++k) {
    if (!isStep(k))
      continue;
    const Action &a = s.actions[k];
    int pieces = 0, views = 0;
    auto follow = [&](int place, bool isRead) {
      const int base = baseOf(k, place, isRead);
      if (base < 0)
        return;
      near[place] = base;
      // Another instance of the step may find the operand elsewhere; it then does all of its work.
      if (!liesIn(place, base))
        return;
      const AliasKind kind = p.aliases[s.places[place].alias].kind;
      if (kind == AliasKind::InPlace && !(candidateOf(k).flags & kInPlaceOk))
        fail(where(k), ": candidate '", candidateOf(k).kernel, "' does not run in place");
      seen[place] = true;
      joined[joinedWith(place)] = joinedWith(base);
      if (kind != AliasKind::InPlace && parent[place] < 0)
        parent[place] = base;
      pieces += kind == AliasKind::Into;
      views += kind == AliasKind::View;
    };
    for (int place : a.reads)
      follow(place, true);
    for (int place : a.writes)
      follow(place, false);
    const bool empty = (pieces > 0 && pieces == int(a.reads.size())) || (views > 0 && views == int(a.writes.size()));
    if (empty != (a.kind == ActionKind::Elided))
      fail(where(k),
           empty ? ": aliases leave nothing to do, yet it runs" : ": left out, yet aliases do not do its work");
  }
  for (int i = 0; i < int(s.places.size()); ++i)
    if (s.places[i].alias >= 0 && !seen[i]) {
      if (near[i] >= 0)
        fail(placeName(i), " does not lie in ", placeName(near[i]), " as alias ", s.places[i].alias, " says");
      else
        fail(placeName(i), ": alias ", s.places[i].alias, " belongs to no action that has it");
    }
  // A piece has its buffer's bytes where the whole has them, and a view likewise; so on up the chain.
  contents.resize(s.places.size());
  for (int i = 0; i < int(s.places.size()); ++i) {
    int top = i;
    for (size_t hops = 0; parent[top] >= 0 && hops <= s.places.size(); ++hops)
      top = parent[top];
    contents[i] = top;
  }
}

} // namespace plim::check
