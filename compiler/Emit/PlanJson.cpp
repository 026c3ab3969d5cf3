//===- PlanJson.cpp - The step table as a JSON document ---------------------------------===//
#include "compiler/Emit/PlanReport.h"
#include <array>
#include <vector>

namespace plim::emit {
namespace {

constexpr const char *tierNames[] = {"ram", "pinned", "ssd", "gpu"};
constexpr const char *arenaKinds[] = {"transient", "persistent", "staging", "stacks"};
constexpr const char *queueNames[] = {"cpu", "read", "write", "stream"};
constexpr const char *opcodeNames[] = {"launch", "copy",   "fill", "wait", "load",   "eval",
                                       "check",  "branch", "loop", "next", "return", "mark"};
constexpr const char *dtypeNames[] = {"?",   "f32", "f16", "bf16", "f64", "i8",  "i16",
                                      "i32", "i64", "u8",  "u16",  "u32", "u64", "bool"};

template <typename T> const T *records(const plim_table *t, plim_section s) {
  return static_cast<const T *>(plim_table_section(t, s));
}

/// Tier -> bytes, tiers without any left out.
Json byTier(const uint64_t (&bytes)[PLIM_TIER_COUNT]) {
  Json out = Json::object();
  for (int t = 0; t < PLIM_TIER_COUNT; ++t)
    if (bytes[t] || t == PLIM_RAM)
      out[tierNames[t]] = bytes[t];
  return out;
}

/// As byTier, for bounds: null where a tier has none.
Json budgetByTier(const uint64_t (&bytes)[PLIM_TIER_COUNT]) {
  Json out = Json::object();
  for (int t = 0; t < PLIM_TIER_COUNT; ++t)
    if (bytes[t] != UINT64_MAX)
      out[tierNames[t]] = bytes[t];
    else if (t == PLIM_RAM)
      out[tierNames[t]] = nullptr;
  return out;
}

class ProgramReport {
public:
  ProgramReport(const plim_table *t, const plim_t_program &p) : table(t), program(p) {
    views = records<plim_t_view>(t, PLIM_SEC_VIEWS);
    buffers = records<plim_t_buffer>(t, PLIM_SEC_BUFFERS);
    launches = records<plim_t_launch>(t, PLIM_SEC_LAUNCHES);
    operands = records<plim_t_operand>(t, PLIM_SEC_OPERANDS);
    kernels = records<plim_t_kernel>(t, PLIM_SEC_KERNELS);
    arenas = records<plim_t_arena>(t, PLIM_SEC_ARENAS);
  }

  Json run() {
    Json out = Json::object();
    out["name"] = string(program.name);
    out["variant"] = string(records<plim_t_variant>(table, PLIM_SEC_VARIANTS)[program.variant].name);
    out["budget"] = budgetByTier(program.budget);
    out["reserved_peak"] = byTier(program.reserved_peak);
    out["live_peak"] = byTier(program.live_peak);
    out["inputs"] = ios(0);
    out["outputs"] = ios(1);
    out["residents"] = residents();
    walk();
    out["resident_bytes"] = residentBytes;
    out["io_bytes"] = ioBytes;
    // What a budget bounds: all that the runtime reserves, and the caller's buffers.
    out["peak"] = byTier(program.reserved_peak);
    out["peak"]["ram"] = program.reserved_peak[PLIM_RAM] + ioBytes;
    out["streamed_bytes"] = streamedBytes;
    out["levers"] = std::move(levers);
    out["arenas"] = arenaList();
    out["steps"] = std::move(steps);
    out["buffers"] = std::move(blocks);
    return out;
  }

private:
  std::string string(uint32_t name) { return plim_table_string(table, name); }

