//===- PlanRun.cpp - Runs a step table on the runtime and measures it ------------------------===//
#include "test/compiler/Contract/PlanRun.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "plim/weights.h"
#include "test/compiler/Contract/MixKernels.h"
#include "test/runtime/AllocationWatch.h"
#include "test/runtime/RunObjects.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plim::test {
namespace {

/// A bound input or output.
struct Binding {
  std::string name;
  char *data;
  size_t bytes;
  bool isOutput;
};

} // namespace

RunReport runPlan(const plim_table *table, const Bytes &inputs, const RunOptions &options) {
  RunReport report;
  std::vector<const plim_kernel *> kernels = kernelsOf(table, findContractKernel);
  plim_model model = {sizeof(plim_model), PLIM_KERNEL_ABI, "contract", table, kernels.data(), nullptr, 0, 0};
  plim_context_options contextOptions = {};
  contextOptions.threads = options.threads, contextOptions.io_way = options.way;
  contextOptions.spill_folder = options.spillFolder.c_str();
  RunObjects objects;
  plim_scope scope;
  const char *weights = options.weights.empty() ? nullptr : options.weights.c_str();
  if (plim_find(&model, nullptr, nullptr, &scope) ||
      plim_weights_create(&model, scope, weights, nullptr, &objects.weights) ||
      plim_context_create(objects.weights, scope, &contextOptions, &objects.context)) {
    report.error = lastError();
    return report;
  }
  // All memory of this function is there before the session is.
  Bytes memory;
  std::vector<Binding> bindings;
  for (uint32_t i = 0; i < plim_io_count(&model, 0); ++i) {
    plim_io_info io;
    if (plim_io_at(&model, 0, i, &io)) {
      report.error = lastError();
      return report;
    }
    std::vector<char> &bytes = memory[io.name];
    if (io.is_output)
      bytes.assign(size_t(io.bytes), char(0x5a));
    else
      bytes = inputs.at(io.name);
    bindings.push_back({io.name, bytes.data(), bytes.size(), io.is_output != 0});
  }
  report.outputs.resize(options.runs.size());
  for (Bytes &outputs : report.outputs)
    for (const Binding &b : bindings)
      if (b.isOutput)
        outputs[b.name].resize(b.bytes);
  if (plim_session_create(objects.weights, scope, nullptr, &objects.session)) {
    report.error = lastError();
    return report;
  }
  AllocationWatch watch;
  plim_status status = PLIM_OK;
  for (const Binding &b : bindings)
    if (!status)
      status = b.isOutput ? plim_bind_output(objects.session, PLIM_NONE, b.name.c_str(), b.data, b.bytes)
                          : plim_bind_input(objects.session, PLIM_NONE, b.name.c_str(), b.data, b.bytes, nullptr, 0);
  for (size_t run = 0; run < options.runs.size() && !status; ++run) {
    plim_run_options runOptions = {};
    runOptions.flags = options.runs[run];
    status = plim_run(objects.session, objects.context, PLIM_NONE, &runOptions);
    for (const Binding &b : bindings)
      if (b.isOutput)
        std::memcpy(report.outputs[run].find(b.name)->second.data(), b.data, b.bytes);
  }
  if (!status)
    status = plim_usage_of(objects.session, objects.context, PLIM_NONE, &report.usage);
  plim_session_destroy(objects.session);
  objects.session = nullptr;
  report.allocations = watch.end();
  if (status)
    report.error = lastError();
  return report;
}

std::string writeConstants(plan::ModuleOp module, const std::string &path) {
  llvm::SmallVector<plan::ConstantOp> constants(module.getOps<plan::ConstantOp>());
  llvm::sort(constants, [](plan::ConstantOp a, plan::ConstantOp b) { return a.getOffset() < b.getOffset(); });
  plim_weight_writer *writer;
  if (plim_weight_writer_open(path.c_str(), uint64_t(plan::weightDataBytes(module)), &writer))
    return lastError();
  for (plan::ConstantOp constant : constants) {
    const std::vector<char> contents = contentsOf(constant.getSymName(), constant.getBytes());
    constant.setHash(int64_t(XXH3_64bits(contents.data(), contents.size())));
    if (plim_weight_writer_put(writer, uint64_t(constant.getOffset()), contents.data(), contents.size())) {
      plim_weight_writer_abort(writer);
      return lastError();
    }
  }
  uint64_t bytes, hash;
  if (plim_weight_writer_finish(writer, &bytes, &hash))
    return lastError();
  if (int64_t(bytes) != module.getWeightsBytes())
    return "need a weight file of " + std::to_string(module.getWeightsBytes()) + " bytes, have " +
           std::to_string(bytes);
  module.setWeightsHash(int64_t(hash));
  return "";
}

} // namespace plim::test
