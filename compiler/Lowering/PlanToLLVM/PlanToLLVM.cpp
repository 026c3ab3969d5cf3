//===- PlanToLLVM.cpp - A step table and what it calls, in the LLVM dialect ---------------===//
#include "compiler/Lowering/PlanToLLVM/PlanToLLVM.h"
#include "kernels/registry.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace plim::lowering {
namespace {

#define PLIM_TEXT_OF(symbol) #symbol
#define PLIM_SYMBOL_TEXT(symbol) PLIM_TEXT_OF(symbol)

class ModelBuilder {
public:
  ModelBuilder(MLIRContext *context, const plan::EncodedTable &table, StringRef prefix)
      : table(table), prefix(prefix), b(context), loc(b.getUnknownLoc()), module(ModuleOp::create(loc)),
        pointer(LLVM::LLVMPointerType::get(context)) {
    b.setInsertionPointToEnd(module->getBody());
  }

  FailureOr<OwningOpRef<ModuleOp>> run() {
    if (table.bytes.table()->sections[PLIM_SEC_EVALS].count && table.evals.empty())
      return emitError(loc, "need the bodies of evals, have their numbers");
    SmallVector<std::string> evals;
    for (auto [number, eval] : llvm::enumerate(table.evals))
      evals.push_back(addEval(eval, number));
    if (failed(lowerEvals()))
      return failure();
    b.setInsertionPointToEnd(module->getBody());
    addModel(evals);
    return std::move(module);
  }

private:
  std::string symbol(const Twine &suffix) { return (prefix + suffix).str(); }

  /// void <prefix>_eval_<n>(const int64_t *in, int64_t *out), whose body is the region of the plan.eval.
  std::string addEval(plan::EvalOp eval, size_t number) {
    OpBuilder::InsertionGuard guard(b);
    std::string name = symbol("_eval_" + Twine(number));
    auto function = func::FuncOp::create(b, loc, name, b.getFunctionType({pointer, pointer}, {}));
    function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
    Block *block = function.addEntryBlock();
    b.setInsertionPointToStart(block);
    auto at = [&](Value base, size_t index) -> Value {
      return LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(), base, ArrayRef<LLVM::GEPArg>{int32_t(index)});
    };
    IRMapping map;
    for (auto [i, argument] : llvm::enumerate(eval.getBody().getArguments())) {
      Value word = LLVM::LoadOp::create(b, loc, b.getI64Type(), at(block->getArgument(0), i));
      map.map(argument, arith::IndexCastOp::create(b, loc, b.getIndexType(), word));
    }
    Block &body = eval.getBody().front();
    for (Operation &op : body.without_terminator())
      b.clone(op, map);
    for (auto [i, result] : llvm::enumerate(body.getTerminator()->getOperands())) {
      Value word = arith::IndexCastOp::create(b, loc, b.getI64Type(), map.lookup(result));
      LLVM::StoreOp::create(b, loc, word, at(block->getArgument(1), i));
    }
    func::ReturnOp::create(b, loc);
    return name;
  }

  LogicalResult lowerEvals() {
    MLIRContext *context = b.getContext();
    RewritePatternSet expand(context), convert(context);
    arith::populateArithExpandOpsPatterns(expand);
    LLVMTypeConverter types(context);
    arith::populateArithToLLVMConversionPatterns(types, convert);
    populateFuncToLLVMConversionPatterns(types, convert);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    return failure(failed(applyPatternsGreedily(*module, std::move(expand))) ||
                   failed(applyFullConversion(*module, target, std::move(convert))));
  }

