//===- TableAccess.cpp - Which bytes a step touches, and whether it may -------------------------===//
#include "compiler/Check/TableReplay.h"
#include <algorithm>

namespace plim::check {

// Whose bytes an access falls in, and whether it may: sets the access's origin.
void TableReplay::locate(Access &access, const plim_t_view &v, uint32_t buffer) {
  access.memory = {v.base, v.index};
  access.origin = access.start = v.offset;
  access.certain = access.certain && v.offset_scalar == PLIM_NONE;
  if (v.offset_scalar != PLIM_NONE)
    access.strips = {{v.offset, v.bytes, 0, 1}};
  uint64_t low = UINT64_MAX, high = 0;
  for (const Strip &s : access.strips)
    if (s.end() > s.offset)
      low = std::min(low, s.offset), high = std::max(high, s.end());
  if (low >= high)
    return;
  if (low < v.offset || high > v.offset + v.bytes)
    fail(access.name, ": need bytes inside its view [", v.offset, ", ", v.offset + v.bytes, "), have [", low, ", ",
         high, ")");
  if (v.base == PLIM_BASE_IO) {
    const auto &io = recordOf<plim_t_io>(t, PLIM_SEC_IOS, v.index);
    access.origin = 0;
    if (v.index < p.first_io || v.index >= p.first_io + p.ios)
      fail(access.name, ": need an input or output of this program, have io ", v.index);
    if (high > io.bytes)
      fail(access.name, ": need an end within the ", io.bytes, " bytes of '", text(io.name), "', have ", high);
    if (access.writes && !io.is_output && !io.is_reused && io.state == PLIM_NONE)
      fail(access.name, " writes the input '", text(io.name), "'");
    if (access.writes && io.state != PLIM_NONE && at < p.first_commit_step)
      fail(access.name, " writes a state before step ", p.first_commit_step, ", from which states may change");
    return;
  }
  if (v.base == PLIM_BASE_CONSTANT_FILE) {
    if (access.writes)
      fail(access.name, " writes the weight file");
    state.written[access.memory].add(low, high); // the file holds all its bytes
    return;
  }
  if (recordOf<plim_t_arena>(t, PLIM_SEC_ARENAS, v.index).kind == PLIM_PERSISTENT) {
    for (uint32_t k = 0; k < p.residents; ++k) {
      const auto &r = recordOf<plim_t_resident>(t, PLIM_SEC_RESIDENTS, p.first_resident + k);
      const plim_t_view &home = view(r.view);
      if (home.base != v.base || home.index != v.index || low < home.offset || high > home.offset + home.bytes)
        continue;
      access.origin = home.offset;
      if (access.writes && !r.is_state)
        fail(access.name, " writes a constant");
      if (access.writes && r.is_state && at < p.first_commit_step)
        fail(access.name, " writes a state before step ", p.first_commit_step, ", from which states may change");
      return;
    }
    fail(access.name, ": need bytes of one constant or state of this program, have [", low, ", ", high, ") of arena ",
         v.index);
    return;
  }
  std::optional<uint32_t> holder = liveAt(access.memory, low, high);
  if (!holder || (buffer != PLIM_NONE && *holder != buffer)) {
    fail(access.name, ": need bytes [", low, ", ", high, ") of arena ", v.index, " in ",
         buffer == PLIM_NONE ? "a live buffer" : bufferName(buffer), ", have them in ",
         holder ? bufferName(*holder) : "none that is alive");
    return;
  }
  const plim_t_view &range = view(recordOf<plim_t_buffer>(t, PLIM_SEC_BUFFERS, *holder).view);
  access.origin = range.offset;
  if (low < range.offset || high > range.offset + range.bytes)
    fail(access.name, ": need bytes inside ", bufferName(*holder), " [", range.offset, ", ", range.offset + range.bytes,
         "), have [", low, ", ", high, ")");
}

TableReplay::Access TableReplay::operandAccess(const plim_t_operand &o, const std::string &name) {
  const plim_t_view &v = view(o.view);
  const auto &shape = recordOf<plim_t_shape>(t, PLIM_SEC_SHAPES, o.shape);
  Access access;
  access.name = name;
  access.reads = o.access & PLIM_ACCESS_READ, access.writes = o.access & PLIM_ACCESS_WRITE;
  access.strips = stripsOf(shape, v.offset, access.certain);
  if (uint32_t element = plim_dtype_bytes(shape.dtype); element > 0 && v.offset % element != 0)
    fail(name, ": need an offset that is a multiple of its ", element, "-byte elements, have ", v.offset);
  locate(access, v, o.buffer);
  return access;
}

TableReplay::Access TableReplay::viewAccess(uint32_t index, uint64_t offset, uint64_t bytes, bool reads,
                                            const std::string &name) {
  const plim_t_view &v = view(index);
  Access access;
  access.name = name;
  access.reads = reads, access.writes = !reads;
  access.strips = {{v.offset + offset, bytes, 0, 1}};
  locate(access, v, PLIM_NONE);
  return access;
}

// A transfer in flight and another access may not meet where one of them writes. Only a stream does its steps in order:
// pieces of transfers on one queue of the ssd may overtake each other.
void TableReplay::checkFlights(const Access &access, uint8_t queue) {
  for (const Flight &f : state.flights) {
    if ((f.queue == queue && (queue & 15) == PLIM_QUEUE_STREAM) || (f.waited & (1u << (queue & 31))))
      continue;
    for (const Access &other : f.accesses) {
      if (other.memory != access.memory || !(other.writes || access.writes))
        continue;
      for (const Strip &a : other.strips)
        for (const Strip &b : access.strips)
          if (meet(a, b))
            return fail(access.name, ": need a wait for token ", f.token, ", whose transfer still touches its bytes");
    }
  }
}

// Checks all that is read, then marks what is written.
void TableReplay::perform(std::vector<Access> &accesses, uint8_t queue) {
  for (const Access &access : accesses) {
    checkFlights(access, queue);
    if (!access.reads)
      continue;
    const ByteSet &written = state.written[access.memory];
    for (const Strip &s : access.strips)
      if (!written.covers(s, access.origin)) {
        fail(access.name, " reads bytes in [", s.offset, ", ", s.end(), ") that were not written on every way here");
        break;
      }
  }
  for (const Access &access : accesses)
    for (const Strip &s : access.strips)
      if (access.writes && access.certain)
        state.written[access.memory].add(s, access.origin);
}

void TableReplay::launch(const plim_t_launch &l, const plim_t_step &s) {
  std::vector<Access> accesses;
  for (uint32_t k = 0; k < l.operands; ++k) {
    const auto &o = recordOf<plim_t_operand>(t, PLIM_SEC_OPERANDS, l.first_operand + k);
    accesses.push_back(operandAccess(o, absl::StrCat("operand ", k)));
  }
  for (size_t i = 0; i < accesses.size(); ++i)
    for (size_t j = 0; j < accesses.size(); ++j) {
      const Access &a = accesses[i], &b = accesses[j];
      if (i == j || !a.writes || a.memory != b.memory || (b.writes && j < i))
        continue;
      if (!b.writes && a.start == b.start)
        continue; // in place
      const bool share = std::any_of(a.strips.begin(), a.strips.end(), [&](const Strip &x) {
        return std::any_of(b.strips.begin(), b.strips.end(), [&](const Strip &y) { return meet(x, y); });
      });
      if (share)
        fail(a.name, " is written over bytes of ", b.name);
    }
  workspace(l, accesses);
  perform(accesses, s.queue);
  if ((s.queue & 15) != PLIM_QUEUE_CPU && s.token != PLIM_NONE)
    state.flights.push_back({s.token, s.queue, 0, std::move(accesses)});
}

// A workspace has a live range of its own, or none. Whatever else lay there is lost.
void TableReplay::workspace(const plim_t_launch &l, const std::vector<Access> &operands) {
  const uint64_t pieces = l.tasks < t->workers ? l.tasks : t->workers;
  const uint64_t need = l.shared_bytes + pieces * l.scratch_bytes;
  if (l.workspace == PLIM_NONE) {
    if (need > 0)
      fail("need a workspace of ", need, " bytes, have none");
    return;
  }
  const plim_t_view &v = view(l.workspace);
  if (v.base != PLIM_BASE_ARENA || recordOf<plim_t_arena>(t, PLIM_SEC_ARENAS, v.index).kind != PLIM_TRANSIENT) {
    fail("need a workspace in a transient arena");
    return;
  }
  if (v.bytes < need || v.offset % 64 != 0)
    fail("need a workspace of ", need, " bytes at a multiple of 64, have ", v.bytes, " at ", v.offset);
  const Memory memory{v.base, v.index};
  if (auto holder = liveAt(memory, v.offset, v.offset + v.bytes)) {
    const plim_t_view &range = view(recordOf<plim_t_buffer>(t, PLIM_SEC_BUFFERS, *holder).view);
    if (v.offset < range.offset || v.offset + v.bytes > range.offset + range.bytes)
      fail("the workspace [", v.offset, ", ", v.offset + v.bytes, ") is on bytes of ", bufferName(*holder), " [",
           range.offset, ", ", range.offset + range.bytes, "), which is alive");
  }
  Access access{memory, {{v.offset, v.bytes, 0, 1}}};
  access.writes = true, access.name = "the workspace";
  for (const Access &operand : operands)
    if (operand.memory == memory && std::any_of(operand.strips.begin(), operand.strips.end(),
                                                [&](const Strip &strip) { return meet(strip, access.strips.front()); }))
      fail("the workspace [", v.offset, ", ", v.offset + v.bytes, ") is on bytes of ", operand.name);
  checkFlights(access, PLIM_QUEUE_CPU);
  state.written[memory].remove(v.offset, v.offset + v.bytes);
}

} // namespace plim::check
