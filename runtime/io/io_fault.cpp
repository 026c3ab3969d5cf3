#include "runtime/io/io_fault.h"

namespace plim::rt {
namespace {

IoFault active = nullptr;
void *activeData = nullptr;

} // namespace

void setIoFault(IoFault fault, void *data) {
  active = fault;
  activeData = data;
}

int64_t afterFault(const IoEvent &event, int64_t result) { return active ? active(activeData, event, result) : result; }

} // namespace plim::rt
