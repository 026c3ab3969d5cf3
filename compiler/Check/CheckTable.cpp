//===- CheckTable.cpp - Figures of a table, and the replay of each program ----------------------===//
#include "compiler/Check/CheckTable.h"
#include "compiler/Check/TableReplay.h"
#include <algorithm>
#include <array>

namespace plim::check {
namespace {

class Figures {
public:
  Figures(const plim_table *t, std::vector<std::string> &faults)
      : t(t), faults(faults), ends(t->sections[PLIM_SEC_ARENAS].count, 0) {}

  void check() {
    for (uint32_t k = 0; k < t->sections[PLIM_SEC_PROGRAMS].count; ++k)
      program(k);
    for (uint32_t a = 0; a < ends.size(); ++a) {
      const auto &arena = recordOf<plim_t_arena>(t, PLIM_SEC_ARENAS, a);
      if (arena.touched != ends[a])
        faults.push_back(absl::StrCat("arena ", a, ": need ", ends[a], " touched bytes, have ", arena.touched));
      const uint64_t multiple = arena.tier == PLIM_SSD ? 4096 : 64;
      if (arena.bytes < ends[a] || arena.bytes % multiple != 0)
        faults.push_back(absl::StrCat("arena ", a, ": need at least ", ends[a], " bytes, a multiple of ", multiple,
                                      ", have ", arena.bytes));
    }
  }

private:
  const plim_table *t;
  std::vector<std::string> &faults;
  std::vector<uint64_t> ends; // by arena: end of the last byte that a step or resident names

  const plim_t_view &touch(uint32_t index) {
    const auto &v = recordOf<plim_t_view>(t, PLIM_SEC_VIEWS, index);
    if (v.base == PLIM_BASE_ARENA)
      ends[v.index] = std::max(ends[v.index], v.offset + v.bytes);
    return v;
  }

  void program(uint32_t index) {
    const auto &p = recordOf<plim_t_program>(t, PLIM_SEC_PROGRAMS, index);
    std::array<uint64_t, PLIM_TIER_COUNT> live{}, peak{};
    for (uint32_t k = 0; k < p.ios; ++k)
      if (const auto &io = recordOf<plim_t_io>(t, PLIM_SEC_IOS, p.first_io + k); io.state == PLIM_NONE)
        live[PLIM_RAM] += io.bytes;
    for (uint32_t k = 0; k < p.residents; ++k) {
      const auto &v = touch(recordOf<plim_t_resident>(t, PLIM_SEC_RESIDENTS, p.first_resident + k).view);
      if (v.base == PLIM_BASE_ARENA)
        live[recordOf<plim_t_arena>(t, PLIM_SEC_ARENAS, v.index).tier] += v.bytes;
    }
    peak = live;
    for (uint32_t k = 0; k < p.steps; ++k) {
      const auto &s = recordOf<plim_t_step>(t, PLIM_SEC_STEPS, p.first_step + k);
      if (s.opcode == PLIM_OP_LAUNCH) {
        const auto &l = recordOf<plim_t_launch>(t, PLIM_SEC_LAUNCHES, s.record);
        for (uint32_t o = 0; o < l.operands; ++o)
          touch(recordOf<plim_t_operand>(t, PLIM_SEC_OPERANDS, l.first_operand + o).view);
        if (l.workspace != PLIM_NONE)
          touch(l.workspace);
      } else if (s.opcode == PLIM_OP_COPY) {
        touch(recordOf<plim_t_copy>(t, PLIM_SEC_COPIES, s.record).src);
        touch(recordOf<plim_t_copy>(t, PLIM_SEC_COPIES, s.record).dst);
      } else if (s.opcode == PLIM_OP_FILL) {
        touch(recordOf<plim_t_fill>(t, PLIM_SEC_FILLS, s.record).view);
      } else if (s.opcode == PLIM_OP_LOAD) {
        touch(recordOf<plim_t_load>(t, PLIM_SEC_LOADS, s.record).view);
      } else if (s.opcode == PLIM_OP_MARK) {
        const auto &m = recordOf<plim_t_mark>(t, PLIM_SEC_MARKS, s.record);
        const auto &v = touch(recordOf<plim_t_buffer>(t, PLIM_SEC_BUFFERS, m.buffer).view);
        const uint32_t tier = recordOf<plim_t_arena>(t, PLIM_SEC_ARENAS, v.index).tier;
        live[tier] = m.is_death ? live[tier] - v.bytes : live[tier] + v.bytes;
        peak[tier] = std::max(peak[tier], live[tier]);
      }
    }
    for (uint32_t tier = 0; tier < PLIM_TIER_COUNT; ++tier)
      if (p.live_peak[tier] != peak[tier])
        faults.push_back(absl::StrCat("program ", index, ": need a live peak of ", peak[tier], " bytes in tier ", tier,
                                      ", have ", p.live_peak[tier]));
  }
};

} // namespace

std::vector<std::string> checkTable(const plim_table *table) {
  std::vector<std::string> faults;
  for (uint32_t k = 0; k < table->sections[PLIM_SEC_PROGRAMS].count; ++k)
    TableReplay(table, k, faults).run();
  Figures(table, faults).check();
  return faults;
}

std::vector<Strip> stripsOf(const plim_t_shape &shape, uint64_t offset, bool &exact) {
  constexpr size_t kPieces = 65536;
  const uint64_t element = plim_dtype_bytes(shape.dtype);
  struct Axis {
    uint64_t stride, count;
  };
  std::vector<Axis> axes;
  for (uint32_t d = 0; d < shape.rank; ++d) {
    if (shape.dims[d] == 0)
      return {};
    if (shape.dims[d] > 1 && shape.strides[d] > 0)
      axes.push_back({uint64_t(shape.strides[d]) * element, uint64_t(shape.dims[d])});
  }
  if (shape.layout == PLIM_PANEL32 && shape.rank == 2) // [K, N]: K * 32 * ceil(N / 32) elements
    return {{offset, uint64_t(shape.dims[0]) * 32 * ((uint64_t(shape.dims[1]) + 31) / 32) * element, 0, 1}};
  std::sort(axes.begin(), axes.end(), [](const Axis &a, const Axis &b) { return a.stride < b.stride; });
  Strip strip{offset, element, 0, 1};
  size_t k = 0;
  for (; k < axes.size() && axes[k].stride <= strip.run; ++k)
    strip.run += (axes[k].count - 1) * axes[k].stride;
  if (k < axes.size())
    strip.stride = axes[k].stride, strip.count = axes[k].count, ++k;
  for (; k < axes.size() && axes[k].stride == strip.stride * strip.count; ++k)
    strip.count *= axes[k].count;
  std::vector<Strip> strips{strip};
  for (; k < axes.size(); ++k) {
    if (axes[k].count > kPieces / strips.size()) {
      uint64_t end = strips.back().end();
      for (; k < axes.size(); ++k)
        end += (axes[k].count - 1) * axes[k].stride;
      exact = false;
      return {{offset, end - offset, 0, 1}};
    }
    const size_t known = strips.size();
    for (uint64_t i = 1; i < axes[k].count; ++i)
      for (size_t s = 0; s < known; ++s) {
        strips.push_back(strips[s]);
        strips.back().offset += i * axes[k].stride;
      }
  }
  return strips;
}

} // namespace plim::check
