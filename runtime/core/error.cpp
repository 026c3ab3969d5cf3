#include "runtime/core/error.h"

#include "plim/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

namespace {

// initial-exec: the first access by a thread must not allocate, also where the runtime sits in a shared library.
__attribute__((tls_model("initial-exec"))) thread_local plim_error lastError = {PLIM_OK,   0,         0,  0,
                                                                                PLIM_NONE, PLIM_NONE, "", ""};

} // namespace

extern "C" const plim_error *plim_last_error(void) { return &lastError; }

extern "C" const char *plim_status_name(plim_status status) {
  switch (static_cast<int>(status)) {
#define PLIM_STATUS_NAME(name)                                                                                         \
  case name:                                                                                                           \
    return #name;
    PLIM_STATUS_NAME(PLIM_OK)
    PLIM_STATUS_NAME(PLIM_ERR_ARG)
    PLIM_STATUS_NAME(PLIM_ERR_TABLE)
    PLIM_STATUS_NAME(PLIM_ERR_KERNEL)
    PLIM_STATUS_NAME(PLIM_ERR_BOUND)
    PLIM_STATUS_NAME(PLIM_ERR_IO)
    PLIM_STATUS_NAME(PLIM_ERR_CPU)
    PLIM_STATUS_NAME(PLIM_ERR_MEMORY)
    PLIM_STATUS_NAME(PLIM_ERR_WEIGHTS)
    PLIM_STATUS_NAME(PLIM_ERR_CANCELLED)
    PLIM_STATUS_NAME(PLIM_ERR_TORN)
    PLIM_STATUS_NAME(PLIM_ERR_BUSY)
    PLIM_STATUS_NAME(PLIM_ERR_RED_ZONE)
    PLIM_STATUS_NAME(PLIM_ERR_UNSUPPORTED)
#undef PLIM_STATUS_NAME
  default:
    return "unknown status";
  }
}

namespace plim::rt {

Failure::Failure(plim_status status) {
  memset(&lastError, 0, sizeof lastError);
  lastError.status = status;
  lastError.program = lastError.step = PLIM_NONE;
}

Failure &Failure::need(uint64_t n) {
  lastError.need = static_cast<int64_t>(n);
  return *this;
}

Failure &Failure::have(uint64_t n) {
  lastError.have = static_cast<int64_t>(n);
  return *this;
}

Failure &Failure::code(int32_t code) {
  lastError.code = code;
  return *this;
}

Failure &Failure::step(uint32_t program, uint32_t step) {
  lastError.program = program;
  lastError.step = step;
  return *this;
}

Failure &Failure::at(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(lastError.where, sizeof lastError.where, format, args);
  va_end(args);
  return *this;
}

plim_status Failure::say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(lastError.message, sizeof lastError.message, format, args);
  va_end(args);
  return lastError.status;
}

void NameList::add(const char *name) {
  unsigned length = static_cast<unsigned>(strlen(name));
  if (used + length + 8 > sizeof buffer) {
    if (used >= 3 && strcmp(buffer + used - 3, "...") != 0) {
      memcpy(buffer + used, ", ...", 6);
      used += 5;
    }
    return;
  }
  if (used) {
    memcpy(buffer + used, ", ", 2);
    used += 2;
  }
  memcpy(buffer + used, name, length + 1);
  used += length;
}

} // namespace plim::rt
