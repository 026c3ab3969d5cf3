// Checks of single records: every number against the section or enum that it names.
#include "runtime/core/table_check.h"

#include "plim/weights.h"

extern "C" uint64_t plim_shape_span(const plim_shape *s) {
  constexpr uint64_t wrong = UINT64_MAX;
  uint64_t element = plim_dtype_bytes(s->dtype), last = 0, total;
  if (!element || s->rank > PLIM_MAX_RANK || s->layout > PLIM_PANEL32)
    return wrong;
  bool empty = false;
  for (uint32_t i = 0; i < s->rank; ++i) {
    if (s->dims[i] < 0 || s->strides[i] < 0)
      return wrong;
    empty |= s->dims[i] == 0;
  }
  if (s->layout == PLIM_PANEL32) {
    if (s->rank != 2 || s->dims[1] > INT64_MAX - 31)
      return wrong;
    uint64_t columns = (static_cast<uint64_t>(s->dims[1]) + 31) / 32 * 32;
    if (__builtin_mul_overflow(columns, static_cast<uint64_t>(s->dims[0]), &total) ||
        __builtin_mul_overflow(total, element, &total))
      return wrong;
    return total;
  }
  // Products of all dims are formed by kernels too (plim_elements), so they must not overflow.
  uint64_t elements = 1;
  for (uint32_t i = 0; i < s->rank; ++i) {
    uint64_t part;
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(s->dims[i] ? s->dims[i] : 1), &elements) ||
        elements > INT64_MAX / 8)
      return wrong;
    if (__builtin_mul_overflow(static_cast<uint64_t>(s->dims[i] ? s->dims[i] - 1 : 0),
                               static_cast<uint64_t>(s->strides[i]), &part) ||
        __builtin_add_overflow(last, part, &last))
      return wrong;
  }
  if (__builtin_add_overflow(last, 1u, &total) || __builtin_mul_overflow(total, element, &total) || total > INT64_MAX)
    return wrong;
  return empty ? 0 : total;
}

namespace plim::rt {
namespace {

class RecordChecker {
public:
  RecordChecker(TableView t, const Owners &owners) : t(t), owners(owners) {
    uint64_t header = t.t->weights_bytes ? plim_weight_header_bytes_of_file(t.t->weights_bytes) : 0;
    dataBytes = header ? t.t->weights_bytes - header : 0;
  }

  plim_status run() {
    if (t.t->weights_bytes && !dataBytes)
      return Failure(PLIM_ERR_TABLE).at("header").have(t.t->weights_bytes).say("no weight file has this length");
    bool ok = kernels() && shapes() && arenas() && views() && buffers() && constants() && states() && residents() &&
              ios() && operands() && launches() && transfers() && scalars() && programs() && variants();
    return ok ? PLIM_OK : plim_last_error()->status;
  }

private:
  uint32_t n(plim_section s) const { return t.count(s); }
  bool name(uint32_t s) const { return s < n(PLIM_SEC_STRINGS); }
  bool nameOrNone(uint32_t s) const { return s == PLIM_NONE || name(s); }
  bool list(uint32_t first, uint32_t count) const { return within(first, count, n(PLIM_SEC_INDICES)); }
  static const plim_shape *fixed(const plim_t_shape &s) { return reinterpret_cast<const plim_shape *>(&s); }

  bool no(const char *kind, uint32_t i, const char *what) const {
    Failure(PLIM_ERR_TABLE).at("%s %u", kind, i).say("%s", what);
    return false;
  }
  bool no(const char *kind, uint32_t i, uint64_t need, uint64_t have, const char *what) const {
    Failure(PLIM_ERR_TABLE).at("%s %u", kind, i).need(need).have(have).say("%s", what);
    return false;
  }

