// Typed access to the sections of a step table. No checks: the table has passed plim_table_check, or the caller asks
// only for what is already known to be sound.
#ifndef PLIM_RUNTIME_CORE_TABLE_VIEW_H
#define PLIM_RUNTIME_CORE_TABLE_VIEW_H

#include "plim/check.h"
#include "runtime/core/record_bytes.h"

namespace plim::rt {

struct TableView {
  const plim_table *t = nullptr;

  template <class Record> const Record *all(plim_section s) const {
    return reinterpret_cast<const Record *>(reinterpret_cast<const char *>(t) + t->sections[s].offset);
  }
  uint32_t count(plim_section s) const { return static_cast<uint32_t>(t->sections[s].count); }

  const char *string(uint32_t offset) const { return offset == PLIM_NONE ? "" : all<char>(PLIM_SEC_STRINGS) + offset; }
  const uint64_t *words() const { return all<uint64_t>(PLIM_SEC_WORDS); }
  const uint32_t *indices() const { return all<uint32_t>(PLIM_SEC_INDICES); }

#define PLIM_RECORD(name, section)                                                                                     \
  const plim_t_##name &name(uint32_t i) const { return all<plim_t_##name>(section)[i]; }
  PLIM_RECORD(kernel, PLIM_SEC_KERNELS)
  PLIM_RECORD(shape, PLIM_SEC_SHAPES)
  PLIM_RECORD(constant, PLIM_SEC_CONSTANTS)
  PLIM_RECORD(state, PLIM_SEC_STATES)
  PLIM_RECORD(arena, PLIM_SEC_ARENAS)
  PLIM_RECORD(view, PLIM_SEC_VIEWS)
  PLIM_RECORD(buffer, PLIM_SEC_BUFFERS)
  PLIM_RECORD(resident, PLIM_SEC_RESIDENTS)
  PLIM_RECORD(symbol, PLIM_SEC_SYMBOLS)
  PLIM_RECORD(io, PLIM_SEC_IOS)
  PLIM_RECORD(operand, PLIM_SEC_OPERANDS)
  PLIM_RECORD(launch, PLIM_SEC_LAUNCHES)
  PLIM_RECORD(copy, PLIM_SEC_COPIES)
  PLIM_RECORD(fill, PLIM_SEC_FILLS)
  PLIM_RECORD(wait, PLIM_SEC_WAITS)
  PLIM_RECORD(load, PLIM_SEC_LOADS)
  PLIM_RECORD(eval, PLIM_SEC_EVALS)
  PLIM_RECORD(check, PLIM_SEC_CHECKS)
  PLIM_RECORD(branch, PLIM_SEC_BRANCHES)
  PLIM_RECORD(loop, PLIM_SEC_LOOPS)
  PLIM_RECORD(mark, PLIM_SEC_MARKS)
  PLIM_RECORD(program, PLIM_SEC_PROGRAMS)
  PLIM_RECORD(variant, PLIM_SEC_VARIANTS)
#undef PLIM_RECORD

  const plim_t_step &step(const plim_t_program &p, uint32_t i) const {
    return all<plim_t_step>(PLIM_SEC_STEPS)[p.first_step + i];
  }

  /// Calls f(view index) for every view that a step names, workspaces included. A buffer's own view counts where a MARK
  /// names it.
  template <class Fn> void viewsOfStep(const plim_t_step &s, Fn f) const {
    switch (s.opcode) {
    case PLIM_OP_LAUNCH: {
      const plim_t_launch &l = launch(s.record);
      for (uint32_t i = 0; i < l.operands; ++i)
        f(operand(l.first_operand + i).view);
      if (l.workspace != PLIM_NONE)
        f(l.workspace);
      break;
    }
    case PLIM_OP_COPY:
      f(copy(s.record).src);
      f(copy(s.record).dst);
      break;
    case PLIM_OP_FILL:
      f(fill(s.record).view);
      break;
    case PLIM_OP_LOAD:
      f(load(s.record).view);
      break;
    case PLIM_OP_MARK:
      f(buffer(mark(s.record).buffer).view);
      break;
    default:
      break;
    }
  }

  /// Likewise for all steps and residents of a program.
  template <class Fn> void viewsOfProgram(const plim_t_program &p, Fn f) const {
    for (uint32_t i = 0; i < p.residents; ++i)
      f(resident(p.first_resident + i).view);
    for (uint32_t i = 0; i < p.steps; ++i)
      viewsOfStep(step(p, i), f);
  }
};

/// A set of arenas of a table.
class ArenaSet {
public:
  void add(uint32_t i) { bits[i / 64] |= uint64_t(1) << i % 64; }
  bool has(uint32_t i) const { return bits[i / 64] >> i % 64 & 1; }

private:
  uint64_t bits[PLIM_MAX_ARENAS / 64] = {};
};

/// Which of its three owners an arena belongs to.
enum class Owner { weights, context, session };

/// Owners of all arenas: a persistent arena that holds a constant is the weights', any other persistent one the
/// session's; the rest are the context's.
class Owners {
public:
  explicit Owners(TableView t) : t(t) {
    for (uint32_t i = 0; i < t.count(PLIM_SEC_RESIDENTS); ++i) {
      const plim_t_resident &r = t.resident(i);
      const plim_t_view &v = t.view(r.view);
      if (v.base == PLIM_BASE_ARENA)
        (r.is_state ? states : constants).add(v.index);
    }
  }
  Owner of(uint32_t arena) const {
    if (t.arena(arena).kind != PLIM_PERSISTENT)
      return Owner::context;
    return constants.has(arena) ? Owner::weights : Owner::session;
  }
  /// An arena cannot have two owners; the check refuses this.
  bool mixed(uint32_t arena) const { return constants.has(arena) && states.has(arena); }

private:
  TableView t;
  ArenaSet constants, states;
};

} // namespace plim::rt

#endif
