// Checks of a program step by step. Live ranges and tokens are followed in windows of a few thousand numbers, one scan
// of the steps a window, so that the check needs no memory of its own.
#include "runtime/core/layout.h"
#include "runtime/core/regions.h"
#include "runtime/core/table_check.h"

#include <string.h>

namespace plim::rt {
namespace {

constexpr uint32_t kWindow = 4096;

class ProgramChecker {
public:
  ProgramChecker(TableView t, const Owners &owners, uint32_t index)
      : t(t), owners(owners), index(index), p(t.program(index)) {}

  plim_status run() {
    bool ok = signature() && steps() && liveRanges() && tokens();
    return ok ? PLIM_OK : plim_last_error()->status;
  }

  plim_status runFigures() { return figures() ? PLIM_OK : plim_last_error()->status; }

private:
  bool no(const char *what) const { return no(0, 0, what); }
  bool no(uint64_t need, uint64_t have, const char *what) const {
    Failure f(PLIM_ERR_TABLE);
    if (at == PLIM_NONE)
      f.at("program %s", t.string(p.name));
    else
      f.at("program %s, step %u", t.string(p.name), at);
    f.step(index, at).need(need).have(have).say("%s", what);
    return false;
  }

  bool scalar(uint32_t s) const { return s < p.scalars; }
  bool scalarOrNone(uint32_t s) const { return s == PLIM_NONE || s < p.scalars; }
  bool scalarList(uint32_t first, uint32_t count) const {
    uint32_t most = p.scalars > PLIM_MIN_SCALAR_LIST ? p.scalars : uint32_t(PLIM_MIN_SCALAR_LIST);
    for (uint32_t i = 0; i < count; ++i)
      if (!scalar(t.indices()[first + i]))
        return false;
    return count <= most;
  }
  bool shapeScalars(uint32_t shape) const {
    const plim_t_shape &s = t.shape(shape);
    for (uint32_t d = 0; s.dynamic && d < s.rank; ++d)
      if (!scalarOrNone(s.dim_scalar[d]) || !scalarOrNone(s.stride_scalar[d]))
        return false;
    return true;
  }
  bool view(uint32_t i) const {
    const plim_t_view &v = t.view(i);
    bool ownIo = v.base != PLIM_BASE_IO || (v.index >= p.first_io && v.index - p.first_io < p.ios);
    return ownIo && scalarOrNone(v.offset_scalar);
  }

  bool home(uint32_t isState, uint32_t record) const {
    for (uint32_t i = 0; i < p.residents; ++i) {
      const plim_t_resident &r = t.resident(p.first_resident + i);
      if (r.is_state == isState && r.index == record)
        return true;
    }
    return false;
  }

  bool signature() const {
    for (uint32_t i = 0; i < p.symbols; ++i)
      if (!scalar(t.symbol(p.first_symbol + i).scalar))
        return no(p.scalars, t.symbol(p.first_symbol + i).scalar, "a symbol has no such scalar");
    for (uint32_t i = 0; i < p.ios; ++i) {
      const plim_t_io &io = t.io(p.first_io + i);
      if (!shapeScalars(io.shape))
        return no("an input or output has a dimension without a scalar");
      if (io.state != PLIM_NONE && !home(1, io.state))
        return no("an input or output is a state without a home in this program");
    }
    for (uint32_t i = 0; i < p.residents; ++i)
      for (uint32_t j = 0; j < i; ++j)
        if (!sameHome(t.resident(p.first_resident + i), t.resident(p.first_resident + j)))
          return no("a constant or state has two homes");
    return sharedStates();
  }

  bool sameHome(const plim_t_resident &a, const plim_t_resident &b) const {
    if (a.is_state != b.is_state || a.index != b.index)
      return true;
    const plim_t_view &x = t.view(a.view), &y = t.view(b.view);
    return x.base == y.base && x.index == y.index && x.offset == y.offset;
  }

  /// A session serves all programs of a variant, so they agree where a state lives.
  bool sharedStates() const {
    for (uint32_t other = t.variant(p.variant).first_program; other < index; ++other) {
      const plim_t_program &q = t.program(other);
      for (uint32_t i = 0; i < p.residents; ++i)
        for (uint32_t j = 0; j < q.residents; ++j)
          if (t.resident(p.first_resident + i).is_state &&
              !sameHome(t.resident(p.first_resident + i), t.resident(q.first_resident + j)))
            return no("a state lives elsewhere in another program of the variant");
    }
    return true;
  }