  LLVM::GlobalOp addGlobal(Type type, LLVM::Linkage linkage, StringRef name, Attribute value = {}) {
    return LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, linkage, name, value);
  }

  /// A byte that another object defines: only its address counts.
  std::string declare(StringRef name) {
    if (!module->lookupSymbol(name))
      addGlobal(b.getI8Type(), LLVM::Linkage::External, name);
    return name.str();
  }

  /// A global made of the values that `fill` gives for its fields.
  void addAggregate(Type type, LLVM::Linkage linkage, StringRef name, size_t fields, function_ref<Value(size_t)> fill) {
    LLVM::GlobalOp global = addGlobal(type, linkage, name);
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&global.getInitializerRegion());
    Value whole = LLVM::UndefOp::create(b, loc, type);
    for (size_t i = 0; i < fields; ++i)
      whole = LLVM::InsertValueOp::create(b, loc, whole, fill(i), ArrayRef<int64_t>{int64_t(i)});
    LLVM::ReturnOp::create(b, loc, whole);
  }

  Value addressOf(StringRef name) { return LLVM::AddressOfOp::create(b, loc, pointer, name); }

  void addPointers(const std::string &name, ArrayRef<std::string> symbols) {
    // An array of nothing still has a valid address.
    size_t count = std::max<size_t>(symbols.size(), 1);
    addAggregate(LLVM::LLVMArrayType::get(pointer, count), LLVM::Linkage::Internal, name, count,
                 [&](size_t i) -> Value {
                   return symbols.empty() ? LLVM::ZeroOp::create(b, loc, pointer).getResult() : addressOf(symbols[i]);
                 });
  }

  void addModel(ArrayRef<std::string> evals) {
    auto bytesOf = [&](StringRef text) { return LLVM::LLVMArrayType::get(b.getI8Type(), text.size()); };
    StringRef bytes(table.bytes.data().data(), table.bytes.data().size());
    LLVM::GlobalOp data = addGlobal(bytesOf(bytes), LLVM::Linkage::Internal, symbol("_table"), b.getStringAttr(bytes));
    data.setAlignment(64);
    data.setSection((".rodata.plim." + prefix).str());
    SmallVector<std::string> kernels;
    for (const std::string &name : table.kernels) {
      const plim_kernel_entry *entry = plim_find_kernel_entry(name.c_str());
      kernels.push_back(declare(entry ? StringRef(entry->symbol) : StringRef(name)));
    }
    addPointers(symbol("_kernels"), kernels);
    if (!evals.empty())
      addPointers(symbol("_evals"), evals);
    std::string text(prefix.str() + '\0');
    addGlobal(bytesOf(text), LLVM::Linkage::Private, symbol("_name"), b.getStringAttr(text));

    Type i32 = b.getI32Type();
    auto type =
        LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, pointer, pointer, pointer, pointer, i32, i32});
    auto number = [&](int64_t value) -> Value { return LLVM::ConstantOp::create(b, loc, i32, value); };
    addAggregate(type, LLVM::Linkage::External, symbol("_model"), 8, [&](size_t field) -> Value {
      switch (field) {
      case 0:
        return number(sizeof(plim_model));
      case 1:
        return number(PLIM_KERNEL_ABI);
      case 2:
        return addressOf(symbol("_name"));
      case 3:
        return addressOf(symbol("_table"));
      case 4:
        return addressOf(symbol("_kernels"));
      case 5:
        return evals.empty() ? LLVM::ZeroOp::create(b, loc, pointer).getResult() : addressOf(symbol("_evals"));
      case 6:
        return number(int64_t(evals.size()));
      default:
        return number(0);
      }
    });
    declare(PLIM_SYMBOL_TEXT(PLIM_KERNEL_ABI_SYMBOL));
    addPointers(symbol("_abi"), {PLIM_SYMBOL_TEXT(PLIM_KERNEL_ABI_SYMBOL)});
    addAggregate(LLVM::LLVMArrayType::get(pointer, 1), LLVM::Linkage::Appending, "llvm.used", 1,
                 [&](size_t) { return addressOf(symbol("_abi")); });
    module->lookupSymbol<LLVM::GlobalOp>("llvm.used").setSection("llvm.metadata");
    module->lookupSymbol<LLVM::GlobalOp>("llvm.used").setConstant(false);
  }

  const plan::EncodedTable &table;
  StringRef prefix;
  OpBuilder b;
  Location loc;
  OwningOpRef<ModuleOp> module;
  Type pointer;
};

} // namespace

void registerPlanToLLVMDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect>();
}

FailureOr<OwningOpRef<ModuleOp>> planToLLVM(MLIRContext *context, const plan::EncodedTable &table, StringRef prefix) {
  return ModelBuilder(context, table, prefix).run();
}

} // namespace plim::lowering
