//===- ObjectTest.cpp - What an object of generated kernels promises ------===//
#include "KernelRunner.h"
#include "RegionCases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace plim::gen;

static std::string objectOf(llvm::ArrayRef<RegionCase> cases) {
  KernelRunner runner;
  for (const RegionCase &c : cases)
    runner.add(c.region);
  std::string path = runner.path("out.o");
  EXPECT_TRUE(mlir::succeeded(runner.object().writeObject(path, runner.loc())));
  auto file = llvm::MemoryBuffer::getFile(path);
  return file ? (*file)->getBuffer().str() : "";
}

TEST(ObjectBuilder, WritesTheSameBytesForTheSameRegions) {
  std::string once = objectOf(allCases(9, 70)), again = objectOf(allCases(9, 70));
  EXPECT_FALSE(once.empty());
  EXPECT_TRUE(once == again);
}

TEST(ObjectBuilder, MakesOneKernelOfEqualRegions) {
  KernelRunner runner;
  KernelInfo a = runner.add(softmax(4, 100).region), b = runner.add(softmax(4, 100).region);
  KernelInfo other = runner.add(softmax(4, 101).region);
  EXPECT_EQ(a.symbol, "test_gen_0");
  EXPECT_EQ(b.symbol, a.symbol);
  EXPECT_EQ(other.symbol, "test_gen_1");
  EXPECT_TRUE(runner.object().kernel("test_gen_1"));
  EXPECT_FALSE(runner.object().kernel("test_gen_2"));
}

TEST(ObjectBuilder, MakesCodeOfKernelsThatAreAskedForOnly) {
  KernelRunner runner;
  llvm::SmallVector<Region> idle{softmax(4, 102).region};
  mlir::FailureOr<KernelInfo> info = runner.object().addKernel(idle, runner.loc());
  ASSERT_TRUE(mlir::succeeded(info));
  EXPECT_FALSE(runner.object().kernel(info->symbol));
  EXPECT_TRUE(mlir::succeeded(runner.object().compileKernel(info->symbol)));
  EXPECT_TRUE(runner.object().kernel(info->symbol));
  EXPECT_TRUE(mlir::succeeded(runner.object().compileKernel("conv.direct"))) << "a kernel of the library has code";
}

TEST(ObjectBuilder, NeedsNoLibraryForPolynomialFunctions) {
  std::string bytes = objectOf(allCases(9, 70));
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "out.o"));
  ASSERT_TRUE(bool(object));
  size_t kernels = 0;
  for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
    uint32_t flags = llvm::cantFail(symbol.getFlags());
    llvm::StringRef name = llvm::cantFail(symbol.getName());
    EXPECT_FALSE((flags & llvm::object::SymbolRef::SF_Undefined) && !name.empty()) << name.str();
    if (!(flags & llvm::object::SymbolRef::SF_Global))
      continue;
    // Nothing but the kernels is to be seen, in a section that is constant once the loader has been there.
    ++kernels;
    EXPECT_TRUE(name.starts_with("test_gen_")) << name.str();
    auto section = llvm::cantFail(symbol.getSection());
    ASSERT_NE(section, (*object)->section_end());
    EXPECT_TRUE(llvm::cantFail(section->getName()).starts_with(".data.rel.ro"));
  }
  EXPECT_EQ(kernels, allCases(9, 70).size());
}

TEST(ObjectBuilder, StatesTasksScratchAndCost) {
  KernelRunner runner;
  KernelInfo small = runner.add(sigmoidScaled(1, 100).region), large = runner.add(sigmoidScaled(1000, 10000).region);
  auto described = describeKernel(sigmoidScaled(1000, 10000).region, runner.loc());
  ASSERT_TRUE(mlir::succeeded(described));
  EXPECT_EQ(described->tasks, large.tasks);
  EXPECT_EQ(described->symbol, "");
  EXPECT_EQ(small.tasks, 1u);
  EXPECT_EQ(small.scratchBytes, 0u);
  EXPECT_EQ(small.bytes, 800);
  EXPECT_GT(large.tasks, 64u);
  EXPECT_LE(large.tasks, 256u);
  EXPECT_EQ(large.bytes, 8e7);
  EXPECT_GT(large.flops, 1e8);
  // Totals and block sums of 300 columns, 4 bytes each, in whole cache lines.
  EXPECT_EQ(runner.add(columnMean(500, 300).region).scratchBytes, 2432u);
}

TEST(ObjectBuilder, SaysWhatIsWrongWithARegion) {
  KernelRunner runner;
  auto messageOf = [&](const Region &r) {
    std::string message;
    mlir::ScopedDiagnosticHandler handler(&runner.mlirContext(), [&](mlir::Diagnostic &d) { message = d.str(); });
    EXPECT_TRUE(mlir::failed(runner.object().addKernel(r, runner.loc())));
    return message;
  };
  Region empty({8});
  empty.load(0, PLIM_F32, {1});
  EXPECT_EQ(messageOf(empty), "the region stores nothing");
  Region rank({8, 8});
  rank.store(1, PLIM_F32, {8, 1}, rank.load(0, PLIM_F32, {1}));
  EXPECT_EQ(messageOf(rank), "operand 0 has 1 strides, the space 2 dimensions");
  Region negative({8});
  negative.store(1, PLIM_F32, {1}, negative.load(0, PLIM_F32, {-1}, 6));
  EXPECT_EQ(messageOf(negative), "operand 0 begins 1 elements before its buffer");
  Region type({8});
  type.store(1, PLIM_I8, {1}, type.load(0, PLIM_F32, {1}));
  EXPECT_EQ(messageOf(type), "a generated kernel would store 'f32' as element type 5");
  Region integers({8});
  integers.store(1, PLIM_I32, {0}, integers.reduce(ReduceKind::Sum, integers.load(0, PLIM_I32, {1})));
  EXPECT_EQ(messageOf(integers), "a generated kernel reduces f32 values only, not 'i32'");
  Region mixed({8});
  mixed.load(0, PLIM_I32, {1});
  mixed.store(1, PLIM_F32, {1}, mixed.load(0, PLIM_F32, {1}));
  EXPECT_EQ(messageOf(mixed), "buffer 0 has elements of types 1 and 7");
}

TEST(ObjectBuilder, SaysWhereItCannotWrite) {
  KernelRunner runner;
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&runner.mlirContext(), [&](mlir::Diagnostic &d) { message = d.str(); });
  EXPECT_TRUE(mlir::failed(runner.object().writeObject(runner.path("missing/out.o"), runner.loc())));
  EXPECT_NE(message.find("missing/out.o'"), std::string::npos) << message;
}