  Json shape(uint32_t index) {
    const plim_t_shape &s = records<plim_t_shape>(table, PLIM_SEC_SHAPES)[index];
    Json dims = Json::array();
    for (int d = 0; d < s.rank; ++d) {
      if (s.dim_scalar[d] == PLIM_NONE)
        dims.push_back(s.dims[d]);
      else
        dims.push_back(Json{{"scalar", s.dim_scalar[d]}, {"bound", s.dims[d]}});
    }
    return Json{{"dtype", dtypeNames[s.dtype <= PLIM_BOOL ? s.dtype : 0]}, {"dims", std::move(dims)}};
  }

  Json ios(uint32_t wantOutputs) {
    Json out = Json::array();
    const plim_t_io *io = records<plim_t_io>(table, PLIM_SEC_IOS) + program.first_io;
    for (uint32_t i = 0; i < program.ios; ++i) {
      if (io[i].is_output != wantOutputs)
        continue;
      Json one = Json::object();
      one["name"] = string(io[i].name);
      one.update(shape(io[i].shape));
      one["bytes"] = io[i].bytes;
      if (io[i].is_reused)
        one["reused"] = true;
      ioBytes += io[i].bytes;
      out.push_back(std::move(one));
    }
    return out;
  }

  Json residents() {
    Json out = Json::array();
    const plim_t_resident *r = records<plim_t_resident>(table, PLIM_SEC_RESIDENTS) + program.first_resident;
    for (uint32_t i = 0; i < program.residents; ++i) {
      uint32_t name = r[i].is_state ? records<plim_t_state>(table, PLIM_SEC_STATES)[r[i].index].name
                                    : records<plim_t_constant>(table, PLIM_SEC_CONSTANTS)[r[i].index].name;
      const plim_t_view &v = views[r[i].view];
      const bool inFile = v.base == PLIM_BASE_CONSTANT_FILE;
      (inFile ? streamedBytes : residentBytes) += v.bytes;
      out.push_back(Json{{"name", string(name)},
                         {"kind", r[i].is_state ? "state" : "constant"},
                         {"arena", inFile ? Json(nullptr) : Json(v.index)},
                         {"offset", v.offset},
                         {"bytes", v.bytes}});
    }
    return out;
  }

  Json arenaList() {
    Json out = Json::array();
    uint64_t count = table->sections[PLIM_SEC_ARENAS].count;
    for (uint64_t a = 0; a < count; ++a)
      if (usesArena[a])
        out.push_back(Json{{"index", a},
                           {"tier", tierNames[arenas[a].tier]},
                           {"kind", arenaKinds[arenas[a].kind]},
                           {"bytes", arenas[a].bytes},
                           {"touched", arenas[a].touched}});
    return out;
  }

  void noteArena(const plim_t_view &v) {
    if (v.base == PLIM_BASE_ARENA)
      usesArena[v.index] = 1;
  }

  /// Steps that do something are numbered; a MARK belongs to the boundary before the next one. Live bytes of a step
  /// count what is alive while it runs, io and residents included.
  void walk() {
    usesArena.assign(table->sections[PLIM_SEC_ARENAS].count, 0);
    const plim_t_resident *r = records<plim_t_resident>(table, PLIM_SEC_RESIDENTS) + program.first_resident;
    for (uint32_t i = 0; i < program.residents; ++i)
      noteArena(views[r[i].view]);
    std::vector<int64_t> blockOf(table->sections[PLIM_SEC_BUFFERS].count, -1);
    const plim_t_step *step = records<plim_t_step>(table, PLIM_SEC_STEPS) + program.first_step;
    std::array<uint64_t, PLIM_TIER_COUNT> live{};
    live[PLIM_RAM] = ioBytes + residentBytes;
    steps = Json::array(), blocks = Json::array();
    levers = Json{{"recomputed", 0}, {"spilled", 0}, {"read_back", 0}, {"streamed", 0}, {"moved", 0}};
    for (uint32_t s = 0; s < program.steps; ++s) {
      if (step[s].opcode == PLIM_OP_MARK) {
        const plim_t_mark &m = records<plim_t_mark>(table, PLIM_SEC_MARKS)[step[s].record];
        const plim_t_view &v = views[buffers[m.buffer].view];
        int64_t now = int64_t(steps.size());
        if (!m.is_death) {
          blockOf[m.buffer] = int64_t(blocks.size());
          noteArena(v);
          live[tierOf(v)] += v.bytes;
          blocks.push_back(Json{{"id", m.buffer},
                                {"source", string(buffers[m.buffer].source)},
                                {"base", v.base == PLIM_BASE_ARENA ? "arena" : "io"},
                                {"index", v.index},
                                {"offset", v.offset},
                                {"bytes", v.bytes},
                                {"birth", now},
                                {"death", nullptr}});
        } else {
          live[tierOf(v)] -= v.bytes;
          if (blockOf[m.buffer] >= 0)
            blocks[size_t(blockOf[m.buffer])]["death"] = now;
        }
        continue;
      }
      if (step[s].opcode == PLIM_OP_RETURN)
        continue;
      steps.push_back(describe(step[s], live));
    }
    for (Json &b : blocks)
      if (b["death"].is_null())
        b["death"] = steps.size();
  }

