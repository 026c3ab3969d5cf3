//===- WriteWeights.cpp - Constants of a plan become the weight file ----------------------------===//
#include "compiler/Lowering/Setup/WriteWeights.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "compiler/Lowering/Setup/InProcess.h"
#include "plim/weights.h"
#include "llvm/ADT/StringMap.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace mlir;

namespace plim::lowering {
namespace {

/// A file mapped for reading; pages are dropped when the caller is done with a range.
class MappedWeights {
public:
  ~MappedWeights() {
    if (data)
      ::munmap(data, size);
  }
  std::string open(const std::string &path) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      return path + ": " + std::strerror(errno);
    struct stat st{};
    if (::fstat(fd, &st) == 0 && st.st_size > 0) {
      size = size_t(st.st_size);
      void *p = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
      if (p != MAP_FAILED)
        data = static_cast<char *>(p);
    }
    ::close(fd);
    return data ? "" : path + ": cannot be mapped";
  }
  char *range(uint64_t offset, uint64_t bytes) {
    return offset <= size && bytes <= size - offset ? data + offset : nullptr;
  }
  void drop(uint64_t offset, uint64_t bytes) {
    uint64_t begin = offset / 4096 * 4096;
    ::madvise(data + begin, offset + bytes - begin, MADV_DONTNEED);
  }

private:
  char *data = nullptr;
  size_t size = 0;
};

/// The bytes of a small constant as kernels see them: little-endian, a byte for a bool.
std::vector<char> constantBytes(graph::ConstantOp op) {
  auto elements = cast<DenseElementsAttr>(op.getValue());
  Type element = elements.getElementType();
  std::vector<char> out;
  auto append = [&](const llvm::APInt &value, unsigned bytes) {
    uint64_t word = value.getZExtValue();
    out.insert(out.end(), reinterpret_cast<char *>(&word), reinterpret_cast<char *>(&word) + bytes);
  };
  unsigned bytes = unsigned(graph::elementBytes(element));
  if (isa<FloatType>(element)) {
    for (const APFloat &v : elements.getValues<APFloat>())
      append(v.bitcastToAPInt(), bytes);
  } else {
    for (const APInt &v : elements.getValues<APInt>())
      append(v, bytes);
  }
  return out;
}

/// Memory of one constant while it is made; freed at once.
class Pages {
public:
  explicit Pages(uint64_t bytes) : size(bytes ? bytes : 1) {
    void *p = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data = p == MAP_FAILED ? nullptr : static_cast<char *>(p);
  }
  Pages(const Pages &) = delete;
  Pages &operator=(const Pages &) = delete;
  ~Pages() {
    if (data)
      ::munmap(data, size);
  }
  char *data = nullptr;

private:
  uint64_t size;
};

class Writer {
public:
  Writer(plan::ModuleOp plan, ArrayRef<ConstantSource> constants, const WeightsOptions &options)
      : plan(plan), constants(constants), options(options) {}
  ~Writer() { plim_weight_writer_abort(writer); }

  LogicalResult run() {
    SmallVector<plan::ConstantOp> ops(plan.getOps<plan::ConstantOp>());
    llvm::sort(ops, [](plan::ConstantOp a, plan::ConstantOp b) { return a.getOffset() < b.getOffset(); });
    // Constants without an element take no file.
    if (llvm::all_of(ops, [](plan::ConstantOp op) { return op.getBytes() == 0; }))
      return success();
    llvm::StringMap<Operation *> sources;
    for (const ConstantSource &c : constants)
      sources[c.name] = c.op;
    uint64_t end = uint64_t(ops.back().getOffset() + ops.back().getBytes());
    if (plim_weight_writer_open(options.path.c_str(), end, &writer))
      return plan.emitError(plim_last_error()->where) << ": " << plim_last_error()->message;
    for (auto [i, op] : llvm::enumerate(ops)) {
      if (options.progress)
        options.progress(i, ops.size());
      if (failed(put(op, sources.lookup(op.getSymName()))))
        return failure();
    }
    uint64_t bytes = 0, hash = 0;
    plim_status status = plim_weight_writer_finish(writer, &bytes, &hash);
    writer = nullptr;
    if (status)
      return plan.emitError(plim_last_error()->where) << ": " << plim_last_error()->message;
    plan.setWeightsBytes(int64_t(bytes));
    plan.setWeightsHash(int64_t(hash));
    return success();
  }

  bool lacksKernel = false;

private:
  LogicalResult put(plan::ConstantOp op, Operation *source) {
    if (auto constant = dyn_cast<graph::ConstantOp>(source)) {
      std::vector<char> bytes = constantBytes(constant);
      return write(op, bytes.data(), bytes.size());
    }
    auto parameter = cast<graph::ParameterOp>(source);
    if (!parameter.getFile().empty()) {
      char *data = rangeOf(parameter);
      if (!data)
        return failure();
      LogicalResult done = write(op, data, uint64_t(parameter.getBytes()));
      drop(parameter);
      return done;
    }
    Pages result(uint64_t(op.getBytes()));
    if (!result.data)
      return op.emitError("need ") << op.getBytes() << " bytes of memory for one constant, have none";
    if (failed(compute(parameter, result.data, uint64_t(op.getBytes()))))
      return failure();
    return write(op, result.data, uint64_t(op.getBytes()));
  }

