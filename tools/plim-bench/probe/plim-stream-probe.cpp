//===- plim-stream-probe.cpp - What a disk gives, and weights through the page cache ------------===//
//
//   plim-stream-probe disk FILE DEPTH MIB
//   plim-stream-probe mapped ARTIFACT THREADS REPS CGROUP [NAME=FILE.npy...]
//
// disk: reads the file once with direct I/O, DEPTH pieces of 1 MiB in flight, into MIB MiB of memory by large pages.
// mapped: runs a model that was compiled without a budget, its weights not read into memory but mapped from their file,
// as runtimes do that leave it to the system what stays in memory. The process enters the memory cgroup of the folder
// CGROUP (-: none) once the weights are mapped, and makes its arenas there. Before each run the file leaves the page
// cache. Prints one line of JSON.
//
//===-------------------------------------------------------------------------------------------===//
#include "plim/weights.h"
#include "runtime/core/objects.h"
#include "tools/plim-run/Artifact.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

[[noreturn]] void fail(int code, const std::string &what) {
  fprintf(stderr, "plim-stream-probe: %s\n", what.c_str());
  exit(code);
}

[[noreturn]] void systemFails(const std::string &what) { fail(4, what + ": " + strerror(errno)); }

double milliseconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
}

uint64_t number(const char *text) {
  char *end;
  const uint64_t value = strtoull(text, &end, 10);
  if (*end || !value)
    fail(1, std::string("need a positive number, have '") + text + "'");
  return value;
}

int disk(const char *path, uint64_t depth, uint64_t room) {
  constexpr uint64_t piece = 1 << 20, large = 2 << 20;
  const int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0)
    systemFails(path);
  room = (room + large - 1) / large * large;
  auto *memory = static_cast<char *>(aligned_alloc(large, room));
  if (!memory)
    systemFails("memory");
  madvise(memory, room, MADV_HUGEPAGE);
  memset(memory, 1, room);
  const auto bytes = uint64_t(info.st_size);
  std::atomic<uint64_t> next{0};
  std::atomic<int> error{0};
  std::vector<std::thread> threads;
  threads.reserve(depth);
  const double begin = milliseconds(CLOCK_MONOTONIC);
  for (uint64_t i = 0; i < depth; ++i)
    threads.emplace_back([&] {
      for (uint64_t at; (at = next.fetch_add(piece)) < bytes && !error;)
        if (pread(fd, memory + at % room, piece, off_t(at)) <= 0)
          error = errno ? errno : EIO;
    });
  for (std::thread &thread : threads)
    thread.join();
  const double ms = milliseconds(CLOCK_MONOTONIC) - begin;
  if (error) {
    errno = error;
    systemFails(path);
  }
  printf("{\"bytes\": %" PRIu64 ", \"ms\": %.9g}\n", bytes, ms);
  return 0;
}

void must(plim_status status) {
  if (!status)
    return;
  const plim::Failure f = plim::lastFailure();
  fail(f.code, f.messages.front());
}

struct Mapped {
  plim::Artifact artifact;
  int fd = -1;

  void open(const std::string &folder, uint32_t threads) {
    plim_context_options options = {};
    options.threads = threads;
    if (plim::Failure f = artifact.open(folder, {""}, "", options))
      fail(f.code, f.messages.front());
    const std::string path = folder + "/model.weights";
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      systemFails(path);
    // The data part of the file is laid out as the arena.
    const plim_weights &weights = *artifact.weights;
    const uint64_t start = plim_weight_header_bytes_of_file(artifact.model->table->weights_bytes);
    if (mmap(weights.arena, plim_page(weights.loaded), PROT_READ, MAP_SHARED | MAP_FIXED, fd, off_t(start)) ==
        MAP_FAILED)
      systemFails(path);
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  }

  /// Context and session are made anew in the cgroup, so that it has their memory too.
  void enter(const std::string &cgroup, uint32_t threads) {
    plim_session_destroy(artifact.session);
    plim_context_destroy(artifact.context);
    artifact.session = nullptr;
    artifact.context = nullptr;
    if (cgroup != "-") {
      FILE *procs = fopen((cgroup + "/cgroup.procs").c_str(), "w");
      if (!procs || fprintf(procs, "%d", int(getpid())) < 0 || fclose(procs) != 0)
        systemFails(cgroup);
    }
    plim_context_options options = {};
    options.threads = threads;
    must(plim_context_create(artifact.weights, artifact.scope, &options, &artifact.context));
    must(plim_session_create(artifact.weights, artifact.scope, nullptr, &artifact.session));
  }

  void forget() {
    const plim_weights &weights = *artifact.weights;
    madvise(weights.arena, plim_page(weights.loaded), MADV_DONTNEED); // mapped pages stay in the cache
    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  }
};

int mapped(const std::string &folder, uint32_t threads, uint64_t reps, const std::string &cgroup, char **inputs) {
  Mapped m;
  m.open(folder, threads);
  m.enter(cgroup, threads);
  std::vector<std::unique_ptr<plim::MappedFile>> files;
  std::vector<plim::IOBuffer> outputs;
  const auto &entry = m.artifact.entries.front();
  for (const plim_io_info &io : entry.ios) {
    if (io.is_output) {
      if (!outputs.emplace_back().allocate(io.bytes))
        systemFails(io.name);
      must(plim_bind_output(m.artifact.session, entry.program, io.name, outputs.back().data, io.bytes));
      continue;
    }
    const std::string start = std::string(io.name) + "=";
    char **given = inputs;
    while (*given && strncmp(*given, start.c_str(), start.size()) != 0)
      ++given;
    if (!*given)
      fail(1, "need " + start + "FILE.npy");
    plim::NpyArray array;
    std::string why = files.emplace_back(std::make_unique<plim::MappedFile>())->open(*given + start.size());
    if (why.empty())
      why = parseNpy(files.back()->bytes(), array);
    if (!why.empty())
      fail(4, why);
    must(plim_bind_input(m.artifact.session, entry.program, io.name, array.data, array.bytes, array.dims.data(),
                         uint32_t(array.dims.size())));
  }
  std::vector<double> wall, cpu;
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  for (uint64_t rep = 0; rep < reps; ++rep) {
    m.forget();
    const double wallBegin = milliseconds(CLOCK_MONOTONIC), cpuBegin = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    must(plim_run(m.artifact.session, m.artifact.context, entry.program, nullptr));
    wall.push_back(milliseconds(CLOCK_MONOTONIC) - wallBegin);
    cpu.push_back(milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpuBegin);
  }
  getrusage(RUSAGE_SELF, &after);
  auto median = [](std::vector<double> &values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  printf("{\"wall_ms\": %.9g, \"cpu_ms\": %.9g, \"major_faults\": %" PRIu64 "}\n", median(wall), median(cpu),
         uint64_t(after.ru_majflt - before.ru_majflt) / reps);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "disk") == 0)
    return disk(argv[2], number(argv[3]), number(argv[4]) << 20);
  if (argc >= 6 && strcmp(argv[1], "mapped") == 0)
    return mapped(argv[2], uint32_t(number(argv[3])), number(argv[4]), argv[5], argv + 6);
  fail(1, "need disk FILE DEPTH MIB, or mapped ARTIFACT THREADS REPS CGROUP [NAME=FILE.npy...]");
}