  uint32_t tierOf(const plim_t_view &v) const {
    return v.base == PLIM_BASE_CONSTANT_FILE ? uint32_t(PLIM_SSD)
           : v.base == PLIM_BASE_ARENA       ? arenas[v.index].tier
                                             : uint32_t(PLIM_RAM);
  }

  /// A copy of values between tiers or inside the ram, and the lever that it is.
  void describeCopy(const plim_t_step &step, Json &out) {
    const plim_t_copy &c = records<plim_t_copy>(table, PLIM_SEC_COPIES)[step.record];
    const plim_t_view &src = views[c.src], &dst = views[c.dst];
    out["bytes"] = c.bytes;
    out["from"] = src.base == PLIM_BASE_CONSTANT_FILE ? "file" : tierNames[tierOf(src)];
    out["to"] = tierNames[tierOf(dst)];
    out["queue"] = queueNames[step.queue & 15];
    if (step.token != PLIM_NONE)
      out["token"] = step.token;
    const char *lever = src.base == PLIM_BASE_CONSTANT_FILE ? "streamed"
                        : tierOf(dst) == PLIM_SSD           ? "spilled"
                        : tierOf(src) == PLIM_SSD           ? "read_back"
                                                            : "moved";
    levers[lever] = levers[lever].get<uint64_t>() + 1;
    out["lever"] = lever;
  }

  Json describe(const plim_t_step &step, const std::array<uint64_t, PLIM_TIER_COUNT> &live) {
    Json out = Json::object();
    out["op"] = opcodeNames[step.opcode];
    out["source"] = string(step.source);
    if (step.opcode == PLIM_OP_LAUNCH) {
      const plim_t_launch &l = launches[step.record];
      out["kernel"] = string(kernels[l.kernel].name);
      if (l.source != PLIM_NONE)
        out["source"] = string(l.source);
      if (l.instance) {
        out["instance"] = l.instance;
        levers["recomputed"] = levers["recomputed"].get<uint64_t>() + 1;
      }
      out["tasks"] = l.tasks;
      out["workspace"] = l.workspace == PLIM_NONE ? uint64_t{0} : views[l.workspace].bytes;
      Json reads = Json::array(), writes = Json::array();
      for (uint32_t i = 0; i < l.operands; ++i) {
        const plim_t_operand &o = operands[l.first_operand + i];
        if (o.buffer == PLIM_NONE)
          continue;
        if (o.access & PLIM_ACCESS_READ)
          reads.push_back(o.buffer);
        if (o.access & PLIM_ACCESS_WRITE)
          writes.push_back(o.buffer);
      }
      out["reads"] = std::move(reads), out["writes"] = std::move(writes);
    } else if (step.opcode == PLIM_OP_COPY) {
      describeCopy(step, out);
    } else if (step.opcode == PLIM_OP_WAIT) {
      const plim_t_wait &w = records<plim_t_wait>(table, PLIM_SEC_WAITS)[step.record];
      const uint32_t *tokens = records<uint32_t>(table, PLIM_SEC_INDICES) + w.first_token;
      out["tokens"] = Json::array();
      for (uint32_t i = 0; i < w.tokens; ++i)
        out["tokens"].push_back(tokens[i]);
    }
    out["live"] = live[PLIM_RAM];
    if (live[PLIM_SSD])
      out["live_ssd"] = live[PLIM_SSD];
    return out;
  }

