// How fast a program streams its weights, beside plain preads with direct I/O of the same file.
//
//   runtime-stream-bandwidth FOLDER [MIB] [ROOM_MIB] [KIB[,KIB...]] [DEPTH] [ROUNDS]
//
// Writes a weight file of at least MIB MiB into the folder, cut into constants of KIB KiB each (several: in turn), and
// reads all of it once a round: by the runtime into ROOM_MIB MiB, each constant as soon as there is room for it behind
// the one before, hash checked and not, by each way; and by threads that call pread, as many as there are pieces in
// flight. All use the same memory, one after the other: where its pages lie matters as much as who reads. Rounds are
// interleaved. A row's share is the median over the rounds of its bandwidth divided by that of the preads of the round.
#include "test/runtime/SsdPlan.h"

#include "plim/weights.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace plim::test;

namespace {

double seconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

struct Constant {
  uint64_t offset, bytes, hash;
};

struct Stream {
  uint64_t room;
  uint32_t depth;
  std::string path;
  std::vector<Constant> constants{};
  uint64_t bytes = 0, fileBytes = 0, fileHash = 0;

  /// Constants of the given sizes in turn, until there are `least` bytes.
  void write(uint64_t least, const std::vector<uint64_t> &sizes) {
    for (size_t i = 0; bytes < least; ++i) {
      constants.push_back({bytes, sizes[i % sizes.size()], 0});
      bytes += constants.back().bytes;
    }
    plim_weight_writer *writer;
    if (plim_weight_writer_open(path.c_str(), bytes, &writer))
      exit(1);
    uint64_t x = 88172645463325252u;
    for (Constant &c : constants) {
      std::vector<uint64_t> block(c.bytes / 8);
      for (uint64_t &word : block) {
        x ^= x << 13;
        x ^= x >> 7;
        word = x ^= x << 17;
      }
      c.hash = XXH3_64bits(block.data(), c.bytes);
      if (plim_weight_writer_put(writer, c.offset, block.data(), c.bytes))
        exit(1);
    }
    if (plim_weight_writer_finish(writer, &fileBytes, &fileHash))
      exit(1);
  }

  void build(TableBuilder &b, bool hashed) const {
    b.ioDepth = depth;
    b.weightsBytes = fileBytes;
    b.weightsHash = fileHash;
    uint32_t arena = b.arena(PLIM_TRANSIENT, room);
    std::vector<uint32_t> files;
    for (size_t i = 0; i < constants.size(); ++i) {
      const Constant &c = constants[i];
      files.push_back(
          b.constant("w" + std::to_string(i), b.shape({static_cast<int64_t>(c.bytes / 4)}), c.offset, c.bytes, c.hash));
    }
    b.beginVariant("only");
    b.beginProgram("forward");
    for (uint32_t &file : files)
      file = b.residentInFile(file);
    struct Arriving {
      uint64_t begin, end;
      Live live;
      uint32_t token;
    };
    std::deque<Arriving> arriving;
    auto leave = [&] {
      b.wait({arriving.front().token});
      b.dies(arriving.front().live);
      arriving.pop_front();
    };
    uint64_t at = 0;
    for (size_t i = 0; i < constants.size(); ++i) {
      const Constant &c = constants[i];
      if (at + c.bytes > room)
        at = 0;
      while (std::any_of(arriving.begin(), arriving.end(),
                         [&](const Arriving &a) { return a.begin < at + c.bytes && at < a.end; }))
        leave();
      Arriving a = {at, at + c.bytes, b.born(arena, at, c.bytes), b.token()};
      b.copy(files[i], a.live.view, c.bytes, a.token, hashed ? c.hash : 0, PLIM_QUEUE_READ);
      arriving.push_back(a);
      at = a.end;
    }
    while (!arriving.empty())
      leave();
    b.endProgram();
  }

