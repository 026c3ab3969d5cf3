//===- plim-run.cpp - Runs a compiled model ----------------------------------------------------===//
#include "tools/plim-run/Options.h"
#include "tools/plim-run/Report.h"
#include <atomic>
#include <csignal>
#include <cstdio>
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

class Run {
public:
  explicit Run(const RunOptions &options) : o(options) {}

  Failure all() {
    if (Failure f = artifact.open(o.artifact, o.program, o.variant, o.threads))
      return f;
    if (Failure f = bind())
      return f;
    running = artifact.session;
    struct sigaction action{};
    action.sa_handler = onInterrupt;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    Failure failure = runs();
    running = nullptr;
    if (failure)
      return failure;
    return results();
  }

private:
  const plim_io_info *find(const std::string &name, bool output) const {
    for (const plim_io_info &io : artifact.ios)
      if (io.name == name && bool(io.is_output) == output)
        return &io;
    return nullptr;
  }

  /// All that is wrong with the bindings, at once.
  Failure bind() {
    Failure f;
    auto unknown = [&](const char *flag, const std::map<std::string, std::string> &given, bool output) {
      for (const auto &[name, file] : given)
        if (!find(name, output)) {
          std::string have;
          for (const plim_io_info &io : artifact.ios)
            if (bool(io.is_output) == output)
              have += (have.empty() ? "" : ", ") + std::string(io.name) + " " + describe(io);
          f.messages.push_back(std::string(flag) + " '" + name + "': the model has " + have);
        }
    };
    unknown("--input", o.inputs, false);
    unknown("--output", o.outputs, true);
    unknown("--expected", o.expected, true);
    buffers.resize(artifact.ios.size());
    for (size_t i = 0; i < artifact.ios.size(); ++i)
      if (std::string why = bindOne(artifact.ios[i], i); !why.empty())
        f.messages.push_back(std::string(artifact.ios[i].is_output ? "output '" : "input '") + artifact.ios[i].name +
                             "': " + why);
    for (const auto &[name, file] : o.expected)
      if (const plim_io_info *io = find(name, true)) {
        NpyArray array;
        std::string why = load(file, array);
        if (why.empty())
          why = mismatch(*io, array);
        if (!why.empty())
          f.messages.push_back("--expected '" + name + "': " + why);
        expected[name] = array;
      }
    f.code = f.messages.empty() ? 0 : environmentFault ? 4 : 2;
    return f;
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

  std::string bindOne(const plim_io_info &io, size_t i) {
    if (io.is_output) {
      if (!buffers[i].allocate(io.bytes))
        return noMemory(io.bytes);
      return plim_bind_output(artifact.session, PLIM_NONE, io.name, buffers[i].data, io.bytes)
                 ? plim_last_error()->message
                 : "";
    }
    auto given = o.inputs.find(io.name);
    if (given == o.inputs.end()) {
      if (!o.inputRandom)
        return "need " + describe(io) + ": give --input " + io.name + "=@FILE.npy or --input-random";
      if (!buffers[i].allocate(io.bytes))
        return noMemory(io.bytes);
      fillRandom(io, buffers[i].data, o.seed + i);
      return plim_bind_input(artifact.session, PLIM_NONE, io.name, buffers[i].data, io.bytes, io.dims, io.rank)
                 ? plim_last_error()->message
                 : "";
    }
    NpyArray array;
    if (std::string why = load(given->second, array); !why.empty())
      return why;
    if (std::string why = mismatch(io, array); !why.empty())
      return why;
    return plim_bind_input(artifact.session, PLIM_NONE, io.name, array.data, array.bytes, array.dims.data(),
                           uint32_t(array.dims.size()))
               ? plim_last_error()->message
               : "";
  }

  Failure once(uint32_t flags, plim_trace *trace) {
    plim_run_options options = {};
    options.flags = flags;
    options.trace = trace;
    return plim_run(artifact.session, artifact.context, PLIM_NONE, &options) ? lastFailure() : Failure();
  }

  Failure runs() {
    // Two poison runs measure exactly which bytes are touched (plim.h); states start afresh behind them.
    for (int i = 0; o.poison && i < 2; ++i)
      if (Failure f = once(PLIM_RUN_POISON, nullptr))
        return f;
    if (o.redZones)
      if (Failure f = once(PLIM_RUN_RED_ZONES, nullptr))
        return f;
    figures.touchedMeasured = o.poison;
    if (plim_state_reset(artifact.session))
      return lastFailure();
    for (uint32_t i = 0; i < o.warmup; ++i)
      if (Failure f = once(0, nullptr))
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
      double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
      if (Failure f = once(0, events.empty() ? nullptr : &trace))
        return f;
      figures.wallMs.push_back(seconds(CLOCK_MONOTONIC) - wall);
      figures.cpuMs.push_back(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
      if (!events.empty() && i + 1 == o.reps)
        if (std::string why = writeTrace(artifact, trace, o.trace); !why.empty())
          return {4, {"--trace " + why}};
    }
    return {};
  }

  Failure results() {
    bool differs = false;
    for (size_t i = 0; i < artifact.ios.size(); ++i) {
      const plim_io_info &io = artifact.ios[i];
      if (!io.is_output)
        continue;
      int64_t dims[PLIM_MAX_RANK];
      uint32_t rank = 0;
      if (plim_io_dims(artifact.session, PLIM_NONE, io.name, dims, &rank))
        return lastFailure();
      std::vector<int64_t> shape(dims, dims + rank);
      uint64_t elements = 1;
      for (int64_t d : shape)
        elements *= uint64_t(d);
      if (auto to = o.outputs.find(io.name); to != o.outputs.end()) {
        std::string header = npyHeader(io.dtype, shape);
        std::string_view bytes(static_cast<char *>(buffers[i].data), elements * plim_dtype_bytes(io.dtype));
        if (std::string why = writeWhole(to->second, {header, bytes}); !why.empty())
          return {4, {"--output " + why}};
      }
      if (auto want = expected.find(io.name); want != expected.end()) {
        Comparison c = compare(io.dtype, buffers[i].data, want->second.data, elements, o.rtol, o.atol);
        differs |= c.outside != 0;
        figures.comparisons[io.name] = c;
      }
    }
    if (plim_usage_of(artifact.session, artifact.context, PLIM_NONE, &figures.usage))
      return lastFailure();
    figures.ioPlanned = plim_io_bytes(artifact.model->table, artifact.scope.program);
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
  std::vector<IOBuffer> buffers;
  std::vector<std::unique_ptr<MappedFile>> files;
  std::map<std::string, NpyArray> expected;
  std::vector<plim_trace_event> events;
  RunFigures figures;
  bool environmentFault = false;
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
