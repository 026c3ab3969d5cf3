// A plan with every kind of transfer: a constant that is streamed from the weight file, buffers that go to the spill
// file and come back while steps run, several times over.
#ifndef PLIM_TEST_RUNTIME_SSD_PLAN_H
#define PLIM_TEST_RUNTIME_SSD_PLAN_H

#include "test/runtime/Running.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>
#include <vector>

namespace plim::test {

/// A folder that goes with its contents.
struct Folder {
  explicit Folder(std::string path = "") : path(std::move(path)) {
    if (this->path.empty()) {
      char name[] = "/tmp/plim-ssd-test-XXXXXX";
      this->path = mkdtemp(name);
    }
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder &) = delete;
  size_t entries() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path), {})); }
  std::string path;
};

/// y = sum over the rounds r of (r + 2) x, plus w. Round r puts (r + 2) x on the ssd; all come back at the end. Two
/// slots of RAM serve any number of rounds. With `commit`, a state counts: s = y[0..16) is written between the
/// transfers.
struct SsdPlan {
  int64_t n = 3000; // floats; 12,000 bytes: two blocks and a part of a third
  uint32_t rounds = 3, depth = 4;
  bool stream = true, hashed = true, commit = false;
  bool padded = false;       // buffers that meet the ssd have room for whole blocks, as the compiler makes them
  bool waitForWrites = true; // else: a wrong plan, which reads what is still being written

  uint64_t bytes() const { return static_cast<uint64_t>(n) * 4; }
  uint64_t slot() const { return plim_page(bytes()); }
  uint64_t room() const { return padded ? slot() : bytes(); }
  uint64_t spill() const { return rounds * slot(); }
  /// Transfers of a run.
  uint32_t transfers() const { return 2 * rounds + stream; }

  std::vector<float> weights() const;
  /// Writes the weight file; `b` gets its length and hash.
  void writeWeights(TableBuilder &b, const std::string &path) const;
  /// A variant of one program.
  void build(TableBuilder &b) const;
  void buildProgram(TableBuilder &b, const std::string &name) const;
};

/// The plan with its objects, bound to an input and an output.
struct SsdRun {
  SsdRun(const SsdPlan &plan, plim_context_options options = {}, uint32_t threads = 1);
  plim_status run(uint32_t flags = 0, plim_trace *trace = nullptr);
  /// Whether every number is as it should be.
  bool right() const;
  plim_usage usage() { return running->usage(); }

  SsdPlan plan;
  Folder folder;
  TableBuilder builder;
  std::unique_ptr<Model> model;
  std::unique_ptr<Running> running;
  std::vector<float> x, y;
};

} // namespace plim::test

#endif
