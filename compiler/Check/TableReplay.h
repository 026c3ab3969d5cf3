//===- TableReplay.h - Walks one program of a table over sets of bytes --------------------------===//
#ifndef PLIM_CHECK_TABLEREPLAY_H
#define PLIM_CHECK_TABLEREPLAY_H

#include "absl/strings/str_cat.h"
#include "compiler/Check/ByteRanges.h"
#include "plim/table.h"
#include <optional>
#include <string>

namespace plim::check {

template <typename Record> const Record &recordOf(const plim_table *t, plim_section section, uint32_t index) {
  return reinterpret_cast<const Record *>(reinterpret_cast<const char *>(t) + t->sections[section].offset)[index];
}

// What the ssd reads and writes at once.
inline constexpr uint64_t kBlock = 4096;

// Where bytes lie: an arena, an input or output of the caller, or the weight file.
struct Memory {
  uint32_t base = 0, index = 0;
  auto operator<=>(const Memory &) const = default;
};

class TableReplay {
public:
  TableReplay(const plim_table *table, uint32_t program, std::vector<std::string> &faults);
  void run();

private:
  struct Access {
    Memory memory;
    std::vector<Strip> strips;
    uint64_t origin = 0;                                // start of the live range, resident or io that holds it
    bool reads = false, writes = false, certain = true; // certain: a write writes all bytes of the strips
    uint64_t start = 0;                                 // of the view
    std::string name{};
  };
  struct Flight {
    uint32_t token;
    uint8_t queue;
    uint32_t waited = 0; // bits of the queues that have waited for it
    std::vector<Access> accesses;
  };
  // What holds before a step.
  struct State {
    std::map<Memory, std::map<uint64_t, uint32_t>> live; // buffers by offset
    std::map<Memory, ByteSet> written;
    std::vector<Flight> flights;
  };

  const plim_table *t;
  const plim_t_program &p;
  std::vector<std::string> &faults;
  State state;
  bool reachable = true;
  uint32_t at = 0;
  std::map<uint32_t, State> pending; // states that jumps bring to later steps

  template <typename... T> void fail(const T &...parts) { faults.push_back(absl::StrCat(where(), ": ", parts...)); }
  std::string where() const;
  std::string text(uint32_t string) const;
  std::string bufferName(uint32_t buffer) const;
  const plim_t_view &view(uint32_t index) const { return recordOf<plim_t_view>(t, PLIM_SEC_VIEWS, index); }
  const plim_t_step &step(uint32_t index) const {
    return recordOf<plim_t_step>(t, PLIM_SEC_STEPS, p.first_step + index);
  }

  bool onSsd(Memory memory) const {
    return memory.base == PLIM_BASE_CONSTANT_FILE ||
           (memory.base == PLIM_BASE_ARENA &&
            recordOf<plim_t_arena>(t, PLIM_SEC_ARENAS, memory.index).tier == PLIM_SSD);
  }

  void start();
  void replay(const plim_t_step &s);
  void mark(const plim_t_mark &m);
  void launch(const plim_t_launch &l, const plim_t_step &s);
  void workspace(const plim_t_launch &l, const std::vector<Access> &operands);
  bool slide(uint32_t buffer);
  void copy(const plim_t_copy &c, const plim_t_step &s);
  void meetSsd(const std::vector<Access> &both, bool reads, uint32_t queue);
  void transfer(std::vector<Access> accesses, const plim_t_step &s);
  void wait(const plim_t_wait &w);
  void finish();
  void join(uint32_t target);
  void meetWith(const State &other);

  std::optional<uint32_t> liveAt(Memory memory, uint64_t low, uint64_t high) const;
  void locate(Access &access, const plim_t_view &v, uint32_t buffer);
  Access operandAccess(const plim_t_operand &o, const std::string &name);
  Access viewAccess(uint32_t index, uint64_t offset, uint64_t bytes, bool reads, const std::string &name);
  void perform(std::vector<Access> &accesses, uint8_t queue);
  void checkFlights(const Access &access, uint8_t queue);
};

// The bytes that a shape touches from `offset` on, at its bounds. Where they are in very many pieces, `exact` becomes
// false and the result is one strip around them.
std::vector<Strip> stripsOf(const plim_t_shape &shape, uint64_t offset, bool &exact);

} // namespace plim::check

#endif // PLIM_CHECK_TABLEREPLAY_H
