//===- ByteRanges.h - Strided ranges of bytes, and sets of them ---------------------------------===//
#ifndef PLIM_CHECK_BYTERANGES_H
#define PLIM_CHECK_BYTERANGES_H

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace plim::check {

// Bytes [offset + i * stride, offset + i * stride + run) for i < count. run <= stride where count > 1.
struct Strip {
  uint64_t offset = 0, run = 0, stride = 0, count = 1;
  uint64_t end() const { return run == 0 || count == 0 ? offset : offset + (count - 1) * stride + run; }
};

bool meet(const Strip &a, const Strip &b);

// A set of bytes, built from strips. Strips that together fill their strides become one contiguous range, so that
// pieces of a concat that are written side by side make the whole.
class ByteSet {
public:
  // `origin`: a common start of strips that belong together, at most strip.offset.
  void add(const Strip &strip, uint64_t origin);
  void add(uint64_t low, uint64_t high);
  void remove(uint64_t low, uint64_t high);
  bool covers(uint64_t low, uint64_t high) const;
  bool covers(const Strip &strip, uint64_t origin) const;
  void intersect(const ByteSet &other);

private:
  using Intervals = std::map<uint64_t, uint64_t>;        // start to end; disjoint and not adjacent
  using Rows = std::tuple<uint64_t, uint64_t, uint64_t>; // start of the first row, stride, count
  Intervals whole;
  std::map<Rows, Intervals> partial; // by rows: the columns that are there in each row

  // All intervals that meet [low, high), those of partial rows too.
  using Partial = std::pair<const Rows, Intervals>;
  static void spellOut(const Partial &entry, uint64_t low, uint64_t high, Intervals &into);
  Intervals spelledOut(uint64_t low, uint64_t high) const;
  static void add(Intervals &set, uint64_t low, uint64_t high);
  static void remove(Intervals &set, uint64_t low, uint64_t high);
  static bool covers(const Intervals &set, uint64_t low, uint64_t high);
  static Intervals common(const Intervals &a, const Intervals &b);
  static std::vector<Strip> inRows(const Strip &strip, uint64_t origin);
};

} // namespace plim::check

#endif // PLIM_CHECK_BYTERANGES_H
