// The objects of a run, destroyed together, and what a test makes them from.
#ifndef PLIM_TEST_RUNTIME_RUNOBJECTS_H
#define PLIM_TEST_RUNTIME_RUNOBJECTS_H

#include "plim/plim.h"

#include <string>
#include <vector>

namespace plim::test {

inline std::string lastError() {
  const plim_error *e = plim_last_error();
  return std::string(plim_status_name(e->status)) + " at " + e->where + ": " + e->message + " (need " +
         std::to_string(e->need) + ", have " + std::to_string(e->have) + ")";
}

struct RunObjects {
  RunObjects() = default;
  RunObjects(const RunObjects &) = delete;
  RunObjects &operator=(const RunObjects &) = delete;
  ~RunObjects() {
    plim_session_destroy(session);
    plim_context_destroy(context);
    plim_weights_destroy(weights);
  }
  plim_weights *weights = nullptr;
  plim_context *context = nullptr;
  plim_session *session = nullptr;
};

/// The kernels that a table names, by `find`, in its order.
template <typename FindT> std::vector<const plim_kernel *> kernelsOf(const plim_table *table, FindT find) {
  std::vector<const plim_kernel *> kernels;
  auto *records = static_cast<const plim_t_kernel *>(plim_table_section(table, PLIM_SEC_KERNELS));
  for (uint64_t k = 0; k < table->sections[PLIM_SEC_KERNELS].count; ++k)
    kernels.push_back(find(plim_table_string(table, records[k].name)));
  return kernels;
}

} // namespace plim::test

#endif