  bool steps() {
    static constexpr plim_section sections[] = {PLIM_SEC_LAUNCHES, PLIM_SEC_COPIES, PLIM_SEC_FILLS,  PLIM_SEC_WAITS,
                                                PLIM_SEC_LOADS,    PLIM_SEC_EVALS,  PLIM_SEC_CHECKS, PLIM_SEC_BRANCHES,
                                                PLIM_SEC_LOOPS,    PLIM_SEC_LOOPS,  PLIM_SEC_COUNT,  PLIM_SEC_MARKS};
    Regions regions(t, p);
    for (at = 0; at < p.steps; ++at) {
      const plim_t_step &s = t.step(p, at);
      if (s.opcode >= PLIM_OP_COUNT || s.reserved != 0 || (s.queue & 15) > PLIM_QUEUE_STREAM)
        return no("unknown opcode or queue");
      if (s.source != PLIM_NONE && s.source >= t.count(PLIM_SEC_STRINGS))
        return no("no such source");
      bool asynchronous = s.opcode <= PLIM_OP_FILL;
      if (s.token != PLIM_NONE && (!asynchronous || s.token >= p.tokens))
        return no(p.tokens, s.token, "no such token, or a step that gives none");
      if (s.opcode != PLIM_OP_RETURN && s.record >= t.count(sections[s.opcode]))
        return no(t.count(sections[s.opcode]), s.record, "no such record");
      if (!nextRecord(s) || !operation(s))
        return false;
      if (const char *wrong = regions.enter(at))
        return no(wrong);
    }
    at = PLIM_NONE;
    return true;
  }

  /// Regions look ahead at the last step of a region, which must name a record that is there.
  bool nextRecord(const plim_t_step &s) const {
    uint32_t target = s.opcode == PLIM_OP_BRANCH ? t.branch(s.record).target
                      : s.opcode == PLIM_OP_LOOP ? t.loop(s.record).end
                                                 : 0;
    if (target == 0 || target > p.steps)
      return true; // refused by Regions, which does not look there
    const plim_t_step &last = t.step(p, target - 1);
    return last.opcode != PLIM_OP_BRANCH || last.record < t.count(PLIM_SEC_BRANCHES) || no("no such record");
  }

  bool operation(const plim_t_step &s) const {
    bool viewsSound = true;
    t.viewsOfStep(s, [&](uint32_t i) { viewsSound &= view(i); });
    if (!viewsSound)
      return no("a view of another program's input or output, or of no scalar");
    switch (s.opcode) {
    case PLIM_OP_LAUNCH:
      return launch(t.launch(s.record));
    case PLIM_OP_COPY:
      return commits(t.copy(s.record).dst);
    case PLIM_OP_FILL:
      return commits(t.fill(s.record).view);
    case PLIM_OP_WAIT:
      for (uint32_t i = 0; i < t.wait(s.record).tokens; ++i)
        if (t.indices()[t.wait(s.record).first_token + i] >= p.tokens)
          return no(p.tokens, t.indices()[t.wait(s.record).first_token + i], "no such token");
      return true;
    case PLIM_OP_LOAD:
      return scalar(t.load(s.record).scalar) || no("no such scalar");
    case PLIM_OP_EVAL: {
      const plim_t_eval &e = t.eval(s.record);
      return (scalarList(e.first_in, e.ins) && scalarList(e.first_out, e.outs)) || no("no such scalar, or too many");
    }
    case PLIM_OP_CHECK:
      return scalar(t.check(s.record).scalar) || no("no such scalar");
    case PLIM_OP_BRANCH:
      return scalarOrNone(t.branch(s.record).scalar) || no("no such scalar");
    case PLIM_OP_LOOP: {
      const plim_t_loop &l = t.loop(s.record);
      return (scalarOrNone(l.trips) && scalarOrNone(l.condition) && scalar(l.counter)) || no("no such scalar");
    }
    default:
      return true;
    }
  }

  bool launch(const plim_t_launch &l) const {
    if (l.operands > p.max_operands)
      return no(l.operands, p.max_operands, "more operands than the program's max_operands");
    uint32_t dynamic = 0;
    for (uint32_t i = 0; i < l.operands; ++i) {
      const plim_t_operand &o = t.operand(l.first_operand + i);
      dynamic += t.shape(o.shape).dynamic;
      if (!shapeScalars(o.shape))
        return no("a shape has a dimension or stride without a scalar");
      if ((o.access & PLIM_ACCESS_WRITE) && !commits(o.view))
        return false;
    }
    if (dynamic > p.dynamic_shapes)
      return no(dynamic, p.dynamic_shapes, "more dynamic shapes than the program's dynamic_shapes");
    if (!scalarList(l.first_scalar, l.scalars) || !scalarList(l.first_result, l.results) ||
        !scalarOrNone(l.tasks_scalar))
      return no("no such scalar, or too many");
    return true;
  }

  /// A write through this view keeps the rule that states change from first_commit_step on.
  bool commits(uint32_t index) const {
    const plim_t_view &v = t.view(index);
    bool state = v.base == PLIM_BASE_IO ? t.io(v.index).state != PLIM_NONE
                                        : v.base == PLIM_BASE_ARENA && owners.of(v.index) == Owner::session;
    return !state || at >= p.first_commit_step ||
           no(p.first_commit_step, at, "writes a state before the first commit step");
  }

