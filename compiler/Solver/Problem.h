//===- Problem.h - What the memory planner solves, and what it answers ----------------------===//
//
// The seam between the IR and the planner: plain structs, no MLIR types. A pass extracts a Problem, the planner returns
// a Solution, a pass applies it. Both have a text format (ProblemText.h, docs/reference/problem-format.md). The format
// covers all levers of the planner; what a planner does not use it leaves as given.
//
// Accounting is inclusive: for each action its outputs and workspace are allocated, it runs, then what nothing reads
// any more is freed. Time is counted in actions: a storage lives in actions [birth, death).
//
//   Problem p;
//   p.tiers[0].capacity = 96 << 20;
//   p.buffers = {{.name = "x", .bytes = 4096, .kind = BufferKind::Input}, {.name = "y", .bytes = 4096}, ...};
//   p.steps = {{.name = "relu", .reads = {0}, .writes = {1}, .candidates = {{.kernel = "relu", .ns = 100}}}, ...};
//   if (auto errors = validate(p); errors.empty())
//     FitResult r = fitBudget(p);                       // Fit.h
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_PROBLEM_H
#define PLIM_SOLVER_PROBLEM_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace plim::solver {

enum class Tier : uint8_t { Ram, Pinned, Ssd, Gpu };
inline constexpr int kTierCount = 4;
inline constexpr int64_t kUnbounded = INT64_MAX;
inline constexpr int64_t kAlign = 64;                  // of buffers, workspaces and arenas
inline constexpr int64_t kSsdAlign = 4096;             // of what is read from or written to the ssd
inline constexpr int64_t kMaxBytes = int64_t(1) << 50; // of one buffer or workspace: sums of them cannot overflow
inline constexpr int64_t kMaxNs = int64_t(1) << 50;
inline constexpr int64_t kMaxTasks = (int64_t(1) << 32) - 1; // of a step

enum class BufferKind : uint8_t {
  Transient, // made and used within a run
  Input,     // the caller's, readable for the whole run, never written
  Output,    // the caller's, written once; free to be scratch before that
  Constant,  // a weight: resident for the whole run, never written
  State,     // kept between runs; steps may update it in place
};

struct TierLimit {
  int64_t capacity = kUnbounded; // the budget of this tier
};

// What a tier holds whatever the plan: worker stacks, staging rings, the runtime's tables.
struct FixedCost {
  std::string name{};
  Tier tier = Tier::Ram;
  int64_t bytes = 0;
};

// How fast bytes move from one tier to another (equal tiers: a copy inside one).
struct Link {
  Tier from = Tier::Ram, to = Tier::Ram;
  int64_t bytesPerSecond = 0, latencyNs = 0;
};

// Steps and buffers that take one choice together, e.g. an attention and what its backward pass reads.
struct Group {
  std::string name{};
  std::vector<std::string> choices{};
};

struct Buffer {
  std::string name{};
  std::string source{};   // the node it comes from, for messages
  int64_t bytes = 0;      // with a group: unused, see `sizes`
  int64_t align = kAlign; // a power of two, at least kAlign
  BufferKind kind = BufferKind::Transient;
  // Where it lies when the run starts; of a transient: unused. A constant on the ssd stays in its file: every plan
  // streams it. JointRungs plans such problems, fitBudget and Ladder do not.
  Tier tier = Tier::Ram;
  int group = -1;               // index in Problem::groups, or -1
  std::vector<int64_t> sizes{}; // bytes by choice of the group
  // False: it has one instance at one place. A transient is not made again, written to the ssd or slid; a constant is
  // not streamed. So it is with what steps write that say to read it (a buffer filled piece by piece).
  bool movable = true;
  bool reused = false; // an input in whose bytes others may lie after its last read
};

enum CandidateFlag : uint32_t {
  kInPlaceOk = 1,  // may run with an output in an operand's bytes, where the problem has such an InPlace alias
  kSubrangeOk = 2, // operands may be subranges of other buffers: strided, or aligned to their elements only
};