  bool kernels() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_KERNELS); ++i)
      if (!name(t.kernel(i).name) || t.kernel(i).phases < 1 || t.kernel(i).phases > 1024)
        return no("kernel", i, "no name, or a number of phases out of range");
    return true;
  }

  bool shapes() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_SHAPES); ++i) {
      const plim_t_shape &s = t.shape(i);
      if (plim_shape_span(fixed(s)) == UINT64_MAX || s.reserved != 0 || s.dynamic > 1)
        return no("shape", i, "type, layout, rank, dimension or stride out of range");
      bool dynamic = false;
      for (uint32_t d = 0; d < PLIM_MAX_RANK; ++d) {
        dynamic |= s.dim_scalar[d] != PLIM_NONE || s.stride_scalar[d] != PLIM_NONE;
        if (d >= s.rank &&
            (s.dims[d] || s.strides[d] || s.dim_scalar[d] != PLIM_NONE || s.stride_scalar[d] != PLIM_NONE))
          return no("shape", i, "an entry beyond the rank is set");
      }
      if (dynamic != (s.dynamic == 1))
        return no("shape", i, "marked dynamic without a scalar, or the reverse");
    }
    return true;
  }

  bool arenas() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_ARENAS); ++i) {
      const plim_t_arena &a = t.arena(i);
      if (a.tier >= PLIM_TIER_COUNT || a.kind > PLIM_STACKS)
        return no("arena", i, "unknown tier or kind");
      uint64_t align = a.tier == PLIM_SSD ? PLIM_PAGE : 64;
      if (a.bytes % align != 0 || a.bytes > uint64_t(1) << 48)
        return no("arena", i, align, a.bytes, "size is not a multiple of its alignment, or beyond reason");
      if (a.touched > a.bytes)
        return no("arena", i, a.bytes, a.touched, "steps may touch bytes beyond its end");
      if (owners.mixed(i))
        return no("arena", i, "holds constants and states");
      uint64_t stacks = (t.t->workers - 1) * t.t->stack_bytes;
      if (a.kind == PLIM_STACKS && a.bytes != stacks)
        return no("arena", i, stacks, a.bytes, "worker stacks are workers - 1 times the size of one");
    }
    return true;
  }

  bool views() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_VIEWS); ++i) {
      const plim_t_view &v = t.view(i);
      uint64_t limit = dataBytes;
      if (v.base == PLIM_BASE_ARENA) {
        if (v.index >= n(PLIM_SEC_ARENAS) || t.arena(v.index).kind == PLIM_STACKS)
          return no("view", i, "no such arena, or one of worker stacks");
        limit = t.arena(v.index).bytes;
      } else if (v.base == PLIM_BASE_IO) {
        if (v.index >= n(PLIM_SEC_IOS))
          return no("view", i, "no such input or output");
        limit = t.io(v.index).bytes;
      } else if (v.base != PLIM_BASE_CONSTANT_FILE) {
        return no("view", i, "unknown base");
      }
      if (!within(v.offset, v.bytes, limit))
        return no("view", i, limit, v.offset + v.bytes, "ends beyond what it is a view of");
      if (v.reserved != 0)
        return no("view", i, "reserved field is set");
    }
    return true;
  }

  bool buffers() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_BUFFERS); ++i) {
      const plim_t_buffer &b = t.buffer(i);
      if (b.view >= n(PLIM_SEC_VIEWS) || !nameOrNone(b.source))
        return no("buffer", i, "no such view or string");
      const plim_t_view &v = t.view(b.view);
      if (v.base != PLIM_BASE_ARENA || v.offset_scalar != PLIM_NONE || v.offset % 64 != 0)
        return no("buffer", i, 64, v.offset, "a live range is a fixed, 64-byte aligned range of an arena");
    }
    return true;
  }

  bool constants() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_CONSTANTS); ++i) {
      const plim_t_constant &c = t.constant(i);
      if (!name(c.name) || c.shape >= n(PLIM_SEC_SHAPES) || t.shape(c.shape).dynamic)
        return no("constant", i, "no such string or shape, or a dynamic shape");
      if (c.offset % 64 != 0 || !within(c.offset, c.bytes, dataBytes))
        return no("constant", i, dataBytes, c.offset + c.bytes, "misaligned, or ends beyond the weight file");
      if (plim_shape_span(fixed(t.shape(c.shape))) > c.bytes)
        return no("constant", i, plim_shape_span(fixed(t.shape(c.shape))), c.bytes, "its shape needs more bytes");
    }
    return true;
  }

  bool states() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_STATES); ++i) {
      const plim_t_state &s = t.state(i);
      if (!name(s.name) || s.shape >= n(PLIM_SEC_SHAPES) || s.durable > 1)
        return no("state", i, "no such string or shape, or a flag out of range");
      if (plim_shape_span(fixed(t.shape(s.shape))) > s.bytes)
        return no("state", i, plim_shape_span(fixed(t.shape(s.shape))), s.bytes, "its shape needs more bytes");
      if (s.init != PLIM_NONE && (s.init >= n(PLIM_SEC_CONSTANTS) || t.constant(s.init).bytes != s.bytes))
        return no("state", i, "its first value is no constant of equal size");
    }
    return true;
  }

  bool residents() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_RESIDENTS); ++i) {
      const plim_t_resident &r = t.resident(i);
      uint32_t records = n(r.is_state ? PLIM_SEC_STATES : PLIM_SEC_CONSTANTS);
      if (r.is_state > 1 || r.index >= records || r.reserved != 0)
        return no("resident", i, records, r.index, "no such constant or state");
      const plim_t_view &v = t.view(r.view);
      uint64_t bytes = r.is_state ? t.state(r.index).bytes : t.constant(r.index).bytes;
      if (v.bytes != bytes || v.offset_scalar != PLIM_NONE)
        return no("resident", i, bytes, v.bytes, "its home has another size, or moves");
      if (v.base == PLIM_BASE_IO || (r.is_state && v.base != PLIM_BASE_ARENA))
        return no("resident", i, "its home is neither an arena nor the weight file");
      if (v.base == PLIM_BASE_ARENA && (t.arena(v.index).kind != PLIM_PERSISTENT || v.offset % 64 != 0))
        return no("resident", i, "its home is not in a persistent arena, or is misaligned");
      if (!r.is_state && v.offset != t.constant(r.index).offset)
        return no("resident", i, t.constant(r.index).offset, v.offset, "its home is not where the weight file has it");
    }
    return true;
  }

  bool ios() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_IOS); ++i) {
      const plim_t_io &io = t.io(i);
      if (!name(io.name) || io.shape >= n(PLIM_SEC_SHAPES) || io.is_output > 1 || io.is_reused > 1 || io.zero)
        return no("io", i, "no such string or shape, or a flag out of range");
      if (io.is_reused && (io.is_output || io.state != PLIM_NONE))
        return no("io", i, "only an input that is no state can be reused");
      const plim_t_shape &s = t.shape(io.shape);
      uint64_t bytes = plim_elements(fixed(s)) * static_cast<uint64_t>(plim_dtype_bytes(s.dtype));
      if (s.layout != PLIM_ROW || bytes != io.bytes || plim_shape_span(fixed(s)) > io.bytes)
        return no("io", i, bytes, io.bytes, "its size is not that of its shape, row-major without gaps");
      if (io.state != PLIM_NONE && (io.state >= n(PLIM_SEC_STATES) || t.state(io.state).bytes != io.bytes || s.dynamic))
        return no("io", i, "it is no state of equal, fixed size");
    }
    for (uint32_t i = 0; i < n(PLIM_SEC_SYMBOLS); ++i) {
      const plim_t_symbol &s = t.symbol(i);
      if (!name(s.name) || s.lower < 0 || s.lower > s.upper)
        return no("symbol", i, "no name, or bounds that hold nothing");
    }
    return true;
  }

  bool operands() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_OPERANDS); ++i) {
      const plim_t_operand &o = t.operand(i);
      if (o.view >= n(PLIM_SEC_VIEWS) || o.shape >= n(PLIM_SEC_SHAPES) || o.access < 1 || o.access > 3 ||
          (o.buffer != PLIM_NONE && o.buffer >= n(PLIM_SEC_BUFFERS)))
        return no("operand", i, "no such view, shape, access or buffer");
      const plim_t_view &v = t.view(o.view);
      const plim_t_shape &s = t.shape(o.shape);
      if (plim_shape_span(fixed(s)) > v.bytes)
        return no("operand", i, plim_shape_span(fixed(s)), v.bytes, "its shape spans more bytes than its view");
      if (v.offset % plim_dtype_bytes(s.dtype) != 0)
        return no("operand", i, plim_dtype_bytes(s.dtype), v.offset, "its view is not aligned to an element");
      if (v.base == PLIM_BASE_CONSTANT_FILE)
        return no("operand", i, "a kernel cannot read the weight file");
      bool writes = o.access & PLIM_ACCESS_WRITE;
      for (uint32_t d = 0; writes && s.layout == PLIM_ROW && d < s.rank; ++d)
        if (s.dims[d] > 1 && s.strides[d] == 0)
          return no("operand", i, "writes one element through several indices");
      if (writes && !writable(v))
        return no("operand", i, "writes a constant or an input");
      if (o.buffer == PLIM_NONE) {
        if (v.base == PLIM_BASE_ARENA && t.arena(v.index).kind != PLIM_PERSISTENT)
          return no("operand", i, "no live range for transient memory");
        continue;
      }
      const plim_t_view &b = t.view(t.buffer(o.buffer).view);
      if (v.base != PLIM_BASE_ARENA || v.index != b.index || v.offset < b.offset ||
          v.offset + v.bytes > b.offset + b.bytes)
        return no("operand", i, "its view is not inside its live range");
    }
    return true;
  }

  bool writable(const plim_t_view &v) const {
    if (v.base == PLIM_BASE_IO)
      return t.io(v.index).is_output || t.io(v.index).is_reused || t.io(v.index).state != PLIM_NONE;
    return v.base == PLIM_BASE_ARENA && owners.of(v.index) != Owner::weights;
  }

  bool launches() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_LAUNCHES); ++i) {
      const plim_t_launch &l = t.launch(i);
      if (l.kernel >= n(PLIM_SEC_KERNELS) || !within(l.first_operand, l.operands, n(PLIM_SEC_OPERANDS)) ||
          !nameOrNone(l.source) || !within(l.first_attr, l.attr_words, n(PLIM_SEC_WORDS)) ||
          !list(l.first_scalar, l.scalars) || !list(l.first_result, l.results))
        return no("launch", i, "a kernel, operand, attribute, scalar or string that is not there");
      if (l.tasks < 1)
        return no("launch", i, 1, l.tasks, "number of tasks");
      if (l.shared_bytes % 64 != 0 || l.scratch_bytes % 64 != 0 || l.shared_bytes > INT64_MAX / 2 ||
          l.scratch_bytes > INT64_MAX / 2 / PLIM_MAX_WORKERS)
        return no("launch", i, 64, l.scratch_bytes, "workspace sizes are not multiples of 64, or beyond reason");
      uint64_t scratches = l.tasks < t.t->workers ? l.tasks : t.t->workers;
      uint64_t need = l.shared_bytes + scratches * l.scratch_bytes;
      if (l.workspace == PLIM_NONE) {
        if (need)
          return no("launch", i, need, 0, "no workspace, though it needs one");
        continue;
      }
      if (l.workspace >= n(PLIM_SEC_VIEWS))
        return no("launch", i, n(PLIM_SEC_VIEWS), l.workspace, "no such view");
      const plim_t_view &v = t.view(l.workspace);
      if (v.base != PLIM_BASE_ARENA || t.arena(v.index).kind != PLIM_TRANSIENT || v.offset_scalar != PLIM_NONE ||
          v.offset % 64 != 0)
        return no("launch", i, "a workspace is a fixed, 64-byte aligned range of transient memory");
      if (v.bytes != need || !need)
        return no("launch", i, need, v.bytes, "workspace is not shared + min(workers, tasks) * scratch");
    }
    return true;
  }

  bool transfers() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_COPIES); ++i) {
      const plim_t_copy &c = t.copy(i);
      if (c.src >= n(PLIM_SEC_VIEWS) || c.dst >= n(PLIM_SEC_VIEWS) || c.bytes > t.view(c.src).bytes ||
          c.bytes > t.view(c.dst).bytes)
        return no("copy", i, "no such view, or one that is too small");
      if (!writable(t.view(c.dst)))
        return no("copy", i, "writes a constant or an input");
    }
    for (uint32_t i = 0; i < n(PLIM_SEC_FILLS); ++i) {
      const plim_t_fill &f = t.fill(i);
      if (f.view >= n(PLIM_SEC_VIEWS) || f.first_word >= n(PLIM_SEC_WORDS))
        return no("fill", i, "no such view or pattern");
      if (!writable(t.view(f.view)))
        return no("fill", i, "writes a constant or an input");
    }
    for (uint32_t i = 0; i < n(PLIM_SEC_WAITS); ++i) {
      const plim_t_wait &w = t.wait(i);
      if (!list(w.first_token, w.tokens) || (w.on_queue != PLIM_NONE && (w.on_queue > 0xff || (w.on_queue & 15) > 3)))
        return no("wait", i, "no such token or queue");
    }
    return true;
  }

  bool scalars() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_LOADS); ++i) {
      const plim_t_load &l = t.load(i);
      uint64_t element = plim_dtype_bytes(static_cast<uint8_t>(l.dtype));
      if (l.view >= n(PLIM_SEC_VIEWS) || l.dtype > PLIM_BOOL || l.dtype < PLIM_I8 || !nameOrNone(l.source) ||
          !within(l.offset, element, t.view(l.view).bytes))
        return no("load", i, "no such view, string or integer type, or an element beyond the view");
      if (l.lower > l.upper || t.view(l.view).base == PLIM_BASE_CONSTANT_FILE)
        return no("load", i, "bounds that hold nothing, or a view of the weight file");
    }
    for (uint32_t i = 0; i < n(PLIM_SEC_EVALS); ++i)
      if (!list(t.eval(i).first_in, t.eval(i).ins) || !list(t.eval(i).first_out, t.eval(i).outs))
        return no("eval", i, "no such scalars");
    for (uint32_t i = 0; i < n(PLIM_SEC_CHECKS); ++i)
      if (!nameOrNone(t.check(i).message) || t.check(i).lower > t.check(i).upper)
        return no("check", i, "no such message, or bounds that hold nothing");
    for (uint32_t i = 0; i < n(PLIM_SEC_LOOPS); ++i)
      if (t.loop(i).max_trips > INT64_MAX)
        return no("loop", i, INT64_MAX, t.loop(i).max_trips, "number of trips");
    for (uint32_t i = 0; i < n(PLIM_SEC_MARKS); ++i)
      if (t.mark(i).buffer >= n(PLIM_SEC_BUFFERS) || t.mark(i).is_death > 1)
        return no("mark", i, "no such buffer, or a flag out of range");
    return true;
  }

  bool programs() const {
    for (uint32_t i = 0; i < n(PLIM_SEC_PROGRAMS); ++i) {
      const plim_t_program &p = t.program(i);
      if (!name(p.name) || p.variant >= n(PLIM_SEC_VARIANTS) || p.steps < 1 || p.reserved != 0 ||
          !within(p.first_step, p.steps, n(PLIM_SEC_STEPS)) || !within(p.first_io, p.ios, n(PLIM_SEC_IOS)) ||
          !within(p.first_symbol, p.symbols, n(PLIM_SEC_SYMBOLS)) ||
          !within(p.first_resident, p.residents, n(PLIM_SEC_RESIDENTS)))
        return no("program", i, "a name, variant, step, io, symbol or resident that is not there");
      constexpr uint32_t most = 1u << 24; // so that the context's tables cannot overflow
      if (p.scalars > most || p.tokens > most || p.max_operands > most || p.dynamic_shapes > most ||
          p.first_commit_step > p.steps)
        return no("program", i, "a count beyond reason, or no such first commit step");
    }
    return true;
  }

  bool variants() const {
    uint32_t next = 0;
    for (uint32_t i = 0; i < n(PLIM_SEC_VARIANTS); ++i) {
      const plim_t_variant &v = t.variant(i);
      if (!name(v.name) || v.reserved != 0 || v.first_program != next || v.programs < 1 ||
          !within(v.first_program, v.programs, n(PLIM_SEC_PROGRAMS)))
        return no("variant", i, "no name, or programs that do not follow those of the variant before");
      for (uint32_t p = 0; p < v.programs; ++p, ++next)
        if (t.program(next).variant != i)
          return no("program", next, i, t.program(next).variant, "it names another variant than the one that holds it");
    }
    if (next != n(PLIM_SEC_PROGRAMS))
      return no("program", next, "it belongs to no variant");
    return true;
  }

  TableView t;
  const Owners &owners;
  uint64_t dataBytes = 0;
};

} // namespace

plim_status checkRecords(TableView t, const Owners &owners) { return RecordChecker(t, owners).run(); }

} // namespace plim::rt