  const plim_table *table;
  const plim_t_program &program;
  const plim_t_view *views;
  const plim_t_buffer *buffers;
  const plim_t_launch *launches;
  const plim_t_operand *operands;
  const plim_t_kernel *kernels;
  const plim_t_arena *arenas;
  std::vector<char> usesArena;
  uint64_t ioBytes = 0, residentBytes = 0, streamedBytes = 0;
  Json steps, blocks, levers;
};

} // namespace

static void addPieces(Json &program, const std::vector<PlanFacts::Piece> &pieces) {
  size_t launch = 0;
  uint64_t count = 0;
  for (Json &step : program["steps"]) {
    if (step["op"] != opcodeNames[PLIM_OP_LAUNCH] || launch >= pieces.size())
      continue;
    const PlanFacts::Piece &piece = pieces[launch++];
    if (piece.pieces == 0)
      continue;
    step["piece"] = Json{{"number", piece.number},
                         {"of", piece.pieces},
                         {"rows", Json::array({piece.begin, piece.end})},
                         {"extent", piece.extent}};
    ++count;
  }
  program["levers"]["split"] = count;
}

/// The program's document with what the table does not hold.
static Json withFacts(Json program, const PlanFacts &facts) {
  for (const PlanFacts::Program &known : facts.programs) {
    if (program["name"].get<std::string>() != known.name || program["variant"].get<std::string>() != known.variant)
      continue;
    program["predicted_ns"] = known.predictedNs;
    addPieces(program, known.pieces);
    if (known.curve.empty())
      continue;
    Json &curve = program["curve"] = Json::array();
    for (const PlanFacts::CurvePoint &point : known.curve)
      curve.push_back(Json{{"pieces", point.pieces},
                           {"ram", point.ram},
                           {"ssd", point.ssd},
                           {"predicted_ns", point.ns},
                           {"recomputed", point.recomputed},
                           {"spilled", point.spilled},
                           {"streamed", point.streamed},
                           {"moved", point.moved}});
  }
  return program;
}

Json planJson(const plim_table *table, std::string_view modelName, const PlanFacts &facts) {
  Json out = Json::object();
  out["format"] = "plimsoll-plan";
  out["version"] = 1;
  out["model"] = std::string(modelName);
  out["target"] = Json{{"kernel_abi", table->kernel_abi}, {"workers", table->workers}, {"isa_min", table->isa_min}};
  out["profile"] = facts.profile;
  out["table_bytes"] = table->bytes;
  out["weights_bytes"] = table->weights_bytes;
  Json programs = Json::array();
  const plim_t_program *p = records<plim_t_program>(table, PLIM_SEC_PROGRAMS);
  for (uint64_t i = 0; i < table->sections[PLIM_SEC_PROGRAMS].count; ++i)
    programs.push_back(withFacts(ProgramReport(table, p[i]).run(), facts));
  out["programs"] = std::move(programs);
  Json variants = Json::array();
  const plim_t_variant *v = records<plim_t_variant>(table, PLIM_SEC_VARIANTS);
  for (uint64_t i = 0; i < table->sections[PLIM_SEC_VARIANTS].count; ++i)
    variants.push_back(Json{{"name", plim_table_string(table, v[i].name)}, {"reserved_peak", byTier(v[i].peak)}});
  out["variants"] = std::move(variants);
  return out;
}

} // namespace plim::emit