// One way to run a step.
struct Candidate {
  std::string kernel{};
  std::string label{}; // what a user calls the choice, "attention=flash"; "" where there is no name for it
  int64_t ns = 0;      // predicted
  int64_t sharedBytes = 0, scratchBytes = 0; // workspace = shared + min(workers, tasks) * scratch
  int64_t tasks = kMaxTasks;                 // pieces that workers take; one has scratch of its own while it runs
  std::string numerics{};                    // numerics class: equal classes give equal bits
  uint32_t flags = kInPlaceOk | kSubrangeOk;
  Tier tier = Tier::Ram;  // where its operands and workspace lie
  std::string barredBy{}; // the flag that forbids it ("--attention=naive"); never chosen, but refusals price it
};

// How one axis of a step may be cut into pieces (the SPLIT lever).
struct SplitAxis {
  enum class Combine : uint8_t { Concat, Sum, Max };
  // Piece [i, j) of the axis needs rows [floor(i * stride / divisor) - before, ceil(j * stride / divisor) + after) of
  // the operand, as far as it has them; stride 0: all of it; divisor 0: some part of it that is not known.
  struct Operand {
    int64_t stride = 1, before = 0, after = 0, divisor = 1;
  };
  std::string name{}; // rows, batch, queries, heads
  int64_t extent = 0, minPiece = 1;
  Combine combine = Combine::Concat;
  std::vector<Operand> operands{}; // one a read
};

struct Step {
  std::string name{};
  std::string source{};                // the node it comes from
  std::vector<int> reads{}, writes{};  // buffers, no duplicates. A state in both is updated in place
  std::vector<Candidate> candidates{}; // at least one that is not barred
  int group = -1;                      // where >= 0, candidate i belongs to choice i of the group
  bool pure = true;                    // may run again, or not at all; others keep their order among each other
  std::vector<int> after{};            // steps that must come before, beyond data dependencies
  std::vector<SplitAxis> splits{};
};

enum class AliasKind : uint8_t {
  InPlace, // `buffer`, written by `step`, may take over the bytes of `base`, which `step` reads last
  Into,    // `buffer`, read by `step`, may be written straight into `base`, which `step` writes (a piece of a concat)
  View,    // `buffer`, written by `step`, may be the bytes of `base`, which `step` reads (slice, split, reshape)
};

// Leave to store `buffer` at `base` + offset. Into and View say that the bytes are equal there: `step` then need not
// copy them, which saves savedNs; where all its aliases of one kind are taken (for Into: of all its reads), it
// vanishes. Strided: byte i of the buffer lies at offset + i / run * stride + i % run; run 0 means contiguous.
struct Alias {
  AliasKind kind = AliasKind::InPlace;
  int buffer = -1, base = -1, step = -1;
  int64_t offset = 0, run = 0, stride = 0;
  int64_t savedNs = 0;
};

// What the planner may do.
struct Levers {
  bool order = true, choose = true, alias = true;
  bool recompute = false, spill = false, stream = false, split = false, move = false;
  bool lend = false; // outputs of the caller hold other buffers before they are written
  bool operator==(const Levers &) const = default;
};

struct Problem {
  std::array<TierLimit, kTierCount> tiers;
  int workers = 1;          // scratch is reserved for each that a launch has a task for
  int64_t granule = kAlign; // arenas (transient, constants, states) are reserved in multiples of this, a power of two
  bool countIo = true;      // inputs and outputs are the caller's; true where they count against the budget
  Levers levers;
  std::vector<FixedCost> fixed{};
  std::vector<Link> links{};
  std::vector<Group> groups{};
  std::vector<Buffer> buffers{};
  std::vector<Step> steps{}; // in an order that meets all dependencies
  std::vector<Alias> aliases{};

  int64_t workspace(const Candidate &c) const {
    return c.sharedBytes + std::min<int64_t>(workers, c.tasks) * c.scratchBytes;
  }
  // The link between two tiers; null where bytes cannot move between them. Without a link inside the ram, copies there
  // take no time.
  const Link *link(Tier from, Tier to) const;
};

// Time that bytes take on a link, latency left out: ceil(bytes * 1e9 / bytesPerSecond).
int64_t transferNs(const Link &link, int64_t bytes);

