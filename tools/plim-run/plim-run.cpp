//===- plim-run.cpp - Runs a compiled model ----------------------------------------------------===//
#include "tools/plim-run/Options.h"
#include "tools/plim-run/Report.h"
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace {

using namespace plim;

std::atomic<plim_session *> running{nullptr};

void onInterrupt(int) {
  if (plim_session *session = running.load())
    plim_cancel(session);
}

std::string describe(const plim_io_info &io) {
  std::string out = std::string(dtypeName(io.dtype)) + "[";
  for (uint32_t d = 0; d < io.rank; ++d) {
    out += d ? ", " : "";
    if (io.dynamic >> d & 1)
      out += std::to_string(io.lower[d]) + ".." + std::to_string(io.dims[d]);
    else
      out += std::to_string(io.dims[d]);
  }
  return out + "]";
}

std::string describe(const NpyArray &a) {
  std::string out = std::string(dtypeName(a.dtype)) + "[";
  for (size_t d = 0; d < a.dims.size(); ++d)
    out += (d ? ", " : "") + std::to_string(a.dims[d]);
  return out + "]";
}

/// What is wrong with an array for an input or output of this shape, or "".
std::string mismatch(const plim_io_info &io, const NpyArray &a) {
  bool fits = (a.dtype == io.dtype || (io.dtype == PLIM_BF16 && a.dtype == PLIM_U16)) && a.dims.size() == io.rank;
  for (uint32_t d = 0; fits && d < io.rank; ++d)
    fits = io.dynamic >> d & 1 ? a.dims[d] >= io.lower[d] && a.dims[d] <= io.dims[d] : a.dims[d] == io.dims[d];
  return fits ? "" : "need " + describe(io) + ", have " + describe(a);
}

/// One run of the session: what it reads, and what its outputs should be.
struct Step {
  const RunStep *options;
  const Artifact::Entry *entry;
  std::vector<IOBuffer> *outputs; // of the entry, by io; its runs share them
  std::vector<IOBuffer> random;   // by io
  std::vector<IOBuffer> scratch;  // by io: of inputs that a run overwrites
  std::vector<NpyArray> inputs;   // by io
  std::map<std::string, NpyArray> expected;
};

class Run {
public:
  explicit Run(const RunOptions &options) : o(options) {}

  Failure all() {
    std::vector<std::string> programs;
    programs.reserve(o.steps.size());
    for (const RunStep &step : o.steps)
      programs.push_back(step.program);
    plim_context_options context = {};
    context.threads = o.threads;
    context.spill_folder = o.spillDir.empty() ? nullptr : o.spillDir.c_str();
    if (Failure f = artifact.open(o.artifact, programs, o.variant, context))
      return f;
    if (Failure f = prepare())
      return f;
    running = artifact.session;
    struct sigaction action{};
    action.sa_handler = onInterrupt;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    Failure failure = runs();
    running = nullptr;
    return failure ? failure : report();
  }

private:
  static const plim_io_info *find(const Artifact::Entry &entry, const std::string &name, bool output) {
    for (const plim_io_info &io : entry.ios)
      if (io.name == name && bool(io.is_output) == output)
        return &io;
    return nullptr;
  }

  /// Reads all files; all that is wrong with the arguments, at once.
  Failure prepare() {
    Failure f;
    outputs.resize(artifact.entries.size());
    for (size_t e = 0; e < outputs.size(); ++e)
      for (const plim_io_info &io : artifact.entries[e].ios)
        if (!outputs[e].emplace_back().allocate(io.is_output ? io.bytes : 0))
          f.messages.push_back(std::string("output '") + io.name + "': " + noMemory(io.bytes));
    for (const RunStep &options : o.steps) {
      size_t e = 0;
      while (artifact.entries[e].name != options.program)
        ++e;
      Step &step = steps.emplace_back(Step{&options, &artifact.entries[e], &outputs[e], {}, {}, {}, {}});
      std::string where = o.steps.size() > 1 ? "run " + std::to_string(steps.size()) + ": " : "";
      prepare(step, [&](const std::string &why) { f.messages.push_back(where + why); });
    }
    f.code = f.messages.empty() ? 0 : environmentFault ? 4 : 2;
    return f;
  }

  template <typename Report> void prepare(Step &step, Report &&wrong) {
    const Artifact::Entry &entry = *step.entry;
    auto unknown = [&](const char *flag, const std::map<std::string, std::string> &given, bool output) {
      for (const auto &[name, file] : given)
        if (!find(entry, name, output)) {
          std::string have;
          for (const plim_io_info &io : entry.ios)
            if (bool(io.is_output) == output)
              have += (have.empty() ? "" : ", ") + std::string(io.name) + " " + describe(io);
          wrong(std::string(flag) + " '" + name + "': the model has " + have);
        }
    };
    unknown("--input", step.options->inputs, false);
    unknown("--output", step.options->outputs, true);
    unknown("--expected", step.options->expected, true);
    step.random.resize(entry.ios.size());
    step.inputs.resize(entry.ios.size());
    step.scratch.resize(entry.ios.size());
    for (size_t i = 0; i < entry.ios.size(); ++i)
      if (std::string why = entry.ios[i].is_output ? "" : prepareInput(step, i); !why.empty())
        wrong(std::string("input '") + entry.ios[i].name + "': " + why);
    for (const auto &[name, file] : step.options->expected)
      if (const plim_io_info *io = find(entry, name, true)) {
        NpyArray array;
        std::string why = load(file, array);
        if (why.empty())
          why = mismatch(*io, array);
        if (!why.empty())
          wrong("--expected '" + name + "': " + why);
        step.expected[name] = array;
      }
  }

  std::string load(const std::string &path, NpyArray &array) {
    auto file = std::make_unique<MappedFile>();
    if (std::string why = file->open(path); !why.empty()) {
      environmentFault = true;
      return why;
    }
    std::string why = parseNpy(file->bytes(), array);
    files.push_back(std::move(file));
    return why.empty() ? "" : path + ": " + why;
  }

  std::string noMemory(uint64_t bytes) {
    environmentFault = true;
    return "the system refused the memory (need " + std::to_string(bytes) + ", have 0)";
  }

  std::string prepareInput(Step &step, size_t i) {
    std::string why = readInput(step, i);
    if (why.empty() && step.entry->ios[i].is_reused && !step.scratch[i].allocate(step.inputs[i].bytes))
      return noMemory(step.inputs[i].bytes);
    return why;
  }

  std::string readInput(Step &step, size_t i) {
    const plim_io_info &io = step.entry->ios[i];
    NpyArray &array = step.inputs[i];
    auto given = step.options->inputs.find(io.name);
    if (given != step.options->inputs.end()) {
      std::string why = load(given->second, array);
      return why.empty() ? mismatch(io, array) : why;
    }
    if (!o.inputRandom)
      return "need " + describe(io) + ": give --input " + io.name + "=@FILE.npy or --input-random";
    if (!step.random[i].allocate(io.bytes))
      return noMemory(io.bytes);
    fillRandom(io, step.random[i].data, o.seed + i);
    array.dtype = io.dtype;
    array.dims.assign(io.dims, io.dims + io.rank);
    array.data = step.random[i].data;
    array.bytes = io.bytes;
    return "";
  }

  Failure bind(const Step &step) {
    for (size_t i = 0; i < step.entry->ios.size(); ++i) {
      const plim_io_info &io = step.entry->ios[i];
      const NpyArray &array = step.inputs[i];
      const void *data = io.is_reused ? step.scratch[i].data : array.data;
      plim_status status = io.is_output ? plim_bind_output(artifact.session, step.entry->program, io.name,
                                                           (*step.outputs)[i].data, io.bytes)
                                        : plim_bind_input(artifact.session, step.entry->program, io.name, data,
                                                          array.bytes, array.dims.data(), uint32_t(array.dims.size()));
      if (status)
        return lastFailure();
    }
    return {};
  }

  /// A run overwrites inputs that are reused: each run gets a copy.
  void refill(const Step &step) {
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (step.entry->ios[i].is_reused)
        std::memcpy(step.scratch[i].data, step.inputs[i].data, step.inputs[i].bytes);
  }

  Failure once(const Step &step, uint32_t flags, plim_trace *trace) {
    plim_run_options options = {};
    options.flags = flags;
    options.trace = trace;
    return plim_run(artifact.session, artifact.context, step.entry->program, &options) ? lastFailure() : Failure();
  }

  /// All runs in order, from fresh states.
  Failure rehearse(uint32_t flags) {
    if (plim_state_reset(artifact.session))
      return lastFailure();
    for (const Step &step : steps) {
      if (Failure f = bind(step))
        return f;
      refill(step);
      if (Failure f = once(step, flags, nullptr))
        return f;
    }
    return {};
  }

  Failure runs() {
    // Two poison runs measure exactly which bytes are touched (plim.h); states start afresh behind them.
    for (int i = 0; o.poison && i < 2; ++i)
      if (Failure f = rehearse(PLIM_RUN_POISON))
        return f;
    if (o.redZones)
      if (Failure f = rehearse(PLIM_RUN_RED_ZONES))
        return f;
    figures.touchedMeasured = o.poison;
    if (plim_state_reset(artifact.session))
      return lastFailure();
    if (!o.loadState.empty() && plim_state_load(artifact.session, o.loadState.c_str()))
      return lastFailure();
    for (const Step &step : steps) {
      if (Failure f = bind(step))
        return f;
      refill(step);
      if (Failure f = &step == &steps.back() ? timedRuns(step) : once(step, 0, nullptr))
        return f;
      if (Failure f = results(step))
        return f;
    }
    if (!o.saveState.empty() && plim_state_save(artifact.session, o.saveState.c_str()))
      return lastFailure();
    return {};
  }

  Failure timedRuns(const Step &step) {
    for (uint32_t i = 0; i < o.warmup; ++i, refill(step))
      if (Failure f = once(step, 0, nullptr))
        return f;
    auto seconds = [](clockid_t clock) {
      timespec t{};
      ::clock_gettime(clock, &t);
      return double(t.tv_sec) * 1e3 + double(t.tv_nsec) / 1e6;
    };
    if (!o.trace.empty())
      events.resize(1 << 20);
    for (uint32_t i = 0; i < o.reps; ++i) {
      plim_trace trace = {events.data(), events.size(), 0};
      refill(step);
      double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
      if (Failure f = once(step, 0, events.empty() ? nullptr : &trace))
        return f;
      figures.wallMs.push_back(seconds(CLOCK_MONOTONIC) - wall);
      figures.cpuMs.push_back(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
      if (!events.empty() && i + 1 == o.reps)
        if (std::string why = writeTrace(artifact, trace, o.trace); !why.empty())
          return {4, {"--trace " + why}};
    }
    return {};
  }

  /// Writes and compares the outputs of a run that has ended.
  Failure results(const Step &step) {
    for (size_t i = 0; i < step.entry->ios.size(); ++i) {
      const plim_io_info &io = step.entry->ios[i];
      if (!io.is_output)
        continue;
      int64_t dims[PLIM_MAX_RANK];
      uint32_t rank = 0;
      if (plim_io_dims(artifact.session, step.entry->program, io.name, dims, &rank))
        return lastFailure();
      std::vector<int64_t> shape(dims, dims + rank);
      uint64_t elements = 1;
      for (int64_t d : shape)
        elements *= uint64_t(d);
      const void *data = (*step.outputs)[i].data;
      if (auto to = step.options->outputs.find(io.name); to != step.options->outputs.end()) {
        std::string header = npyHeader(io.dtype, shape);
        std::string_view bytes(static_cast<const char *>(data), elements * plim_dtype_bytes(io.dtype));
        if (std::string why = writeWhole(to->second, {header, bytes}); !why.empty())
          return {4, {"--output " + why}};
      }
      if (auto want = step.expected.find(io.name); want != step.expected.end()) {
        std::string key = io.name;
        if (steps.size() > 1)
          key = std::to_string(&step - steps.data() + 1) + ":" + key;
        if (want->second.dims != shape)
          return {5,
                  {"output '" + key + "': need " + describe(want->second) + ", as --expected has it, have dimensions " +
                   "of another size"}};
        Comparison c = compare(io.dtype, data, want->second.data, elements, o.rtol, o.atol);
        differs |= c.outside != 0;
        figures.comparisons[key] = c;
      }
    }
    return {};
  }

  Failure report() {
    figures.entry = steps.back().entry;
    uint32_t program = figures.entry->program;
    if (plim_usage_of(artifact.session, artifact.context, program, &figures.usage))
      return lastFailure();
    figures.ioPlanned = plim_io_bytes(artifact.model->table, program);
    figures.vmHwm = vmHwm();
    std::string text = o.jsonStats ? statsJson(artifact, figures) + "\n" : statsText(artifact, figures);
    std::fputs(text.c_str(), stdout);
    if (std::fflush(stdout) != 0)
      return {4, {"standard output cannot be written"}};
    if (differs)
      return {5, {"an output differs from what was expected"}};
    return {};
  }

  const RunOptions &o;
  Artifact artifact;
  std::vector<Step> steps;
  std::vector<std::vector<IOBuffer>> outputs; // by entry and io
  std::vector<std::unique_ptr<MappedFile>> files;
  std::vector<plim_trace_event> events;
  RunFigures figures;
  bool environmentFault = false, differs = false;
};

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> problems;
  plim::RunOptions options = plim::parseRunOptions(argc, argv, problems);
  if (options.help) {
    std::fputs(plim::runUsage, stdout);
    return 0;
  }
  Failure failure = problems.empty() ? Run(options).all() : Failure{1, problems};
  for (const std::string &message : failure.messages)
    std::fprintf(stderr, "plim-run: %s\n", message.c_str());
  return failure.code;
}
