//===- InProcess.cpp - Runs a plan inside the compiler ---------------------------------------===//
#include "compiler/Lowering/Setup/InProcess.h"
#include "kernels/registry.h"
#include <memory>

namespace plim::lowering {
namespace {

std::string lastError() {
  const plim_error *e = plim_last_error();
  return std::string(e->where) + (e->where[0] ? ": " : "") + e->message + " (need " + std::to_string(e->need) +
         ", have " + std::to_string(e->have) + ")";
}

} // namespace

std::string runInProcess(const plim_table *table, const std::vector<Binding> &inputs,
                         const std::vector<Binding> &outputs, const InProcessOptions &options, plim_usage *usage) {
  std::vector<const plim_kernel *> kernels;
  auto *records = static_cast<const plim_t_kernel *>(plim_table_section(table, PLIM_SEC_KERNELS));
  for (uint64_t k = 0; k < table->sections[PLIM_SEC_KERNELS].count; ++k) {
    const char *name = plim_table_string(table, records[k].name);
    kernels.push_back(plim_find_kernel(name));
    if (!kernels.back())
      return std::string("need the library kernel '") + name + "', have none of this name";
  }
  plim_model model = {sizeof(plim_model), PLIM_KERNEL_ABI, "in_process", table, kernels.data(), nullptr, 0, 0};
  plim_scope scope;
  if (plim_find(&model, nullptr, nullptr, &scope))
    return lastError();
  plim_weights *weightsRaw = nullptr;
  plim_status status = plim_weights_create(&model, scope, options.weightsPath, nullptr, &weightsRaw);
  std::unique_ptr<plim_weights, void (*)(plim_weights *)> weights(weightsRaw, plim_weights_destroy);
  if (status)
    return lastError();
  plim_context_options contextOptions = {};
  contextOptions.threads = options.threads;
  plim_context *contextRaw = nullptr;
  status = plim_context_create(weights.get(), scope, &contextOptions, &contextRaw);
  std::unique_ptr<plim_context, void (*)(plim_context *)> context(contextRaw, plim_context_destroy);
  if (status)
    return lastError();
  plim_session *sessionRaw = nullptr;
  status = plim_session_create(weights.get(), scope, nullptr, &sessionRaw);
  std::unique_ptr<plim_session, void (*)(plim_session *)> session(sessionRaw, plim_session_destroy);
  if (status)
    return lastError();
  for (const Binding &b : inputs)
    if (plim_bind_input(session.get(), PLIM_NONE, b.name.c_str(), b.data, b.bytes, nullptr, 0))
      return lastError();
  for (const Binding &b : outputs)
    if (plim_bind_output(session.get(), PLIM_NONE, b.name.c_str(), b.data, b.bytes))
      return lastError();
  plim_run_options run = {};
  run.flags = options.flags;
  if (plim_run(session.get(), context.get(), PLIM_NONE, &run))
    return lastError();
  if (usage && plim_usage_of(session.get(), context.get(), PLIM_NONE, usage))
    return lastError();
  return "";
}

} // namespace plim::lowering