  /// One birth, one death, both in the same region and the birth first; operands only while their buffer lives.
  bool liveRanges() {
    constexpr uint32_t unborn = 0, dead = UINT32_MAX; // else: number of the region of birth, plus 1
    uint32_t state[kWindow];
    for (uint32_t first = 0; first < t.count(PLIM_SEC_BUFFERS); first += kWindow) {
      memset(state, 0, sizeof state);
      Regions regions(t, p);
      for (at = 0; at < p.steps; ++at) {
        regions.enter(at);
        const plim_t_step &s = t.step(p, at);
        if (s.opcode == PLIM_OP_MARK) {
          const plim_t_mark &m = t.mark(s.record);
          if (m.buffer - first >= kWindow)
            continue;
          uint32_t &b = state[m.buffer - first];
          uint32_t expected = m.is_death ? regions.current() + 1 : unborn;
          if (b != expected)
            return no(m.is_death ? "a buffer dies that was not born in this region" : "a buffer is born twice");
          b = m.is_death ? dead : regions.current() + 1;
        } else if (s.opcode == PLIM_OP_LAUNCH) {
          const plim_t_launch &l = t.launch(s.record);
          for (uint32_t i = 0; i < l.operands; ++i) {
            uint32_t buffer = t.operand(l.first_operand + i).buffer;
            if (buffer != PLIM_NONE && buffer - first < kWindow &&
                (state[buffer - first] == unborn || state[buffer - first] == dead))
              return no(i, buffer, "an operand's buffer is not alive");
          }
        }
      }
      at = PLIM_NONE;
      for (uint32_t i = 0; i < kWindow; ++i)
        if (state[i] != unborn && state[i] != dead)
          return no(0, first + i, "a buffer is never freed");
    }
    return true;
  }

  /// Every token is given once and waited on in the region that gives it.
  bool tokens() {
    constexpr uint32_t none = 0, waited = UINT32_MAX; // else: number of the giving region, plus 1
    uint32_t state[kWindow];
    for (uint32_t first = 0; first < p.tokens; first += kWindow) {
      memset(state, 0, sizeof state);
      Regions regions(t, p);
      for (at = 0; at < p.steps; ++at) {
        regions.enter(at);
        const plim_t_step &s = t.step(p, at);
        if (s.token != PLIM_NONE && s.token - first < kWindow) {
          if (state[s.token - first] != none)
            return no("a token is given twice");
          state[s.token - first] = regions.current() + 1;
        }
        if (s.opcode != PLIM_OP_WAIT)
          continue;
        const plim_t_wait &w = t.wait(s.record);
        for (uint32_t i = 0; i < w.tokens; ++i) {
          uint32_t token = t.indices()[w.first_token + i];
          if (token - first >= kWindow)
            continue;
          uint32_t &k = state[token - first];
          if (k == none || (k != waited && k != regions.current() + 1))
            return no(0, token, "waits on a token that no earlier step of this region gives");
          k = waited;
        }
      }
      at = PLIM_NONE;
      for (uint32_t i = 0; i < kWindow; ++i)
        if (state[i] != none && state[i] != waited)
          return no(0, first + i, "a token is never waited on");
    }
    return true;
  }

  bool figures() const {
    uint64_t reserved[PLIM_TIER_COUNT], live[PLIM_TIER_COUNT];
    plim_reserved_bytes(t.t, index, reserved);
    plim_live_bytes(t.t, index, live);
    for (uint32_t tier = 0; tier < PLIM_TIER_COUNT; ++tier) {
      if (p.reserved_peak[tier] != reserved[tier])
        return no(reserved[tier], p.reserved_peak[tier], "its reserved peak is not what the runtime reserves");
      if (p.live_peak[tier] != live[tier])
        return no(live[tier], p.live_peak[tier], "its live peak is not that of its marks");
    }
    bool inside = true;
    t.viewsOfProgram(p, [&](uint32_t i) {
      const plim_t_view &v = t.view(i);
      inside &= v.base != PLIM_BASE_ARENA || v.offset + v.bytes <= t.arena(v.index).touched;
    });
    return inside || no("a step touches bytes beyond what its arena says");
  }

  TableView t;
  const Owners &owners;
  uint32_t index;
  const plim_t_program &p;
  uint32_t at = PLIM_NONE; // the step under check
};

} // namespace

plim_status checkProgram(TableView t, const Owners &owners, uint32_t program) {
  return ProgramChecker(t, owners, program).run();
}

plim_status checkFigures(TableView t, const Owners &owners, uint32_t program) {
  return ProgramChecker(t, owners, program).runFigures();
}

} // namespace plim::rt
