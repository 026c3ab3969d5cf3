// What a user may say about the inputs of a model: sizes (`--shape`), bounds of open dimensions (`--bound`), inputs
// that keep the value of an output from run to run (`--state`), and programs of their own bounds (`--entry`).
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plim::onnx {

/// `--shape x=1x3x960x960`, `--shape 'past_*=1x3x255x64'`, `--shape x=Nx3x?x?`. A dimension is a number, the name of an
/// open dimension (to be bounded by `--bound`), or `?`: as the model has it. Where a name holds an `x`, dimensions are
/// separated by commas.
struct ShapeFlag {
  struct Dimension {
    std::optional<int64_t> size;
    std::string name; ///< empty with no size: as the model has it
  };
  std::string text;    ///< as given, for messages
  std::string pattern; ///< an input's name, or a glob
  std::vector<Dimension> dimensions;

  static std::optional<ShapeFlag> parse(llvm::StringRef text, std::string &error);
};

/// `--bound N=1..32`, or `--bound N=8`. The name may be a glob.
struct BoundFlag {
  std::string text;
  std::string pattern;
  int64_t lower = 0, upper = 0; ///< both inclusive

  static std::optional<BoundFlag> parse(llvm::StringRef text, std::string &error);
};

/// `--state 'past_*=present_*'`, `--state h=hn`: an input starts a run with what the output had at the end of the run
/// before. One `*` on each side stands for the same text.
struct StateFlag {
  std::string text;
  std::string input, output;

  static std::optional<StateFlag> parse(llvm::StringRef text, std::string &error);
  /// What `*` stands for in the name of an input, or nothing where the flag does not mean it.
  std::optional<llvm::StringRef> match(llvm::StringRef name) const;
  /// The output that belongs to the input of which `*` is this text.
  std::string outputFor(llvm::StringRef star) const;
};

/// `--entry decode:S=1`, `--entry prefill:S=1..512,N=1`, `--entry all`: a program of its own, in which these dimensions
/// have these bounds instead of those of --bound.
struct EntryFlag {
  std::string text;
  std::string name; ///< a C name
  std::vector<BoundFlag> bounds;

  static std::optional<EntryFlag> parse(llvm::StringRef text, std::string &error);
};

struct ImportOptions {
  std::vector<ShapeFlag> shapes;
  std::vector<BoundFlag> bounds;
  std::vector<StateFlag> states;
  std::vector<EntryFlag> entries; ///< None: one, @main.
  /// Weights stored as typed varints have no bytes to point at: they are written to this file, which the module then
  /// refers to. Empty: such weights above 1 KiB are an error that names them.
  std::string decodedWeightsFile;
};

/// Whether `pattern`, a name or a glob, means `name`.
bool matchesName(llvm::StringRef pattern, llvm::StringRef name);

} // namespace plim::onnx
