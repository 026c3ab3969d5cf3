// How fast a program streams its weights, beside plain preads with direct I/O of the same file.
//
//   runtime-stream-bandwidth FOLDER [MIB] [DEPTH] [CONSTANT_MIB] [SLOTS] [ROUNDS]
//
// Writes a weight file of MIB MiB, cut into constants, into the folder, and reads all of it once a round: by the
// runtime into SLOTS slots of one constant each, one behind the other, hash checked and not, by each way; and by
// threads that call pread, DEPTH of them, in pieces of 1 MiB, into as much memory. Rounds of all are interleaved; the
// table has medians.
#include "test/runtime/SsdPlan.h"

#include "plim/weights.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
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

struct Stream {
  uint64_t bytes, constant;
  uint32_t depth, slots;
  std::string path;
  std::vector<uint64_t> hashes;
  uint64_t fileBytes = 0, fileHash = 0;

  void write() {
    plim_weight_writer *writer;
    if (plim_weight_writer_open(path.c_str(), bytes, &writer))
      exit(1);
    std::vector<uint64_t> block(constant / 8);
    uint64_t x = 88172645463325252u;
    for (uint64_t at = 0; at < bytes; at += constant) {
      for (uint64_t &word : block) {
        x ^= x << 13;
        x ^= x >> 7;
        word = x ^= x << 17;
      }
      hashes.push_back(XXH3_64bits(block.data(), constant));
      if (plim_weight_writer_put(writer, at, block.data(), constant))
        exit(1);
    }
    if (plim_weight_writer_finish(writer, &fileBytes, &fileHash))
      exit(1);
  }

  void build(TableBuilder &b, bool hashed) const {
    b.ioDepth = depth;
    b.weightsBytes = fileBytes;
    b.weightsHash = fileHash;
    uint32_t arena = b.arena(PLIM_TRANSIENT, slots * constant), shape = b.shape({static_cast<int64_t>(constant / 4)});
    std::vector<uint32_t> constants, files;
    for (size_t i = 0; i < hashes.size(); ++i)
      constants.push_back(b.constant("w" + std::to_string(i), shape, i * constant, constant, hashes[i]));
    b.beginVariant("only");
    b.beginProgram("forward");
    for (uint32_t c : constants)
      files.push_back(b.residentInFile(c));
    std::vector<Live> slot(hashes.size());
    std::vector<uint32_t> token(hashes.size());
    for (size_t i = 0; i < hashes.size() + slots; ++i) {
      if (i >= slots) {
        b.wait({token[i - slots]});
        b.dies(slot[i - slots]);
      }
      if (i >= hashes.size())
        continue;
      slot[i] = b.born(arena, i % slots * constant, constant);
      token[i] = b.token();
      b.copy(files[i], slot[i].view, constant, token[i], hashed ? hashes[i] : 0, PLIM_QUEUE_READ);
    }
    b.endProgram();
  }

  double preads(uint32_t threads) const {
    int fd = open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    constexpr uint64_t piece = 1 << 20;
    // The same amount of memory as the slots, in large pages as those are: what a small buffer that stays in the cache
    // takes is no measure of what a program can get.
    uint64_t room = slots * constant;
    auto *memory = static_cast<char *>(aligned_alloc(2 * piece, room));
    madvise(memory, room, MADV_HUGEPAGE);
    memset(memory, 1, room);
    std::atomic<uint64_t> next{0};
    std::vector<std::thread> all;
    double begin = seconds();
    for (uint32_t i = 0; i < threads; ++i)
      all.emplace_back([&] {
        for (uint64_t at; (at = next.fetch_add(piece)) < bytes;)
          if (pread(fd, memory + at % room, piece, static_cast<off_t>(fileBytes - bytes + at)) <= 0)
            exit(1);
      });
    for (std::thread &t : all)
      t.join();
    double time = seconds() - begin;
    free(memory);
    close(fd);
    return time;
  }
};

} // namespace

int main(int argc, char **argv) {
  auto number = [&](int i, uint64_t otherwise) { return argc > i ? strtoull(argv[i], nullptr, 10) : otherwise; };
  if (argc < 2)
    return fprintf(stderr, "usage: runtime-stream-bandwidth FOLDER [MIB] [DEPTH] [CONSTANT_MIB] [SLOTS] [ROUNDS]\n"), 1;
  Stream s = {number(2, 512) << 20,
              number(4, 8) << 20,
              static_cast<uint32_t>(number(3, 8)),
              static_cast<uint32_t>(number(5, 4)),
              std::string(argv[1]) + "/stream-bandwidth.weights",
              {}};
  s.write();
  struct Row {
    std::string name;
    std::unique_ptr<Model> model;
    std::unique_ptr<Running> running;
    uint32_t way = 0;
    std::vector<double> times{};
  };
  std::vector<Row> rows;
  rows.push_back({"pread threads", nullptr, nullptr});
  for (uint32_t way : {PLIM_IO_REGISTERED, PLIM_IO_URING, PLIM_IO_THREADS})
    for (bool hashed : {false, true}) {
      TableBuilder b;
      s.build(b, hashed);
      const char *names[] = {"", "registered", "io_uring", "threads"};
      Row row = {std::string("runtime, ") + names[way] + (hashed ? ", hashed" : ""), std::make_unique<Model>(b),
                 nullptr};
      plim_context_options o = {};
      o.io_way = way;
      row.running = std::make_unique<Running>(row.model->model, 1, s.path.c_str(), nullptr, nullptr, o);
      if (row.running->status)
        return fprintf(stderr, "%s\n", lastError().c_str()), 1;
      row.way = row.running->usage().io_way;
      rows.push_back(std::move(row));
    }
  for (uint64_t round = 0; round < number(6, 5); ++round)
    for (Row &row : rows) {
      double begin = seconds();
      if (!row.running) {
        row.times.push_back(s.preads(s.depth));
        continue;
      }
      if (row.running->run())
        return fprintf(stderr, "%s\n", lastError().c_str()), 1;
      row.times.push_back(seconds() - begin);
    }
  std::filesystem::remove(s.path);
  double plain = 0;
  printf("%llu MiB in constants of %llu MiB, %u slots, depth %u\n", (unsigned long long)(s.bytes >> 20),
         (unsigned long long)(s.constant >> 20), s.slots, s.depth);
  for (Row &row : rows) {
    std::sort(row.times.begin(), row.times.end());
    double rate = static_cast<double>(s.bytes) / row.times[row.times.size() / 2] / 1e9;
    plain = plain ? plain : rate;
    printf("%-32s %6.3f GB/s  %5.1f %%  (best %.3f, worst %.3f)%s\n", row.name.c_str(), rate, 100 * rate / plain,
           static_cast<double>(s.bytes) / row.times.front() / 1e9,
           static_cast<double>(s.bytes) / row.times.back() / 1e9,
           row.running && row.way == PLIM_IO_THREADS && row.name.find("threads") == std::string::npos ? " (fell back)"
                                                                                                      : "");
  }
}
