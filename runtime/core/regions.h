// The nesting of branches and loops in a program's list of steps, recovered in one forward scan without memory.
//
// An `if` is BRANCH c -> else; then...; BRANCH always -> end; else... ; a loop is LOOP; body...; NEXT. A region is a
// half-open range of steps; it is numbered when the scan enters it.
#ifndef PLIM_RUNTIME_CORE_REGIONS_H
#define PLIM_RUNTIME_CORE_REGIONS_H

#include "runtime/core/table_view.h"

namespace plim::rt {

class Regions {
public:
  Regions(TableView t, const plim_t_program &p) : t(t), p(p) { stack[0] = {p.steps, p.steps, 0, 0, PLIM_NONE}; }

  /// Enters step s (called for 0, 1, 2, ...). Null, or what is wrong with it.
  const char *enter(uint32_t s) {
    leaveEnded(s);
    const plim_t_step &step = t.step(p, s);
    switch (step.opcode) {
    case PLIM_OP_BRANCH:
      return enterBranch(s, t.branch(step.record));
    case PLIM_OP_LOOP:
      return enterLoop(s, step.record);
    case PLIM_OP_NEXT: {
      const Region &top = stack[depth];
      return top.loop == step.record && top.end == s + 1 ? nullptr : "next does not end a loop";
    }
    case PLIM_OP_RETURN:
      return s + 1 == p.steps ? nullptr : "return is not the last step";
    default:
      return s + 1 == p.steps ? "the last step is not return" : nullptr;
    }
  }

  /// Number of the region that holds the entered step; a BRANCH or LOOP belongs to the region around it.
  uint32_t current() const { return stack[entered].id; }

private:
  struct Region {
    uint32_t end;     // one past its last step
    uint32_t limit;   // inner regions end at or before it; less than `end` where a closing branch or NEXT follows
    uint32_t elseEnd; // end of the else region that follows, 0 for none
    uint32_t id;
    uint32_t loop; // record, PLIM_NONE for a branch
  };

  void leaveEnded(uint32_t s) {
    while (depth > 0 && stack[depth].end == s) {
      Region &top = stack[depth];
      if (top.elseEnd > s)
        top = {top.elseEnd, top.elseEnd, 0, ++lastId, PLIM_NONE};
      else
        --depth;
    }
    entered = depth;
  }

  const char *push(const Region &r) {
    if (depth + 1 == PLIM_MAX_NESTING)
      return "branches and loops are nested too deep";
    stack[++depth] = r;
    return nullptr;
  }

  const char *enterBranch(uint32_t s, const plim_t_branch &b) {
    const Region &top = stack[depth];
    if (b.scalar == PLIM_NONE)
      return depth > 0 && top.end == s + 1 && top.elseEnd == b.target
                 ? nullptr
                 : "an unconditional branch does not end a then region";
    if (b.target <= s || b.target > top.limit)
      return "the branch leaves its region or goes back";
    if (b.target == s + 1)
      return nullptr;
    uint32_t elseEnd = 0, limit = b.target;
    const plim_t_step &last = t.step(p, b.target - 1);
    if (last.opcode == PLIM_OP_BRANCH && t.branch(last.record).scalar == PLIM_NONE) {
      elseEnd = t.branch(last.record).target;
      limit = b.target - 1;
      if (elseEnd < b.target || elseEnd > top.limit)
        return "the else region leaves the region around it";
    }
    return push({b.target, limit, elseEnd, ++lastId, PLIM_NONE});
  }

  const char *enterLoop(uint32_t s, uint32_t record) {
    const plim_t_loop &l = t.loop(record);
    if (l.body != s + 1)
      return "the loop's body does not follow it";
    if (l.end < s + 2 || l.end > stack[depth].limit)
      return "the loop leaves its region or ends before it begins";
    const plim_t_step &last = t.step(p, l.end - 1);
    if (last.opcode != PLIM_OP_NEXT || last.record != record)
      return "the loop's last step is not its next";
    return push({l.end, l.end - 1, 0, ++lastId, record});
  }

  TableView t;
  const plim_t_program &p;
  Region stack[PLIM_MAX_NESTING];
  uint32_t depth = 0, entered = 0, lastId = 0;
};

} // namespace plim::rt

#endif