// Where bytes are reserved.
enum class Region : uint8_t {
  Transient, // the arena of one run; in tier ssd: of its spill file
  Constant,  // the weights' arena: constants in the order of the problem, alive all the time
  State,     // the session's arena: states, likewise
  Caller,    // an input or output: memory of the caller, offset 0 each, alive all the time
  File,      // a constant that is streamed: its bytes in the weight file, tier ssd, offset 0 each, alive all the time
};

// Bytes [offset, offset + bytes) of a region, reserved while actions [birth, death) run.
struct Storage {
  Region region = Region::Transient;
  Tier tier = Tier::Ram;
  int64_t offset = 0, bytes = 0;
  int birth = 0, death = 0;
  bool operator==(const Storage &) const = default;
};

// An instance of a buffer: one value at one place. Instance 0 is the first; recomputation and copies make more.
// What the ssd reads or writes lies at offset 0 of a storage whose offset is a multiple of kSsdAlign and whose bytes
// are the buffer's rounded up to it; all of them are read or written.
struct Place {
  int buffer = -1, instance = 0, storage = -1;
  int64_t offset = 0; // in the storage; byte i lies at offset + i / run * stride + i % run, run 0: contiguous
  int64_t run = 0, stride = 0;
  int alias = -1; // the alias of the problem that this place uses, or -1
  bool operator==(const Place &) const = default;
};

enum class ActionKind : uint8_t {
  Run,
  Elided, // a step that aliases leave nothing to do
  // A place to another of the same buffer: a spill, a read, or a move inside the ram. The two storages of a move may
  // share bytes where nothing reads the source later: the bytes slide.
  Copy,
  Wait, // until the copies that it names are done
};

// Where an action is done. Runs, and copies inside the ram, are done on the cpu when the next action starts. A copy to
// or from the ssd is in flight until a Wait names it: until then its source keeps its bytes and nothing reads its
// target.
enum class Queue : uint8_t { Cpu, Read, Write };

struct Action {
  ActionKind kind = ActionKind::Run;
  int step = -1, instance = 0, candidate = -1; // of Run and Elided
  std::vector<int> reads{}, writes{};          // places, in the order of the step's; Copy: one each
  int64_t workspaceOffset = -1;                // in the transient arena of the candidate's tier; -1 where it has none
  Queue queue = Queue::Cpu;                    // of Copy: Read from the ssd, Write to it
  std::vector<int> waits{};                    // of Wait: earlier Copy actions on Read or Write, each waited on once
  bool operator==(const Action &) const = default;
};

struct Solution {
  std::vector<Action> actions{};
  std::vector<Storage> storages{};
  std::vector<Place> places{};
  std::vector<int> choices{}; // of each group
  // Predicted. The cpu does its actions one after the other: a run takes its candidate's ns less what its aliases save
  // (never below 0), a copy in the ram latency + transferNs. Read and Write serve their copies in order: one that is
  // issued at time t ends at max(end of the one before, t + latency) + transferNs. A Wait lasts until all that it names
  // have ended.
  int64_t ns = 0;
  // Bytes by tier. `live` is the largest sum of transient storages and workspace at one action, each rounded up to its
  // alignment: no transient arena is smaller, and arena - live is the fragmentation. Arenas are rounded up to
  // Problem::granule. peak = fixed + constants + states + caller (where counted) + arena is what a budget bounds.
  std::array<int64_t, kTierCount> fixed{}, constants{}, states{}, caller{}, arena{}, live{}, peak{};
  int peakAction = -1; // first action where `live` of the ram is reached
  bool operator==(const Solution &) const = default;
};

// Everything that is wrong with a problem, one message each ("step 3 'conv': need a buffer below 12, have 40");
// empty where it is sound. All other functions of the planner take sound problems only.
std::vector<std::string> validate(const Problem &problem);

inline int64_t alignUp(int64_t bytes, int64_t align) { return (bytes + align - 1) / align * align; }
const char *tierName(Tier tier);
const char *kindName(BufferKind kind);

} // namespace plim::solver

#endif // PLIM_SOLVER_PROBLEM_H
