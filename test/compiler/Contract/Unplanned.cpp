//===- Unplanned.cpp - Runs a virtual plan without planning it -------------------------------===//
#include "test/compiler/Contract/Unplanned.h"
#include "test/compiler/Contract/MixKernels.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cstring>

using namespace mlir;
using namespace plim::plan;

namespace plim::test {

std::vector<char> contentsOf(llvm::StringRef constant, int64_t bytes) {
  std::vector<char> contents(static_cast<size_t>(bytes));
  uint64_t salt = 0;
  for (char letter : constant)
    salt = mixed(salt + uint64_t(letter));
  for (int64_t i = 0; i < bytes; ++i)
    contents[size_t(i)] = char(mixed(salt + uint64_t(i)));
  return contents;
}

Unplanned::Unplanned(plan::ModuleOp module, Bytes inputs, NumericsClasses classes)
    : module(module), program(*module.getOps<ProgramOp>().begin()), inputs(std::move(inputs)),
      classes(std::move(classes)) {
  for (auto constant : module.getOps<ConstantOp>())
    residents[constant.getSymName().str()] = contentsOf(constant.getSymName(), constant.getBytes());
  for (auto state : module.getOps<StateOp>())
    residents[state.getSymName().str()].assign(size_t(state.getBytes()), 0);
}

void Unplanned::allocate(Value buffer) {
  const int64_t bytes = cast<BufferType>(buffer.getType()).getBytes();
  allocated.emplace_back(size_t(bytes), char(0xa5));
  memory[buffer] = {allocated.back().data(), bytes};
}

Bytes Unplanned::run() {
  memory.clear(), scalars.clear(), allocated.clear(), outputs.clear();
  for (auto [value, attr] : llvm::zip_equal(program.getIOArguments(), program.getIos())) {
    auto io = cast<IOAttr>(attr);
    const int64_t bytes = cast<BufferType>(value.getType()).getBytes();
    std::vector<char> &data = (io.getOutput() ? outputs : inputs)[io.getName().str()];
    data.resize(size_t(bytes));
    memory[value] = {data.data(), bytes};
  }
  walk(*program.getBlock());
  return outputs;
}

void Unplanned::walk(Block &block) {
  for (Operation &op : block)
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](ResidentOp resident) {
          std::vector<char> &data = residents.at(resident.getSymbol().str());
          memory[resident.getBuffer()] = {data.data(), int64_t(data.size())};
        })
        .Case([&](AllocOp alloc) { allocate(alloc.getBuffer()); })
        .Case([&](ViewOp view) {
          memory[view.getBuffer()] = {memoryOf(view.getBase()).data + view.getOffset(),
                                      view.getBuffer().getType().getBytes()};
        })
        .Case([&](LaunchOp inner) { launch(inner); })
        .Case([&](CopyOp copy) {
          std::memcpy(memoryOf(copy.getDst()).data, memoryOf(copy.getSrc()).data,
                      size_t(memoryOf(copy.getSrc()).bytes));
        })
        .Case([&](FillOp fill) {
          const int64_t pattern = fill.getPattern();
          Memory target = memoryOf(fill.getDst());
          for (int64_t i = 0; i < target.bytes; ++i)
            target.data[i] = reinterpret_cast<const char *>(&pattern)[i % 8];
        })
        .Case([&](LoadScalarOp load) {
          int32_t value;
          std::memcpy(&value, memoryOf(load.getBuffer()).data + load.getOffset(), sizeof value);
          scalars[load.getValue()] = value;
        })
        .Case([&](IfOp branch) {
          Region &way = scalars.at(branch.getCondition()) ? branch.getThenRegion() : branch.getElseRegion();
          if (!way.empty())
            walk(way.front());
        })
        .Case([&](LoopOp loop) {
          for (int64_t trip = 0; trip < loop.getMaxTrips(); ++trip) {
            scalars[loop.getBody().getArgument(0)] = trip;
            walk(loop.getBody().front());
          }
        })
        .Case<YieldOp, plan::ReturnOp>([](auto) {})
        .Default(
            [](Operation *other) { llvm::report_fatal_error("no meaning for " + other->getName().getStringRef()); });
}

void Unplanned::launch(LaunchOp op) {
  CandidateAttr candidate = op.getCandidate(0);
  if (auto known = classes.find(op.getSource().value_or("").str()); known != classes.end())
    for (CandidateAttr other : op.getCandidates().getAsRange<CandidateAttr>())
      if (other.getNumerics() == known->second) {
        candidate = other;
        break;
      }
  std::vector<plim_shape> shapes(op.getBuffers().size());
  std::vector<const plim_shape *> shapeOf;
  std::vector<void *> buffers;
  for (auto [i, buffer] : llvm::enumerate(op.getBuffers())) {
    AccessAttr access = op.getAccess(unsigned(i));
    plim_shape &shape = shapes[i];
    shape = {};
    shape.dtype = uint8_t(access.getShape().getDtype());
    shape.rank = uint8_t(access.getShape().getRank());
    llvm::copy(access.getShape().getBounds(), shape.dims);
    llvm::copy(access.getShape().getStridesAtBounds(), shape.strides);
    shapeOf.push_back(&shape);
    buffers.push_back(memoryOf(buffer).data + access.getOffset());
  }
  std::vector<int64_t> read;
  for (Value scalar : op.getScalars())
    read.push_back(scalars.at(scalar));
  std::vector<int64_t> shared(size_t(candidate.getShared() / 8) + 1), scratch(size_t(candidate.getScratch() / 8) + 1);
  plim_launch launch = {};
  launch.attrs = candidate.getAttrs().data();
  launch.buf = buffers.data(), launch.shape = shapeOf.data();
  launch.scalar = read.empty() ? nullptr : read.data();
  launch.shared = shared.data();
  launch.tasks = uint32_t(candidate.getTasks());
  launch.operands = uint32_t(buffers.size()), launch.attr_words = uint32_t(candidate.getAttrs().size());
  const plim_kernel *kernel = findContractKernel(candidate.getKernel());
  for (launch.phase = 0; launch.phase < kernel->phases; ++launch.phase)
    kernel->fn[PLIM_ISA_BASE](&launch, scratch.data(), 0, launch.tasks);
}

} // namespace plim::test
