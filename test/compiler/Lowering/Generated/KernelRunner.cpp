//===- KernelRunner.cpp - Compiles regions and calls what came out --------===//
#include "KernelRunner.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include <bit>
#include <cmath>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <limits>

namespace plim::gen {

static mlir::DialectRegistry dialects() {
  mlir::DialectRegistry registry;
  ObjectBuilder::registerDialects(registry);
  return registry;
}

KernelRunner::KernelRunner() : context(dialects(), mlir::MLIRContext::Threading::DISABLED), builder(context, "test") {
  llvm::SmallString<128> unique;
  EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("plim-generated", unique));
  folder = std::string(unique);
}

KernelRunner::~KernelRunner() {
  if (library)
    dlclose(library);
  EXPECT_FALSE(llvm::sys::fs::remove_directories(folder));
}

KernelInfo KernelRunner::add(llvm::ArrayRef<Region> parts) {
  mlir::FailureOr<KernelInfo> info = builder.addKernel(parts, loc());
  EXPECT_TRUE(mlir::succeeded(info));
  if (mlir::failed(info))
    abort();
  EXPECT_TRUE(mlir::succeeded(builder.compileKernel(info->symbol)));
  EXPECT_LE(info->tasks, 256 * parts.size());
  EXPECT_EQ(info->scratchBytes % 64, 0u);
  return *info;
}

void KernelRunner::load() {
  std::string object = path("kernels.o"), shared = path("kernels.so");
  ASSERT_TRUE(mlir::succeeded(builder.writeObject(object, loc())));
  std::string linker = PLIM_LLD;
  ASSERT_EQ(llvm::sys::ExecuteAndWait(linker, {linker, "-shared", "-z", "text", object, "-o", shared}), 0);
  library = dlopen(shared.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
}

void KernelRunner::run(const KernelInfo &k, plim_isa isa, std::vector<void *> buffers, uint32_t step) {
  auto *kernel = static_cast<const plim_kernel *>(dlsym(library, k.symbol.c_str()));
  ASSERT_TRUE(kernel) << k.symbol;
  EXPECT_EQ(kernel->name, k.symbol);
  EXPECT_EQ(kernel->abi, PLIM_KERNEL_ABI);
  EXPECT_EQ(kernel->phases, 1u);
  EXPECT_EQ(kernel->fn[PLIM_ISA_BASE], nullptr);
  plim_launch launch{};
  launch.buf = buffers.data();
  launch.tasks = k.tasks;
  launch.operands = uint32_t(buffers.size());
  // One vector more than declared, to notice writes past the end.
  constexpr unsigned char guard = 0xa5;
  std::vector<unsigned char> memory(k.scratchBytes + 192, guard);
  auto *scratch = reinterpret_cast<unsigned char *>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
  for (uint32_t last = k.tasks; last;) {
    uint32_t first = last > step ? last - step : 0;
    ASSERT_EQ(kernel->fn[isa](&launch, scratch, first, last), 0);
    last = first;
  }
  for (int i = 0; i < 64; ++i)
    ASSERT_EQ(scratch[k.scratchBytes + i], guard) << "scratch overrun";
}

std::vector<plim_isa> KernelRunner::levels() {
  __builtin_cpu_init();
  std::vector<plim_isa> all;
  if (__builtin_cpu_supports("x86-64-v3"))
    all.push_back(PLIM_ISA_V3);
  if (__builtin_cpu_supports("x86-64-v4"))
    all.push_back(PLIM_ISA_V4);
  return all;
}

std::vector<float> specialFloats() {
  constexpr float inf = std::numeric_limits<float>::infinity();
  return {0.0f,    -0.0f,    1.0f, -1.0f, 0.5f,          1e-45f,       -1e-45f, 1e-39f, -1e-39f, 1.17549435e-38f,
          3.4e38f, -3.4e38f, inf,  -inf,  std::nanf(""), 88.0f,        89.0f,   -87.0f, -104.0f, -150.0f,
          1e-20f,  -1e-20f,  2.0f, 10.0f, -10.0f,        0.927734375f, 4.5f,    -4.5f,  127.5f,  1e10f};
}

std::vector<float> randomFloats(size_t count, uint32_t seed, float low, float high) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> v(count);
  for (float &x : v)
    x = uniform(rng);
  return v;
}

double ulps(float got, double want) {
  if (std::isnan(got) || std::isnan(want))
    return std::isnan(got) && std::isnan(want) ? 0 : INFINITY;
  float nearest = float(want);
  if (got == nearest)
    return std::isinf(nearest) ? 0
                               : std::fabs(double(got) - want) /
                                     std::ldexp(1.0, std::max(std::ilogb(want == 0 ? 1.0 : want), -126) - 23);
  if (std::isinf(got) || std::isinf(nearest))
    return INFINITY;
  int exponent = want == 0 ? -126 : std::max(std::ilogb(want), -126);
  return std::fabs(double(got) - want) / std::ldexp(1.0, exponent - 23);
}

uint16_t toBf16(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  if (std::isnan(x))
    return uint16_t((bits | 0x400000) >> 16);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace plim::gen
