// COPY and WAIT: bytes that move inside the RAM, and between it and the ssd.
#include "runtime/core/run.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plim::rt {
namespace {

plim_status copyInRam(Run &run, const plim_t_copy &c) {
  Bytes src, dst;
  if (plim_status st = run.resolve(c.src, src))
    return st;
  if (plim_status st = run.resolve(c.dst, dst))
    return st;
  uint64_t bytes = c.bytes;
  auto cut = [&](uint32_t view, uint64_t have) -> plim_status {
    if (have < bytes && run.t.view(view).base != PLIM_BASE_IO)
      return run.fail(PLIM_ERR_BOUND).need(bytes).have(have).say("an offset moves the copy out of view %u", view);
    bytes = have < bytes ? have : bytes;
    return PLIM_OK;
  };
  if (plim_status st = cut(c.src, src.bytes))
    return st;
  if (plim_status st = cut(c.dst, dst.bytes))
    return st;
  memmove(dst.data, src.data, bytes);
  if (c.hash && bytes == c.bytes && XXH3_64bits(dst.data, bytes) != c.hash)
    return run.fail(PLIM_ERR_IO).say("the bytes that arrived are not those that were sent");
  return PLIM_OK;
}

/// Offset of a view of a transfer, moved by its scalar: inside the view and a multiple of a block.
plim_status placeOf(const Run &run, uint32_t index, uint64_t bytes, uint64_t &out) {
  const plim_t_view &v = run.t.view(index);
  out = v.offset;
  if (v.offset_scalar == PLIM_NONE)
    return PLIM_OK;
  int64_t moved = run.scalar(v.offset_scalar);
  if (moved < 0 || static_cast<uint64_t>(moved) > v.bytes - bytes || moved % PLIM_PAGE != 0)
    return run.fail(PLIM_ERR_BOUND)
        .need(v.bytes - bytes)
        .have(static_cast<uint64_t>(moved))
        .say("an offset moves a transfer out of view %u, or not by a multiple of %d", index, int(PLIM_PAGE));
  out += static_cast<uint64_t>(moved);
  return PLIM_OK;
}

plim_status transferFailure(Run &run, const TransferResult &r) {
  run.step = r.request.step;
  Failure f = run.fail(PLIM_ERR_IO);
  f.code(r.error > 0 ? r.error : 0);
  const char *file = r.request.file == FileKind::weights ? "weight file" : "spill file";
  switch (r.error) {
  case TransferResult::cutShort:
    return f.say("a transfer ended early at byte %lu of the %s", r.at, file);
  case TransferResult::changed:
    return f.say("the bytes from %lu on of the %s are not those that were written", r.at, file);
  case TransferResult::unwritten:
    return f.say("the plan reads byte %lu of the %s, which no finished transfer of this run wrote", r.at, file);
  default:
    const char *text = strerrordesc_np(r.error);
    return f.say("cannot %s the %s at byte %lu: %s", r.request.write ? "write" : "read", file, r.at,
                 text ? text : "unknown error");
  }
}

/// Waits for a transfer and takes its result.
plim_status take(Run &run, uint32_t transfer) {
  uint32_t waiting = run.step;
  TransferResult r = run.context.transfers->engine.wait(transfer, run.stallNs);
  if (r.request.token != PLIM_NONE)
    run.context.tokens[r.request.token] = kTokenDone;
  if (run.options.trace && r.beginNs)
    traceEvent(run, {r.beginNs, r.endNs, run.index, r.request.step,
                     static_cast<uint16_t>(r.request.write ? PLIM_TRACE_WRITE : PLIM_TRACE_READ), 0, 0, 0});
  if (!r.error)
    return PLIM_OK;
  plim_status st = transferFailure(run, r);
  run.step = waiting; // whether the session is torn depends on how far the run came
  return st;
}

plim_status transfer(Run &run, const plim_t_step &step, const plim_t_copy &c, bool write) {
  plim_context &context = run.context;
  const plim_t_view &near = run.t.view(write ? c.src : c.dst), &far = run.t.view(write ? c.dst : c.src);
  TransferRequest r = {};
  r.file = far.base == PLIM_BASE_CONSTANT_FILE ? FileKind::weights : FileKind::spill;
  r.write = write;
  r.bytes = c.bytes;
  r.hash = c.hash;
  r.step = run.step;
  bool flies = step.queue != 0 && step.token != PLIM_NONE;
  r.token = flies ? step.token : PLIM_NONE;
  uint64_t nearAt;
  if (plim_status st = placeOf(run, write ? c.src : c.dst, c.bytes, nearAt))
    return st;
  if (plim_status st = placeOf(run, write ? c.dst : c.src, c.bytes, r.offset))
    return st;
  r.memory = run.arenaBase(near.index) + nearAt;
  if (run.poison()) {
    noteTransfer(run, near, nearAt, c.bytes);
    if (r.file == FileKind::spill)
      noteTransfer(run, far, r.offset, c.bytes);
    if (!write)
      poisonTarget(run, near, nearAt, c.bytes);
  }
  if (r.file == FileKind::spill)
    r.offset += context.spillBases[far.index];
  ++run.transfers;
  (write ? run.bytesWritten : run.bytesRead) += c.bytes;
  if (c.bytes == 0)
    return PLIM_OK;
  bool held = run.options.flags & (PLIM_RUN_POISON | PLIM_RUN_RED_ZONES);
  Transfers &engine = context.transfers->engine;
  uint32_t number;
  while ((number = engine.submit(r, held)) == kNoTransfer)
    if (plim_status st = take(run, engine.oldest()))
      return st;
  if (!flies)
    return take(run, number);
  context.tokens[step.token] = static_cast<uint8_t>(kTokenInFlight + number);
  return PLIM_OK;
}

} // namespace

plim_status runCopy(Run &run, const plim_t_step &step, const plim_t_copy &c) {
  if (onSsd(run.t, run.t.view(c.dst)))
    return transfer(run, step, c, true);
  if (onSsd(run.t, run.t.view(c.src)))
    return transfer(run, step, c, false);
  return copyInRam(run, c);
}

/// The table check has shown that every wait follows its step; the flags catch a walk that would break this.
plim_status runWait(Run &run, const plim_t_wait &w) {
  for (uint32_t i = 0; i < w.tokens; ++i) {
    uint8_t token = run.context.tokens[run.t.indices()[w.first_token + i]];
    if (token == kTokenNone)
      return run.fail(PLIM_ERR_TABLE).say("waits on a token that was not given");
    if (token >= kTokenInFlight)
      if (plim_status st = take(run, token - uint32_t(kTokenInFlight)))
        return st;
  }
  return PLIM_OK;
}

} // namespace plim::rt
