//===- ObjectBuilder.cpp - Generated kernels in one object file -----------===//
#include "compiler/Lowering/Generated/ObjectBuilder.h"
#include "compiler/Lowering/Generated/Emitter.h"
#include "compiler/Lowering/Generated/LowerToLLVM.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <cstddef>

using namespace mlir;
namespace plim::gen {

/// Tasks [first, first + tasks) of a kernel compute the units of one part.
struct TaskRange {
  int64_t first, tasks, units, unitsPerTask;
  std::optional<OpenSpace> open;
  int64_t unitsPerRow;
};

/// A kernel of which there is no code yet.
struct ObjectBuilder::Uncompiled {
  OwningOpRef<ModuleOp> loops; // a function for each part
  SmallVector<SmallVector<unsigned>> buffers;
  SmallVector<TaskRange> ranges;
  Location loc;
};

namespace {
struct Isa {
  const char *suffix, *cpu, *features;
};
// 512-bit vectors where the IR has them: LLVM's tuning for v4 would halve them.
constexpr Isa isas[] = {{"_v3", "x86-64-v3", ""}, {"_v4", "x86-64-v4", "-prefer-256-bit"}};
} // namespace

static std::unique_ptr<llvm::TargetMachine> createMachine() {
  static bool once = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)once;
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  assert(target && "the X86 target is linked in");
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, isas[0].cpu, "", {}, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

ObjectBuilder::ObjectBuilder(MLIRContext &context, StringRef prefix)
    : context(context), prefix(prefix), module(std::make_unique<llvm::Module>("plimsoll", llvmContext)),
      machine(createMachine()), lowering(&context) {
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  addLoweringPasses(lowering);
  loadLoweringDialects(context);
}

ObjectBuilder::~ObjectBuilder() = default;

void ObjectBuilder::registerDialects(DialectRegistry &registry) { registerLoweringDialects(registry); }

llvm::GlobalVariable *ObjectBuilder::kernel(StringRef symbol) { return module->getNamedGlobal(symbol); }

FailureOr<KernelInfo> ObjectBuilder::addKernel(ArrayRef<Region> parts, Location loc) {
  OwningOpRef<ModuleOp> loops = ModuleOp::create(UnknownLoc::get(&context));
  std::vector<Schedule> schedules;
  SmallVector<TaskRange> ranges;
  SmallVector<SmallVector<unsigned>> buffers;
  for (auto [i, part] : llvm::enumerate(parts)) {
    FailureOr<Schedule> s = scheduleRegion(part, loc);
    if (failed(s))
      return failure();
    buffers.push_back(emitLoops(*loops, *s, "part" + std::to_string(i)));
    int64_t first = ranges.empty() ? 0 : ranges.back().first + ranges.back().tasks;
    ranges.push_back({first, s->tasks(), s->units, s->unitsPerTask, s->region.open, s->unitsPerRow()});
    schedules.push_back(std::move(*s));
  }
  KernelInfo info = describeKernel(schedules);

  std::string text;
  llvm::raw_string_ostream os(text);
  loops->print(os);
  for (auto [range, list] : llvm::zip(ranges, buffers)) {
    os << range.tasks << ' ' << range.units << ' ' << range.unitsPerTask << ' ';
    if (range.open)
      os << "open " << range.open->operand << ' ' << range.open->dims << ' ' << range.unitsPerRow << ' ';
    llvm::interleaveComma(list, os);
  }
  std::string hash = llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)));
  if (auto it = known.find(hash); it != known.end())
    return it->second;
  info.symbol = prefix + "_gen_" + std::to_string(known.size());
  uncompiled[info.symbol] =
      std::make_unique<Uncompiled>(Uncompiled{std::move(loops), std::move(buffers), std::move(ranges), loc});
  known[hash] = info;
  return info;
}

LogicalResult ObjectBuilder::compileKernel(StringRef symbol) {
  auto at = uncompiled.find(symbol);
  if (at == uncompiled.end())
    return success();
  const std::unique_ptr<Uncompiled> kernel = std::move(at->second);
  uncompiled.erase(at);
  if (succeeded(compile(*kernel, symbol)))
    return success();
  return emitError(kernel->loc, "no machine code for a generated kernel");
}

