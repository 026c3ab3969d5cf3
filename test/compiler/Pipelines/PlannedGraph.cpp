//===- PlannedGraph.cpp - From a graph to a step table to the bytes of its outputs -----------===//
#include "test/compiler/Pipelines/PlannedGraph.h"
#include "compiler/Lowering/Candidates/Candidates.h"
#include "compiler/Pipelines/Register.h"
#include "kernels/registry.h"
#include "test/runtime/RunObjects.h"
#include <cstring>

using namespace mlir;

namespace plim::test {

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerAllPlimDialects(registry);
  lowering::registerCandidates(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

FailureOr<VirtualPlan> VirtualPlan::lower(const RandomGraph &graph, int64_t workers,
                                          const lowering::KernelChoice &choice) {
  lowering::GraphToPlanOptions options;
  options.workers = workers;
  options.choice = choice;
  options.parametersAsInputs = true;
  FailureOr<lowering::GraphToPlanResult> lowered = lowering::graphToPlan(graph.function, options);
  if (failed(lowered))
    return failure();
  VirtualPlan result;
  result.lowered = std::move(*lowered);
  auto program = *result.module().getOps<plan::ProgramOp>().begin();
  if (failed(plan::normalizeScalars(program)))
    return failure();
  FailureOr<plan::PlanProblem> extracted = plan::extractProblem(program, {});
  if (failed(extracted))
    return failure();
  result.extracted = std::move(*extracted);
  return std::move(result);
}

FailureOr<plan::EncodedTable> VirtualPlan::place(const solver::Solution &solution) {
  if (failed(plan::applySolution(*extracted, solution)) || failed(plan::placeProgram(extracted->program)))
    return failure();
  return plan::encodeTable(module());
}

solver::Solution everyBufferApart(const solver::Problem &problem) {
  constexpr int64_t gap = 2 * solver::kAlign;
  solver::Solution solution;
  int64_t end = 0;
  auto reserve = [&](int64_t bytes, int64_t align) {
    int64_t offset = solver::alignUp(end + gap, align);
    end = offset + bytes;
    return offset;
  };
  int steps = int(problem.steps.size());
  for (int i = 0; i < int(problem.buffers.size()); ++i) {
    const solver::Buffer &buffer = problem.buffers[i];
    solver::Storage storage;
    storage.bytes = buffer.bytes, storage.birth = 0, storage.death = steps;
    if (buffer.kind == solver::BufferKind::Transient)
      storage.offset = reserve(buffer.bytes, buffer.align);
    else
      storage.region = solver::Region::Caller;
    solution.storages.push_back(storage);
    solver::Place place;
    place.buffer = i, place.storage = i;
    solution.places.push_back(place);
  }
  for (int i = 0; i < steps; ++i) {
    const solver::Step &step = problem.steps[i];
    solver::Action action;
    action.step = i;
    for (int c = 0; c < int(step.candidates.size()); ++c)
      if (step.candidates[c].barredBy.empty())
        action.candidate = c;
    action.reads = step.reads, action.writes = step.writes;
    if (int64_t bytes = problem.workspace(step.candidates[action.candidate]))
      action.workspaceOffset = reserve(bytes, solver::kAlign);
    solution.actions.push_back(action);
  }
  return solution;
}

namespace {

void fill(std::vector<char> &bytes, Type element, int64_t limit, std::mt19937 &random) {
  auto put = [&](auto make) {
    using T = decltype(make());
    for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T value = make();
      std::memcpy(bytes.data() + at, &value, sizeof(T));
    }
  };
  auto index = [&] { return int64_t(random() % uint64_t(2 * limit)) - limit; };
  if (element.isInteger(64))
    put([&]() -> int64_t { return index(); });
  else if (element.isInteger(32))
    put([&]() -> int32_t { return int32_t(index()); });
  else if (element.isInteger(1))
    put([&]() -> char { return char(random() % 2); });
  else
    put([&]() -> float { return float(int32_t(random())) / 2147483648.0f; });
}

} // namespace

Bytes randomInputs(const RandomGraph &graph, const VirtualPlan &plan, unsigned seed) {
  std::mt19937 random(seed);
  Bytes inputs;
  func::FuncOp function = graph.function;
  for (BlockArgument argument : function.getArguments()) {
    std::vector<char> &bytes = inputs["arg" + std::to_string(argument.getArgNumber())];
    bytes.resize(size_t(*graph::bytesOf(argument.getType())));
    fill(bytes, graph::elementTypeOf(argument), graph.indexLimits[argument.getArgNumber()], random);
  }
  for (const lowering::ConstantSource &source : plan.constants()) {
    auto value = cast<DenseElementsAttr>(cast<graph::ConstantOp>(source.op).getValue());
    ArrayRef<char> raw = value.getRawData();
    for (int64_t copies = value.isSplat() ? value.getNumElements() : 1; copies > 0; --copies)
      inputs[source.name].insert(inputs[source.name].end(), raw.begin(), raw.end());
  }
  return inputs;
}

RunOutcome runTable(const plim_table *table, const Bytes &inputs, uint32_t threads, uint32_t flags, int runs) {
  RunOutcome outcome;
  std::vector<const plim_kernel *> kernels = kernelsOf(table, plim_find_kernel);
  plim_model model = {sizeof(plim_model), PLIM_KERNEL_ABI, "random", table, kernels.data(), nullptr, 0, 0};
  auto fail = [&] {
    outcome.error = lastError();
    return outcome;
  };
  RunObjects objects;
  plim_scope scope;
  plim_context_options contextOptions = {};
  contextOptions.threads = threads;
  if (plim_find(&model, nullptr, nullptr, &scope) ||
      plim_weights_create(&model, scope, nullptr, nullptr, &objects.weights) ||
      plim_context_create(objects.weights, scope, &contextOptions, &objects.context) ||
      plim_session_create(objects.weights, scope, nullptr, &objects.session))
    return fail();
  for (uint32_t i = 0; i < plim_io_count(&model, 0); ++i) {
    plim_io_info io;
    if (plim_io_at(&model, 0, i, &io))
      return fail();
    if (io.is_output) {
      std::vector<char> &bytes = outcome.outputs[io.name];
      bytes.assign(size_t(io.bytes), char(0x5a));
      if (plim_bind_output(objects.session, PLIM_NONE, io.name, bytes.data(), bytes.size()))
        return fail();
    } else {
      const std::vector<char> &bytes = inputs.at(io.name);
      if (plim_bind_input(objects.session, PLIM_NONE, io.name, bytes.data(), bytes.size(), nullptr, 0))
        return fail();
    }
  }
  plim_run_options options = {};
  options.flags = flags;
  Bytes first;
  for (int run = 0; run < runs; ++run) {
    if (plim_run(objects.session, objects.context, PLIM_NONE, &options))
      return fail();
    if (run == 0)
      first = outcome.outputs;
    else if (first != outcome.outputs)
      outcome.error = "run " + std::to_string(run) + " gives other outputs than the first";
  }
  if (plim_usage_of(objects.session, objects.context, PLIM_NONE, &outcome.usage))
    return fail();
  return outcome;
}

} // namespace plim::test
