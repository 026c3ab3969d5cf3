//===- KernelRunner.h - Compiles regions and calls what came out ----------===//
#pragma once
#include "compiler/Lowering/Generated/ObjectBuilder.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include <cstring>
#include <random>

namespace plim::gen {

/// A context with the dialects of generated code, and an object in a folder of its own that goes away with it.
class KernelRunner {
public:
  KernelRunner();
  ~KernelRunner();

  ObjectBuilder &object() { return builder; }
  mlir::MLIRContext &mlirContext() { return context; }
  mlir::Location loc() { return mlir::UnknownLoc::get(&context); }
  std::string path(llvm::StringRef name) const { return folder + "/" + name.str(); }

  KernelInfo add(llvm::ArrayRef<Region> parts);
  KernelInfo add(const Region &region) { return add(llvm::ArrayRef<Region>(region)); }
  /// Writes the object, links it to a shared object and loads that. After the last add.
  void load();
  /// Runs all tasks, `step` at a time, from the last to the first.
  void run(const KernelInfo &k, plim_isa isa, std::vector<void *> buffers, uint32_t step = 1);

  /// Levels that this machine can run.
  static std::vector<plim_isa> levels();

private:
  mlir::MLIRContext context;
  ObjectBuilder builder;
  std::string folder;
  void *library = nullptr;
};

/// Values of every kind: ordinary, denormal, zeros of both signs, infinities, NaN.
std::vector<float> specialFloats();
std::vector<float> randomFloats(size_t count, uint32_t seed, float low = -4, float high = 4);

/// |got - want| in units of the last place of the float nearest to `want`; 0 where both are NaN.
double ulps(float got, double want);

/// To nearest, ties to even; a NaN becomes quiet.
uint16_t toBf16(float x);

inline bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && !std::memcmp(a.data(), b.data(), a.size() * sizeof(float));
}

} // namespace plim::gen
