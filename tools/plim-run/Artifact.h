//===- Artifact.h - A compiled model, loaded and ready to run --------------------------------===//
#ifndef PLIM_TOOLS_PLIM_RUN_ARTIFACT_H
#define PLIM_TOOLS_PLIM_RUN_ARTIFACT_H

#include "plim/plim.h"
#include "tools/plim-run/Npy.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace plim {

/// What plim-run's exit codes say (DESIGN: 0 done, 1 usage, 2 the model, 4 environment or I/O, 5 differs, 70 internal).
struct Failure {
  int code = 0;
  std::vector<std::string> messages;
  explicit operator bool() const { return code != 0; }
};

/// The failure that plim_last_error() describes.
Failure lastFailure();

/// model.so and model.weights of a folder.
class Artifact {
public:
  Artifact() = default;
  Artifact(const Artifact &) = delete;
  Artifact &operator=(const Artifact &) = delete;
  ~Artifact();

  /// `programs` are the names of entries to run, one or more; an empty one is the only entry. `wantedVariant` is a
  /// variant's name, empty for the first, or "auto" for the fastest that fits the memory that is free.
  Failure open(const std::string &path, const std::vector<std::string> &programs, const std::string &wantedVariant,
               const plim_context_options &options);

  std::string name, variant;
  const plim_model *model = nullptr;
  plim_scope scope = {};
  plim_weights *weights = nullptr;
  plim_context *context = nullptr;
  plim_session *session = nullptr;

  /// A program that runs.
  struct Entry {
    std::string name; // as asked for
    uint32_t program = 0;
    std::vector<plim_io_info> ios; // states left out
  };
  std::vector<Entry> entries; // each once

private:
  Failure resolve(const std::vector<std::string> &programs);
  void *library = nullptr;
};

/// Pages for one input or output.
class IOBuffer {
public:
  IOBuffer() = default;
  IOBuffer(IOBuffer &&other) noexcept { *this = std::move(other); }
  IOBuffer &operator=(IOBuffer &&other) noexcept;
  ~IOBuffer();
  /// Fails where the system has no memory.
  bool allocate(uint64_t bytes);
  void *data = nullptr;
  uint64_t bytes = 0;

private:
  void *pages = nullptr;
};

/// Numbers for an input: uniform in [0, 1) for floats, 0..9 for integers, 0 or 1 for bool. Deterministic in the seed.
void fillRandom(const plim_io_info &io, void *data, uint64_t seed);

/// How an output compares with what was expected.
struct Comparison {
  double largestError = 0; // absolute
  double at = 0, want = 0; // values there
  uint64_t outside = 0;    // elements beyond the tolerance
  uint64_t elements = 0;
};
Comparison compare(uint8_t dtype, const void *have, const void *want, uint64_t elements, double rtol, double atol);

} // namespace plim

#endif
