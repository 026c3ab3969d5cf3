// Tables in which one field was changed, and the hash made right again, are refused or decode to IR that encodes again.
#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "compiler/Pipelines/Register.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace mlir;

namespace {

class MutatedTable : public testing::Test {
protected:
  void SetUp() override {
    DialectRegistry registry;
    plim::registerAllPlimDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
    // Refusals are expected by the thousand.
    context.getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
    source = parseSourceFile<mlir::ModuleOp>(PLIM_SAMPLE, &context);
    ASSERT_TRUE(source);
    module = *source->getOps<plim::plan::ModuleOp>().begin();
  }

  static void rehash(plim::plan::TableBytes &bytes) {
    constexpr size_t hashed = offsetof(plim_table, hash) + sizeof(plim_table::hash);
    bytes.table()->hash = XXH3_64bits(bytes.writable() + hashed, bytes.data().size() - hashed);
  }

  MLIRContext context;
  OwningOpRef<mlir::ModuleOp> source;
  plim::plan::ModuleOp module;
};

TEST_F(MutatedTable, IsRefusedOrDecodes) {
  auto encoded = plim::plan::encodeTable(module);
  ASSERT_TRUE(succeeded(encoded));
  const plim::plan::TableBytes original = encoded->bytes;
  int refused = 0, decoded = 0;
  for (size_t at = offsetof(plim_table, kernel_abi); at + 4 <= original.data().size(); at += 4)
    for (uint32_t change : {1u, 0x80000000u, ~0u}) {
      plim::plan::TableBytes mutated = original;
      uint32_t word;
      std::memcpy(&word, mutated.writable() + at, 4);
      word = change == 1 ? word + 1 : word ^ change;
      std::memcpy(mutated.writable() + at, &word, 4);
      rehash(mutated);
      auto again = plim::plan::decodeTable(&context, mutated.data(), encoded->evalText);
      if (failed(again)) {
        ++refused;
        continue;
      }
      ++decoded;
      std::string text;
      llvm::raw_string_ostream stream(text);
      (*again)->print(stream);
      EXPECT_FALSE(text.empty());
    }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(decoded, 10);
}

TEST_F(MutatedTable, TruncatedAtAnyLengthIsRefused) {
  auto encoded = plim::plan::encodeTable(module);
  ASSERT_TRUE(succeeded(encoded));
  llvm::ArrayRef<char> bytes = encoded->bytes.data();
  for (size_t length = 0; length < bytes.size(); length += 7)
    EXPECT_TRUE(failed(plim::plan::decodeTable(&context, bytes.take_front(length)))) << length;
}

TEST_F(MutatedTable, EncodingTwiceGivesTheSameBytes) {
  auto first = plim::plan::encodeTable(module), second = plim::plan::encodeTable(module);
  ASSERT_TRUE(succeeded(first) && succeeded(second));
  EXPECT_EQ(first->bytes.data(), second->bytes.data());
}

} // namespace