/// How many units the sizes of the launch have.
static llvm::Value *openUnits(llvm::IRBuilder<> &b, llvm::Value *launch, const TaskRange &range) {
  llvm::Type *i64 = b.getInt64Ty(), *ptr = b.getPtrTy();
  llvm::Value *table = b.CreateLoad(ptr, b.CreateConstGEP1_64(b.getInt8Ty(), launch, offsetof(plim_launch, shape)));
  llvm::Value *shape = b.CreateLoad(ptr, b.CreateConstGEP1_64(ptr, table, range.open->operand));
  llvm::Value *units = b.getInt64(range.unitsPerRow);
  for (unsigned d = 0; d < range.open->dims; ++d) {
    uint64_t at = offsetof(plim_shape, dims) + d * sizeof(int64_t);
    units = b.CreateMul(units, b.CreateLoad(i64, b.CreateConstGEP1_64(b.getInt8Ty(), shape, at)));
  }
  return units;
}

/// Defines int32_t <symbol><suffix>(const plim_launch *, void *scratch, uint32_t first, uint32_t last), which calls the
/// parts, each with its own copy for this instruction set.
static llvm::Function *defineEntry(llvm::Module &m, const Isa &isa, ArrayRef<llvm::Function *> parts,
                                   ArrayRef<SmallVector<unsigned>> buffers, ArrayRef<TaskRange> ranges,
                                   StringRef symbol) {
  llvm::IRBuilder<> b(m.getContext());
  llvm::Type *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty(), *ptr = b.getPtrTy();
  auto setUp = [&](llvm::Function *f) {
    f->setLinkage(llvm::Function::InternalLinkage);
    f->addFnAttr("target-cpu", isa.cpu);
    if (*isa.features)
      f->addFnAttr("target-features", isa.features);
    f->addFnAttr("prefer-vector-width", "512");
    f->addFnAttr(llvm::Attribute::NoUnwind);
    f->setAlignment(llvm::Align(64)); // the speed of small loops must not depend on link order
  };
  auto *type = llvm::FunctionType::get(i32, {ptr, ptr, i32, i32}, false);
  auto *entry = llvm::Function::Create(type, llvm::Function::InternalLinkage, symbol + isa.suffix, m);
  setUp(entry);
  llvm::Argument *launch = entry->getArg(0), *scratch = entry->getArg(1);
  b.SetInsertPoint(llvm::BasicBlock::Create(m.getContext(), "", entry));
  llvm::Value *table = b.CreateLoad(ptr, b.CreateConstGEP1_64(b.getInt8Ty(), launch, offsetof(plim_launch, buf)));
  llvm::Value *first = b.CreateZExt(entry->getArg(2), i64), *last = b.CreateZExt(entry->getArg(3), i64);
  for (auto [part, list, range] : llvm::zip(parts, buffers, ranges)) {
    llvm::ValueToValueMapTy map;
    llvm::Function *body = llvm::CloneFunction(part, map);
    setUp(body);
    body->addFnAttr(llvm::Attribute::AlwaysInline);
    SmallVector<llvm::Value *> operands;
    for (unsigned buffer : list)
      operands.push_back(b.CreateLoad(ptr, b.CreateConstGEP1_64(ptr, table, buffer)));
    operands.push_back(scratch);
    // Units of the tasks that fall into this part; an empty range has begin >= end.
    llvm::Value *from = b.CreateSub(b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, b.getInt64(range.first)),
                                    b.getInt64(range.first));
    llvm::Value *to = b.CreateMul(b.CreateSub(last, b.getInt64(range.first)), b.getInt64(range.unitsPerTask));
    operands.push_back(b.CreateMul(from, b.getInt64(range.unitsPerTask)));
    llvm::Value *units = b.getInt64(range.units);
    if (range.open)
      units = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, units, openUnits(b, launch, range));
    operands.push_back(b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to, units));
    body->addParamAttr(operands.size() - 3, llvm::Attribute::getWithAlignment(m.getContext(), llvm::Align(64)));
    b.CreateCall(body, operands);
  }
  b.CreateRet(b.getInt32(0));
  return entry;
}