  double preads(char *memory) const {
    int fd = open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    constexpr uint64_t piece = 1 << 20;
    const uint64_t first = fileBytes - bytes;
    std::atomic<uint64_t> next{0};
    std::vector<std::thread> all;
    double begin = seconds();
    for (uint32_t i = 0; i < depth; ++i)
      all.emplace_back([&] {
        for (uint64_t at; (at = next.fetch_add(piece)) < bytes;)
          if (pread(fd, memory + at % (room / piece * piece), std::min(piece, bytes - at),
                    static_cast<off_t>(first + at)) <= 0)
            exit(1);
      });
    for (std::thread &t : all)
      t.join();
    double time = seconds() - begin;
    close(fd);
    return time;
  }
};

struct Row {
  std::string name;
  uint32_t way;
  std::unique_ptr<Model> model{};
  bool fell = false;           // the system refused its way
  std::vector<double> times{}; // by round
};

/// Seconds of one run in a context that lies in `memory`.
double run(const Stream &s, Row &row, plim_place memory) {
  plim_context_options o = {};
  o.io_way = row.way;
  o.place = memory;
  Running running(row.model->model, 1, s.path.c_str(), nullptr, nullptr, o);
  double begin = seconds();
  if (running.status || running.run())
    exit((fprintf(stderr, "%s\n", lastError().c_str()), 1));
  double time = seconds() - begin;
  row.fell = running.usage().io_way != row.way;
  return time;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print(const Stream &s, const Row &row, const Row &plain) {
  std::vector<double> rates, shares;
  for (size_t i = 0; i < row.times.size(); ++i) {
    rates.push_back(static_cast<double>(s.bytes) / row.times[i] / 1e9);
    shares.push_back(100 * plain.times[i] / row.times[i]);
  }
  auto [least, most] = std::minmax_element(rates.begin(), rates.end());
  auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  printf("%-28s %6.3f GB/s (%.3f-%.3f)  %5.1f %% (%.0f-%.0f)%s\n", row.name.c_str(), median(rates), *least, *most,
         median(shares), *low, *high, row.fell ? " (fell back)" : "");
}

} // namespace

int main(int argc, char **argv) {
  auto number = [&](int i, uint64_t otherwise) { return argc > i ? strtoull(argv[i], nullptr, 10) : otherwise; };
  if (argc < 2)
    return fprintf(stderr, "usage: runtime-stream-bandwidth FOLDER [MIB] [ROOM_MIB] [KIB[,KIB...]] [DEPTH] [ROUNDS]\n"),
           1;
  std::vector<uint64_t> sizes;
  const std::string list = argc > 4 ? argv[4] : "1024";
  for (const char *at = list.c_str(); *at; at += *at == ',') {
    char *end;
    sizes.push_back(strtoull(at, &end, 10) << 10);
    at = end;
  }
  Stream s = {number(3, 32) << 20, static_cast<uint32_t>(number(5, 4)),
              std::string(argv[1]) + "/stream-bandwidth.weights"};
  if (*std::max_element(sizes.begin(), sizes.end()) > s.room || *std::min_element(sizes.begin(), sizes.end()) < 4096 ||
      std::any_of(sizes.begin(), sizes.end(), [](uint64_t size) { return size % 4096; }))
    return fprintf(stderr, "constants: need multiples of 4 KiB that fit into the room, have %s\n", list.c_str()), 1;
  s.write(number(2, 512) << 20, sizes);
  std::vector<Row> rows;
  rows.push_back({"pread threads", PLIM_IO_ANY});
  for (uint32_t way : {PLIM_IO_REGISTERED, PLIM_IO_URING, PLIM_IO_THREADS})
    for (bool hashed : {false, true}) {
      TableBuilder b;
      s.build(b, hashed);
      const char *names[] = {"", "registered", "io_uring", "threads"};
      rows.push_back(
          {std::string("runtime, ") + names[way] + (hashed ? ", hashed" : ""), way, std::make_unique<Model>(b)});
    }
  const uint64_t large = 2 << 20, memoryBytes = s.room + 4 * large; // tables and stacks too
  void *memory = aligned_alloc(large, memoryBytes);
  madvise(memory, memoryBytes, MADV_HUGEPAGE);
  memset(memory, 1, memoryBytes);
  for (uint64_t round = 0; round < number(6, 5); ++round)
    for (Row &row : rows)
      row.times.push_back(row.model ? run(s, row, {memory, memoryBytes}) : s.preads(static_cast<char *>(memory)));
  std::filesystem::remove(s.path);
  printf("%llu MiB in constants of %s KiB into %llu MiB, depth %u\n", (unsigned long long)(s.bytes >> 20), list.c_str(),
         (unsigned long long)(s.room >> 20), s.depth);
  for (const Row &row : rows)
    print(s, row, rows.front());
  free(memory);
}