  LogicalResult write(plan::ConstantOp op, const char *data, uint64_t bytes) {
    if (bytes != uint64_t(op.getBytes()))
      return op.emitError("need ") << op.getBytes() << " bytes, have " << bytes;
    op.setHash(int64_t(XXH3_64bits(data, bytes)));
    if (plim_weight_writer_put(writer, uint64_t(op.getOffset()), data, bytes))
      return op.emitError(plim_last_error()->where) << ": " << plim_last_error()->message;
    return success();
  }

  char *rangeOf(graph::ParameterOp parameter) {
    std::unique_ptr<MappedWeights> &file = files[parameter.getFile()];
    if (!file) {
      file = std::make_unique<MappedWeights>();
      if (std::string why = file->open(parameter.getFile().str()); !why.empty()) {
        parameter.emitError(why);
        return nullptr;
      }
    }
    char *data = file->range(uint64_t(parameter.getOffset()), uint64_t(parameter.getBytes()));
    if (!data)
      parameter.emitError() << parameter.getFile() << ": need bytes [" << parameter.getOffset() << ", "
                            << parameter.getOffset() + parameter.getBytes() << "), have a shorter file";
    return data;
  }
  void drop(graph::ParameterOp parameter) {
    files[parameter.getFile()]->drop(uint64_t(parameter.getOffset()), uint64_t(parameter.getBytes()));
  }

  /// @setup of the parameter's module, cut down to the result of this name.
  OwningOpRef<func::FuncOp> sliceOf(graph::ParameterOp parameter) {
    auto setup = parameter->getParentOfType<mlir::ModuleOp>().lookupSymbol<func::FuncOp>("setup");
    if (!setup)
      return {};
    for (unsigned r = 0; r < setup.getNumResults(); ++r) {
      auto name = setup.getResultAttrOfType<StringAttr>(r, "graph.name");
      if (!name || name.getValue() != parameter.getName())
        continue;
      OwningOpRef<func::FuncOp> slice = setup.clone();
      auto ret = cast<func::ReturnOp>(slice->getBody().front().getTerminator());
      ret->setOperands({ret.getOperand(r)});
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(slice->getBody().front())))
        if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>())
          op.erase();
      slice->setType(FunctionType::get(slice->getContext(), {}, {parameter.getType()}));
      slice->setAllResultAttrs(ArrayRef<DictionaryAttr>{DictionaryAttr::get(
          slice->getContext(), {NamedAttribute(StringAttr::get(slice->getContext(), "graph.name"), name)})});
      return slice;
    }
    return {};
  }

  LogicalResult compute(graph::ParameterOp parameter, char *data, uint64_t bytes) {
    OwningOpRef<func::FuncOp> slice = sliceOf(parameter);
    if (!slice)
      return parameter.emitError("need a result of @setup named '") << parameter.getName() << "', have none";
    GraphToPlanOptions lowering;
    lowering.workers = options.threads;
    lowering.parametersAsInputs = true;
    FailureOr<GraphToPlanResult> lowered = graphToPlan(*slice, lowering);
    if (failed(lowered)) {
      lacksKernel = true;
      return failure();
    }
    if (failed(options.planner(*lowered->module)))
      return failure();
    FailureOr<plan::EncodedTable> table = plan::encodeTable(*lowered->module);
    if (failed(table))
      return failure();
    std::vector<Binding> inputs;
    std::vector<std::vector<char>> small;
    std::vector<std::unique_ptr<Pages>> copies;
    for (const ConstantSource &c : lowered->constants) {
      if (auto constant = dyn_cast<graph::ConstantOp>(c.op)) {
        small.push_back(constantBytes(constant));
        inputs.push_back({c.name, small.back().data(), small.back().size()});
        continue;
      }
      auto input = cast<graph::ParameterOp>(c.op);
      char *range = rangeOf(input);
      if (!range)
        return failure();
      inputs.push_back({c.name, range, uint64_t(input.getBytes())});
      if (reinterpret_cast<uintptr_t>(range) % 8 == 0)
        continue;
      // A model's file keeps no alignment: what does not start at a multiple of its element is copied.
      copies.push_back(std::make_unique<Pages>(inputs.back().bytes));
      if (!copies.back()->data)
        return parameter.emitError("need ") << inputs.back().bytes << " bytes of memory, have none";
      std::memcpy(copies.back()->data, range, inputs.back().bytes);
      inputs.back().data = copies.back()->data;
      drop(input);
    }
    InProcessOptions run;
    run.threads = options.threads;
    std::string why = runInProcess(table->bytes.table(), inputs, {{parameter.getName().str(), data, bytes}}, run);
    for (const ConstantSource &c : lowered->constants)
      if (auto input = dyn_cast<graph::ParameterOp>(c.op))
        drop(input);
    if (!why.empty())
      return parameter.emitError("@setup failed for '") << parameter.getName() << "': " << why;
    return success();
  }

  plan::ModuleOp plan;
  ArrayRef<ConstantSource> constants;
  const WeightsOptions &options;
  plim_weight_writer *writer = nullptr;
  llvm::StringMap<std::unique_ptr<MappedWeights>> files;
};

} // namespace

WeightsStatus writeWeights(plan::ModuleOp plan, ArrayRef<ConstantSource> constants, const WeightsOptions &options) {
  Writer writer(plan, constants, options);
  if (succeeded(writer.run()))
    return WeightsStatus::Done;
  return writer.lacksKernel ? WeightsStatus::Model : WeightsStatus::Environment;
}

} // namespace plim::lowering