/// constant plim_kernel <symbol> = {"<symbol>", PLIM_KERNEL_ABI, 1, {NULL, v3, v4}}
static void defineKernel(llvm::Module &m, ArrayRef<llvm::Constant *> bodies, StringRef symbol) {
  static_assert(PLIM_ISA_COUNT == 3 && PLIM_ISA_V3 == 1 && PLIM_ISA_V4 == 2 && sizeof(plim_kernel) == 40);
  llvm::LLVMContext &c = m.getContext();
  llvm::Type *i32 = llvm::Type::getInt32Ty(c), *ptr = llvm::PointerType::get(c, 0);
  auto *table = llvm::ArrayType::get(ptr, PLIM_ISA_COUNT);
  auto *type = llvm::StructType::get(c, {ptr, i32, i32, table});
  auto *text = llvm::ConstantDataArray::getString(c, symbol);
  auto *name = new llvm::GlobalVariable(m, text->getType(), true, llvm::GlobalValue::PrivateLinkage, text);
  name->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  SmallVector<llvm::Constant *> fn{llvm::Constant::getNullValue(ptr)};
  fn.append(bodies.begin(), bodies.end());
  auto *value = llvm::ConstantStruct::get(type, {name, llvm::ConstantInt::get(i32, PLIM_KERNEL_ABI),
                                                 llvm::ConstantInt::get(i32, 1), llvm::ConstantArray::get(table, fn)});
  auto *kernel = new llvm::GlobalVariable(m, type, true, llvm::GlobalValue::ExternalLinkage, value, symbol);
  kernel->setAlignment(llvm::Align(alignof(plim_kernel)));
}

/// The -O3 pipeline. Loops come unrolled and vectorized already: LLVM's own loop passes would only cost compile time
/// and code size, and unrolling the tails makes short rows slower.
static void optimize(llvm::Module &m, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = tuning.LoopInterleaving = tuning.LoopVectorization = tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(m, mam);
}

LogicalResult ObjectBuilder::compile(const Uncompiled &kernel, StringRef symbol) {
  if (failed(lowerToLLVM(*kernel.loops, lowering)))
    return failure();
  std::unique_ptr<llvm::Module> m = translateModuleToLLVMIR(*kernel.loops, llvmContext, symbol);
  if (!m)
    return failure();
  m->setTargetTriple(module->getTargetTriple());
  m->setDataLayout(module->getDataLayout());
  SmallVector<llvm::Function *> parts;
  for (size_t i = 0; i < kernel.ranges.size(); ++i)
    parts.push_back(m->getFunction("part" + std::to_string(i)));
  SmallVector<llvm::Constant *> bodies;
  for (const Isa &isa : isas)
    bodies.push_back(defineEntry(*m, isa, parts, kernel.buffers, kernel.ranges, symbol));
  for (llvm::Function *part : parts)
    part->eraseFromParent();
  defineKernel(*m, bodies, symbol);
  optimize(*m, *machine);
  return failure(llvm::Linker::linkModules(*module, std::move(m)));
}

LogicalResult ObjectBuilder::writeObject(StringRef path, Location loc) {
  std::string problem;
  llvm::raw_string_ostream os(problem);
  if (llvm::verifyModule(*module, &os))
    return emitError(loc, "the module of '") << path << "' is malformed: " << problem;
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream object(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, object, nullptr, llvm::CodeGenFileType::ObjectFile))
    return emitError(loc, "the target cannot write object files");
  passes.run(*module);
  auto write = [&](llvm::raw_ostream &out) {
    out.write(bytes.data(), bytes.size());
    return llvm::Error::success();
  };
  if (llvm::Error e = llvm::writeToOutput(path, write))
    return emitError(loc, "cannot write '") << path << "': " << llvm::toString(std::move(e));
  return success();
}

} // namespace plim::gen
