//===- TableReplay.cpp - Control flow, lives and transfers of a program -------------------------===//
#include "compiler/Check/TableReplay.h"
#include <algorithm>

namespace plim::check {

TableReplay::TableReplay(const plim_table *table, uint32_t program, std::vector<std::string> &faults)
    : t(table), p(recordOf<plim_t_program>(table, PLIM_SEC_PROGRAMS, program)), faults(faults) {}

std::string TableReplay::text(uint32_t string) const {
  if (string == PLIM_NONE)
    return "";
  return &recordOf<char>(t, PLIM_SEC_STRINGS, string);
}

std::string TableReplay::where() const {
  std::string here = absl::StrCat("program '", text(p.name), "' step ", at);
  if (at < p.steps && step(at).source != PLIM_NONE)
    absl::StrAppend(&here, " ('", text(step(at).source), "')");
  return here;
}

std::string TableReplay::bufferName(uint32_t buffer) const {
  const auto &b = recordOf<plim_t_buffer>(t, PLIM_SEC_BUFFERS, buffer);
  std::string name = absl::StrCat("buffer ", buffer);
  if (b.source != PLIM_NONE)
    absl::StrAppend(&name, " ('", text(b.source), "')");
  return name;
}

void TableReplay::start() {
  std::map<Memory, std::map<uint64_t, uint64_t>> homes; // offset to end
  for (uint32_t k = 0; k < p.residents; ++k) {
    const auto &r = recordOf<plim_t_resident>(t, PLIM_SEC_RESIDENTS, p.first_resident + k);
    const plim_t_view &v = view(r.view);
    const Memory memory{v.base, v.index};
    state.written[memory].add(v.offset, v.offset + v.bytes);
    if (v.base != PLIM_BASE_ARENA || v.bytes == 0)
      continue;
    auto &here = homes[memory];
    auto next = here.lower_bound(v.offset);
    bool clash = next != here.end() && next->first < v.offset + v.bytes;
    clash |= next != here.begin() && std::prev(next)->second > v.offset;
    if (clash)
      fail("resident ", k, " shares bytes [", v.offset, ", ", v.offset + v.bytes, ") of arena ", v.index,
           " with another");
    here.emplace(v.offset, v.offset + v.bytes);
  }
  for (uint32_t k = 0; k < p.ios; ++k) {
    const auto &io = recordOf<plim_t_io>(t, PLIM_SEC_IOS, p.first_io + k);
    if (!io.is_output || io.state != PLIM_NONE)
      state.written[{PLIM_BASE_IO, p.first_io + k}].add(0, io.bytes);
  }
}

void TableReplay::run() {
  start();
  for (at = 0; at < p.steps; ++at) {
    if (auto jump = pending.find(at); jump != pending.end()) {
      if (reachable)
        meetWith(jump->second);
      else
        state = std::move(jump->second);
      reachable = true;
      pending.erase(jump);
    }
    if (reachable)
      replay(step(at));
  }
}

void TableReplay::replay(const plim_t_step &s) {
  switch (s.opcode) {
  case PLIM_OP_LAUNCH:
    return launch(recordOf<plim_t_launch>(t, PLIM_SEC_LAUNCHES, s.record), s);
  case PLIM_OP_COPY:
    return copy(recordOf<plim_t_copy>(t, PLIM_SEC_COPIES, s.record), s);
  case PLIM_OP_FILL: {
    const auto &f = recordOf<plim_t_fill>(t, PLIM_SEC_FILLS, s.record);
    return transfer({viewAccess(f.view, 0, view(f.view).bytes, false, "the filled view")}, s);
  }
  case PLIM_OP_WAIT:
    return wait(recordOf<plim_t_wait>(t, PLIM_SEC_WAITS, s.record));
  case PLIM_OP_LOAD: {
    const auto &l = recordOf<plim_t_load>(t, PLIM_SEC_LOADS, s.record);
    std::vector<Access> one{
        viewAccess(l.view, l.offset, plim_dtype_bytes(uint8_t(l.dtype)), true, "the loaded scalar")};
    return perform(one, PLIM_QUEUE_CPU);
  }
  case PLIM_OP_BRANCH: {
    const auto &b = recordOf<plim_t_branch>(t, PLIM_SEC_BRANCHES, s.record);
    join(b.target);
    reachable = b.scalar != PLIM_NONE;
    return;
  }
  case PLIM_OP_LOOP: // the body may not run at all; a second trip finds what NEXT leaves, and that holds at least as
                     // much
    return join(recordOf<plim_t_loop>(t, PLIM_SEC_LOOPS, s.record).end);
  case PLIM_OP_MARK:
    return mark(recordOf<plim_t_mark>(t, PLIM_SEC_MARKS, s.record));
  case PLIM_OP_RETURN:
    finish();
    reachable = false;
    return;
  default: // EVAL, CHECK and NEXT touch no buffer
    return;
  }
}

// Brings the present state to a later step.
void TableReplay::join(uint32_t target) {
  auto [it, fresh] = pending.try_emplace(target, state);
  if (fresh)
    return;
  State kept = std::move(state);
  state = std::move(it->second);
  meetWith(kept);
  it->second = std::move(state);
  state = std::move(kept);
}

void TableReplay::meetWith(const State &other) {
  auto buffersOf = [](const State &s) {
    std::vector<uint32_t> ids;
    for (const auto &[memory, byOffset] : s.live)
      for (auto [offset, buffer] : byOffset)
        ids.push_back(buffer);
    return ids;
  };
  if (buffersOf(state) != buffersOf(other))
    fail("the ways that meet here leave different buffers alive");
  for (auto &[memory, bytes] : state.written) {
    auto same = other.written.find(memory);
    bytes.intersect(same == other.written.end() ? ByteSet() : same->second);
  }
  for (const Flight &flight : other.flights)
    if (std::none_of(state.flights.begin(), state.flights.end(),
                     [&](const Flight &f) { return f.token == flight.token; }))
      state.flights.push_back(flight);
}

// A live buffer of these bytes. Live buffers are disjoint, so that of those that start below `high` only the last can
// reach up to `low`.
std::optional<uint32_t> TableReplay::liveAt(Memory memory, uint64_t low, uint64_t high) const {
  auto here = state.live.find(memory);
  if (here == state.live.end() || low >= high)
    return std::nullopt;
  auto it = here->second.lower_bound(high);
  if (it == here->second.begin())
    return std::nullopt;
  const uint32_t buffer = std::prev(it)->second;
  const plim_t_view &v = view(recordOf<plim_t_buffer>(t, PLIM_SEC_BUFFERS, buffer).view);
  return v.offset + v.bytes > low ? std::optional(buffer) : std::nullopt;
}

void TableReplay::mark(const plim_t_mark &m) {
  const plim_t_view &v = view(recordOf<plim_t_buffer>(t, PLIM_SEC_BUFFERS, m.buffer).view);
  const Memory memory{v.base, v.index};
  const auto &arena = recordOf<plim_t_arena>(t, PLIM_SEC_ARENAS, v.index);
  const uint64_t align = arena.tier == PLIM_SSD ? kBlock : 64;
  Access whole{memory, {{v.offset, v.bytes, 0, 1}}};
  whole.writes = true, whole.name = bufferName(m.buffer);
  checkFlights(whole, PLIM_QUEUE_CPU);
  if (m.is_death) {
    state.written[memory].remove(v.offset, v.offset + v.bytes);
    auto &here = state.live[memory];
    if (auto it = here.find(v.offset); it != here.end() && it->second == m.buffer)
      here.erase(it);
    return;
  }
  if (arena.kind == PLIM_PERSISTENT)
    fail(bufferName(m.buffer), ": need a live range in an arena that is not persistent, have arena ", v.index);
  if (v.offset % align != 0)
    fail(bufferName(m.buffer), ": need an offset that is a multiple of ", align, ", have ", v.offset);
  if (slide(m.buffer))
    return;
  state.written[memory].remove(v.offset, v.offset + v.bytes);
  if (auto other = liveAt(memory, v.offset, v.offset + v.bytes))
    fail(bufferName(m.buffer), " [", v.offset, ", ", v.offset + v.bytes, ") is born on bytes of ", bufferName(*other),
         ", which is alive");
  if (v.bytes > 0)
    state.live[memory][v.offset] = m.buffer;
}

void TableReplay::wait(const plim_t_wait &w) {
  for (uint32_t k = 0; k < w.tokens; ++k) {
    const uint32_t token = recordOf<uint32_t>(t, PLIM_SEC_INDICES, w.first_token + k);
    if (w.on_queue == PLIM_NONE)
      std::erase_if(state.flights, [&](const Flight &f) { return f.token == token; });
    else
      for (Flight &f : state.flights)
        f.waited |= f.token == token ? 1u << (w.on_queue & 31) : 0;
  }
}

// A live buffer may slide inside its arena over bytes of its own: birth of the new one, copy on the cpu, death of the
// old one, right after each other, so that nothing sees them both. True where the buffer that is born begins such three
// steps; they are then done.
bool TableReplay::slide(uint32_t buffer) {
  if (at + 2 >= p.steps || step(at + 1).opcode != PLIM_OP_COPY || step(at + 2).opcode != PLIM_OP_MARK)
    return false;
  const auto &c = recordOf<plim_t_copy>(t, PLIM_SEC_COPIES, step(at + 1).record);
  const auto &death = recordOf<plim_t_mark>(t, PLIM_SEC_MARKS, step(at + 2).record);
  if (!death.is_death || death.buffer == buffer || step(at + 1).queue != PLIM_QUEUE_CPU)
    return false;
  const plim_t_view &target = view(recordOf<plim_t_buffer>(t, PLIM_SEC_BUFFERS, buffer).view);
  const plim_t_view &source = view(recordOf<plim_t_buffer>(t, PLIM_SEC_BUFFERS, death.buffer).view);
  const Memory memory{target.base, target.index};
  auto inside = [&](uint32_t part, const plim_t_view &whole) {
    const plim_t_view &v = view(part);
    return Memory{v.base, v.index} == Memory{whole.base, whole.index} && v.offset_scalar == PLIM_NONE &&
           v.offset >= whole.offset && v.offset + c.bytes <= whole.offset + whole.bytes;
  };
  auto &here = state.live[memory];
  auto old = here.find(source.offset);
  if (old == here.end() || old->second != death.buffer || !inside(c.src, source) || !inside(c.dst, target))
    return false;
  here.erase(old);
  auto other = liveAt(memory, target.offset, target.offset + target.bytes);
  here[source.offset] = death.buffer;
  if (other || !meet({source.offset, source.bytes, 0, 1}, {target.offset, target.bytes, 0, 1}) ||
      pending.contains(at + 1) || pending.contains(at + 2))
    return false;
  std::vector<Access> reads{viewAccess(c.src, 0, c.bytes, true, "the source")};
  ++at;
  perform(reads, PLIM_QUEUE_CPU);
  Access whole{memory, {{source.offset, source.bytes, 0, 1}}};
  whole.writes = true, whole.name = bufferName(death.buffer);
  checkFlights(whole, PLIM_QUEUE_CPU);
  here.erase(source.offset);
  state.written[memory].remove(source.offset, source.offset + source.bytes);
  state.written[memory].remove(target.offset, target.offset + target.bytes);
  here[target.offset] = buffer;
  const uint64_t to = view(c.dst).offset;
  state.written[memory].add(to, to + c.bytes);
  ++at;
  return true;
}

void TableReplay::copy(const plim_t_copy &c, const plim_t_step &s) {
  std::vector<Access> both{viewAccess(c.src, 0, c.bytes, true, "the source"),
                           viewAccess(c.dst, 0, c.bytes, false, "the target")};
  if (both[0].memory == both[1].memory && meet(both[0].strips.front(), both[1].strips.front()))
    fail("the source and the target of a copy share bytes");
  const bool fromSsd = onSsd(both[0].memory), toSsd = onSsd(both[1].memory);
  if (fromSsd && toSsd)
    fail("need one end of a copy in the ram, have both on the ssd");
  else if (fromSsd || toSsd)
    meetSsd(both, fromSsd, s.queue & 15);
  transfer(std::move(both), s);
}

void TableReplay::meetSsd(const std::vector<Access> &both, bool reads, uint32_t queue) {
  if (queue != PLIM_QUEUE_CPU && queue != (reads ? PLIM_QUEUE_READ : PLIM_QUEUE_WRITE))
    fail("need a copy ", reads ? "from the ssd on a queue that reads" : "to the ssd on a queue that writes",
         ", have it on queue ", queue);
  for (const Access &access : both) {
    if (access.strips.front().offset % kBlock != 0)
      fail(access.name, ": need an offset that is a multiple of ", kBlock, " to meet the ssd, have ",
           access.strips.front().offset);
    if (access.memory.base == PLIM_BASE_IO)
      fail(access.name, ": need bytes of an arena to meet the ssd, have the caller's");
  }
}

// Without a token a step is done when the next one starts.
void TableReplay::transfer(std::vector<Access> accesses, const plim_t_step &s) {
  perform(accesses, s.queue);
  if ((s.queue & 15) != PLIM_QUEUE_CPU && s.token != PLIM_NONE)
    state.flights.push_back({s.token, s.queue, 0, std::move(accesses)});
}

void TableReplay::finish() {
  for (const auto &[memory, byOffset] : state.live)
    for (auto [offset, buffer] : byOffset)
      fail(bufferName(buffer), ": need its death before the end, have it alive");
  for (const Flight &f : state.flights)
    fail("need a wait for token ", f.token, " before the end, have it in flight");
  for (uint32_t k = 0; k < p.ios; ++k) {
    const auto &io = recordOf<plim_t_io>(t, PLIM_SEC_IOS, p.first_io + k);
    if (!io.is_output || recordOf<plim_t_shape>(t, PLIM_SEC_SHAPES, io.shape).dynamic)
      continue;
    if (!state.written[{PLIM_BASE_IO, p.first_io + k}].covers(0, io.bytes))
      fail("output '", text(io.name), "': need all of its ", io.bytes, " bytes written, have some that are not");
  }
}

} // namespace plim::check
